// SPDX-License-Identifier: Apache-2.0
/* Weights of 8 bits.
 *
 * With the scales a of the input, w[o] of the weights of output o and s of the epilogue's numbers
 * t,
 *   sum (a qa) (w qw) + b = s t   =>   t = (sum qa qw + b / (a w)) * (a w / s)
 * so scale16 = f16(a w / s). Rounding that number would change the scale of the whole channel by up
 * to 2^-11. Instead it is rounded first, and the scale of the weights is then chosen to make it
 * exact, w = scale16 s / a. Weights and bias are quantised with this scale, so the only error is
 * the rounding of each weight. With this scale the largest weight of the channel becomes 127, give
 * or take one half. scale16 is at least 2^-14, where fp16 is normal; it is also the share of an
 * output step that one unit of the sum is worth, so finer weights would make no difference, and a
 * channel of zeros still has a scale for its bias.
 *
 * Weights that the model has quantised keep their scales: scale16 = f16(a w / s). So results differ
 * from the model's, relatively by up to 2^-11. Where w is so coarse that the bias would be rounded
 * noticeably, as that of a copy to another zero point, for which qw = 1, w / 2^k counts 2^k qw.
 * Only if scale16 is not a normal fp16 number are the weights rounded again. */
#ifndef MONA_COMPILER_WEIGHTS_H
#define MONA_COMPILER_WEIGHTS_H

#include "formats/compiler/graph/graph.h"

enum {
    WEIGHT_MAX = 127,
    BIAS_MAX = 1 << 30,
    /* of one output: |sum| + |bias| stays below 2^31 */
    WEIGHTS_MAX = (INT32_MAX - BIAS_MAX) / (WEIGHT_MAX * 255),
};

typedef struct int8_weights {
    uint32_t outputs;
    size_t filter;    /* weights of one output */
    int8_t *weights;  /* [outputs][filter] */
    int32_t *bias;    /* in units of the sum */
    uint16_t *scales; /* f16: from units of the sum to t */
} int8_weights;

/* Gives a CONV weights, biases and scales of its own, as nodes may share them. False: out of
 * memory. */
bool weights_own(graph *g, graph_node *node, format_error *error);

/* Weights of one output of a CONV. */
size_t weights_filter(const graph *g, const graph_node *node);
double weights_largest(const float *w, size_t count);

/* Rounds the weights w / scale of one output, of which `area` read one channel. */
void weights_round(const float *w, double scale, size_t filter, size_t area, int8_t *q);

/* How many weights of output o of a CONV are -128, which the engine stores as -127, or 128, where a
 * multiplication changed the sign. */
size_t weights_clamped(const graph *g, const graph_node *node, uint32_t o);

/* Whether output o of a CONV keeps the scales that the model gives its weights. */
bool weights_keep_scales(const graph *g, const graph_node *node, uint32_t o, double in_scale,
                         double unit);

/* The scale that it keeps, or a part of that by a power of two, which suits this bias. */
double weights_kept_scale(const graph *g, const graph_node *node, uint32_t o, double bias,
                          double in_scale, double unit);

/* Quantises the weights of a CONV for an input of this scale. unit: the real value of 1 in t.
 * correct: add to each bias what rounded weights take from the mean of the output, computed from
 * the means that calibration saw in the input's channels. */
bool weights_quantize(const graph *g, const graph_node *node, double in_scale, double unit,
                      bool correct, int8_weights *q, format_error *error);
void weights_free(int8_weights *q);

#endif
