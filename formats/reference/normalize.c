// SPDX-License-Identifier: Apache-2.0
/* Normalisations: (x - mean) / sqrt(variance + epsilon) * scale + bias. */
#include <inttypes.h>
#include <math.h>

#include "formats/reference/operators.h"

typedef struct moments {
    double mean, variance;
} moments;

/* The moments of `lines` runs of `count` elements; each run begins `step` after the one before. */
static moments find_moments(const tensor *x, size_t first, size_t lines, size_t step, size_t count)
{
    moments m = {0, 0};
    for (size_t k = 0; k < lines; k++)
        for (size_t i = 0; i < count; i++)
            m.mean += tensor_number(x, first + k * step + i);
    m.mean /= (double)lines * (double)count;
    for (size_t k = 0; k < lines; k++)
        for (size_t i = 0; i < count; i++) {
            const double d = tensor_number(x, first + k * step + i) - m.mean;
            m.variance += d * d;
        }
    m.variance /= (double)lines * (double)count;
    return m;
}

static double factor(const op_call *c, double variance)
{
    return 1 / sqrt(variance + (double)onnx_float(c->node, "epsilon", 1e-5f));
}

/* Splits into frames, channels and elements of a map. */
static bool read_maps(op_call *c, tensor_dims *s)
{
    const tensor *x = op_in(c, 0);
    if (x->rank < 2)
        return op_fail(c, "works on a tensor of %u dimensions; expected 2 or more", x->rank);
    *s = tensor_split(x, 1);
    return true;
}

static bool one_each(op_call *c, uint32_t i, size_t channels)
{
    const tensor *t = op_in(c, i);
    return t->count == channels ||
           op_fail(c, "has %zu numbers in input %u; expected %zu", t->count, i, channels);
}

/* ---- batch -------------------------------------------------------------------------------- */

static bool batch_results(op_call *c)
{
    const bool training = onnx_int(c->node, "training_mode", 0);
    const tensor *mean = op_in(c, 3), *variance = op_in(c, 4);
    if (!training && c->out_count > 1)
        return op_fail(c, "has %u outputs outside of training; supported: one", c->out_count);
    if (c->out_count > 3)
        return op_fail(c, "has %u outputs; supported: 3", c->out_count);
    return (!training || (op_result_like(c, 1, mean) && op_result_like(c, 2, variance))) &&
           op_result_like(c, 0, op_in(c, 0));
}

bool op_batch_norm(op_call *c)
{
    const tensor *x = op_in(c, 0);
    const bool training = onnx_int(c->node, "training_mode", 0);
    const double momentum = (double)onnx_float(c->node, "momentum", 0.9f);
    tensor_dims s = {0};
    if (!read_maps(c, &s))
        return false;
    for (uint32_t i = 1; i < 5; i++)
        if (!one_each(c, i, s.along))
            return false;
    if (!batch_results(c))
        return false;
    for (size_t k = 0; k < s.along; k++) {
        moments m = {tensor_number(op_in(c, 3), k), tensor_number(op_in(c, 4), k)};
        const moments before = m;
        if (training)
            m = find_moments(x, k * s.after, s.before, s.along * s.after, s.after);
        if (training && op_wants(c, 1))
            tensor_set_number(&c->out[1], k, before.mean * momentum + m.mean * (1 - momentum));
        if (training && op_wants(c, 2))
            tensor_set_number(&c->out[2], k,
                              before.variance * momentum + m.variance * (1 - momentum));
        const double scale = tensor_number(op_in(c, 1), k) * factor(c, m.variance);
        const double bias = tensor_number(op_in(c, 2), k);
        for (size_t n = 0; n < s.before; n++)
            for (size_t i = 0; i < s.after; i++) {
                const size_t at = (n * s.along + k) * s.after + i;
                tensor_set_number(c->out, at, (tensor_number(x, at) - m.mean) * scale + bias);
            }
    }
    return true;
}

/* ---- instance and group ------------------------------------------------------------------- */

/* Statistics of groups of channels in a frame; there is a scale and a bias per channel or per
 * group. */
