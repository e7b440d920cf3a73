// SPDX-License-Identifier: Apache-2.0
/* Recognises functions that exporters write as several operators. */
#ifndef MONA_COMPILER_PATTERNS_H
#define MONA_COMPILER_PATTERNS_H

#include "formats/compiler/graph/fusion.h"
#include "formats/onnx/onnx_graph.h"

/* Replaces products x * gate(x) by Swish, HardSwish, Mish and Gelu, normalisations by
 * LayerNormalization, and products of softmax by Attention; first of all, what a user's kernel is
 * given for by its kernel, which the log tells. What they were made of remains until the graph is
 * folded. False: out of memory. */
bool patterns_find(onnx_graph *g, const fusion_switches *switches, fusion_log *log);

/* ---- private to pattern*.c ---- */

typedef struct patterns {
    onnx_graph *g;
    uint32_t count;      /* of values of the model */
    uint32_t *producers; /* of each value: a node, or ONNX_NONE */
    uint32_t *uses;      /* of each value, by nodes and as an output */
    const fusion_switches *switches;
    fusion_log *log;
} patterns;

/* The node of this type that computes the value; NULL: another does. */
const onnx_node *pattern_made_by(const patterns *p, uint32_t value, const char *op_type);
/* Whether the value is a constant float. */
bool pattern_is_number(const patterns *p, uint32_t value, double *number);
/* The only factor of the value that is not a number, and the product of the others; the value
 * itself and 1 if there are several. */
uint32_t pattern_scaled(const patterns *p, uint32_t value, double *scale);
/* Makes the node another one, with copies of these inputs and attributes, which are numbers or
 * texts that stay. False: out of memory. */
bool pattern_becomes(patterns *p, onnx_node *node, const char *op_type, const uint32_t *inputs,
                     uint32_t input_count, const onnx_attribute *attributes,
                     uint32_t attribute_count);
/* Makes the last node of a kernel's pattern a call of it; *called: it is one now. False: out of
 * memory. */
bool pattern_calls(patterns *p, uint32_t node, bool *called);
/* Makes the last node of attention an Attention. False: out of memory. */
bool pattern_attends(patterns *p, uint32_t node);
/* Makes the last node of a normalisation a LayerNormalization. False: out of memory. */
bool pattern_normalises(patterns *p, uint32_t node);

#endif
