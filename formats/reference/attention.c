// SPDX-License-Identifier: Apache-2.0
/* Attention, without mask or earlier keys. */
#include <inttypes.h>
#include <math.h>

#include "formats/reference/operators.h"

static bool read_heads(op_call *c, uint32_t i, const char *attribute, op_heads *h)
{
    const tensor *t = op_in(c, i);
    const int64_t count = onnx_int(c->node, attribute, 0);
    if (t->rank != 3 && t->rank != 4)
        return op_fail(c, "has an input %u of %u dimensions; expected 3 or 4", i, t->rank);
    if (t->rank == 3 && (count < 1 || t->dims[2] % count))
        return op_fail(c, "splits %" PRId64 " channels into %" PRId64 " heads", t->dims[2], count);
    *h = (op_heads){.batch = t->dims[0],
                    .heads = t->rank == 4 ? t->dims[1] : count,
                    .rows = t->dims[t->rank - 2],
                    .size = t->rank == 4 ? t->dims[3] : t->dims[2] / count};
    return true;
}

static bool is_plain(op_call *c)
{
    for (uint32_t i = 3; i < c->in_count; i++)
        if (op_in(c, i))
            return op_fail(c, "has a mask or earlier keys, which are not supported");
    for (uint32_t i = 1; i < c->out_count; i++)
        if (op_wants(c, i))
            return op_fail(c, "has an output %u; supported: the first alone", i);
    return (!onnx_int(c->node, "is_causal", 0) && onnx_float(c->node, "softcap", 0) == 0) ||
           op_fail(c, "is causal or limits its scores, which is not supported");
}

bool op_attention_read(op_call *c, op_attending *a)
{
    op_heads *h = a->part;
    const float scale = onnx_float(c->node, "scale", 0);
    if (!is_plain(c) || !read_heads(c, 0, "q_num_heads", &h[0]) ||
        !read_heads(c, 1, "kv_num_heads", &h[1]) || !read_heads(c, 2, "kv_num_heads", &h[2]))
        return false;
    const uint32_t rank = op_in(c, 0)->rank;
    a->scale = scale != 0 ? (double)scale : 1 / sqrt((double)h[0].size);
    return (h[0].batch == h[1].batch && h[0].batch == h[2].batch && h[0].size == h[1].size &&
            h[1].heads == h[2].heads && h[1].rows == h[2].rows && h[1].heads > 0 && h[1].rows &&
            h[0].heads % h[1].heads == 0 && op_in(c, 1)->rank == rank &&
            op_in(c, 2)->rank == rank) ||
           op_fail(c, "has queries, keys and values whose shapes do not fit");
}

/* A part's elements (batch, head, row, channel) lie at the sum of these steps. */
typedef struct heads {
    const float *data;
    size_t step[3];
} heads;

static bool read_data(op_call *c, uint32_t i, const op_heads *h, heads *to)
{
    const size_t size = (size_t)h->size, rows = (size_t)h->rows, all = (size_t)h->heads;
    const bool whole = op_in(c, i)->rank == 4;
    *to = (heads){op_floats(c, i),
                  {all * rows * size, whole ? rows * size : size, whole ? size : all * size}};
    return to->data;
}

static const float *row_of(const heads *h, int64_t batch, int64_t head, int64_t row)
{
    return h->data + (size_t)batch * h->step[0] + (size_t)head * h->step[1] +
           (size_t)row * h->step[2];
}

/* Row `row` of a head of the queries; weights: room for a number for each key. */
static void attend(op_call *c, const op_attending *a, const heads *h, int64_t batch, int64_t head,
                   int64_t row, double *weights)
{
    const op_heads *part = a->part;
    const int64_t shared = head / (part[0].heads / part[1].heads);
    const float *q = row_of(&h[0], batch, head, row);
    double most = -INFINITY, sum = 0;
    for (int64_t j = 0; j < part[1].rows; j++) {
        const float *k = row_of(&h[1], batch, shared, j);
        weights[j] = 0;
        for (int64_t i = 0; i < part[0].size; i++)
            weights[j] += (double)q[i] * (double)k[i];
        weights[j] *= a->scale;
        most = fmax(most, weights[j]);
    }
    for (int64_t j = 0; j < part[1].rows; j++) {
        weights[j] = exp(weights[j] - most);
        sum += weights[j];
    }
    const size_t size = (size_t)part[2].size;
    const bool whole = op_in(c, 0)->rank == 4;
    const size_t place = whole ? (size_t)((batch * part[0].heads + head) * part[0].rows + row)
                               : (size_t)((batch * part[0].rows + row) * part[0].heads + head);
    for (size_t i = 0; i < size; i++) {
        double mean = 0;
        for (int64_t j = 0; j < part[1].rows; j++)
            mean += weights[j] * (double)row_of(&h[2], batch, shared, j)[i];
        tensor_set_number(c->out, place * size + i, mean / sum);
    }
}

bool op_attention(op_call *c)
{
    op_attending a;
    heads h[3];
    if (!op_attention_read(c, &a))
        return false;
    const tensor *q = op_in(c, 0);
    const op_heads *first = &a.part[0];
    const int64_t size = a.part[2].size;
    const int64_t dims[4] = {first->batch, first->heads, first->rows, size};
    const int64_t flat[3] = {first->batch, first->rows, first->heads * size};
    if (!op_result(c, 0, q->type, q->rank, q->rank == 4 ? dims : flat))
        return false;
    double *weights = op_scratch(c, (size_t)a.part[1].rows, sizeof *weights);
    for (uint32_t i = 0; i < 3; i++)
        if (!weights || !read_data(c, i, &a.part[i], &h[i]))
            return false;
    for (int64_t b = 0; b < first->batch; b++)
        for (int64_t n = 0; n < first->heads; n++)
            for (int64_t r = 0; r < first->rows; r++)
                attend(c, &a, h, b, n, r, weights);
    return true;
}
