// SPDX-License-Identifier: Apache-2.0
/* Pad with a constant: a 1x1 convolution per channel that pads with zeros, between an offset and
 * its opposite. The pass that folds pads merges it into the convolution after it. Pads by
 * reflection and by the edge have an operator. */
#include "formats/compiler/import/importer.h"
#include "formats/reference/operators.h"

#include <inttypes.h>
#include <math.h>

/* Sets rows and columns of a map that is padded. */
static void grow(importer *im, uint32_t value, const int64_t *pads)
{
    graph_value *out = &im->g->values[value];
    out->height += out->height ? (uint32_t)(pads[0] + pads[2]) : 0;
    out->width += out->width ? (uint32_t)(pads[1] + pads[3]) : 0;
}

static bool add_zeros(importer *im, uint32_t x, const int64_t *pads, uint32_t *made)
{
    graph_node *pad = import_inner_like(im, GRAPH_CONV, x);
    if (!pad || !graph_become_copy(im->g, pad))
        return format_fail(im->error, "out of memory");
    for (int i = 0; i < 2; i++) {
        pad->conv.window.pad_begin[i] = (uint32_t)pads[i];
        pad->conv.window.pad_end[i] = (uint32_t)pads[i + 2];
    }
    *made = pad->output;
    grow(im, *made, pads);
    return true;
}

static bool add_samples(importer *im, uint32_t x, const int64_t *pads, mona_pad_mode mode)
{
    const graph_value v = im->g->values[x];
    const int64_t rows = pads[0] > pads[2] ? pads[0] : pads[2];
    const int64_t columns = pads[1] > pads[3] ? pads[1] : pads[3];
    if (mode == MONA_PAD_REFLECT &&
        ((v.height && rows >= v.height) || (v.width && columns >= v.width)))
        return import_fail(im,
                           "reflects %" PRId64 " rows and %" PRId64 " columns of a map of %ux%u",
                           rows, columns, v.width, v.height);
    graph_node *pad = import_node_like(im, GRAPH_PAD, x);
    if (!pad)
        return false;
    pad->pad = (mona_file_pad){.mode = (uint8_t)mode,
                               .top = (uint8_t)pads[0],
                               .left = (uint8_t)pads[1],
                               .bottom = (uint8_t)pads[2],
                               .right = (uint8_t)pads[3]};
    grow(im, pad->output, pads);
    return true;
}

/* Pads of rows and columns: those before, then those after. */
static bool read_pads(importer *im, op_padding *p, int64_t *pads)
{
    if (!op_pad_read(&im->call, p))
        return import_refused(im, "pads");
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t axis = i % 4;
        const int64_t pad = i < 4 ? p->begin[axis] : p->end[axis];
        if (pad < 0 || pad > GRAPH_MAX_PAD || (pad && axis < 2))
            return import_fail(im,
                               "pads axis %u by %" PRId64 "; supported: 0 to %d of height and "
                               "width (axes 2 and 3)",
                               axis, pad, GRAPH_MAX_PAD);
        if (axis > 1)
            pads[axis - 2 + i / 4 * 2] = pad;
    }
    return true;
}

static bool pad_constant(importer *im, uint32_t x, const int64_t *pads)
{
    const graph_value *constant = import_constant(im, 2);
    const float value = constant && constant->count ? constant->data[0] : 0;
    uint32_t made = 0;
    if ((import_has(im, 2) && !constant) || !isfinite(value))
        return import_fail(im, "has a pad value that is computed or not finite");
    if (value != 0 && !import_inner_affine(im, x, 1, -value, &x))
        return false;
    if (!add_zeros(im, x, pads, &made) ||
        (value != 0 && !import_inner_affine(im, made, 1, value, &made)))
        return false;
    return import_bind(im, 0, made);
}

bool import_pad(importer *im)
{
    int64_t pads[4];
    uint32_t x;
    op_padding p;
    if (!import_tensor(im, 0, &x) || !read_pads(im, &p, pads))
        return false;
    if (p.mode == PAD_WRAP)
        return import_fail(im, "pads by mode 'wrap'; supported: constant, reflect and edge");
    const graph_value *v = &im->g->values[x];
    if (!import_fits(im, v->channels, v->height + (uint64_t)(pads[0] + pads[2]),
                     v->width + (uint64_t)(pads[1] + pads[3])))
        return false;
    return p.mode == PAD_CONSTANT
               ? pad_constant(im, x, pads)
               : add_samples(im, x, pads, p.mode == PAD_REFLECT ? MONA_PAD_REFLECT : MONA_PAD_EDGE);
}
