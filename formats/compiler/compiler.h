// SPDX-License-Identifier: Apache-2.0
/* The offline compiler: ONNX in, .mona out.
 *
 *   compiler_open        import; what cannot be compiled is refused by node
 *   compiler_calibrate   any number of samples, for INT8
 *   compiler_emit        fold, fuse, quantise, write
 *   compiler_log         what was folded and fused, and what was not
 *   compiler_reference   the same network in fp32, as evidence
 *   compiler_close
 */
#ifndef MONA_COMPILER_H
#define MONA_COMPILER_H

#include "formats/onnx/onnx_graph.h"
#include "formats/compiler/passes/fusion.h"
#include "formats/compiler/quantize/histogram.h"
#include "formats/compiler/reference.h"

typedef struct compiler compiler;

/* Zero-initialised: FP16; planes of u8 stand for 0 to 1; outputs that are images are u8 too. */
typedef struct compiler_options {
    bool int8;                            /* weights and activations of 8 bits; needs calibration */
    bool has_input_type, has_output_type; /* otherwise: the compiler's choice */
    mona_type input_type, output_type;
    float range;            /* real value of the largest sample of a plane; 0: 1 */
    unsigned bits;          /* of the samples of u16 planes; 0: 10 */
    bool any_size;          /* leave the size of inputs open even if the model fixes it */
    float resize_offset[2]; /* rows, columns: added to input coordinates of every Resize */
    const char *name;       /* of the model; NULL: what ONNX calls the graph */
    fusion_switches fusion; /* which rules are off */
    const uint8_t *like;    /* a finished model, e.g. this one at another size: what its data has is
                               not written twice, and mona_writer_join may follow; NULL: none */
    range_rule ranges;      /* how far 8 bits reach: what was seen decides, by this rule */
    bool correct_bias; /* add to each bias what the rounding of its weights takes off on average */
} compiler_options;

typedef struct compiler_tensor {
    const char *name;
    uint32_t channels, height, width; /* 0: any */
    bool array;                       /* of any shape with so many elements */
    float low, high;                  /* what calibration saw of it; low > high: nothing */
} compiler_tensor;

/* Whether it has operators on arrays, which know of batches and need fixed sizes. */
bool compiler_has_arrays(const compiler *c);

/* options may be NULL. NULL: error says why. The bytes are not needed afterwards. */
compiler *compiler_open(const void *onnx, size_t size, const onnx_read_options *options,
                        format_error *error);
/* The same for a model in memory, in which everything constant is folded; it is not needed
 * afterwards. fusion: rules that are off already when operators are imported; NULL: none is. */
compiler *compiler_open_graph(onnx_graph *model, const fusion_switches *fusion,
                              format_error *error);
void compiler_close(compiler *c); /* NULL is allowed */

unsigned compiler_input_count(const compiler *c);
unsigned compiler_output_count(const compiler *c);
compiler_tensor compiler_input(const compiler *c, unsigned index);
compiler_tensor compiler_output(const compiler *c, unsigned index);

/* Adds what these inputs cause to what is known of every value. */
bool compiler_calibrate(compiler *c, const reference_array *inputs, format_error *error);
/* Largest relative change of the range of a value under this rule since the last call. */
double compiler_movement(compiler *c, range_rule rule);

/* Equalises channels between convolutions (equalise.h); what calibration saw so far is forgotten,
 * so that it has to be done again. pairs: how many convolutions there are that allow it. */
bool compiler_equalise(compiler *c, const compiler_options *options, unsigned *pairs,
                       format_error *error);

/* Takes what calibration saw and the precision of every layer from the same model at another size,
 * which must stay open until c is closed. */
bool compiler_adopt(compiler *c, const compiler *other, const compiler_options *options,
                    format_error *error);

/* A convolution with what was merged into it, which has a precision of its own: that of the value
 * it reads, so that layers which read one value share theirs. */
typedef struct compiler_layer {
    const char *name;   /* ONNX's */
    const char *source; /* the value that decides */
    bool int8;          /* asked for; what meets an array or is too large for it stays FP16 */
    bool made_int8;     /* what the last compiler_emit made of it */
    bool pinned;        /* by compiler_pin */
    bool prequantised;  /* by the model, which is quantised: so whatever is chosen for others */
    /* Of its output, if its source and its weights alone are of 8 bits, against fp32. NAN where
     * compiler_measure_layers was not called. */
    double cosine;
    double sqnr;      /* dB */
    double saturated; /* share of its source's samples that 8 bits do not reach */
    /* Of the whole network, if this layer and those that share its source alone are INT8: see
     * compiler_choose. NAN: not measured. */
    double drop;
    double fp16_cost, int8_cost; /* see cost.h; NAN: not known */
} compiler_layer;

/* In execution order, as the fusion rules of the last call with options left them; count: 0 before
 * there was one. Other rules forget what was set and measured. */
unsigned compiler_layer_count(const compiler *c);
compiler_layer compiler_layer_at(const compiler *c, unsigned index);

/* Layer `name` stays INT8 or FP16, whatever is chosen for others. False: error lists names near. */
bool compiler_pin(compiler *c, const compiler_options *options, const char *name, bool int8,
                  format_error *error);
/* All other layers. */
bool compiler_set_precision(compiler *c, const compiler_options *options, bool int8,
                            format_error *error);

/* Adds a sample to the evidence of every layer. options: how 8 bits are made. */
bool compiler_measure_layers(compiler *c, const compiler_options *options,
                             const reference_array *inputs, format_error *error);

/* What a compiled model loses against the network in fp32, on samples of the caller's. */
typedef struct compiler_loss {
    double drop;  /* in the caller's unit: dB, share of decisions that change, ... */
    double noise; /* of its outputs: squares of the error over squares of the signal */
} compiler_loss;

/* The caller's judge of a compiled model. quick: few samples are enough. */
typedef struct compiler_judge {
    bool (*judge)(void *context, const uint8_t *bytes, size_t size, bool quick, compiler_loss *loss,
                  format_error *error);
    void *context;
} compiler_judge;

typedef struct compiler_choice {
    compiler_loss fp16, int8, chosen; /* all layers but pinned ones FP16 or INT8; as chosen */
    double fp16_cost, int8_cost, chosen_cost;
    unsigned trials; /* models that were judged */
} compiler_choice;

/* Sets every layer to FP16 or INT8 for the lowest cost on the target ("host", "ascend310") at a
 * drop of at most max_drop. Needs calibration. False: not even FP16 stays within it, or an error.
 */
bool compiler_choose(compiler *c, const compiler_options *options, const char *target,
                     double max_drop, const compiler_judge *judge, compiler_choice *choice,
                     format_error *error);

/* The network as it was last emitted, or else as it was imported; outputs[i].data is released with
 * free(). */
bool compiler_reference(const compiler *c, const reference_array *inputs, reference_array *outputs,
                        format_error *error);

/* The model as a file in memory that starts at a multiple of 64, released with free(). May be
 * called again with other options. */
bool compiler_emit(compiler *c, const compiler_options *options, uint8_t **bytes, size_t *size,
                   format_error *error);

/* What the rules did when the model was last emitted; good until it is again or closed. */
const fusion_log *compiler_log(const compiler *c);

#endif
