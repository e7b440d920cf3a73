// SPDX-License-Identifier: Apache-2.0
/* Runs a test case on the engine. */
#ifndef MONA_VERIFY_ENGINE_H
#define MONA_VERIFY_ENGINE_H

#include "formats/onnx/conformance.h"
#include "mona.h"

typedef struct engine_result {
    bool compiled; /* else `reason` says why not */
    bool constant; /* the compiler folds it: no operator is left for the engine */
    bool frozen;   /* only with some inputs as constants of the model */
    bool passed;
    bool alone; /* the other device has no program for it and did not run: `reason` says why */
    double error, bound; /* the largest over all outputs; passes if error <= bound */
    format_error reason;
} engine_result;

/* Adds the outcome of data set `set` of the case in folder to *result, which begins zeroed except
 * for `passed`. The case runs unchanged if it compiles; otherwise with its integers, or all inputs
 * but the first, as constants of the model. If it can run on maps alone, without any array, it also
 * runs that way: as FP16, a batch frame by frame. All runs must pass. other: a device that must
 * give the host's bytes where it has a program or needs none; NULL: none.
 *
 * The bound: every node rounds its result to fp16, with a relative error of at most 2^-11, and
 * inputs and constants have been rounded too. Sums may cancel, so errors are measured against the
 * largest number of the output: (nodes + 3) 2^-11 max |output|. Numbers beyond 65504 saturate
 * there; where NaN is expected, anything passes. Integers must be exact, or within one step if the
 * model quantises. */
void verify_engine(const char *folder, const conformance_set *set, const mona_device *other,
                   engine_result *result);

/* A test case as a model for the engine. */

/* How a case's inputs are treated. */
typedef struct case_way {
    enum {
        LIVE_ALL,
        LIVE_FLOATS,
        LIVE_FIRST
    } live;      /* inputs of the model; the others are frozen */
    bool frames; /* run a batch frame by frame: on maps alone, which do not mix frames */
    bool maps;   /* without any array */
} case_way;

typedef struct case_model {
    uint8_t *bytes; /* aligned for mona_model_open; NULL: nothing to run */
    size_t size;
    uint32_t live[MONA_MAX_IO]; /* tensors of the set that are inputs */
    uint32_t live_count;
    mona_size sizes[MONA_MAX_IO];
    size_t frames;  /* runs that the set takes */
    uint32_t nodes; /* of the ONNX model */
    bool quantised; /* it has operators that round to steps of a quantised scale */
} case_model;

/* False: `reason` says why not, and the model is empty. *constant: all outputs are constant once
 * the model is folded, or have no elements; there is nothing to run, and they equal what the set
 * expects. */
bool case_compile(case_model *model, const char *folder, const conformance_set *set,
                  const case_way *way, bool *constant, format_error *reason);
void case_model_free(case_model *model);

#endif
