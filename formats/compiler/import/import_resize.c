// SPDX-License-Identifier: Apache-2.0
/* Resize and its predecessor Upsample. */
#include "engine/arith.h"
#include "formats/compiler/import/importer.h"

#include <inttypes.h>
#include <math.h>

enum { MAX_RATIO = 65536 };

/* The fraction with the smallest denominator that a float represents: scales such as 1.5 or 0.6667
 * are rounded decimals of a ratio. */
static bool to_ratio(double scale, uint32_t ratio[2])
{
    for (uint32_t d = 1; d <= 1024 && scale > 0; d++) {
        const double n = nearbyint(scale * d);
        if (n >= 1 && n <= MAX_RATIO && fabs(n / d - scale) <= 1e-7 * scale) {
            ratio[0] = (uint32_t)n;
            ratio[1] = d;
            return true;
        }
    }
    return false;
}

/* Reads four numbers, one per axis, from constant input i, which may contain only those of some
 * axes. */
static bool read_numbers(importer *im, size_t i, const double *otherwise, double *numbers,
                         bool *present)
{
    const graph_value *v = import_constant(im, i);
    const onnx_attribute *axes = onnx_find_attribute(im->node, "axes");
    const size_t count = axes && axes->ints ? axes->count : 4;
    *present = v && v->count;
    if (import_has(im, i) && !v)
        return import_fail(im, "has computed scales or sizes; expected constants");
    if (*present && (v->count != count || count > 4))
        return import_fail(im, "needs four constant scales or sizes");
    for (size_t k = 0; k < 4; k++)
        numbers[k] = otherwise[k];
    for (size_t k = 0; *present && k < count; k++) {
        const int64_t axis = axes && axes->ints ? axes->ints[k] : (int64_t)k;
        if (axis < -4 || axis > 3)
            return import_fail(im, "names axis %" PRId64 " of four", axis);
        numbers[axis < 0 ? axis + 4 : axis] = (double)v->data[k];
    }
    return true;
}

/* The axes that sizes are given for, all four unless the node names some. read_numbers has checked
 * them. */
static void named_axes(const importer *im, bool named[4])
{
    const onnx_attribute *axes = onnx_find_attribute(im->node, "axes");
    for (size_t k = 0; k < 4; k++)
        named[k] = !axes || !axes->ints;
    for (size_t k = 0; axes && axes->ints && k < axes->count; k++)
        named[(axes->ints[k] + 4) % 4] = true;
}

/* If the aspect ratio is kept, the smallest or the largest scale of all named axes determines their
 * sizes. It is the scale of all even where sizes are rounded, whereas a map's is the ratio of its
 * sizes. */
static bool keep_aspect(importer *im, const double *in, double *sizes)
{
    const bool smaller = import_text_is(im, "keep_aspect_ratio_policy", "not_larger", "");
    bool named[4];
    double scale = smaller ? HUGE_VAL : 0;
    if (!smaller && !import_text_is(im, "keep_aspect_ratio_policy", "not_smaller", ""))
        return true;
    named_axes(im, named);
    for (int i = 0; i < 4; i++)
        if (named[i])
            scale = smaller ? fmin(scale, sizes[i] / in[i]) : fmax(scale, sizes[i] / in[i]);
    for (int i = 0; i < 4; i++) {
        const double exact = scale * in[i];
        sizes[i] = named[i] ? floor(exact + 0.5) : sizes[i];
        if (named[i] && fabs(exact - sizes[i]) > 1e-6)
            return import_fail(im, "resizes to %g rows or columns, which are rounded", exact);
    }
    return true;
}

static bool set_ratio(importer *im, bool scaled, uint32_t in, double number, uint32_t ratio[2])
{
    if (!scaled && !in)
        return import_fail(im,
                           "resizes a tensor of open size to fixed sizes; give it scales instead");
    if (!scaled && number >= 1 && number <= MONA_MAX_SIDE) {
        const uint32_t out = (uint32_t)number, divisor = (uint32_t)greatest_divisor(out, in);
        ratio[0] = out / divisor;
        ratio[1] = in / divisor;
        return true;
    }
    return (scaled && to_ratio(number, ratio)) ||
           import_fail(im, "resizes by %g, which is not a ratio of integers up to 1024", number);
}

