// SPDX-License-Identifier: Apache-2.0
/* A test case as a model for the engine. */
#ifndef MONA_VERIFY_COMPILE_H
#define MONA_VERIFY_COMPILE_H

#include "formats/onnx/conformance.h"
#include "mona.h"

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
