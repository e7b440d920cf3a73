// SPDX-License-Identifier: Apache-2.0
/* A recorded AI Core program: constant data that says which instructions a core runs, and in what
 * order. Nothing in it is a pointer, so that it can be stored, proved and sent to a chip.
 *
 * Repeated parts are stored once. A *form* is an instruction without its addresses, together with
 * the flags and barriers before it; a network has a few hundred forms. A *record* is a form and
 * three offsets, or a loop over the records that follow. In a loop addresses advance by the
 * record's *motion*. An address inside a *ring* (the rows of a tensor that L1 keeps) wraps around
 * at the ring's end, so that the strips of a frame are iterations of one loop and a program's size
 * does not depend on the frame's height.
 *
 * Operands are packed as the registers of the chip's intrinsics take them. */
#ifndef AC_PROGRAM_H
#define AC_PROGRAM_H

#include "engine/aicore/aicore.h"

enum { AC_LOOPS = 3, AC_PROGRAM_CORES = 2, AC_FORM_FLAGS = 10 };
/* Of what instructions are: their numbers, and in the upper half how often their words changed. */
enum { AC_PROGRAM_VERSION = AC_OPCODES | 1 << 16 };

/* An instruction without its addresses. opcode: AC_OP_NONE if there is none, but flags. space: of
 * dst, a and b; AC_NO_SPACE: there is no such operand. flags: what comes first, each of source pipe
 * 0, destination pipe 3, event 6, and opcode, counted from AC_OP_SET_FLAG, 8. config: ac_pack();
 * of transposes [0] steps of dst 0, of a 16, [1] upper halves of dst 0, of a 1, and [2] patterns of
 * dst 0, of a 32. */
typedef struct ac_form {
    uint8_t opcode, relu;
    uint8_t space[AC_OPERANDS];
    uint8_t flag_count;
    uint16_t value;
    float scalar;
    uint16_t flags[AC_FORM_FLAGS];
    uint64_t config[AC_CONFIGS];
} ac_form;

enum { AC_NO_SPACE = 0xff };

/* The blocks of one side of a transpose, in bytes from the first. */
typedef struct ac_pattern {
    int32_t at[AC_FRACTAL];
} ac_pattern;

/* Bytes that the operands of a record advance in each turn of the loops around it, the outermost
 * loop first. */
typedef struct ac_motion {
    int32_t step[AC_LOOPS][AC_OPERANDS];
} ac_motion;

/* Where addresses in L1 wrap around. The rings of a segment ascend and do not overlap. */
typedef struct ac_ring {
    uint32_t begin, bytes;
} ac_ring;

enum {
    AC_RECORD_LOOP = UINT16_MAX, /* at: turns, records of its body */
    AC_RECORD_OPERATOR =
        UINT16_MAX - 1,        /* at: operator of the model that what follows belongs to */
    AC_FORMS = UINT16_MAX - 1, /* the most forms of a program */
};

typedef struct ac_record {
    uint16_t form, motion;
    uint32_t at[AC_OPERANDS];
} ac_record;

/* Cores wait for each other between segments (but see ac_runs_beside). first_constant, constants:
 * bytes of the program's constants that lie in L1 meanwhile, beside its row of zeros; l1_bytes: all
 * else there. */
typedef struct ac_segment {
    uint32_t first_ring, rings;
    uint32_t first_constant, constants;
    uint32_t l1_bytes;
    uint32_t array; /* 0, or 1 + an operator on arrays: AI CPUs run it, and cores nothing */
    struct {
        uint32_t first, count; /* records */
    } core[AC_PROGRAM_CORES];
} ac_segment;

/* Whether a segment runs at the same time as the one before: that is for core 0 alone, and this one
 * for core 1. Nothing in it reads what the other one writes. */
static inline bool ac_runs_beside(const ac_segment *segments, uint32_t count, uint32_t s)
{
    return s && s < count && !segments[s].core[0].count && segments[s].core[1].count &&
           segments[s - 1].core[0].count && !segments[s - 1].core[1].count;
}

