// SPDX-License-Identifier: Apache-2.0
/* Resize, axis by axis: each output sample is a weighted sum of some input samples of its line. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/reference/operators.h"

/* ---- attributes and sizes ----------------------------------------------------------------- */

static bool read_words(op_call *c, op_resizing *r)
{
    static const char *const modes[] = {"nearest", "linear", "cubic"};
    static const char *const coordinates[] = {
        "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",  "align_corners",
        "asymmetric", "tf_crop_and_resize",   "tf_half_pixel_for_nn"};
    static const char *const rules[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil",
                                        "simple"};
    const int mode = onnx_word(c->node, "mode", modes, 3);
    const int place = onnx_word(c->node, "coordinate_transformation_mode", coordinates, 7);
    const int rule = onnx_word(c->node, "nearest_mode", rules, 5);
    if (mode < 0)
        return op_fail(c, "asks for mode '%.30s'; supported: nearest, linear and cubic",
                       onnx_string(c->node, "mode", ""));
    if (place < 0)
        return op_fail(c, "asks for the unknown coordinate_transformation_mode '%.30s'",
                       onnx_string(c->node, "coordinate_transformation_mode", ""));
    if (rule < 0)
        return op_fail(c, "asks for the unknown nearest_mode '%.30s'",
                       onnx_string(c->node, "nearest_mode", ""));
    r->linear = mode == 1;
    r->cubic = mode == 2;
    r->coordinates = coordinates[place];
    r->crop = !strcmp(r->coordinates, "tf_crop_and_resize");
    r->nearest = rules[rule];
    r->antialias = onnx_int(c->node, "antialias", 0) && (r->cubic || r->linear);
    r->exclude_outside = onnx_int(c->node, "exclude_outside", 0) && (r->cubic || r->linear);
    r->a = (double)onnx_float(c->node, "cubic_coeff_a", -0.75f);
    r->extrapolation = (double)onnx_float(c->node, "extrapolation_value", 0);
    return true;
}

/* The axes to which scales, sizes and the region apply. */
static bool read_axes(op_call *c, uint32_t rank, uint32_t *axes, uint32_t *count)
{
    const onnx_attribute *a = onnx_find_attribute(c->node, "axes");
    *count = a && a->ints ? (uint32_t)a->count : rank;
    if (*count > rank)
        return op_fail(c, "names %u axes of %u", *count, rank);
    for (uint32_t i = 0; i < *count; i++)
        if (!op_axis(c, a && a->ints ? a->ints[i] : (int64_t)i, rank, &axes[i]))
            return false;
    return true;
}

/* Input i, if it is given and not empty; it must have `count` numbers. */
static bool numbers_of(op_call *c, uint32_t i, uint32_t count, const tensor **t)
{
    *t = op_in(c, i);
    if (!op_known(c, i))
        return false;
    if (*t && !(*t)->count)
        *t = NULL;
    return !*t || (*t)->count == count ||
           op_fail(c, "has %zu numbers in input %u; expected %u", (*t)->count, i, count);
}

/* Floats hold few ratios: 1.4 times 30 would be less than 42, and 2 / (2/3) less than 3. Exporters
 * and runtimes round that away, each in its way. Here a scale is the ratio with the smallest
 * denominator that rounds to it, so that sizes and coordinates that ought to be whole numbers or
 * halves are. */
static void set_scale(double ratio[2], double scale)
{
    enum { MAX_DENOMINATOR = 1024 };
    for (double d = 1; d <= MAX_DENOMINATOR; d++) {
        const double n = nearbyint(scale * d);
        if (n >= 1 && fabs(n / d - scale) <= scale * 0x1p-24) {
            ratio[0] = n;
            ratio[1] = d;
            return;
        }
    }
    ratio[0] = scale;
    ratio[1] = 1;
}

static double narrow_of(const op_resizing *r, const double scale[2])
{
    return r->antialias ? fmin(scale[0] / scale[1], 1) : 1;
}