static bool normalize_groups(op_call *c, const tensor_dims *s, size_t groups)
{
    const tensor *x = op_in(c, 0), *scale = op_in(c, 1), *bias = op_in(c, 2);
    const size_t each = s->along / groups, run = each * s->after;
    if (!op_result_like(c, 0, x))
        return false;
    if (!x->count)
        return true;
    for (size_t g = 0; g < s->before * groups; g++) {
        const moments m = find_moments(x, g * run, 1, run, run);
        const double by = factor(c, m.variance);
        for (size_t i = 0; i < run; i++) {
            const size_t group = g % groups, channel = group * each + i / s->after;
            const size_t k = scale->count == s->along ? channel : group;
            const double v = (tensor_number(x, g * run + i) - m.mean) * by;
            tensor_set_number(c->out, g * run + i,
                              v * tensor_number(scale, k) + tensor_number(bias, k));
        }
    }
    return true;
}

bool op_instance_norm(op_call *c)
{
    tensor_dims s = {0};
    return read_maps(c, &s) && one_each(c, 1, s.along) && one_each(c, 2, s.along) &&
           normalize_groups(c, &s, s.along ? s.along : 1);
}

/* Up to operator set 20, there is a scale and a bias per group. */
bool op_group_norm(op_call *c)
{
    const int64_t groups = onnx_int(c->node, "num_groups", 0);
    tensor_dims s = {0};
    if (!read_maps(c, &s))
        return false;
    if (groups < 1 || groups > TENSOR_MAX_COUNT || s.along % (size_t)groups)
        return op_fail(c, "divides %zu channels into %" PRId64 " groups", s.along, groups);
    const size_t numbers = c->opset < 21 ? (size_t)groups : s.along;
    return one_each(c, 1, numbers) && one_each(c, 2, numbers) &&
           normalize_groups(c, &s, (size_t)groups);
}

/* ---- layer -------------------------------------------------------------------------------- */

/* Whether an operand broadcasts to the axes from this one on. */
static bool broadcasts(op_call *c, uint32_t i, const tensor *line)
{
    const tensor *t = op_in(c, i);
    uint32_t rank;
    int64_t dims[TENSOR_MAX_RANK];
    if (!t)
        return true;
    if (!op_broadcast(c, line, t, &rank, dims))
        return false;
    tensor joined = {.rank = rank};
    for (uint32_t k = 0; k < rank; k++)
        joined.dims[k] = dims[k];
    return tensor_same_shape(&joined, line) ||
           op_fail(c, "has an input %u that is larger than what is normalised", i);
}

static void normalize_line(op_call *c, const tensor *line, size_t n, double mean, double by)
{
    const tensor *x = op_in(c, 0), *scale = op_in(c, 1), *bias = op_in(c, 2);
    op_walk ws = op_walk_start(scale, line->rank, line->dims);
    op_walk wb = bias ? op_walk_start(bias, line->rank, line->dims) : ws;
    for (size_t i = n * line->count; i < (n + 1) * line->count; i++) {
        const double v = (tensor_number(x, i) - mean) * by * tensor_number(scale, ws.offset);
        tensor_set_number(c->out, i, bias ? v + tensor_number(bias, wb.offset) : v);
        op_walk_next(&ws);
        op_walk_next(&wb);
    }
}

bool op_layer_norm(op_call *c)
{
    const tensor *x = op_in(c, 0);
    uint32_t axis;
    if (!op_axis(c, onnx_int(c->node, "axis", -1), x->rank, &axis))
        return false;
    tensor line = {.rank = x->rank - axis, .count = 1}, lines = *x;
    for (uint32_t i = axis; i < x->rank; i++) {
        line.dims[i - axis] = x->dims[i];
        line.count *= (size_t)x->dims[i];
        lines.dims[i] = 1;
    }
    if (!broadcasts(c, 1, &line) || !broadcasts(c, 2, &line) ||
        !op_result(c, 1, ELEMENT_FLOAT32, x->rank, lines.dims) ||
        !op_result(c, 2, ELEMENT_FLOAT32, x->rank, lines.dims) || !op_result_like(c, 0, x))
        return false;
    for (size_t n = 0; line.count && n < x->count / line.count; n++) {
        const moments m = find_moments(x, n * line.count, 1, line.count, line.count);
        const double by = factor(c, m.variance);
        if (op_wants(c, 1))
            tensor_set_number(&c->out[1], n, m.mean);
        if (op_wants(c, 2))
            tensor_set_number(&c->out[2], n, by);
        normalize_line(c, &line, n, m.mean, by);
    }
    return true;
}

/* ---- by neighbouring channels, norms and moments -------------------------------------------- */

