// SPDX-License-Identifier: Apache-2.0
/* The passes between import and lowering. Each leaves a graph that computes the same function
 * except for rounding. The graph's log records what a pass did, and why it left the rest. If a rule
 * is off (graph.fusion), operators stay separate. */
#ifndef MONA_COMPILER_PASSES_H
#define MONA_COMPILER_PASSES_H

#include "formats/compiler/graph/options.h"
#include "formats/compiler/graph/kinds.h"

/* Keeps only the first of several nodes that compute the same from the same inputs. */
bool pass_merge_common(graph *g, format_error *error);

/* Merges zero padding (import_pad.c) into the convolution after it. */
void pass_fold_pads(graph *g);

/* Makes tables of what quantised models compute from one number of 8 bits. */
bool pass_tabulate(graph *g, format_error *error);

/* Merges slices of every n-th row and column, whose concatenation is convolved, into the
 * convolution. */
bool pass_focus(graph *g, format_error *error);

/* Combines the constants added before and after a sum into one, which is added to one of its
 * operands. */
bool pass_gather_shifts(graph *g, format_error *error);

/* Merges per-channel multiply-adds (batch normalisation, scaling, offsets) into the convolution
 * before them or, unless its padding prevents that, after them; the rest become 1x1 convolutions
 * per channel. No GRAPH_AFFINE remains. */
bool pass_fold_affine(graph *g, const compiler_options *options, format_error *error);

/* Merges activations, residual additions and the activations after these into the node before; an
 * activation that cannot be merged becomes a 1x1 convolution per channel. No GRAPH_ACTIVATION
 * remains. */
bool pass_fuse(graph *g, format_error *error);

/* Makes slices that would be copied convolutions of their own. */
bool pass_split(graph *g, format_error *error);

/* Turns every QUANTIZE into the format in which the node before it stores its result, or in which
 * an input's planes are loaded; where neither is possible, into a 1x1 convolution per channel. No
 * GRAPH_QUANTIZE remains. */
bool pass_absorb_quantize(graph *g, const compiler_options *options, format_error *error);
/* Inserts F16 copies of values that the model quantises to 8 bits, for readers that need more:
 * arrays, outputs of other types, convolutions with weights of more than 8 bits. */
bool pass_widen(graph *g, const compiler_options *options, format_error *error);

/* Puts depth-first DepthToSpace, and SpaceToDepth of inputs, into the engine's order by permuting
 * the convolutions beside them; where there are none, a 1x1 convolution moves channels. */
bool pass_reorder_depth(graph *g, format_error *error);

/* Moves what operators on maps cannot do to arrays: concatenation, slices and rearrangement between
 * computed maps of fixed size. */
bool pass_use_arrays(graph *g, format_error *error);

#endif