/* Sizes may keep the aspect ratio, by the smaller or the larger of the scales. */
static void set_sizes(op_call *c, const tensor *sizes, const uint32_t *axes, uint32_t count,
                      op_resizing *r)
{
    const tensor *x = op_in(c, 0);
    const char *policy = onnx_string(c->node, "keep_aspect_ratio_policy", "stretch");
    const bool keep = !strcmp(policy, "not_larger") || !strcmp(policy, "not_smaller");
    double common[2] = {1, 1};
    for (uint32_t i = 0; i < count; i++) {
        const double scale[2] = {(double)tensor_int(sizes, i), (double)x->dims[axes[i]]};
        const double more = scale[0] / scale[1] - common[0] / common[1];
        if (!i || (!strcmp(policy, "not_larger") ? more < 0 : more > 0))
            memcpy(common, scale, sizeof common);
        memcpy(r->scale[axes[i]], scale, sizeof scale);
        r->out[axes[i]] = tensor_int(sizes, i);
    }
    for (uint32_t i = 0; keep && i < count; i++) {
        memcpy(r->scale[axes[i]], common, sizeof common);
        r->out[axes[i]] = (int64_t)floor(common[0] * (double)x->dims[axes[i]] / common[1] + 0.5);
    }
}

static bool read_sizes(op_call *c, op_resizing *r)
{
    const tensor *x = op_in(c, 0), *scales = NULL, *sizes = NULL, *region = NULL;
    uint32_t axes[TENSOR_MAX_RANK], count = 0;
    if (!read_axes(c, x->rank, axes, &count) || !numbers_of(c, 2, count, &scales) ||
        !numbers_of(c, 3, count, &sizes) || (r->crop && !numbers_of(c, 1, 2 * count, &region)))
        return false;
    if ((!scales && !sizes) || (r->crop && !region))
        return op_fail(c, "has neither scales nor sizes, or no region to crop");
    for (uint32_t i = 0; i < x->rank; i++) {
        r->scale[i][0] = r->scale[i][1] = 1;
        r->out[i] = x->dims[i];
        r->from[i] = 0;
        r->to[i] = 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        const double scale = sizes ? 1 : tensor_number(scales, i), dim = (double)x->dims[axes[i]];
        if (!(scale > 0) || scale * dim > TENSOR_MAX_COUNT ||
            (sizes && (tensor_int(sizes, i) < 0 || tensor_int(sizes, i) > TENSOR_MAX_COUNT ||
                       !x->dims[axes[i]])))
            return op_fail(c, "resizes a dimension of %" PRId64 " by %g, or to an impossible size",
                           x->dims[axes[i]], scale);
        if (sizes && dim < 0)
            return op_fail(c,
                           "resizes a tensor of open size to fixed sizes; give it scales instead");
        double *ratio = r->scale[axes[i]];
        set_scale(ratio, scale);
        r->out[axes[i]] = dim < 0 ? -1 : (int64_t)floor(ratio[0] * dim / ratio[1]);
        if (r->crop) {
            r->from[axes[i]] = tensor_number(region, i);
            r->to[axes[i]] = tensor_number(region, i + count);
        }
    }
    r->sized = sizes;
    if (sizes)
        set_sizes(c, sizes, axes, count, r);
    return true;
}

/* ---- one axis ----------------------------------------------------------------------------- */

/* The number of output samples between corners that are aligned. The cases of the ONNX suite do not
 * round it where linear or cubic resampling makes an axis shorter. ONNX Runtime and PyTorch round
 * it always, and so does this where the suite has no case. */
static double corner_length(const op_resize_axis *s)
{
    const bool shorter = s->scale[0] < s->scale[1] && (s->r->linear || s->r->cubic);
    return shorter ? (double)s->in * s->scale[0] / s->scale[1] : (double)s->out;
}