/* The ratios of rows and columns, from constant scales or sizes. */
static bool read_ratios(importer *im, const graph_value *source, mona_file_resize *resize)
{
    const double same[4] = {1, 1, 1, 1};
    const double in[4] = {1, source->channels, source->height, source->width};
    double scales[4], sizes[4];
    bool scaled, sized;
    if (!read_numbers(im, 2, same, scales, &scaled) || !read_numbers(im, 3, in, sizes, &sized))
        return false;
    if (!scaled && !sized)
        return import_fail(im, "needs four constant scales or sizes");
    const double *numbers = scaled ? scales : sizes;
    if (!scaled && source->height && !keep_aspect(im, in, sizes))
        return false;
    if (numbers[0] != 1 || numbers[1] != (scaled ? 1 : in[1]))
        return import_fail(im, "resizes batch or channels; supported: height and width");
    return set_ratio(im, scaled, source->height, numbers[2], resize->scale_h) &&
           set_ratio(im, scaled, source->width, numbers[3], resize->scale_w);
}

static bool read_mode(importer *im, mona_file_resize *resize)
{
    static const char *const modes[] = {"nearest", "linear", "cubic"}; /* as mona_resize_mode */
    const int mode = onnx_word(im->node, "mode", modes, 3);
    if (mode < 0)
        return import_fail(im, "has a mode other than nearest, linear and cubic");
    resize->mode = (uint8_t)mode;
    resize->cubic_a = onnx_float(im->node, "cubic_coeff_a", -0.75f);
    if (!(fabsf(resize->cubic_a) <= 4))
        return import_fail(im, "has a cubic_coeff_a outside -4 to 4");
    if (onnx_int(im->node, "antialias", 0) || onnx_int(im->node, "exclude_outside", 0))
        return import_fail(im, "asks for antialias or exclude_outside, which are not supported");
    return true;
}

/* The engine rounds a coordinate u to the nearest column, halves down: ceil(u - 1/2). With a ratio
 * n / d, coordinates are multiples of 1 / 2n, so shifting them by less than that gives the other
 * rules:
 *
 *   floor(u)       = ceil((u - 1/2 + 1/4n) - 1/2)
 *   ceil(u)        = ceil((u + 1/2 - 1/4n) - 1/2)
 *   floor(u + 1/2) = ceil((u + 1/8n) - 1/2) */
static const struct {
    double whole, part; /* of 1 / n */
} nearest_offsets[] = {{0, 0}, {0, 0.125}, {-0.5, 0.25}, {0.5, -0.25}};

