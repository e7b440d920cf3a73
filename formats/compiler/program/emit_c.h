// SPDX-License-Identifier: Apache-2.0
/* Models as C, for programs linked with libmona.a alone: a plan, its constants and the records of
 * its operators as constant data that names the row kernels needed. */
#ifndef MONA_EMIT_C_H
#define MONA_EMIT_C_H

#include "engine/model_format.h"
#include "formats/compiler/program/cpu_target.h"
#include "formats/error.h"
#include "mona.h"

typedef struct emit_c_request {
    const char *target; /* one of CPU_TARGETS */
    const char *name;   /* begins all names in the source; a C identifier in lower case */
    mona_size size;     /* of the first input */
    unsigned threads;   /* 0: one */
} emit_c_request;

/* Makes NAME.h and NAME.c; free() releases them. */
bool emit_c(const mona_model *model, const emit_c_request *request, char **header, char **source,
            format_error *error);

/* Such a network's needs: flash besides code, memory, and work for a frame. */
typedef struct emit_c_needs {
    size_t arena_bytes, constant_bytes, table_bytes;
    mona_lines lines; /* count 0: it does not run line by line */
    uint64_t macs;
    uint64_t plane_bytes,
        ring_bytes;                  /* read and written of frames, and of rows between operators */
    uint64_t samples;                /* that operators compute */
    bool uses[MONA_OP_COUNT];        /* kinds of operators */
    bool conv, depthwise, functions; /* kernels */
} emit_c_needs;

bool emit_c_measure(const mona_model *model, const emit_c_request *request, emit_c_needs *needs,
                    format_error *error);

#endif
