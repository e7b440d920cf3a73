// SPDX-License-Identifier: Apache-2.0
/* How a model is compiled. */
#ifndef MONA_COMPILER_OPTIONS_H
#define MONA_COMPILER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/compiler/graph/fusion.h"
#include "mona.h"

/* Which values the 8-bit range covers. The last two: least Kullback-Leibler divergence of 8-bit
 * results (Migacz 2017); least squared error, of rounding, which is scale^2 / 12, and of
 * saturation. */
#define RANGE_RULES(FIRST, NEXT)                                                                   \
    FIRST(RANGE_MIN_MAX, "min-max")      /* all values seen */                                     \
    NEXT(RANGE_PERCENTILE, "percentile") /* all but 1 in 10^4 */                                   \
    NEXT(RANGE_KL, "kl") NEXT(RANGE_MSE, "mse")
#define RANGE_RULE(constant, word) constant,
typedef enum range_rule { RANGE_RULES(RANGE_RULE, RANGE_RULE) } range_rule;
#undef RANGE_RULE

/* Planes that hold the network's own numbers. */
#define COMPILER_FLOATS .input_type = MONA_F16, .output_type = MONA_F16

/* Zero-initialised: FP16, and u8 planes in and out that stand for 0 to 1. */
typedef struct compiler_options {
    bool int8;                         /* 8-bit weights and activations; needs calibration */
    mona_type input_type, output_type; /* of planes: U8, S8, F16 or U16 */
    float range;                       /* real value of the largest sample of a plane; 0: 1 */
    float input_range;                 /* the same of inputs alone; 0: range */
    unsigned bits;                     /* of the samples of u16 planes; 0: 10 */
    bool any_size;          /* leave the size of inputs open even if the model fixes it */
    const char *name;       /* of the model; NULL: what ONNX calls the graph */
    fusion_switches fusion; /* which rules are off */
    const uint8_t *like;    /* a finished model, such as this one at another size, whose data is
                               not written again (for mona_writer_join); NULL: none */
    range_rule ranges;      /* how the range of 8 bits follows from the values seen */
    bool correct_bias;      /* compensate in each bias for the average error of rounded weights */
} compiler_options;

#endif
