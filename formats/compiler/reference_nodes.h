// SPDX-License-Identifier: Apache-2.0
/* What each kind of node computes, in fp32. Private to the judge. */
#ifndef MONA_COMPILER_REFERENCE_NODES_H
#define MONA_COMPILER_REFERENCE_NODES_H

#include "formats/compiler/reference.h"

/* Elements of an array. */
size_t reference_count(const reference_array *a);

/* Shape of a node's result for these inputs. False: they do not fit, or the result would be too
 * large. */
bool reference_shape(const graph *g, const graph_node *node, const reference_array *const *in,
                     reference_array *out);

/* Fills out->data, which has room for the shape of reference_shape. */
void reference_node(const graph_node *node, const reference_array *const *in, reference_array *out);
/* Applies a function to every number; other activations change nothing. */
void reference_function(const graph_activation *a, reference_array *values);
/* Rounds every number to the nearest one of this 8-bit format. */
void reference_quantize(value_format format, reference_array *a);
/* The same as reference_node for a pool. */
void reference_pool(const graph_node *node, const reference_array *in, reference_array *out);

#endif
