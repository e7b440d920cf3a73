// SPDX-License-Identifier: Apache-2.0
/* Resize of arrays, axis by axis; the reference computes the weights. */
#include "formats/compiler/import/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/reference/operators.h"

enum { MAX_ENTRIES = 1 << 24 }; /* of a table */

/* Adds the taps of output i that have an effect; *count is the number of entries so far. */
static void add_taps(const op_resize_axis *s, int64_t i, int64_t *places, double *weights,
                     uint32_t *index, float *weight, uint32_t *count)
{
    if (!op_resize_taps(s, i, places, weights))
        return; /* it is the fill */
    for (size_t k = 0; k < s->taps; k++)
        if ((float)weights[k] != 0) {
            index[*count] = (uint32_t)places[k];
            weight[(*count)++] = (float)weights[k];
        }
}

static array resize_axis(importer *im, const op_resizing *r, array x, uint32_t axis)
{
    tensor shape = {.rank = x.rank};
    memcpy(shape.dims, x.dims, sizeof shape.dims);
    const op_resize_axis s = op_resize_along(r, &shape, axis);
    if (s.taps > RESIZE_MAX_TAPS || s.taps * (uint64_t)s.out > MAX_ENTRIES)
        return array_fail(im, "takes %zu samples for each of %lld", s.taps, (long long)s.out);
    const size_t entries = s.taps * (size_t)s.out;
    uint32_t *first = graph_alloc(im->g, (size_t)s.out + 1, sizeof *first);
    uint32_t *index = graph_alloc(im->g, entries + 1, sizeof *index), count = 0;
    float *weight = graph_alloc(im->g, entries + 1, sizeof *weight);
    int64_t *places = calloc(s.taps + 1, sizeof *places);
    double *weights = calloc(s.taps + 1, sizeof *weights);
    const bool ok = first && index && weight && places && weights;
    for (int64_t i = 0; ok && i < s.out; i++) {
        add_taps(&s, i, places, weights, index, weight, &count);
        first[i + 1] = count;
    }
    free(places);
    free(weights);
    const array_taps taps = {(uint32_t)s.out, first, index, weight, (float)r->extrapolation};
    return ok ? array_resample(im, MONA_F32, x, axis, &taps)
              : array_fail(im, "needs more memory than there is");
}

/* Where ONNX Runtime and PyTorch divide by the rounded length (see the reference's resize.c). */
static bool differs_elsewhere(const op_resizing *r, const tensor *x)
{
    bool differs = false;
    for (uint32_t i = 0; i < x->rank && !strcmp(r->coordinates, "align_corners"); i++)
        differs |= r->scale[i][0] < r->scale[i][1] &&
                   fmod((double)x->dims[i] * r->scale[i][0], r->scale[i][1]) != 0;
    return differs && (r->linear || r->cubic);
}

bool import_array_resize(importer *im)
{
    const mona_type type = array_result_type(im, 0);
    array x = array_in(im, 0);
    op_resizing r;
    if (!array_ok(x))
        return false;
    if (!op_resize_read(&im->call, &r))
        return im->call.unknown && import_fail(im, "has computed scales or sizes");
    if (!r.linear && !r.cubic && !r.crop)
        return import_array_move(im);
    if (differs_elsewhere(&r, im->in[0]) &&
        !import_warn(im,
                     "shrinks with align_corners to a length that is rounded: samples lie where "
                     "the ONNX suite's cases have them, but elsewhere in ONNX Runtime and "
                     "PyTorch; with sizes in place of scales all agree"))
        return false;
    for (uint32_t axis = 0; axis < x.rank; axis++)
        if (!op_resize_keeps(&r, im->in[0], axis))
            x = resize_axis(im, &r, x, axis);
    const array_function rounded = {
        .code = MONA_FN_COPY, .arithmetic = MONA_FLOAT, .conversion = MONA_SATURATE};
    return array_bind(im, 0,
                      array_is_float(type) ? array_cast(im, type, x)
                                           : array_map(im, type, &rounded, 1, &x));
}
