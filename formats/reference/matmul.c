// SPDX-License-Identifier: Apache-2.0
/* Matrix products. */
#include <inttypes.h>
#include <string.h>

#include "formats/reference/operators.h"
#include "formats/reference/requantize.h"

/* [..., rows, depth] x [..., depth, columns]; a vector is a matrix with one row or one column. */
typedef struct product {
    tensor a, b; /* as matrices */
    uint32_t rank;
    int64_t dims[TENSOR_MAX_RANK]; /* of the result, with matrices as its last dimensions */
    int64_t rows, depth, columns;
} product;

static bool read_product(op_call *c, const tensor *a, const tensor *b, product *p)
{
    p->a = *a;
    p->b = *b;
    if (!a->rank || !b->rank)
        return op_fail(c, "multiplies a single number; expected lists or matrices");
    if (a->rank == 1) {
        p->a.rank = 2;
        p->a.dims[0] = 1;
        p->a.dims[1] = a->dims[0];
    }
    if (b->rank == 1) {
        p->b.rank = 2;
        p->b.dims[1] = 1;
    }
    p->rows = p->a.dims[p->a.rank - 2];
    p->depth = p->a.dims[p->a.rank - 1];
    p->columns = p->b.dims[p->b.rank - 1];
    if (p->b.dims[p->b.rank - 2] != p->depth)
        return op_fail(c, "multiplies a matrix of %" PRId64 " columns by one of %" PRId64 " rows",
                       p->depth, p->b.dims[p->b.rank - 2]);
    tensor frames_a = p->a, frames_b = p->b;
    frames_a.rank -= 2;
    frames_b.rank -= 2;
    if (!op_broadcast(c, &frames_a, &frames_b, &p->rank, p->dims))
        return false;
    p->dims[p->rank++] = p->rows;
    p->dims[p->rank++] = p->columns;
    return true;
}

static bool make_result(op_call *c, const product *p, element_type type)
{
    int64_t dims[TENSOR_MAX_RANK];
    uint32_t rank = 0;
    const bool row = op_in(c, 0)->rank == 1;
    const tensor *b = strcmp(c->node->op_type, "QLinearMatMul") ? op_in(c, 1) : op_in(c, 3);
    for (uint32_t i = 0; i < p->rank; i++)
        if (!(row && i == p->rank - 2) && !(b->rank == 1 && i == p->rank - 1))
            dims[rank++] = p->dims[i];
    return op_result(c, 0, type, rank, dims);
}

typedef void sum_function(void *to, size_t i, double sum, size_t column);

static void multiply(const product *p, const float *a, const float *b, sum_function *f, void *to)
{
    tensor first = p->a, second = p->b;
    first.rank -= 2;
    second.rank -= 2;
    op_walk wa = op_walk_start(&first, p->rank - 2, p->dims);
    op_walk wb = op_walk_start(&second, p->rank - 2, p->dims);
    size_t frames = 1, i = 0;
    for (uint32_t k = 0; k + 2 < p->rank; k++)
        frames *= (size_t)p->dims[k];
    for (size_t n = 0; n < frames; n++, op_walk_next(&wa), op_walk_next(&wb)) {
        const float *x = a + wa.offset * (size_t)(p->rows * p->depth);
        const float *y = b + wb.offset * (size_t)(p->depth * p->columns);
        for (int64_t r = 0; r < p->rows; r++)
            for (int64_t o = 0; o < p->columns; o++, i++) {
                double sum = 0;
                for (int64_t k = 0; k < p->depth; k++)
                    sum += (double)x[r * p->depth + k] * (double)y[k * p->columns + o];
                f(to, i, sum, (size_t)o);
            }
    }
}

static void store(void *to, size_t i, double sum, size_t column)
{
    (void)column;
    tensor_set_number(to, i, sum);
}

bool op_matmul(op_call *c)
{
    product p;
    if (!read_product(c, op_in(c, 0), op_in(c, 1), &p) || !make_result(c, &p, op_in(c, 0)->type))
        return false;
    if (op_only_shapes(c))
        return true;
    const float *a = op_floats(c, 0), *b = op_floats(c, 1);
    if (a && b)
        multiply(&p, a, b, store, c->out);
    return a && b;
}

