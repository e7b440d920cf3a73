// SPDX-License-Identifier: Apache-2.0
/* Resize and its predecessor Upsample. */
#include "engine/arith.h"
#include "formats/compiler/import/importer.h"
#include "formats/reference/operators.h"

#include <math.h>
#include <string.h>

/* The ratio of an axis of rows or columns, in lowest terms. If the aspect ratio is kept, the scale
 * is that of all axes even where their sizes are rounded, whereas a map's is the ratio of its
 * sizes. */
static bool set_ratio(importer *im, const op_resizing *r, uint32_t axis, int64_t in,
                      uint32_t ratio[2])
{
    enum { MAX_RATIO = 65536 };
    const double *scale = r->scale[axis], exact = scale[0] / scale[1] * (double)in;
    if (r->sized && fabs(exact - (double)r->out[axis]) > 1e-6)
        return import_fail(im, "resizes to %g rows or columns, which are rounded", exact);
    if (scale[0] < 1 || scale[0] > MAX_RATIO || scale[1] > MAX_RATIO || scale[0] != floor(scale[0]))
        return import_fail(im, "resizes by %g, which is not a ratio of integers up to 1024",
                           scale[0] / scale[1]);
    const uint32_t up = (uint32_t)scale[0], down = (uint32_t)scale[1];
    const uint32_t divisor = (uint32_t)greatest_divisor(up, down);
    ratio[0] = up / divisor;
    ratio[1] = down / divisor;
    return true;
}

static bool set_ratios(importer *im, const op_resizing *r, const tensor *x,
                       mona_file_resize *resize)
{
    if (!op_resize_keeps(r, x, 0) || !op_resize_keeps(r, x, 1))
        return import_fail(im, "resizes batch or channels; supported: height and width");
    return set_ratio(im, r, 2, x->dims[2], resize->scale_h) &&
           set_ratio(im, r, 3, x->dims[3], resize->scale_w);
}

static bool set_mode(importer *im, const op_resizing *r, mona_file_resize *resize)
{
    resize->mode = (uint8_t)(r->cubic    ? MONA_RESIZE_CUBIC
                             : r->linear ? MONA_RESIZE_LINEAR
                                         : MONA_RESIZE_NEAREST);
    resize->cubic_a = (float)r->a;
    if (!(fabs(r->a) <= 4))
        return import_fail(im, "has a cubic_coeff_a outside -4 to 4");
    if (r->antialias || r->exclude_outside)
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

/* Which of those above along an axis, 0 that of the engine. */
static int nearest_rule(const op_resizing *r, int axis)
{
    const char *name = op_resize_rule(r, r->scale[axis]);
    static const char *const rules[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
    int rule = 3;
    while (rule && strcmp(name, rules[rule]) != 0)
        rule--;
    return rule;
}

static bool set_coordinates(importer *im, const op_resizing *r, mona_file_resize *resize)
{
    static const struct {
        const char *name;
        mona_resize_coordinates rule;
    } rows[] = {{"half_pixel", MONA_RESIZE_HALF_PIXEL},
                {"pytorch_half_pixel", MONA_RESIZE_HALF_PIXEL},
                {"align_corners", MONA_RESIZE_ALIGN_CORNERS},
                {"asymmetric", MONA_RESIZE_ASYMMETRIC}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(r->coordinates, rows[i].name)) {
            resize->coordinates = (uint8_t)rows[i].rule;
            return true;
        }
    return import_fail(im, "has a coordinate_transformation_mode other than half_pixel, "
                           "pytorch_half_pixel, align_corners and asymmetric");
}

/* With align_corners, the engine divides by the number of samples of the result. The cases of the
 * ONNX suite divide by the exact product of size and scale, such as 3.2, where linear or cubic
 * resampling makes an axis shorter: at a fixed size, arrays do that. */
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
static bool set_offsets(importer *im, const graph_value *source, const op_resizing *r,
                        mona_file_resize *resize)
{
    const uint32_t in[2] = {source->height, source->width};
    bool by_rule = false;
    double offset[2];
    for (int i = 0; i < 2; i++) {
        const uint32_t *ratio = i ? resize->scale_w : resize->scale_h;
        const int rule = resize->mode == MONA_RESIZE_NEAREST ? nearest_rule(r, 2 + i) : 0;
        offset[i] = single_offset(im, in[i], ratio) + nearest_offsets[rule].whole +
                    nearest_offsets[rule].part / ratio[0];
        by_rule = by_rule || rule;
    }
    resize->offset_h = (float)offset[0];
    resize->offset_w = (float)offset[1];
    return (fabs(offset[0]) <= 1 && fabs(offset[1]) <= 1 &&
            (!by_rule || resize->coordinates != MONA_RESIZE_ALIGN_CORNERS)) ||
           import_fail(im,
                       "samples at an offset of %g and %g; supported: -1 to 1, and "
                       "align_corners with round_prefer_floor alone",
                       offset[0], offset[1]);
}

static bool add_resize(importer *im, uint32_t x, const mona_file_resize *r)
{
    const graph_value v = im->g->values[x];
    const uint64_t height = (uint64_t)v.height * r->scale_h[0] / r->scale_h[1];
    const uint64_t width = (uint64_t)v.width * r->scale_w[0] / r->scale_w[1];
    const uint32_t max = MONA_MAX_SIDE + 1; /* anything larger is refused below */
    graph_node *made =
        import_node(im, 0, GRAPH_RESIZE, x, v.channels, height < max ? (uint32_t)height : max,
                    width < max ? (uint32_t)width : max);
    if (made)
        made->resize = *r;
    return made;
}

bool import_resize(importer *im)
{
    mona_file_resize to = {0};
    op_resizing r;
    uint32_t x;
    if (!import_tensor(im, 0, &x))
        return false;
    if (!op_resize_read(&im->call, &r))
        return im->call.unknown &&
               import_fail(im, "has computed scales or sizes; expected constants");
    return set_mode(im, &r, &to) && set_coordinates(im, &r, &to) &&
           set_ratios(im, &r, im->in[0], &to) && corners_fit(im, &im->g->values[x], &to) &&
           set_offsets(im, &im->g->values[x], &r, &to) && add_resize(im, x, &to);
}
