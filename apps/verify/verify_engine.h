// SPDX-License-Identifier: Apache-2.0
/* A test case through the engine. */
#ifndef MONA_VERIFY_ENGINE_H
#define MONA_VERIFY_ENGINE_H

#include "formats/conformance.h"
#include "mona.h"

typedef struct engine_result {
    bool compiled; /* else reason says why not */
    bool constant; /* the compiler folds it: no operator is left for the engine */
    bool frozen;   /* only with some inputs as constants of the model */
    bool passed;
    double error, bound; /* the largest, of all outputs: error <= bound passes */
    format_error reason;
} engine_result;

/* Adds what data set `set` of the case in folder gives to *result, which begins zeroed but for
 * `passed`. The case runs as it is, if it compiles, or else with its whole numbers or all inputs
 * but the first as constants of the model; and, where that can be done on maps alone, without any
 * array, so too: as FP16, a batch frame by frame. All runs must pass. other: a device that must
 * give the host's bytes; NULL: none.
 *
 * The bound: every node rounds what it makes to fp16, by at most 2^-11 of it; inputs and constants
 * have been rounded too. Sums may cancel, so the errors are measured by the largest number of the
 * output: (nodes + 3) 2^-11 max |output|. Numbers beyond 65504 saturate there;
 * where NaN is expected anything will do. Whole numbers are exact, and within one step where the
 * model quantises. */
void verify_engine(const char *folder, const conformance_set *set, const mona_device *other,
                   engine_result *result);

#endif
