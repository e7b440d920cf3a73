// SPDX-License-Identifier: Apache-2.0
/* Operators that select elements: slices, splits, pads. */
#include <inttypes.h>
#include <string.h>

#include "formats/reference/operators.h"

/* ---- slices ------------------------------------------------------------------------------- */

/* For each axis: the first element, the step and the count. */
typedef struct cut {
    int64_t first[TENSOR_MAX_RANK], step[TENSOR_MAX_RANK], count[TENSOR_MAX_RANK];
} cut;

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* Negative bounds count from the end; bounds are then limited to the valid range. A start before
 * the first element is the first one, backwards too, unlike in Python. */
op_span op_taken_of(const op_taken *t, int64_t dim)
{
    const bool back = t->step < 0;
    const int64_t max = back ? dim - 1 : dim;
    const int64_t start = clamp(t->start < 0 ? t->start + dim : t->start, 0, max);
    const int64_t end = clamp(t->end < 0 ? t->end + dim : t->end, back ? -1 : 0, max);
    const int64_t distance = back ? start - end : end - start, stride = back ? -t->step : t->step;
    return (op_span){start, t->step, dim && distance > 0 ? (distance - 1) / stride + 1 : 0};
}

static void set_cut(cut *s, uint32_t axis, op_span taken)
{
    s->first[axis] = taken.first;
    s->step[axis] = taken.step;
    s->count[axis] = taken.count;
}

static bool take(op_call *c, uint32_t output, const cut *s)
{
    const tensor *x = op_in(c, 0);
    tensor *out = &c->out[output];
    op_walk w = {.rank = x->rank};
    size_t step = 1;
    if (!op_result(c, output, x->type, x->rank, s->count))
        return false;
    if (c->shapes_only || !op_wants(c, output)) /* of one output among several */
        return true;
    for (uint32_t i = x->rank; i-- > 0;) {
        w.dims[i] = s->count[i];
        w.stride[i] = (size_t)s->step[i] * step; /* wraps for negative steps, and wraps back */
        w.offset += (size_t)s->first[i] * step;
        step *= (size_t)x->dims[i];
    }
    op_move(x, w, out);
    return true;
}

bool op_slice_read(op_call *c, op_taken *taken)
{
    const tensor *x = op_in(c, 0);
    int64_t list[4][TENSOR_MAX_RANK]; /* starts, ends, axes, steps */
    uint32_t counts[4];
    for (uint32_t i = 0; i < TENSOR_MAX_RANK; i++)
        taken[i] = (op_taken){0, INT64_MAX, 1};
    for (uint32_t i = 0; i < 4; i++)
        if (!op_ints(c, i + 1, list[i], TENSOR_MAX_RANK, &counts[i]))
            return false;
    if (counts[1] != counts[0] || (counts[2] && counts[2] != counts[0]) ||
        (counts[3] && counts[3] != counts[0]))
        return op_fail(c, "has %u starts, %u ends, %u axes and %u steps", counts[0], counts[1],
                       counts[2], counts[3]);
    for (uint32_t i = 0; i < counts[0]; i++) {
        const int64_t step = counts[3] ? list[3][i] : 1;
        uint32_t axis;
        if (!op_axis(c, counts[2] ? list[2][i] : i, x->rank, &axis))
            return false;
        if (!step || step < -(int64_t)TENSOR_MAX_COUNT * 2 || step == INT64_MIN)
            return op_fail(c, "has a step of %" PRId64, step);
        taken[axis] = (op_taken){list[0][i], list[1][i], step};
    }
    return true;
}

bool op_slice(op_call *c)
{
    op_taken taken[TENSOR_MAX_RANK];
    cut s;
    if (!op_slice_read(c, taken))
        return false;
    for (uint32_t i = 0; i < op_in(c, 0)->rank; i++)
        set_cut(&s, i, op_taken_of(&taken[i], op_in(c, 0)->dims[i]));
    return take(c, 0, &s);
}

bool op_split_read(op_call *c, uint32_t *axis, int64_t *sizes)
{
    const tensor *x = op_in(c, 0), *list = op_in(c, 1);
    const uint32_t parts = c->out_count;
    if (!op_axis(c, onnx_int(c->node, "axis", 0), x->rank, axis) || !op_known(c, 1))
        return false;
    if (list && list->count != parts)
        return op_fail(c, "has %zu sizes for %u parts", list->count, parts);
    if (!parts)
        return op_fail(c, "has no output");
    /* Parts of equal size; the last one may be smaller. */
    const int64_t dim = x->dims[*axis], part = (dim + parts - 1) / parts;
    int64_t left = dim;
    for (uint32_t i = 0; i < parts; left -= sizes[i++]) {
        sizes[i] = list ? tensor_int(list, i) : part < left ? part : left;
        if (sizes[i] < 0 || sizes[i] > left)
            return op_fail(c, "splits a dimension of %" PRId64 " into parts that do not fit", dim);
    }
    return !left || op_fail(c, "does not split all of its input");
}

