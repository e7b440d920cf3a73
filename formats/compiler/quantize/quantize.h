// SPDX-License-Identifier: Apache-2.0
/* How every value is stored: type and scale. */
#ifndef MONA_COMPILER_QUANTIZE_H
#define MONA_COMPILER_QUANTIZE_H

#include "formats/compiler/graph/graph.h"
#include "formats/compiler/graph/kinds.h"
#include "formats/compiler/graph/options.h"

/* True for F16; the other formats are integers times a scale. */
bool format_is_half(value_format f);

/* The format of the planes of an input. */
value_format quantize_input(const graph *g, const compiler_options *options, uint32_t value);
/* The largest sample of planes of this type; 0: the type has none. */
uint32_t quantize_maximum(const compiler_options *options, mona_type type);

/* Whether fp16 can hold what calibration saw of all values that share this root's format. */
bool quantize_fits_half(const graph *g, uint32_t root);

/* Fills formats[value] for every value of a fused graph. Values that are only rearranged or
 * resampled share the format of their source. */
bool quantize_values(const graph *g, const compiler_options *options, value_format *formats,
                     format_error *error);

/* Why everything that shares this root's format is F16 even in an INT8 model, as what a layer that
 * reads it does: "reads ..."; NULL: it has 8 bits. */
const char *quantize_why_half(const graph *g, const compiler_options *options, uint32_t root);

/* Whether a computed value ends as planes of 8 bits like those of the inputs. */
bool quantize_is_planes(const graph *g, const compiler_options *options, uint32_t root);

/* The real value of 1 in the fp16 numbers of a CONV's epilogue: the scale of what it stores. FP16
 * sums are real values until they are stored. */
double quantize_unit(const graph *g, const graph_node *node, const value_format *formats);

/* The largest sum that 8 bits can produce. */
double quantize_largest_sum(const graph *g, const graph_node *node, value_format in);

/* The format of the planes of output i. */
bool quantize_output(const graph *g, const compiler_options *options, const value_format *formats,
                     uint32_t i, value_format *format, format_error *error);

#define EXACTNESS_EXACT "bit-exact"

/* (exactness.c) By how many steps the result may be off that a node of a lowered graph stores with
 * the model's scales, for inputs with the model's scales; and as text: EXACTNESS_EXACT or "within N
 * steps: why". The bound applies to rounded results: an error of less than a step leads to the same
 * or the next rounded value. */
unsigned exactness_text(const graph *g, const graph_node *node, const value_format *formats,
                        char *text, size_t size);

/* Follows a value through nodes that only rearrange or resample, to the value that is computed or
 * loaded. */
uint32_t quantize_root(const graph *g, uint32_t value);
/* Whether a node gives its results a zero other than 0: by its bias, its table or as ADD and MUL
 * do; and whether it can read input k with such a zero. */
bool quantize_makes_zero(const graph_node *node);
bool quantize_takes_zero(const graph *g, const graph_node *node, uint32_t k);
/* Makes the values that a CONCAT of computed values joins share one format. */
void quantize_join(graph *g);

/* Cross-layer equalisation (Nagel et al. 2019, with the ranges of Xiao et al. 2022). */

/* If the result of a CONV goes through ReLU, PReLU or nothing to exactly one other CONV, its
 * channel i may be divided by any s > 0 if the weights that read it are multiplied by s. All
 * channels of a value share one scale, and so do all weights of an output. With r the largest
 * number that calibration saw in the channel and w the largest weight that reads it, s = sqrt(r /
 * w) brings both to sqrt(r w). Afterwards, what calibration saw of such values is no longer valid.
 * pairs: how many were equalised. False: out of memory. */
bool equalise_graph(graph *g, unsigned *pairs, format_error *error);

/* Functions after layers with results of 8 bits: a table from the sum, as U8, to the result. */

/* Sums before a function: real value = scale * (q - zero), q in 0..255. */
typedef struct table_source {
    float scale;
    int zero;
} table_source;

/* The activation's function, where it has a name. */
double table_function(const graph_activation *f, double x);

/* How a format stores x. */
double table_stored(value_format format, double x);

/* Whether the node ends in a function that a table must compute, as its result has 8 bits. */
bool table_needed(const graph_node *node, value_format result);

/* The sums for which the function's result is not yet constant, of those that calibration saw or,
 * without one, that can be. */
table_source table_find_source(const graph *g, const graph_node *node, const value_format *formats);

/* Fills the table. */
void table_fill(const graph_activation *function, table_source from, value_format result,
                uint8_t table[256]);

/* The cost of a convolution on a target, to choose its precision. The model covers arithmetic only,
 * since whole networks run depth-first and hardly wait for memory.
 *
 * A step multiplies a number of pixels by 16 outputs over a number of inputs. K, the inputs of an
 * output, is kernel area x channels, with channels padded to the target's blocks. The epilogue
 * passes over its numbers once, whatever its operations.
 *
 * ascend310, cycles of a core: a step takes 16 pixels and 16 inputs of F16 or 32 of 8 bits; an
 * epilogue takes 128 numbers per cycle. Fitted on model310, where operands arrive no faster than
 * one step per 1.4 cycles and the cube and the vector unit hardly overlap: the ratio of FP16 to
 * INT8 is within a third of model310's (tests/unit/formats/test_precision.c). host, vector
 * instructions: a step takes 1 pixel and 1 input of F16 (as fp32) or 4 of 8 bits; converting sums,
 * rounding, conversion and store take about 12 more. */

typedef struct cost_target cost_target;

/* "host" or "ascend310"; NULL: there is no such target. */
const cost_target *cost_find(const char *name);

/* The cost of the functions, such as SiLU, that make the values of this root, of 8 bits or F16. */
double cost_functions(const cost_target *target, const graph *g, uint32_t root, bool int8);

/* The cost of a CONV that computes this many pixels, with inputs of 8 bits or F16. */
double cost_conv(const cost_target *target, const graph *g, const graph_node *node, uint64_t pixels,
                 bool int8);

#endif
