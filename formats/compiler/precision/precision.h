// SPDX-License-Identifier: Apache-2.0
/* The precision of layers, and how it is judged. */
#ifndef MONA_COMPILER_PRECISION_H
#define MONA_COMPILER_PRECISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/error.h"

/* A convolution together with the operators merged into it. Its precision is that of the value it
 * reads, so layers that read the same value share theirs. */
typedef struct compiler_layer {
    const char *name;     /* the ONNX node's */
    const char *source;   /* the value that it reads */
    bool int8;            /* requested; not possible beside arrays or if it is too large */
    bool made_int8;       /* the last compiler_emit made it INT8 */
    const char *why_half; /* if it did not, why an INT8 model has it in FP16: "reads ..." */
    bool pinned;          /* by compiler_pin */
    bool prequantised;    /* by the model, which is quantised; overrides other choices */
    /* Of its sums against fp32, if only its source and its weights have 8 bits. NAN if
     * compiler_measure_layers was not called. */
    double cosine;
    double sqnr;      /* dB */
    double saturated; /* share of its source's samples that 8 bits cannot represent */
    /* Of the whole network, if only this layer and those that share its source are INT8: see
     * compiler_choose. NAN: not measured. */
    double drop;
    double fp16_cost, int8_cost; /* see quantize.h; NAN: unknown */
} compiler_layer;

/* The loss of a compiled model against the fp32 network, on the caller's samples. */
typedef struct compiler_loss {
    double drop;  /* in the caller's unit: dB, share of decisions that change, ... */
    double noise; /* noise-to-signal ratio of its outputs: squared error / squared signal */
} compiler_loss;

/* The caller's function to judge a compiled model. quick: a few samples suffice. */
typedef struct compiler_judge {
    bool (*judge)(void *context, const uint8_t *bytes, size_t size, bool quick, compiler_loss *loss,
                  format_error *error);
    void *context;
} compiler_judge;

typedef struct compiler_choice {
    compiler_loss fp16, int8, chosen; /* all but pinned layers alike; as chosen */
    double fp16_cost, int8_cost, chosen_cost;
    unsigned trials; /* models judged */
} compiler_choice;

#endif
