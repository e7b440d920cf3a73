// SPDX-License-Identifier: Apache-2.0
/* Shared by model310.c (state, instructions and time) and model310_check.c (operands and shadow
 * memory).
 *
 * Order is kept in vector clocks whose ticks are indices of instructions. clock[p][q] is the last
 * instruction of pipe q that is certain to end before pipe p's next one begins. */
#ifndef AC_MODEL310_PRIVATE_H
#define AC_MODEL310_PRIVATE_H

#include "engine/aicore/access.h"
#include "engine/arith.h"
#include "engine/model310/model310.h"

enum { AC_PIPES = AC_PIPE_ALL, AC_EVENTS = 4, AC_LOADS = 1024 };

/* The last accesses to 32 bytes of a buffer. Index 0: none, or before the program. */
typedef struct ac_shadow {
    uint32_t written; /* bit i: byte i */
    uint32_t write_index, read_index[AC_PIPES];
    uint8_t writer, write_opcode, read_opcode[AC_PIPES];
} ac_shadow;

typedef struct ac_flag_state {
    bool set;
    uint32_t clock[AC_PIPES];
    double time;
    uint64_t index;
    const char *kernel;
} ac_flag_state;

/* Bytes of the constants that are in L1, and the instruction that loaded them. */
typedef struct ac_loaded {
    uint64_t begin, end;
    uint32_t index;
} ac_loaded;

struct ac_model {
    ac_model_config config;
    const ac_memory *memory; /* that of the core */
    ac_shadow *shadow[AC_BUFFERS];
    size_t shadow_bytes; /* of all buffers, side by side */
    /* clock[p][p] is UINT32_MAX, as a pipe runs in order; but V's results are there for V itself
     * only behind a barrier, or behind flags to another pipe and back. */
    uint32_t clock[AC_PIPES][AC_PIPES];
    double idle_from[AC_PIPES];
    ac_flag_state flags[AC_PIPES][AC_PIPES][AC_EVENTS];
    ac_loaded loaded[AC_LOADS]; /* the last ones since the last wait for other cores */
    uint32_t loads;
    const char *kernel;
    /* The current instruction. */
    ac_opcode opcode;
    ac_pipe pipe;
    uint32_t index;
    bool faulty;   /* it cannot be executed or timed */
    bool reported; /* it has a finding; one is enough */
    ac_model_report report;
};

static inline size_t ac_model_blocks(size_t bytes)
{
    return (bytes + AC_BLOCK - 1) / AC_BLOCK;
}

void ac_find(ac_model *, ac_finding_kind, const char *operand, int64_t found, int64_t limit);
void ac_find_pair(ac_model *, ac_finding_kind, const char *operand, int64_t found, ac_opcode other,
                  uint32_t other_index);

/* Checks the instruction at hand, if it is no flag or barrier, for legality and races, and notes
 * what it writes. */
void ac_check(ac_model *, const ac_instruction *);

#endif
