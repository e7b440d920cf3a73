// SPDX-License-Identifier: Apache-2.0
/* What the files of the model share: model310_core.c (state), model310.c (instructions and time)
 * and model310_check.c (operands and shadow memory).
 *
 * Order is kept in vector clocks whose ticks are indices of instructions. clock[p][q] is the last
 * instruction of pipe q that is certain to end before anything that pipe p does from now on. */
#ifndef AC_MODEL310_PRIVATE_H
#define AC_MODEL310_PRIVATE_H

#include "engine/model310/model310.h"

enum { AC_PIPES = AC_PIPE_ALL, AC_EVENTS = 4, AC_MODEL_RANGES = 64 };

/* Where an operand may lie. Resident bytes are constants, which lie in L1 on the chip. */
typedef enum ac_space {
    AC_L1,
    AC_L0A,
    AC_L0B,
    AC_L0C,
    AC_UB,
    AC_BUFFERS, /* those above are buffers of the core, with shadow memory */
    AC_RESIDENT = AC_BUFFERS,
    AC_GM,
    AC_SPACES,
} ac_space;

typedef enum ac_opcode {
    AC_OP_NONE,
    AC_OP_COPY, /* + ac_path */
    AC_OP_LOAD2D = AC_OP_COPY + AC_PATH_COUNT,
    AC_OP_LOAD3D,
    AC_OP_MMAD,
    AC_OP_BIAS_L0C,
    AC_OP_DRAIN,
    AC_OP_DUP,
    AC_OP_VEC2,                                /* + ac_vec2 */
    AC_OP_VECS = AC_OP_VEC2 + AC_VMUL_F32 + 1, /* + ac_vecs */
    AC_OP_VCONV = AC_OP_VECS + AC_VMULS_F32 + 1,
    AC_OP_TRANSPOSE,
    AC_OP_TRANSPOSE_B8,
    AC_OP_SCALAR,
    AC_OP_SET_FLAG,
    AC_OP_WAIT_FLAG,
    AC_OP_BARRIER,
    AC_OPCODES,
} ac_opcode;

extern const char *const ac_opcode_names[AC_OPCODES];

/* The last accesses to 32 bytes of a buffer. Index 0: none, or before the program. */
typedef struct ac_shadow {
    uint32_t written; /* bit i: byte i */
    uint32_t write_index, read_index[AC_PIPES];
    uint8_t writer, write_opcode, read_opcode[AC_PIPES];
} ac_shadow;

typedef struct ac_range {
    const uint8_t *bytes;
    size_t size;
    bool writable;
} ac_range;

typedef struct ac_ranges {
    uint32_t count;
    ac_range at[AC_MODEL_RANGES];
} ac_ranges;

typedef struct ac_flag_state {
    bool set;
    uint32_t clock[AC_PIPES];
    double time;
    uint64_t index;
    const char *kernel;
} ac_flag_state;

struct ac_model {
    ac_model_config config;
    ac_ranges spaces[AC_SPACES];
    ac_shadow *shadow[AC_BUFFERS];
    size_t shadow_bytes; /* of all buffers, side by side */
    /* clock[p][p] is UINT32_MAX, as a pipe runs in order. */
    uint32_t clock[AC_PIPES][AC_PIPES];
    double idle_from[AC_PIPES];
    ac_flag_state flags[AC_PIPES][AC_PIPES][AC_EVENTS];
    const char *kernel;
    /* The current instruction. */
    ac_opcode opcode;
    ac_pipe pipe;
    uint32_t index;
    bool faulty;   /* it cannot be executed or timed */
    bool reported; /* it has a finding; one is enough */
    ac_model_report report;
};

/* An operand of a vector instruction. */
typedef struct ac_stream {
    const char *name;
    const void *at;
    uint32_t width; /* bytes of an element */
    uint32_t block, repeat;
} ac_stream;

/* The 16 blocks of one side of a transpose; with 8 bits, half of each block. */
typedef struct ac_turned {
    const void *at[AC_FRACTAL];
    uint32_t repeat; /* blocks */
    uint32_t skip, bytes;
} ac_turned;

static inline size_t ac_model_blocks(size_t bytes)
{
    return (bytes + AC_BLOCK - 1) / AC_BLOCK;
}

void ac_find(ac_model *, ac_finding_kind, const char *operand, int64_t found, int64_t limit);
void ac_find_pair(ac_model *, ac_finding_kind, const char *operand, int64_t found, ac_opcode other,
                  uint32_t other_index);
/* The number of 32-byte blocks of an operand that hold its first `lanes` elements. */
uint32_t ac_stream_blocks(const ac_stream *, uint32_t lanes);

/* Check the current instruction for legality and races, and note what it writes. */
void ac_check_copy(ac_model *, ac_path, const void *dst, const void *src, ac_copy);
void ac_check_load2d(ac_model *, const void *dst, const void *src, uint32_t fractals);
void ac_check_load3d(ac_model *, const void *dst, const void *row, const ac_load3d *);
void ac_check_mmad(ac_model *, const ac_target *, ac_mad, const void *const cab[3],
                   const uint32_t mkn[3], bool start_at_zero);
void ac_check_bias(ac_model *, const void *c, const void *bias, uint32_t m, uint32_t n);
void ac_check_drain(ac_model *, ac_drain, const void *dst, const void *src, ac_copy,
                    const void *deq16);
/* streams: dst, then the sources. */
void ac_check_vector(ac_model *, const ac_stream *streams, uint32_t sources, const ac_vector *);
void ac_check_transpose(ac_model *, const ac_turned *dst, const ac_turned *src, uint32_t repeat);
void ac_check_scalar(ac_model *, const void *read, size_t read_bytes, const void *write,
                     size_t write_bytes);

#endif
