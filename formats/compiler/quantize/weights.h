// SPDX-License-Identifier: Apache-2.0
/* Weights of 8 bits.
 *
 * With scales a of the input, w[o] of the weights of output o and s of the epilogue's numbers t,
 *   sum (a qa) (w qw) + b = s t   =>   t = (sum qa qw + b / (a w)) * (a w / s)
 * so scale16 = f16(a w / s). Rounding it would scale the whole channel by up to 2^-11. Instead the
 * factor is rounded first and the scale of the weights is then what makes it exact, w = scale16 s /
 * a; weights and bias are quantised with that scale, and nothing is lost but the rounding of each
 * weight. The scale is chosen so that the largest weight of the channel is at 127, give or take
 * half. scale16 is kept at or above 2^-14, where fp16 is normal and one unit of the sum is worth
 * that much of an output step: a finer weight could not be told apart, and a channel of zeros still
 * has a scale for its bias.
 *
 * Weights that the model has quantised keep their scales: scale16 = f16(a w / s), which is where
 * results part from the model's, by up to 2^-11 of them. Only where that would not be a normal
 * number of fp16 are they rounded anew. */
#ifndef MONA_COMPILER_WEIGHTS_H
#define MONA_COMPILER_WEIGHTS_H

#include "formats/compiler/graph.h"

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

/* Weights of one output of a CONV. */
size_t weights_filter(const graph *g, const graph_node *node);
double weights_largest(const float *w, size_t count);

/* Weights of output o of a CONV that are -128, which the engine holds as -127; or 128, where
 * a multiplication turned their sign. */
size_t weights_clamped(const graph *g, const graph_node *node, uint32_t o);

/* Whether output o of a CONV keeps the scales that the model gives its weights. */
bool weights_keep_scales(const graph *g, const graph_node *node, uint32_t o, double in_scale,
                         double unit);

/* Quantises those of a CONV for an input of this scale; unit: real value of 1 in t. correct: what
 * the rounding of weights takes off the mean of each output, by the means that calibration saw of
 * the input's channels, is added to its bias. */
bool weights_quantize(const graph *g, const graph_node *node, double in_scale, double unit,
                      bool correct, int8_weights *q, format_error *error);
void weights_free(int8_weights *q);

#endif