/* The input coordinate of output sample i. */
static double coordinate(const op_resize_axis *s, int64_t i)
{
    const char *rule = s->r->coordinates;
    const double up = s->scale[0], down = s->scale[1], x = (double)i;
    const double in = (double)s->in, out = in * up / down, corners = corner_length(s);
    if (!strcmp(rule, "align_corners"))
        return corners == 1 || s->out == 1 ? 0 : x * (in - 1) / (corners - 1);
    if (!strcmp(rule, "asymmetric"))
        return x * down / up;
    if (!strcmp(rule, "tf_half_pixel_for_nn"))
        return (x + 0.5) * down / up;
    if (s->r->crop) {
        const double span = (s->to - s->from) * (in - 1), start = s->from * (in - 1);
        return start + (s->out == 1 ? span / 2 : x * span / (out - 1));
    }
    if (!strcmp(rule, "pytorch_half_pixel") && s->out == 1)
        return 0;
    if (!strcmp(rule, "half_pixel_symmetric")) /* about the centres, so that halves stay exact */
        return (x + 0.5 - (double)s->out / 2) * down / up + in / 2 - 0.5;
    return (x + 0.5) * down / up - 0.5;
}

static double keys(double distance, double a)
{
    const double d = fabs(distance);
    if (d <= 1)
        return (a + 2) * d * d * d - (a + 3) * d * d + 1;
    return d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0;
}

const char *op_resize_rule(const op_resizing *r, const double scale[2])
{
    if (strcmp(r->nearest, "simple") != 0)
        return r->nearest;
    return scale[0] < scale[1] ? "ceil" : "floor";
}

/* ratio: the distance from the sample on the left, in (0, 1]. */
static bool nearest_is_right(const char *rule, double ratio)
{
    if (ratio == 1 || !strcmp(rule, "ceil"))
        return true;
    if (!strcmp(rule, "floor"))
        return false;
    return !strcmp(rule, "round_prefer_floor") ? ratio > 0.5 : ratio >= 0.5;
}

static double tap_weight(const op_resize_axis *s, double ratio, int64_t tap)
{
    const op_resizing *r = s->r;
    const double distance = ((double)tap - ratio) * narrow_of(r, s->scale);
    if (r->cubic)
        return keys(distance, r->a);
    if (r->linear)
        return fmax(0, 1 - fabs(distance));
    return nearest_is_right(op_resize_rule(r, s->scale), ratio) == (tap == 1);
}

bool op_resize_keeps(const op_resizing *r, const tensor *x, uint32_t axis)
{
    return r->scale[axis][0] == r->scale[axis][1] && r->out[axis] == x->dims[axis] && !r->crop;
}

bool op_resize_taps(const op_resize_axis *s, int64_t i, int64_t *places, double *weights)
{
    const double x = coordinate(s, i), left = ceil(x) - 1;
    const bool inside = x >= 0 && x <= (double)s->in - 1;
    double sum = 0;
    for (size_t k = 0; k < s->taps; k++) {
        const int64_t tap = s->first + (int64_t)k;
        const double place = left + (double)tap, last = (double)s->in - 1;
        const bool outside = place < 0 || place > last;
        weights[k] = s->r->exclude_outside && outside ? 0 : tap_weight(s, x - left, tap);
        places[k] = (int64_t)fmax(0, fmin(place, last));
        sum += weights[k];
    }
    for (size_t k = 0; k < s->taps && (s->r->antialias || s->r->exclude_outside); k++)
        weights[k] /= sum;
    return inside || !s->r->crop;
}

op_resize_axis op_resize_along(const op_resizing *r, const tensor *x, uint32_t axis)
{
    const double *scale = r->scale[axis], narrow = narrow_of(r, scale);
    op_resize_axis s = {
        r, {scale[0], scale[1]}, r->from[axis], r->to[axis], x->dims[axis], r->out[axis], 0, 2};
    if (r->cubic)
        s.first = (int64_t)floor(fmax(-2 / narrow, -RESIZE_MAX_TAPS)) + 1;
    else if (r->linear)
        s.first = (int64_t)floor(fmax(-1 / narrow, -RESIZE_MAX_TAPS)) + 1;
    s.taps = (size_t)(2 - 2 * s.first);
    return s;
}

