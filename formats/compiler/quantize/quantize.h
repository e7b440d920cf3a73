// SPDX-License-Identifier: Apache-2.0
/* How every value is stored: type and scale. */
#ifndef MONA_COMPILER_QUANTIZE_H
#define MONA_COMPILER_QUANTIZE_H

#include "formats/compiler/compiler.h"

/* True for F16; the others are integers times a scale. */
bool format_is_half(value_format f);

/* Of the planes of an input. */
value_format quantize_input(const graph *g, const compiler_options *options, uint32_t value);
/* Largest sample of planes of this type; 0: the type has none. */
uint32_t quantize_maximum(const compiler_options *options, mona_type type);

/* Whether fp16 holds what calibration saw of everything that shares the format of this root. */
bool quantize_fits_half(const graph *g, uint32_t root);

/* Fills formats[value] for every value of a fused graph. Values that are only rearranged or
 * resampled share the format of what they come from. */
bool quantize_values(const graph *g, const compiler_options *options, value_format *formats,
                     format_error *error);

/* Whether a computed value ends as planes of 8 bits like those of the inputs. */
bool quantize_is_planes(const graph *g, const compiler_options *options, uint32_t root);

/* Real value of 1 in the fp16 numbers of a CONV's epilogue: the scale of what it stores. FP16 sums
 * are real values until they are stored. */
double quantize_unit(const graph *g, const graph_node *node, const value_format *formats);

/* Of the planes of output i. */
bool quantize_output(const graph *g, const compiler_options *options, const value_format *formats,
                     uint32_t i, value_format *format, format_error *error);

/* A value through the nodes that only rearrange or resample, to what computes or loads it. */
uint32_t quantize_root(const graph *g, uint32_t value);
/* What a CONCAT of computed values puts together has one format from now on. */
void quantize_join(graph *g);

#endif
