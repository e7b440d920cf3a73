/* A test case through the engine: the model compiled to FP16 and run on the host. */
#ifndef MONA_VERIFY_ENGINE_H
#define MONA_VERIFY_ENGINE_H

#include "formats/conformance.h"

typedef struct engine_result {
    bool compiled; /* else reason says why not */
    bool passed;
    double error, bound; /* the largest, of all outputs: error <= bound passes */
    format_error reason;
} engine_result;

/* Adds what data set `set` of the case in folder gives to *result, which begins zeroed but for
 * `passed`. All inputs but the first, or but those of floats, become constants of the model; a
 * batch runs frame by frame where the model allows it.
 *
 * The bound: every node rounds what it makes to fp16, by at most 2^-11 of it; inputs and constants
 * have been rounded too. Sums may cancel, so the errors are measured by the largest number of the
 * output: (nodes + 3) 2^-11 max |output|. Numbers beyond 65504 saturate there;
 * where NaN is expected anything will do, since the engine has none. */
void verify_engine(const char *folder, const conformance_set *set, engine_result *result);

#endif