/* data: [before][in][after] -> [before][out][after]. outside: the value of lines that lie
 * outside. */
static bool resize_axis(op_call *c, const op_resize_axis *s, size_t before, size_t after,
                        const double *data, double *to, bool *outside)
{
    double *weights = op_scratch(c, s->taps, sizeof *weights);
    int64_t *places = op_scratch(c, s->taps, sizeof *places);
    if (!weights || !places)
        return false;
    for (int64_t i = 0; i < s->out; i++) {
        outside[i] = !op_resize_taps(s, i, places, weights);
        for (size_t n = 0; n < before; n++) {
            double *line = to + (n * (size_t)s->out + (size_t)i) * after;
            memset(line, 0, after * sizeof *line);
            for (size_t k = 0; k < s->taps; k++) {
                const double w = weights[k];
                const double *from = data + (n * (size_t)s->in + (size_t)places[k]) * after;
                for (size_t m = 0; w != 0 && m < after; m++)
                    line[m] += w * from[m];
            }
        }
    }
    op_scratch_free(c, places);
    op_scratch_free(c, weights);
    return true;
}

static bool resize_all(op_call *c, const op_resizing *r)
{
    const tensor *x = op_in(c, 0);
    tensor shape = *x;
    double *data = malloc((x->count + 1) * sizeof *data);
    bool *outside[TENSOR_MAX_RANK] = {0}, ok = data;
    for (size_t i = 0; ok && i < x->count; i++)
        data[i] = tensor_number(x, i);
    for (uint32_t axis = 0; ok && axis < x->rank; axis++) {
        if (op_resize_keeps(r, x, axis))
            continue;
        const op_resize_axis s = op_resize_along(r, &shape, axis);
        const tensor_dims dims = tensor_split(&shape, axis);
        shape.dims[axis] = r->out[axis];
        ok = s.taps <= RESIZE_MAX_TAPS && tensor_shape(&shape, x->type, x->rank, shape.dims);
        double *to = ok ? malloc((shape.count + 1) * sizeof *to) : NULL;
        outside[axis] = calloc((size_t)r->out[axis] + 1, sizeof(bool));
        ok = to && outside[axis] &&
             resize_axis(c, &s, dims.before, dims.after, data, to, outside[axis]);
        free(data);
        data = to;
    }
    for (size_t i = 0; ok && i < c->out->count; i++) {
        size_t rest = i;
        double v = data[i];
        for (uint32_t k = x->rank; k-- > 0; rest /= (size_t)r->out[k])
            if (outside[k] && outside[k][rest % (size_t)r->out[k]])
                v = r->extrapolation;
        if (element_is_float(x->type))
            tensor_set_number(c->out, i, v);
        else
            tensor_set_number(c->out, i, nearbyint(v));
    }
    for (uint32_t k = 0; k < TENSOR_MAX_RANK; k++)
        free(outside[k]);
    free(data);
    return ok || op_out_of_memory(c);
}

bool op_resize_read(op_call *c, op_resizing *r)
{
    *r = (op_resizing){0};
    return read_words(c, r) && read_sizes(c, r);
}

bool op_resize(op_call *c)
{
    const tensor *x = op_in(c, 0);
    op_resizing r;
    if (!op_resize_read(c, &r))
        return false;
    for (uint32_t i = 0; i < x->rank; i++)
        if (!x->dims[i] && r.out[i])
            return op_fail(c, "enlarges an empty tensor");
    return op_result(c, 0, x->type, x->rank, r.out) && (!c->out->count || resize_all(c, &r));
}
