// SPDX-License-Identifier: Apache-2.0
/* Sums, means and extremes along axes; softmax. */
#include <math.h>
#include <string.h>

#include "formats/reference/operators.h"

typedef struct reduction {
    const char *op_type;
    double start;
    double (*add)(double sum, double x);
    double (*finish)(double sum, double count);
} reduction;

#define ADD(name, value)                                                                           \
    static double name(double sum, double x)                                                       \
    {                                                                                              \
        return value;                                                                              \
    }
ADD(add_plain, sum + x)
ADD(add_magnitude, sum + fabs(x))
ADD(add_square, sum + x * x)
ADD(multiply, sum *x)
ADD(lowest, isnan(x) || x < sum ? x : sum)
ADD(highest, isnan(x) || x > sum ? x : sum)
ADD(highest_number, fmax(sum, x))

/* ln(e^sum + e^x) without overflow. */
static double add_exponents(double sum, double x)
{
    const double max = fmax(sum, x), min = fmin(sum, x);
    return isinf(min) && min < 0 ? max : max + log1p(exp(min - max));
}

#define FINISH(name, value)                                                                        \
    static double name(double sum, double count)                                                   \
    {                                                                                              \
        (void)count;                                                                               \
        return value;                                                                              \
    }
FINISH(plain, sum)
FINISH(mean, sum / count)
FINISH(root, sqrt(sum))
FINISH(logarithm, log(sum))

static const reduction reductions[] = {
    {"ReduceMean", 0, add_plain, mean},        {"ReduceSum", 0, add_plain, plain},
    {"ReduceMax", -INFINITY, highest, plain},  {"ReduceMin", INFINITY, lowest, plain},
    {"ReduceProd", 1, multiply, plain},        {"ReduceL1", 0, add_magnitude, plain},
    {"ReduceL2", 0, add_square, root},         {"ReduceSumSquare", 0, add_square, plain},
    {"ReduceLogSum", 0, add_plain, logarithm}, {"ReduceLogSumExp", -INFINITY, add_exponents, plain},
    {"GlobalAveragePool", 0, add_plain, mean}, {"GlobalMaxPool", -INFINITY, highest_number, plain},
};

static const reduction *find_reduction(const char *op_type)
{
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        if (!strcmp(reductions[i].op_type, op_type))
            return &reductions[i];
    return NULL;
}

/* x's shape, with the axes of the mask removed or kept as 1. */
static bool make_reduced(op_call *c, element_type type, uint32_t mask, bool keep)
{
    const tensor *x = op_in(c, 0);
    int64_t dims[TENSOR_MAX_RANK];
    uint32_t rank = 0;
    for (uint32_t i = 0; i < x->rank; i++)
        if (keep || !(mask >> i & 1))
            dims[rank++] = mask >> i & 1 ? 1 : x->dims[i];
    return op_result(c, 0, type, rank, dims);
}

static void reduce_all(const reduction *r, const tensor *x, uint32_t mask, double *sums,
                       tensor *out)
{
    tensor kept = *x;
    for (uint32_t i = 0; i < x->rank; i++)
        kept.dims[i] = mask >> i & 1 ? 1 : x->dims[i];
    op_walk w = op_walk_start(&kept, x->rank, x->dims);
    for (size_t i = 0; i < out->count; i++)
        sums[i] = r->start;
    for (size_t i = 0; i < x->count; i++, op_walk_next(&w))
        sums[w.offset] = r->add(sums[w.offset], tensor_number(x, i));
    const double count = out->count ? (double)x->count / (double)out->count : 0;
    for (size_t i = 0; i < out->count; i++) {
        const double v = r->finish(sums[i], count);
        if (element_is_float(out->type) || isfinite(v))
            tensor_set_number(out, i, v);
        else /* of an empty set */
            tensor_set_int(out, i,
                           v < 0 ? element_lowest(out->type) : (int64_t)element_highest(out->type));
    }
}

static bool reduce(op_call *c, uint32_t mask, bool keep)
{
    const tensor *x = op_in(c, 0);
    const reduction *r = find_reduction(c->node->op_type);
    if (!r || !make_reduced(c, x->type, mask, keep))
        return false;
    double *sums = op_scratch(c, c->out->count, sizeof *sums);
    if (sums)
        reduce_all(r, x, mask, sums, c->out);
    return sums;
}