/* x / (bias + alpha / size * the sum of squares of `size` channels around)^beta */
bool op_lrn(op_call *c)
{
    const int64_t size = onnx_int(c->node, "size", 0);
    const double alpha = (double)onnx_float(c->node, "alpha", 1e-4f),
                 beta = (double)onnx_float(c->node, "beta", 0.75f),
                 bias = (double)onnx_float(c->node, "bias", 1);
    const tensor *x = op_in(c, 0);
    tensor_dims s = {0};
    if (!read_maps(c, &s))
        return false;
    if (size < 1 || size > 2 * (int64_t)s.along)
        return op_fail(c, "has a size of %" PRId64 " for %zu channels", size, s.along);
    if (!op_result_like(c, 0, x))
        return false;
    const size_t below = (size_t)(size - 1) / 2, above = (size_t)size / 2;
    for (size_t i = 0; i < x->count; i++) {
        const size_t at = i / s.after % s.along, first = i - at * s.after;
        double sum = 0;
        for (size_t k = at > below ? at - below : 0; k < s.along && k <= at + above; k++) {
            const double v = tensor_number(x, first + k * s.after);
            sum += v * v;
        }
        tensor_set_number(c->out, i,
                          tensor_number(x, i) / pow(bias + alpha / (double)size * sum, beta));
    }
    return true;
}

/* x / its norm along an axis; where that is 0, x is. */
bool op_lp_normalization(op_call *c)
{
    const int64_t p = onnx_int(c->node, "p", 2);
    const tensor *x = op_in(c, 0);
    uint32_t axis;
    if (p != 1 && p != 2)
        return op_fail(c, "has p %" PRId64 "; expected 1 or 2", p);
    if (!op_axis(c, onnx_int(c->node, "axis", -1), x->rank, &axis) || !op_result_like(c, 0, x))
        return false;
    const tensor_dims s = tensor_split(x, axis);
    for (size_t line = 0; line < s.before * s.after; line++) {
        const size_t first = line / s.after * s.along * s.after + line % s.after;
        double sum = 0;
        for (size_t k = 0; k < s.along; k++) {
            const double v = tensor_number(x, first + k * s.after);
            sum += p == 1 ? fabs(v) : v * v;
        }
        const double norm = p == 1 ? sum : sqrt(sum);
        for (size_t k = 0; k < s.along; k++) {
            const size_t i = first + k * s.after;
            tensor_set_number(c->out, i, norm == 0 ? 0 : tensor_number(x, i) / norm);
        }
    }
    return true;
}

bool op_mean_variance_axes(op_call *c, uint32_t *mask)
{
    static const int64_t usual[] = {0, 2, 3};
    const onnx_attribute *a = onnx_find_attribute(c->node, "axes");
    const size_t count = a ? a->count : sizeof usual / sizeof *usual;
    *mask = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t axis;
        if (!op_axis(c, a ? a->ints[i] : usual[i], op_in(c, 0)->rank, &axis))
            return false;
        *mask |= 1u << axis;
    }
    return true;
}

/* (x - mean) / (standard deviation + 1e-9) */
bool op_mean_variance(op_call *c)
{
    const tensor *x = op_in(c, 0);
    tensor kept = *x;
    uint32_t mask;
    size_t sets = 1;
    if (!op_mean_variance_axes(c, &mask) || !op_result_like(c, 0, x))
        return false;
    for (uint32_t i = 0; i < x->rank; i++)
        sets *= (size_t)(kept.dims[i] = mask >> i & 1 ? 1 : x->dims[i]);
    moments *m = op_scratch(c, sets, sizeof *m);
    if (!m)
        return false;
    const double each = (double)x->count / (double)sets;
    op_walk w = op_walk_start(&kept, x->rank, x->dims), again = w, last = w;
    for (size_t i = 0; i < x->count; i++, op_walk_next(&w))
        m[w.offset].mean += tensor_number(x, i) / each;
    for (size_t i = 0; i < x->count; i++, op_walk_next(&again)) {
        const double d = tensor_number(x, i) - m[again.offset].mean;
        m[again.offset].variance += d * d / each;
    }
    for (size_t i = 0; i < x->count; i++, op_walk_next(&last)) {
        const moments *of = &m[last.offset];
        tensor_set_number(c->out, i,
                          (tensor_number(x, i) - of->mean) / (sqrt(of->variance) + 1e-9));
    }
    return true;
}