bool op_matmul_integer(op_call *c)
{
    product p;
    if (!read_product(c, op_in(c, 0), op_in(c, 1), &p) || !make_result(c, &p, ELEMENT_INT32))
        return false;
    const tensor *zero = op_in(c, 3);
    if (zero && zero->count != 1)
        return op_fail(c, "has %zu zero points for its second operand; supported: one",
                       zero->count);
    if (op_only_shapes(c))
        return true;
    const float *a = requantize_centred(c, 0, 2), *b = requantize_centred(c, 1, 3);
    if (a && b)
        multiply(&p, a, b, store, c->out);
    return a && b;
}

typedef struct qlinear {
    tensor *out;
    const requantize *rule;
} qlinear;

static void store_requantized(void *to, size_t i, double sum, size_t column)
{
    const qlinear *q = to;
    requantize_store(q->rule, q->out, i, sum, column);
}

bool op_qlinear_matmul(op_call *c)
{
    product p;
    requantize rule;
    const tensor *zero = op_in(c, 5);
    if (!read_product(c, op_in(c, 0), op_in(c, 3), &p) ||
        !requantize_read(c, (size_t)p.columns, &rule) || !make_result(c, &p, op_in(c, 7)->type))
        return false;
    if (zero && zero->count != 1)
        return op_fail(c, "has %zu zero points for its second operand; supported: one",
                       zero->count);
    if (op_only_shapes(c))
        return true;
    const float *a = requantize_centred(c, 0, 2), *b = requantize_centred(c, 3, 5);
    qlinear q = {c->out, &rule};
    if (a && b)
        multiply(&p, a, b, store_requantized, &q);
    return a && b;
}

/* alpha a b + beta c, with a and b transposed if requested. */
bool op_gemm(op_call *c)
{
    const tensor *a = op_in(c, 0), *b = op_in(c, 1), *bias = op_in(c, 2);
    const bool ta = onnx_int(c->node, "transA", 0), tb = onnx_int(c->node, "transB", 0);
    const double alpha = (double)onnx_float(c->node, "alpha", 1);
    const double beta = (double)onnx_float(c->node, "beta", 1);
    if (a->rank != 2 || b->rank != 2)
        return op_fail(c, "multiplies tensors of %u and %u dimensions; expected matrices", a->rank,
                       b->rank);
    const int64_t dims[2] = {a->dims[ta], b->dims[!tb]}, depth = a->dims[!ta];
    if (depth != b->dims[tb])
        return op_fail(c, "multiplies a matrix of %" PRId64 " columns by one of %" PRId64 " rows",
                       depth, b->dims[tb]);
    tensor shape = {.rank = 2, .dims = {dims[0], dims[1]}};
    uint32_t rank = 2;
    int64_t joined[TENSOR_MAX_RANK] = {dims[0], dims[1]};
    if (bias && (!op_broadcast(c, &shape, bias, &rank, joined) || rank != 2 ||
                 joined[0] != dims[0] || joined[1] != dims[1]))
        return op_fail(c, "has a third operand that does not broadcast to its result");
    if (!op_result(c, 0, a->type, 2, dims))
        return false;
    if (op_only_shapes(c))
        return true;
    const float *x = op_floats(c, 0), *y = op_floats(c, 1);
    op_walk w = bias ? op_walk_start(bias, 2, dims) : (op_walk){0};
    for (int64_t i = 0; x && y && i < dims[0] * dims[1]; i++) {
        const int64_t row = i / dims[1], column = i % dims[1];
        double sum = 0;
        for (int64_t k = 0; k < depth; k++)
            sum += (double)x[ta ? k * dims[0] + row : row * depth + k] *
                   (double)y[tb ? column * depth + k : k * dims[1] + column];
        tensor_set_number(c->out, (size_t)i,
                          alpha * sum + (bias ? beta * tensor_number(bias, w.offset) : 0));
        if (bias)
            op_walk_next(&w);
    }
    return x && y;
}
