// SPDX-License-Identifier: Apache-2.0
/* Matrix products. */
#include <inttypes.h>
#include <string.h>

#include "formats/reference/operators.h"

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

/* A matrix as an op_product reads it; transposed: its rows are columns of the data. */
typedef struct matrix {
    const float *data;
    size_t rows, columns;
    bool transposed;
} matrix;

static void copy_row(const void *context, size_t row, size_t column, size_t count, float *to)
{
    const matrix *m = context;
    if (!m->transposed)
        memcpy(to, m->data + row * m->columns + column, count * sizeof *to);
    for (size_t i = 0; i < count && m->transposed; i++)
        to[i] = m->data[(column + i) * m->rows + row];
}

static bool multiply(op_call *c, const product *p, const float *a, const float *b, bool exact,
                     op_store *store, void *to)
{
    tensor first = p->a, second = p->b;
    first.rank -= 2;
    second.rank -= 2;
    op_walk wa = op_walk_start(&first, p->rank - 2, p->dims);
    op_walk wb = op_walk_start(&second, p->rank - 2, p->dims);
    const size_t rows = (size_t)p->rows, depth = (size_t)p->depth, columns = (size_t)p->columns;
    size_t frames = 1;
    bool ok = a && b;
    for (uint32_t k = 0; k + 2 < p->rank; k++)
        frames *= (size_t)p->dims[k];
    for (size_t n = 0; ok && n < frames; n++, op_walk_next(&wa), op_walk_next(&wb)) {
        const matrix second_matrix = {b + wb.offset * depth * columns, depth, columns, false};
        ok = op_multiply(c, &(op_product){.rows = rows,
                                          .depth = depth,
                                          .columns = columns,
                                          .a = a + wa.offset * rows * depth,
                                          .row = copy_row,
                                          .context = &second_matrix,
                                          .exact = exact,
                                          .store = store,
                                          .to = to,
                                          .index = n * rows * columns});
    }
    return ok;
}

bool op_matmul(op_call *c)
{
    product p;
    return read_product(c, op_in(c, 0), op_in(c, 1), &p) && make_result(c, &p, op_in(c, 0)->type) &&
           multiply(c, &p, op_floats(c, 0), op_floats(c, 1), false, op_store_numbers, c->out);
}

/* The product of the operands minus their zero points; i: the input of the second, before its own
 * zero point at `zero`. */
static bool multiply_centred(op_call *c, const product *p, uint32_t i, uint32_t zero,
                             op_store *store, void *to)
{
    return multiply(c, p, requantize_centred(c, 0, 2, requantize_rows(op_in(c, 0)->rank)),
                    requantize_centred(c, i, zero, requantize_columns(op_in(c, i)->rank)), true,
                    store, to);
}

bool op_matmul_integer(op_call *c)
{
    product p;
    return read_product(c, op_in(c, 0), op_in(c, 1), &p) && make_result(c, &p, ELEMENT_INT32) &&
           multiply_centred(c, &p, 1, 3, op_store_numbers, c->out);
}

bool op_qlinear_matmul(op_call *c)
{
    product p;
    requantize rule;
    return read_product(c, op_in(c, 0), op_in(c, 3), &p) &&
           requantize_read(c, (size_t)p.columns, &rule) && make_result(c, &p, op_in(c, 7)->type) &&
           multiply_centred(c, &p, 3, 5, requantize_store, &rule);
}

op_gemm_form op_gemm_read(const onnx_node *node)
{
    return (op_gemm_form){
        .turn_a = onnx_int(node, "transA", 0),
        .turn_b = onnx_int(node, "transB", 0),
        .alpha = onnx_float(node, "alpha", 1),
        .beta = onnx_float(node, "beta", 1),
    };
}

bool op_gemm(op_call *c)
{
    const tensor *a = op_in(c, 0), *b = op_in(c, 1), *bias = op_in(c, 2);
    const op_gemm_form form = op_gemm_read(c->node);
    const bool ta = form.turn_a, tb = form.turn_b;
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
    const float *x = op_floats(c, 0), *y = op_floats(c, 1);
    float *rows = ta && x ? op_scratch(c, a->count, sizeof *rows) : NULL;
    const matrix turned = {x, (size_t)dims[0], (size_t)depth, true};
    for (size_t r = 0; rows && r < turned.rows; r++)
        copy_row(&turned, r, 0, turned.columns, rows + r * turned.columns);
    const matrix second = {y, (size_t)depth, (size_t)dims[1], tb};
    if (!x || !y || (ta && !rows) ||
        !op_multiply(c, &(op_product){.rows = (size_t)dims[0],
                                      .depth = (size_t)depth,
                                      .columns = (size_t)dims[1],
                                      .a = ta ? rows : x,
                                      .row = copy_row,
                                      .context = &second,
                                      .store = op_store_numbers,
                                      .to = c->out}))
        return false;
    op_walk w = bias ? op_walk_start(bias, 2, dims) : (op_walk){0};
    for (size_t i = 0; i < c->out->count; i++) {
        const double sum = (double)form.alpha * tensor_number(c->out, i);
        const double more = bias ? (double)form.beta * tensor_number(bias, w.offset) : 0;
        tensor_set_number(c->out, i, sum + more);
        if (bias)
            op_walk_next(&w);
    }
    return true;
}