bool op_split(op_call *c)
{
    static const op_taken all = {0, INT64_MAX, 1};
    const tensor *x = op_in(c, 0);
    int64_t *sizes = op_scratch(c, c->out_count, sizeof *sizes);
    uint32_t axis = 0;
    cut s;
    if (!sizes || !op_split_read(c, &axis, sizes))
        return false;
    for (uint32_t i = 0; i < x->rank; i++)
        set_cut(&s, i, op_taken_of(&all, x->dims[i]));
    int64_t first = x->dims[axis];
    for (uint32_t i = c->out_count; i-- > 0;) {
        first -= sizes[i];
        set_cut(&s, axis, (op_span){first, 1, sizes[i]});
        if (!take(c, i, &s))
            return false;
    }
    return true;
}

/* ---- pads --------------------------------------------------------------------------------- */

/* The sample for this position along an axis; -1: none, the constant is used. */
static int64_t padded_at(op_pad_mode mode, int64_t at, int64_t dim)
{
    if (at >= 0 && at < dim)
        return at;
    if (!dim || mode == PAD_CONSTANT)
        return -1;
    if (mode == PAD_EDGE || dim == 1)
        return at < 0 ? 0 : dim - 1;
    const int64_t period = mode == PAD_WRAP ? dim : 2 * (dim - 1);
    const int64_t rest = (at % period + period) % period;
    return rest < dim ? rest : period - rest;
}

/* Pads of the named axes, or of all. */
bool op_pad_read(op_call *c, op_padding *p)
{
    static const char *const names[] = {"constant", "edge", "reflect", "wrap"};
    const int mode = onnx_word(c->node, "mode", names, 4);
    const uint32_t rank = op_in(c, 0)->rank;
    int64_t pads[2 * TENSOR_MAX_RANK], axes[TENSOR_MAX_RANK];
    uint32_t count, named;
    *p = (op_padding){.mode = (op_pad_mode)mode};
    if (mode < 0)
        return op_fail(c, "asks for mode '%.30s'; supported: constant, edge, reflect and wrap",
                       onnx_string(c->node, "mode", ""));
    if (!op_ints(c, 1, pads, 2 * TENSOR_MAX_RANK, &count) ||
        !op_ints(c, 3, axes, TENSOR_MAX_RANK, &named))
        return false;
    const uint32_t axis_count = op_in(c, 3) ? named : rank;
    if (count != 2 * axis_count)
        return op_fail(c, "has %u pads for %u dimensions", count, axis_count);
    for (uint32_t i = 0; i < axis_count; i++) {
        uint32_t axis;
        const int64_t max = TENSOR_MAX_COUNT, before = pads[i], after = pads[i + axis_count];
        if (!op_axis(c, op_in(c, 3) ? axes[i] : i, rank, &axis))
            return false;
        if (before < -max || before > max || after < -max || after > max)
            return op_fail(c, "pads by %" PRId64 " and %" PRId64, before, after);
        p->begin[axis] = before;
        p->end[axis] = after;
    }
    return true;
}

bool op_pad(op_call *c)
{
    const tensor *x = op_in(c, 0), *value = op_in(c, 2);
    int64_t dims[TENSOR_MAX_RANK];
    op_padding p;
    if (!op_pad_read(c, &p))
        return false;
    for (uint32_t i = 0; i < x->rank; i++)
        dims[i] = x->dims[i] + p.begin[i] + p.end[i];
    if (!op_result(c, 0, x->type, x->rank, dims))
        return false;
    for (size_t i = 0; i < c->out->count; i++) {
        size_t rest = i, from = 0, step = 1;
        bool inside = true;
        for (uint32_t k = x->rank; k-- > 0;) {
            const int64_t at = (int64_t)(rest % (size_t)dims[k]) - p.begin[k];
            const int64_t sample = padded_at(p.mode, at, x->dims[k]);
            inside = inside && sample >= 0;
            from += inside ? (size_t)sample * step : 0;
            rest /= (size_t)dims[k];
            step *= (size_t)x->dims[k];
        }
        if (inside)
            memcpy(tensor_at(c->out, i), tensor_at(x, from), element_size(x->type));
        else if (value && value->count && element_is_float(x->type))
            tensor_set_number(c->out, i, tensor_number(value, 0));
        else if (value && value->count)
            tensor_set_int(c->out, i, tensor_int(value, 0));
    }
    return true;
}
