// SPDX-License-Identifier: Apache-2.0
/* The passes between import and lowering. Each leaves a graph that computes the same function (but
 * for rounding), so reference_run can compare before and after; what it did and why not more is in
 * the graph's log. Rules that are off (graph.fusion) leave each operator one of its own. */
#ifndef MONA_COMPILER_PASSES_H
#define MONA_COMPILER_PASSES_H

#include "formats/compiler/compiler.h"
#include "formats/compiler/graph.h"

/* Of nodes that compute the same from the same keeps the first. */
void pass_merge_common(graph *g);

/* Merges padding with zeros (import_pad.c) into the convolution after it. */
void pass_fold_pads(graph *g);

/* Of constants added before and after a sum makes one, added to one of its operands. */
bool pass_gather_shifts(graph *g, format_error *error);

/* Merges multiply-adds a channel (batch normalisation, scaling, offsets) into the convolution
 * before or, where no padding stands against it, after them; what is left becomes a 1x1 convolution
 * a channel. No GRAPH_AFFINE remains. */
bool pass_fold_affine(graph *g, format_error *error);

/* Brings depth-first DepthToSpace into the engine's order by permuting the outputs of the
 * convolution before it. */
bool pass_reorder_depth(graph *g, format_error *error);

/* Merges activations, residual additions and activations after them into the node before; an
 * activation that stands alone becomes a 1x1 convolution a channel with it. No GRAPH_ACTIVATION
 * remains. */
bool pass_fuse(graph *g, format_error *error);

/* Makes of every QUANTIZE the format in which the node before it stores its result, or the planes of
 * an input; where neither can be it becomes a 1x1 convolution a channel. No GRAPH_QUANTIZE remains.
 */
bool pass_absorb_quantize(graph *g, const compiler_options *options, format_error *error);
/* What needs more than 8 bits of a value that the model says is of 8 bits reads a copy in F16: arrays,
 * outputs of other types, convolutions with weights of more than 8 bits. */
bool pass_widen(graph *g, const compiler_options *options, format_error *error);

/* What operators on maps cannot do is done on arrays: concatenation, slices and rearrangement
 * between computed maps, where their sizes are fixed. */
bool pass_use_arrays(graph *g, format_error *error);

#endif
