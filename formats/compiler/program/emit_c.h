// SPDX-License-Identifier: Apache-2.0
/* Models as C, for programs linked with libmona.a alone: a plan, its constants and the records of
 * its operators as constant data that names the row kernels needed. */
#ifndef MONA_EMIT_C_H
#define MONA_EMIT_C_H

#include "engine/op/op.h"
#include "formats/compiler/program/cpu_target.h"
#include "formats/error.h"
#include "mona.h"

typedef struct emit_c_request {
    const char *target;  /* one of CPU_TARGETS */
    const char *name;    /* begins all names in the source; a C identifier in lower case */
    mona_size size;      /* of the first input */
    unsigned threads;    /* 0: one */
    uint32_t at_once[2]; /* pixels that kernels of CONV compute together, in 8 bits and in fp16, for
                            emit_c_measure(); 0: not known */
} emit_c_request;

/* Makes NAME.h and NAME.c; free() releases them. */
bool emit_c(const mona_model *model, const emit_c_request *request, char **header, char **source,
            format_error *error);

enum { EMIT_C_ON_MAPS = 8, EMIT_C_VARIANTS };

/* What an operator that runs takes of a frame. */
typedef struct emit_c_op {
    mona_op_kind kind;
    const char *name; /* the model's; "" if there is none */
    bool array;       /* it works on arrays */
    bool half;        /* its arithmetic is in fp16, else in 8 bits; on arrays: INT, else FLOAT */
    /* CONV: 1, depthwise. LOAD: 1, planes of other than bytes. STORE: its block, and whether it is
     * fused. RESIZE: its mode. EMIT_C_ON_MAPS: on whole maps. On arrays, see emit_arrays.c. */
    uint8_t variant;
    uint8_t function; /* mona_activation that comes last, in a kernel of its own; 0: none */
    uint64_t macs;    /* as the plan counts them */
    /* What instructions are counted by. steps: multiply-adds, or samples of a pool's windows, of
     * padding channels too. padded, passes: of CONV, the same with channels and pixels padded as
     * kernels compute them, and weights that these read. runs: pieces of input rows (mona_conv) for
     * each pixel, or rows of planes (LOAD, STORE). extra: samples of planes, or CONV's residual.
     * elements: of the output, with channels padded. converted: those of CONV, and of what it adds,
     * that are fp16 where it multiplies 8 bits, or the other way round. rows: those of the output,
     * of CONV for each block of 16 channels, and lines without. On arrays, see emit_arrays.c. */
    uint64_t steps, padded, passes, runs, extra, elements, converted, rows, lines;
    /* On arrays: elements that are made numbers, and numbers that are stored, by type; rows of side
     * by side elements that are read so; 1. */
    uint64_t read[MONA_TYPE_COUNT], put[MONA_TYPE_COUNT], pieces, once;
} emit_c_op;

/* Counts what an operator on arrays does, in `op`, which has all but counts. */
void emit_c_count_array(emit_c_op *op, const mona_bound_op *b);

/* Roots: functions that such a network names, as bits. An operator's row or array function, its
 * function for whole maps, a row kernel. */
#define EMIT_C_ROW(kind) (UINT64_C(1) << (kind))
#define EMIT_C_MAP(kind) (UINT64_C(1) << (MONA_OP_COUNT + (kind)))
#define EMIT_C_LINES (UINT64_C(1) << 63) /* what takes and gives lines */
#define EMIT_C_KERNELS(set) ((uint64_t)(set) << 2 * MONA_OP_COUNT)

/* Such a network's needs: flash, memory, and work for a frame. free() releases ops. */
typedef struct emit_c_needs {
    size_t arena_bytes, constant_bytes;
    size_t record_bytes; /* records of the model that are linked too */
    size_t op_count, conv_count, epilogue_count, plane_count; /* objects whose size depends on the
                                                                 target */
    mona_lines lines; /* count 0: it does not run line by line */
    uint64_t macs;
    uint64_t plane_bytes,
        ring_bytes;       /* read and written of frames, and of rows between operators */
    uint64_t frame_bytes; /* of the planes of all inputs and outputs */
    uint64_t roots;
    emit_c_op *ops;
    size_t run_count; /* of `ops`: operators that run */
} emit_c_needs;

bool emit_c_measure(const mona_model *model, const emit_c_request *request, emit_c_needs *needs,
                    format_error *error);

#endif
