// SPDX-License-Identifier: Apache-2.0
/* Operators that change only the shape: the same numbers in the same order. */
#include "formats/compiler/import/importer.h"

#include <inttypes.h>

/* The shape that folding found for output 0; NULL: unknown. */
static const tensor *known_shape(const importer *im)
{
    const onnx_value *v = &im->model->values[im->node->outputs[0]];
    return v->shaped ? &v->tensor : NULL;
}

/* Binds output 0 by its shape. *done: that was all there is to do. */
static bool bind_shape(importer *im, uint32_t *x, bool *done)
{
    const tensor *shape = known_shape(im);
    *done = false;
    if (!import_elements(im, 0, x))
        return false;
    const graph_value *v = &im->g->values[*x];
    const bool ordered = v->channels == 1 || v->height * v->width == 1;
    const bool last = import_is_last(im, 0) && !(shape && ordered);
    if (last && (!shape || shape->rank < 2 || shape->dims[shape->rank - 1] != v->channels))
        return import_fail(im, "reshapes a tensor whose channels come last");
    *done = shape && import_bind_shape(im, *x, shape->rank, last);
    return *done || !shape;
}

bool import_flatten(importer *im)
{
    uint32_t x;
    bool done;
    const int64_t axis = onnx_int(im->node, "axis", 1);
    if (!bind_shape(im, &x, &done) || done)
        return done;
    /* As the batch is one frame, everything before axis 1 is 1, and so is everything before axis
     * 0. */
    const int64_t rank = import_shape(im, 0).rank;
    const int64_t from = axis < 0 ? axis + rank : axis;
    if (from != 0 && from != 1)
        return import_fail(im, "keeps more dimensions than the batch (axis %" PRId64 ")", axis);
    return import_bind_shape(im, x, 2, false);
}

bool import_reshape_view(importer *im, const int64_t *shape, uint32_t rank)
{
    uint32_t x;
    bool done;
    if (!bind_shape(im, &x, &done) || done)
        return done;
    const graph_value *v = &im->g->values[x];
    const uint64_t all = (uint64_t)v->channels * v->height * v->width; /* 0: unknown */
    if (rank == 6)
        return import_tensor(im, 0, &x) && import_bind_shape(im, x, rank, false);
    if (rank != 2)
        return import_fail(im,
                           "makes %u dimensions of a map of any size; supported: 2, or 6 "
                           "as a part of depth-to-space",
                           rank);
    /* 0 copies a dimension: that of the batch, or the second one. */
    const uint64_t second = import_shape(im, 0).rank == 2 ? all : v->channels;
    const bool batch = shape[0] == 1 || shape[0] == 0 || (shape[0] == -1 && shape[1] != -1);
    const bool rest =
        shape[1] == -1 || (shape[1] == 0 ? second == all : !all || (uint64_t)shape[1] == all);
    if (!batch || !rest)
        return import_fail(im,
                           "makes [%" PRId64 ", %" PRId64 "] of %u channels of %ux%u; with "
                           "two dimensions, only [1, n] is supported",
                           shape[0], shape[1], v->channels, v->width, v->height);
    return import_bind_shape(im, x, 2, false);
}

bool import_squeeze(importer *im)
{
    uint32_t x;
    bool done, spatial;
    if (!bind_shape(im, &x, &done) || done)
        return done;
    if (!import_tensor(im, 0, &x) || !import_spatial_axes(im, &spatial))
        return false;
    const graph_value *v = &im->g->values[x];
    if (!spatial || v->height != 1 || v->width != 1)
        return import_fail(im,
                           "is supported for height and width (axes 2 and 3) of a 1x1 map alone");
    return import_bind_shape(im, x, 2, false);
}

bool import_unsqueeze(importer *im)
{
    uint32_t x;
    bool done;
    if (!bind_shape(im, &x, &done) || done)
        return done;
    return import_fail(im, "adds a dimension to a tensor of open size; give the model a size "
                           "(--size WxH, --dim NAME=N)");
}

/* Casts between float types keep the numbers except for rounding. */
bool import_cast(importer *im)
{
    const int64_t to = onnx_int(im->node, "to", 0);
    uint32_t x;
    if (!import_elements(im, 0, &x))
        return false;
    const onnx_value *from = &im->model->values[im->node->inputs[0]];
    const bool wide = to == ELEMENT_FLOAT32 || to == ELEMENT_FLOAT16 || to == ELEMENT_DOUBLE;
    const import_quantisation q = import_quantisation_of(im, 0);
    if (q.scale > 0) {
        if (!wide || q.scale != 1 || q.zero)
            return import_fail(im, "reads integers that stand for other numbers");
        if (!import_inner_affine(im, x, 1, 0, &x) || !import_bind(im, 0, x))
            return false;
        im->bindings[im->node->outputs[0]].quantisation = (import_quantisation){0};
        return true;
    }
    if (!wide || (from->shaped && !element_is_float(from->tensor.type)))
        return import_fail(im, "makes %s; supported: casts between float16, float32 and double",
                           element_name(to));
    return import_bind(im, 0, x);
}
