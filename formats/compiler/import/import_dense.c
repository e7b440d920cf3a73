// SPDX-License-Identifier: Apache-2.0
/* Matrix products with constants. For a flattened map, the product is a convolution whose filter
 * covers the whole map: there is one output pixel, and the weights are in the order of the
 * flattened map. For a tensor whose channels come last, it is a 1x1 convolution. */
#include "formats/compiler/import/importer.h"
#include "formats/reference/operators.h"

#include <inttypes.h>
#include <math.h>

/* Elements of a map; 0: unknown. */
static uint64_t elements_of(const importer *im, uint32_t x)
{
    const graph_value *v = &im->g->values[x];
    return (uint64_t)v->channels * v->height * v->width;
}

/* ---- matrix products ---------------------------------------------------------------------- */

float *import_matrix(importer *im, size_t i, bool transposed, float alpha, uint64_t inputs,
                     uint32_t *outputs)
{
    const graph_value *m = import_constant(im, i);
    if (!m || m->rank != 2) {
        import_fail(im, "needs a constant matrix of two dimensions as its second operand");
        return NULL;
    }
    const uint64_t rows = m->dims[transposed ? 1 : 0], columns = m->dims[transposed ? 0 : 1];
    if (rows != inputs || !columns || columns > MONA_MAX_CHANNELS) {
        import_fail(im, "multiplies %" PRIu64 " numbers by a matrix of %" PRIu64 "x%" PRIu64,
                    inputs, rows, columns);
        return NULL;
    }
    const float *from = m->data;
    float *to = graph_alloc(im->g, m->count, sizeof *to);
    for (uint64_t o = 0; to && o < columns; o++)
        for (uint64_t k = 0; k < rows; k++) {
            to[o * rows + k] = alpha * from[transposed ? o * rows + k : k * columns + o];
            if (!isfinite(to[o * rows + k])) {
                import_fail(im, "has a weight that is infinite or not a number");
                return NULL;
            }
        }
    *outputs = (uint32_t)columns;
    if (!to)
        format_fail(im->error, "out of memory");
    return to;
}

/* One number per output, times beta; zeros if the node has none. */
static float *read_bias(importer *im, float beta, uint32_t outputs)
{
    const graph_value *b = import_constant(im, 2);
    if (import_has(im, 2) &&
        (!b || b->rank > 2 ||
         (b->count != 1 && (b->count != outputs || b->dims[b->rank - 1] != outputs)))) {
        import_fail(im, "has a bias that is not a constant of 1 or %u elements", outputs);
        return NULL;
    }
    const float *from = b ? b->data : NULL;
    const bool one = b && b->count == 1;
    float *bias = graph_alloc(im->g, outputs, sizeof *bias);
    for (uint32_t o = 0; bias && from && o < outputs; o++) {
        bias[o] = beta * from[one ? 0 : o];
        if (!isfinite(bias[o])) {
            import_fail(im, "has a bias that is infinite or not a number");
            return NULL;
        }
    }
    if (!bias)
        format_fail(im->error, "out of memory");
    return bias;
}

bool import_whole_window(importer *im, uint32_t x, graph_window *w)
{
    const graph_value *source = &im->g->values[x];
    *w = (graph_window){
        .kernel = {source->height, source->width}, .stride = {1, 1}, .dilation = {1, 1}};
    return (source->height && source->height <= GRAPH_MAX_KERNEL &&
            source->width <= GRAPH_MAX_KERNEL) ||
           import_fail(im,
                       "multiplies a flattened map of %ux%u (0: any size); supported: fixed "
                       "sizes up to %dx%d",
                       source->width, source->height, GRAPH_MAX_KERNEL, GRAPH_MAX_KERNEL);
}

enum { ROWS_PAY = 1 << 18 }; /* multiply-adds from which converting arrays to maps pays */

/* Whether input 0 is an array of rows, on which an operator with this work for each element is
 * worth a conversion. */