bool op_reduce(op_call *c)
{
    const uint32_t rank = op_in(c, 0)->rank;
    uint32_t mask;
    if (!op_axes(c, 1, rank, &mask))
        return false;
    if (!mask && !onnx_int(c->node, "noop_with_empty_axes", 0))
        mask = (1u << rank) - 1;
    return reduce(c, mask, onnx_int(c->node, "keepdims", 1));
}

/* Of whole maps. */
bool op_global_pool(op_call *c)
{
    const uint32_t rank = op_in(c, 0)->rank;
    return rank < 3 ? op_fail(c, "works on a tensor of %u dimensions; expected 3 or more", rank)
                    : reduce(c, ((1u << rank) - 1) & ~3u, true);
}

bool op_arg(op_call *c)
{
    const tensor *x = op_in(c, 0);
    const bool largest = !strcmp(c->node->op_type, "ArgMax");
    const bool last = onnx_int(c->node, "select_last_index", 0);
    uint32_t axis;
    if (!op_axis(c, onnx_int(c->node, "axis", 0), x->rank, &axis) ||
        !make_reduced(c, ELEMENT_INT64, 1u << axis, onnx_int(c->node, "keepdims", 1)))
        return false;
    const tensor_dims s = tensor_split(x, axis);
    for (size_t i = 0; i < c->out->count; i++) {
        const size_t first = i / s.after * s.along * s.after + i % s.after;
        size_t best = 0;
        for (size_t k = 1; k < s.along; k++) {
            const double v = tensor_number(x, first + k * s.after);
            const double max = tensor_number(x, first + best * s.after);
            if (largest ? v > max : v < max)
                best = k;
            else if (last && v == max)
                best = k;
        }
        tensor_set_int(c->out, i, (int64_t)best);
    }
    return true;
}

bool op_cum_sum(op_call *c)
{
    const tensor *x = op_in(c, 0);
    const bool exclusive = onnx_int(c->node, "exclusive", 0),
               back = onnx_int(c->node, "reverse", 0);
    int64_t list = 0;
    uint32_t axis, count;
    if (!op_result_like(c, 0, x) || !op_ints(c, 1, &list, 1, &count) ||
        !op_axis(c, list, x->rank, &axis))
        return false;
    const tensor_dims s = tensor_split(x, axis);
    for (size_t line = 0; line < s.before * s.after; line++) {
        double sum = 0;
        int64_t whole = 0;
        for (size_t k = 0; k < s.along; k++) {
            const size_t i = (line / s.after * s.along + (back ? s.along - 1 - k : k)) * s.after +
                             line % s.after;
            const double before = sum;
            const int64_t whole_before = whole;
            if (element_is_float(x->type)) {
                sum += tensor_number(x, i);
                tensor_set_number(c->out, i, exclusive ? before : sum);
            } else {
                whole = (int64_t)((uint64_t)whole + (uint64_t)tensor_int(x, i));
                tensor_set_int(c->out, i, exclusive ? whole_before : whole);
            }
        }
    }
    return true;
}

/* ---- softmax ------------------------------------------------------------------------------ */

static void softmax_line(const tensor *x, tensor *out, size_t first, size_t count, size_t step,
                         bool in_logs)
{
    double max = -INFINITY, sum = 0;
    for (size_t k = 0; k < count; k++)
        max = fmax(max, tensor_number(x, first + k * step));
    for (size_t k = 0; k < count; k++)
        sum += exp(tensor_number(x, first + k * step) - max);
    for (size_t k = 0; k < count; k++) {
        const double v = tensor_number(x, first + k * step) - max;
        tensor_set_number(out, first + k * step, in_logs ? v - log(sum) : exp(v) / sum);
    }
}

bool op_softmax(op_call *c)
{
    const bool in_logs = !strcmp(c->node->op_type, "LogSoftmax");
    const tensor *x = op_in(c, 0);
    uint32_t axis;
    if (!op_axis(c, onnx_int(c->node, "axis", -1), x->rank, &axis) || !op_result_like(c, 0, x))
        return false;
    tensor_dims s = tensor_split(x, axis);
    if (c->node->flattens) { /* see onnx_upgrade.c */
        s.along *= s.after;
        s.after = 1;
    }
    for (size_t n = 0; n < s.before; n++)
        for (size_t i = 0; i < s.after; i++)
            softmax_line(x, c->out, n * s.along * s.after + i, s.along, s.after, in_logs);
    return true;
}
