// SPDX-License-Identifier: Apache-2.0
/* Matrix products of flattened maps with constants. They are convolutions whose filter covers the
 * whole map: there is one output pixel, and the weights are in the order of the flattened map. */
#include "formats/compiler/import/importer.h"

#include <inttypes.h>
#include <math.h>

/* Elements of a map; 0: unknown. */
static uint64_t elements_of(const importer *im, uint32_t x)
{
    const graph_value *v = &im->g->values[x];
    return (uint64_t)v->channels * v->height * v->width;
}

/* ---- matrix products ---------------------------------------------------------------------- */

float *import_matrix(importer *im, const onnx_node *node, size_t i, bool transposed, float alpha,
                     uint64_t inputs, uint32_t *outputs)
{
    const graph_value *m = import_constant(im, node, i);
    if (!m || m->rank != 2) {
        import_fail(im, node, "needs a constant matrix of two dimensions as its second operand");
        return NULL;
    }
    const uint64_t rows = m->dims[transposed ? 1 : 0], columns = m->dims[transposed ? 0 : 1];
    if (rows != inputs || !columns || columns > MONA_MAX_CHANNELS) {
        import_fail(im, node, "multiplies %" PRIu64 " numbers by a matrix of %" PRIu64 "x%" PRIu64,
                    inputs, rows, columns);
        return NULL;
    }
    const float *from = m->data;
    float *to = graph_alloc(im->g, m->count, sizeof *to);
    for (uint64_t o = 0; to && o < columns; o++)
        for (uint64_t k = 0; k < rows; k++) {
            to[o * rows + k] = alpha * from[transposed ? o * rows + k : k * columns + o];
            if (!isfinite(to[o * rows + k])) {
                import_fail(im, node, "has a weight that is infinite or not a number");
                return NULL;
            }
        }
    *outputs = (uint32_t)columns;
    if (!to)
        format_fail(im->error, "out of memory");
    return to;
}

/* One number per output, times beta; zeros if the node has none. */
static float *read_bias(importer *im, const onnx_node *node, float beta, uint32_t outputs)
{
    const graph_value *b = import_constant(im, node, 2);
    if (import_has(node, 2) &&
        (!b || b->rank > 2 ||
         (b->count != 1 && (b->count != outputs || b->dims[b->rank - 1] != outputs)))) {
        import_fail(im, node, "has a bias that is not a constant of 1 or %u elements", outputs);
        return NULL;
    }
    const float *from = b ? b->data : NULL;
    const bool one = b && b->count == 1;
    float *bias = graph_alloc(im->g, outputs, sizeof *bias);
    for (uint32_t o = 0; bias && from && o < outputs; o++) {
        bias[o] = beta * from[one ? 0 : o];
        if (!isfinite(bias[o])) {
            import_fail(im, node, "has a bias that is infinite or not a number");
            return NULL;
        }
    }
    if (!bias)
        format_fail(im->error, "out of memory");
    return bias;
}

bool import_whole_window(importer *im, const onnx_node *node, uint32_t x, graph_window *w)
{
    const graph_value *source = &im->g->values[x];
    *w = (graph_window){
        .kernel = {source->height, source->width}, .stride = {1, 1}, .dilation = {1, 1}};
    return (source->height && source->height <= IMPORT_MAX_KERNEL &&
            source->width <= IMPORT_MAX_KERNEL) ||
           import_fail(im, node,
                       "multiplies a flattened map of %ux%u (0: any size); supported: fixed "
                       "sizes up to %dx%d",
                       source->width, source->height, IMPORT_MAX_KERNEL, IMPORT_MAX_KERNEL);
}

static bool add_product(importer *im, const onnx_node *node, bool transposed, float alpha,
                        float beta)
{
    uint32_t x, outputs = 0;
    graph_conv conv = {.groups = 1};
    if (!import_flat(im, node, 0, &x) || !import_whole_window(im, node, x, &conv.window))
        return false;
    conv.weights = import_matrix(im, node, 1, transposed, alpha, elements_of(im, x), &outputs);
    conv.bias = conv.weights ? read_bias(im, node, beta, outputs) : NULL;
    if (!conv.bias)
        return false;
    if (alpha == 1)
        conv.weight_scales = import_weight_scales(im, node, 1, transposed ? 0 : 1, outputs);
    return import_add_conv(im, node, &conv, x, outputs);
}

bool import_gemm(importer *im, const onnx_node *node)
{
    if (onnx_int(node, "transA", 0))
        return import_fail(im, node, "transposes its first operand");
    return add_product(im, node, onnx_int(node, "transB", 0), onnx_float(node, "alpha", 1),
                       onnx_float(node, "beta", 1));
}

bool import_mat_mul(importer *im, const onnx_node *node)
{
    return add_product(im, node, false, 1, 0);
}