static bool rows_pay(const importer *im, uint64_t work)
{
    const onnx_value *v = &im->model->values[im->node->inputs[0]];
    const uint32_t rank = v->shaped ? v->tensor.rank : 0;
    const int64_t channels = rank > 1 ? v->tensor.dims[rank - 1] : 0;
    const int64_t rows = channels ? (int64_t)v->tensor.count / channels : 0;
    return import_bound(im, 0) == UINT32_MAX && rows > 1 && rows <= MONA_MAX_SIDE &&
           channels <= MONA_MAX_CHANNELS && im->bindings[im->node->inputs[0]].array != UINT32_MAX &&
           element_is_float(v->tensor.type) && v->tensor.count * work >= ROWS_PAY;
}

/* The channels of x, if they come last, and else all of it are multiplied by the matrix. */
static bool multiplied(importer *im, bool transposed, uint32_t *x, graph_window *w, uint64_t *count)
{
    const graph_value *matrix = import_constant(im, 1);
    const uint64_t outputs = matrix && matrix->rank == 2 ? matrix->dims[transposed ? 0 : 1] : 0;
    if (rows_pay(im, outputs) && !import_rows_as_map(im, 0))
        return false;
    if (!import_is_last(im, 0)) {
        if (!import_flat(im, 0, x) || !import_whole_window(im, *x, w))
            return false;
        *count = elements_of(im, *x);
        return true;
    }
    *w = (graph_window){.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    if (!import_elements(im, 0, x))
        return false;
    *count = im->g->values[*x].channels;
    return true;
}

bool import_gemm(importer *im)
{
    const op_gemm_form form = op_gemm_read(im->node);
    uint32_t x, outputs = 0;
    uint64_t count = 0;
    graph_conv conv = {.groups = 1};
    if (form.turn_a)
        return import_fail(im, "transposes its first operand");
    if (!multiplied(im, form.turn_b, &x, &conv.window, &count))
        return false;
    conv.weights = import_matrix(im, 1, form.turn_b, form.alpha, count, &outputs);
    conv.bias = conv.weights ? read_bias(im, form.beta, outputs) : NULL;
    if (!conv.bias)
        return false;
    if (form.alpha == 1)
        conv.weight_scales = import_weight_scales(im, 1, form.turn_b ? 0 : 1, outputs);
    return import_add_conv(im, &conv, x, outputs);
}

/* Of the last dimension, where that is the channels. */
bool import_layer_norm(importer *im)
{
    enum { WORK = 16 };
    const float epsilon = onnx_float(im->node, "epsilon", 1e-5f);
    uint32_t x = UINT32_MAX;
    if (rows_pay(im, WORK) ? !import_rows_as_map(im, 0) : import_bound(im, 0) == UINT32_MAX)
        return im->error->text[0] ? false : import_fail(im, "reads an array");
    if (!import_elements(im, 0, &x))
        return false;
    const graph_value *scale = import_constant(im, 1), *bias = import_constant(im, 2);
    const uint32_t channels = im->g->values[x].channels;
    const bool results = im->node->output_count > 1 && im->node->outputs[1] != ONNX_NONE;
    if (!import_is_last(im, 0) || results ||
        !import_is_channel_axis(im, 0, onnx_int(im->node, "axis", -1)) || !scale ||
        (import_has(im, 2) && !bias) || !(epsilon >= 1e-20f && epsilon <= 1e20f))
        return import_fail(im, "does not normalise the channels, which come last, by constants");
    float *gain = import_per_channel(im, scale, channels);
    float *shift = bias ? import_per_channel(im, import_constant(im, 2), channels)
                        : graph_alloc(im->g, channels, sizeof *shift);
    graph_node *made = gain && shift ? import_node_like(im, GRAPH_NORMALISE, x) : NULL;
    if (!made)
        return im->error->text[0] ? false : format_fail(im->error, "out of memory");
    made->normalise.gain = gain;
    made->normalise.shift = shift;
    made->normalise.epsilon = epsilon;
    return true;
}
