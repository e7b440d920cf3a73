// SPDX-License-Identifier: Apache-2.0
/* The offline compiler: ONNX in, .mona out.
 *
 *   compiler_open        import; what cannot be compiled is refused by node
 *   compiler_calibrate   any number of samples, for INT8
 *   compiler_emit        fold, fuse, quantise, write
 *   compiler_log         what was folded and fused, and what was not
 *   compiler_reference   the model as ONNX defines it, as evidence
 *   compiler_close
 */
#ifndef MONA_COMPILER_H
#define MONA_COMPILER_H

#include "formats/compiler/graph/options.h"
#include "formats/compiler/graph/reference.h"
#include "formats/compiler/precision/precision.h"

typedef struct compiler compiler;

typedef struct compiler_tensor {
    const char *name;
    uint32_t channels, height, width; /* 0: any */
    bool array;                       /* an array with this many elements, of any shape */
    element_type type;                /* an input's, in the model */
    bool integers;                    /* an output of integers, or an input of such that stand for
                                          themselves */
    uint32_t last;                    /* output that is an array: the size of its last axis */
    float low, high;                  /* range seen in calibration; low > high: none */
    const tensor *computed;           /* an output's shape; as far as it is open, its count is 0 */
    const tensor *declared;           /* an output's, where that differs; else NULL */
} compiler_tensor;

/* Whether it has operators on arrays, which depend on the batch and need fixed sizes. */
bool compiler_has_arrays(const compiler *c);

/* options may be NULL. NULL: failed, see error. The bytes are not needed afterwards. */
compiler *compiler_open(const void *onnx, size_t size, const onnx_read_options *options,
                        format_error *error);
/* The same for a model in memory, which the compiler takes over: it is left empty, even on failure.
 * fusion: rules to switch off already during import; NULL: none. */
compiler *compiler_open_graph(onnx_graph *model, const fusion_switches *fusion,
                              format_error *error);
/* The same, but a network for a batch of images that it does not mix becomes one for a single
 * image; so does the reference's. */
compiler *compiler_open_image(onnx_graph *model, const fusion_switches *fusion,
                              format_error *error);
/* How many images the network was for, then; 1: it is as it was. */
int64_t compiler_images(const compiler *c);
void compiler_close(compiler *c); /* NULL is allowed */

unsigned compiler_input_count(const compiler *c);
unsigned compiler_output_count(const compiler *c);
compiler_tensor compiler_input(const compiler *c, unsigned index);
compiler_tensor compiler_output(const compiler *c, unsigned index);

/* Where the network computes something else than other runtimes: one line each, for the user; NULL
 * behind the last. *more: how many there are beyond that. */
const char *compiler_warning(const compiler *c, unsigned index, unsigned *more);

/* Adds a sample: updates the observed range of every value. */
bool compiler_calibrate(compiler *c, const reference_array *inputs, format_error *error);
/* Largest relative change of a value's range under this rule since the last call. */
double compiler_movement(compiler *c, range_rule rule);

/* Equalises channels between convolutions (equalise.c). This discards what calibration has seen, so
 * calibrate again afterwards. pairs: how many pairs of convolutions were equalised. */
bool compiler_equalise(compiler *c, const compiler_options *options, unsigned *pairs,
                       format_error *error);

/* Adds a sample to what the rounding of weights is learnt from (learn.c), after equalisation: to
 * those held out, or to the others. */
bool compiler_learn(compiler *c, const compiler_options *options, const reference_array *inputs,
                    bool held_out, format_error *error);

/* From now on, the weights of all layers are rounded as the samples have shown to be best. */
bool compiler_learn_rounding(compiler *c, const compiler_options *options, format_error *error);

/* Takes over what calibration saw, and the precision of every layer, from the same model at another
 * size, which must stay open until c is closed. */
bool compiler_adopt(compiler *c, const compiler *other, const compiler_options *options,
                    format_error *error);

/* In execution order, after the fusion rules of the last call with options; count is 0 before the
 * first one. A call with other rules discards what was set and measured. */
unsigned compiler_layer_count(const compiler *c);
compiler_layer compiler_layer_at(const compiler *c, unsigned index);

/* Keeps a layer INT8 or FP16 whatever is chosen for others. False: failed; error lists similar
 * names. */
bool compiler_pin(compiler *c, const compiler_options *options, const char *name, bool int8,
                  format_error *error);
/* Sets all layers that are not pinned. */
bool compiler_set_precision(compiler *c, const compiler_options *options, bool int8,
                            format_error *error);

/* Adds a sample to the measurements of every layer. options: how values are quantised. */
bool compiler_measure_layers(compiler *c, const compiler_options *options,
                             const reference_array *inputs, format_error *error);

/* Sets every layer to FP16 or INT8 for the lowest cost on the target ("host", "ascend310") with a
 * drop of at most max_drop. Needs calibration. False: not even FP16 stays within it, or another
 * error. */
bool compiler_choose(compiler *c, const compiler_options *options, const char *target,
                     double max_drop, const compiler_judge *judge, compiler_choice *choice,
                     format_error *error);

/* Runs the model as ONNX defines it, without what import, passes and equalisation made of it.
 * Release outputs[i].data with free(). */
bool compiler_reference(const compiler *c, const reference_array *inputs, reference_array *outputs,
                        format_error *error);

/* The graph as imported, or as the passes left it (empty before compiler_emit), for tests. */
graph *compiler_graph(compiler *c, bool fused);
/* Writes the model as a file in memory, aligned to 64 bytes; release it with free(). May be called
 * again with other options. */
bool compiler_emit(compiler *c, const compiler_options *options, uint8_t **bytes, size_t *size,
                   format_error *error);

/* Why what was emitted with this name runs on arrays and not on maps; NULL: it does not, or that is
 * not known. */
const char *compiler_why_array(const compiler *c, const char *name);

/* The rules' effects when the model was last emitted; valid until the next compiler_emit or
 * compiler_close. */
const fusion_log *compiler_log(const compiler *c);

#endif
