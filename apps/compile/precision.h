// SPDX-License-Identifier: Apache-2.0
/* The precision of every layer, as requested on the command line. */
#ifndef MONA_PRECISION_H
#define MONA_PRECISION_H

#include "apps/compile/calibration.h"
#include "formats/compiler/compiler.h"
#include "apps/compile/accuracy.h"
#include "apps/cli/options.h"

#define PRECISIONS(FIRST, NEXT)                                                                    \
    FIRST(PRECISION_INT8, "int8") NEXT(PRECISION_FP16, "fp16") NEXT(PRECISION_AUTO, "auto")
typedef enum precision { PRECISION_USUAL, WORDS_ENUM(PRECISIONS) } precision;

typedef struct precision_request {
    precision precision;  /* not USUAL */
    const char *max_drop; /* "0.1dB", "1%"; NULL: the default for the network */
    const char *target;   /* "host", "ascend310" */
    option_list pins;     /* LAYER=fp16 or LAYER=int8 */
    const char *name;     /* of the network, for messages */
} precision_request;

/* The choice, and its measurements. */
typedef struct precision_result {
    compiler_choice choice; /* auto */
    accuracy_loss_unit unit;
    double max_drop;
    size_t judged; /* samples */
} precision_result;

/* Sets the precision of every layer of a calibrated model. options->int8 then says whether any
 * layer is INT8. False: one line was printed. */
bool precision_set(const precision_request *request, compiler *model, compiler_options *options,
                   const calibration *images, precision_result *result);

const char *precision_name(precision of);
/* What the emitted model's layers are, whether it was quantised or not: "int8", "fp16", or `mixed`;
 * "auto" if that was asked for. */
const char *precision_made(precision asked, const compiler *model, const char *mixed);

/* How many layers of the emitted model are FP16. Prints a line that names them if INT8 was
 * requested and there are any. */
unsigned precision_exceptions(const compiler *model);
void precision_print_exceptions(const precision_request *request, const compiler *model);

/* Prints the evidence, layer by layer, and what the plans cost and lose. */
void precision_print(const precision_request *request, const compiler *model,
                     const precision_result *result);

#endif