/* A buffer of global memory: inputs first, then outputs, then what lies between groups. The planes
 * of an input or output lie one after another, with rows at multiples of 32 bytes. */
typedef struct ac_buffer {
    uint32_t bytes, width, height;
    uint32_t reserved;
} ac_buffer;

/* The bytes of a program: this header, its constants, and the parts below in this order, each at a
 * multiple of 8 bytes. */
typedef struct ac_program_header {
    uint32_t bytes;           /* of the whole program, a multiple of 64 */
    uint32_t l1_bytes;        /* that it takes of L1 at most, besides constants */
    uint32_t constants_bytes; /* the last zero_bytes of them are a row of zeros */
    uint32_t zero_bytes;
    uint32_t buffers, forms, patterns, motions, rings, segments, records;
    uint32_t inputs;  /* of the buffers; a program only reads these */
    uint32_t loads;   /* 1: instructions load constants, but for the row of zeros */
    uint32_t version; /* AC_PROGRAM_VERSION of the mona that made it */
    uint32_t reserved[2];
} ac_program_header;

/* Its parts, and what the header calls their number: those that are recorded, and all. */
#define AC_PROGRAM_LISTS(X)                                                                        \
    X(forms, forms, ac_form)                                                                       \
    X(patterns, patterns, ac_pattern)                                                              \
    X(motions, motions, ac_motion)                                                                 \
    X(rings, rings, ac_ring)                                                                       \
    X(segments, segments, ac_segment)                                                              \
    X(records, records, ac_record)
#define AC_PROGRAM_PARTS(X)                                                                        \
    X(constants, constants_bytes, uint8_t) X(buffers, buffers, ac_buffer) AC_PROGRAM_LISTS(X)

typedef struct ac_program {
    ac_program_header header;
#define AC_PART(part, counted, type) const type *part;
    AC_PROGRAM_PARTS(AC_PART)
} ac_program;

/* A flag or barrier as a form has it, and back. */
uint16_t ac_flag_of(const ac_instruction *flag);
ac_instruction ac_flag_instruction(uint16_t flag);

/* A form without flags from an instruction that is none, and back. Patterns are the caller's: to
 * and from are their indices. Fields that an instruction does not use come back as zeros. */
ac_form ac_form_of(const ac_instruction *i, uint32_t to, uint32_t from);
/* turned: room for both sides of a transpose. */
ac_instruction ac_form_instruction(const ac_program *p, const ac_form *f,
                                   const ac_address at[AC_OPERANDS], ac_turned turned[2]);

/* The ring of a segment that an offset in a space lies in; NULL: none. rings: of the program. */
const ac_ring *ac_ring_of(const ac_ring *rings, const ac_segment *s, uint32_t space, uint32_t at);

/* Points *p at the parts of a program in memory, 64-byte aligned. False: it is cut off, or counts
 * and size do not agree. Whether the rest is sound is for ac_program_prove to say. */
bool ac_program_open(ac_program *p, const void *bytes, size_t size);

/* What tells an opened program from others: CRC-32 of its bytes. */
uint32_t ac_program_crc(const ac_program *p);

/* Result of a proof: the number of instructions that the program runs, or the record at fault;
 * UINT32_MAX: the fault precedes the records. */
typedef struct ac_proof {
    uint64_t instructions;
    uint32_t record;
} ac_proof;

/* Whether a program is valid: every index is in range, every instruction is legal, in every turn of
 * its loops every operand lies inside its buffer, no core waits for ever, and the work is in
 * proportion to the bytes that it works on. Takes time proportional to the program's size.
 * operators: of its model. */
bool ac_program_prove(const ac_program *p, const ac_target *target, uint32_t operators,
                      ac_proof *proof);

/* Runs a segment on a core: its instructions go to core->take, and where operators and turns of
 * loops begin. The program must have been proved. */
void ac_program_run(ac_core *core, const ac_program *p, uint32_t segment, uint32_t core_index);

#endif