/* *rule: of those above, 0 that of the engine. */
static bool read_nearest(importer *im, int *rule)
{
    static const char *const rules[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
    *rule = onnx_word(im->node, "nearest_mode", rules, 4);
    return *rule >= 0 || import_fail(im, "has an unknown nearest_mode");
}

static bool read_coordinates(importer *im, mona_file_resize *resize)
{
    static const char *const words[] = {"half_pixel", "pytorch_half_pixel", "align_corners",
                                        "asymmetric"};
    static const mona_resize_coordinates rules[] = {MONA_RESIZE_HALF_PIXEL, MONA_RESIZE_HALF_PIXEL,
                                                    MONA_RESIZE_ALIGN_CORNERS,
                                                    MONA_RESIZE_ASYMMETRIC};
    const int rule = onnx_word(im->node, "coordinate_transformation_mode", words, 4);
    if (rule >= 0)
        resize->coordinates = (uint8_t)rules[rule];
    return rule >= 0 ||
           import_fail(im, "has a coordinate_transformation_mode other than half_pixel, "
                           "pytorch_half_pixel, align_corners and asymmetric");
}

/* With align_corners, the engine divides by the number of samples of the result. The cases of the ONNX
 * suite divide by the exact product of size and scale, such as 3.2, where linear or cubic resampling
 * makes an axis shorter: at a fixed size, arrays do that. */
static bool corners_fit(importer *im, const graph_value *source, const mona_file_resize *resize)
{
    const uint32_t in[2] = {source->height, source->width};
    for (int i = 0; i < 2; i++) {
        const uint32_t *ratio = i ? resize->scale_w : resize->scale_h;
        if (resize->coordinates == MONA_RESIZE_ALIGN_CORNERS &&
            resize->mode != MONA_RESIZE_NEAREST && ratio[0] < ratio[1] &&
            (uint64_t)in[i] * ratio[0] % ratio[1])
            return import_fail(im,
                               "makes %u x %u / %u samples with align_corners; only whole "
                               "numbers of samples are supported",
                               in[i], ratio[0], ratio[1]);
    }
    return true;
}

/* pytorch_half_pixel is different if the result has a single row or column, which is then at 0
 * instead of 0.5 / scale - 0.5. */
static double single_offset(const importer *im, uint32_t in, const uint32_t ratio[2])
{
    return import_text_is(im, "coordinate_transformation_mode", "pytorch_half_pixel", "") && in &&
                   (uint64_t)in * ratio[0] / ratio[1] == 1
               ? (double)(0.5f - 0.5f * (float)ratio[1] / (float)ratio[0])
               : 0;
}

/* False: the engine cannot move coordinates so. */
static bool set_offsets(importer *im, const graph_value *source, int rule, graph_resize *resize)
{
    const mona_file_resize *r = &resize->record;
    const uint32_t in[2] = {source->height, source->width};
    const bool by_rule = r->mode == MONA_RESIZE_NEAREST && rule;
    const float none[2] = {0, 0};
    double offset[2];
    for (int i = 0; i < 2; i++) {
        const uint32_t *ratio = i ? r->scale_w : r->scale_h;
        resize->offset[i] = single_offset(im, in[i], ratio);
        if (by_rule)
            resize->offset[i] +=
                nearest_offsets[rule].whole + nearest_offsets[rule].part / ratio[0];
    }
    if (graph_resize_moved(resize, none, offset) &&
        (!by_rule || r->coordinates != MONA_RESIZE_ALIGN_CORNERS))
        return true;
    return import_fail(im,
                       "samples at an offset of %g and %g; supported: -1 to 1, and "
                       "align_corners with round_prefer_floor alone",
                       offset[0], offset[1]);
}

static bool add_resize(importer *im, uint32_t x, const graph_resize *resize)
{
    const graph_value v = im->g->values[x];
    const mona_file_resize *r = &resize->record;
    const uint64_t height = (uint64_t)v.height * r->scale_h[0] / r->scale_h[1];
    const uint64_t width = (uint64_t)v.width * r->scale_w[0] / r->scale_w[1];
    const uint32_t max = MONA_MAX_SIDE + 1; /* anything larger is refused below */
    graph_node *made =
        import_node(im, 0, GRAPH_RESIZE, x, v.channels, height < max ? (uint32_t)height : max,
                    width < max ? (uint32_t)width : max);
    if (made)
        made->resize = *resize;
    return made;
}

/* Inputs: X, roi, scales, sizes. */
bool import_resize(importer *im)
{
    graph_resize resize = {0};
    mona_file_resize *r = &resize.record;
    uint32_t x;
    int rule;
    return import_tensor(im, 0, &x) && read_mode(im, r) && read_ratios(im, &im->g->values[x], r) &&
           read_coordinates(im, r) && read_nearest(im, &rule) &&
           corners_fit(im, &im->g->values[x], r) &&
           set_offsets(im, &im->g->values[x], rule, &resize) && add_resize(im, x, &resize);
}
