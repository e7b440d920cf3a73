// SPDX-License-Identifier: Apache-2.0
/* Which operands an instruction accepts, and which bytes it reads and writes. The model of the 310
 * finds races with it, and ac_program_prove proves bounds. The limits come from the programming
 * interfaces of dav-m100 (TIK and the instructions' register fields). */
#ifndef AC_ACCESS_H
#define AC_ACCESS_H

#include "engine/aicore/aicore.h"

/* Of a word: the `count` bits from `at` on. */
static inline uint64_t ac_bits(uint64_t word, unsigned at, unsigned count)
{
    return word >> at & (((uint64_t)1 << count) - 1);
}

/* A value outside its range: what was found, and the limit that it exceeds. */
typedef struct ac_fault {
    const char *operand;
    int64_t found, limit;
} ac_fault;

/* Whether the values of an instruction are in range. If not, *fault says what is wrong. Addresses
 * are not looked at. ac_fields_legal: each for itself (opcodes.c). */
bool ac_legal(const ac_instruction *instruction, ac_fault *fault);
bool ac_fields_legal(const ac_instruction *instruction, ac_fault *fault);

/* Bytes that an instruction reads or writes: count[0] x count[1] runs of `bytes` bytes. Run (i, j)
 * begins at `at` + first + i * step[0] + j * step[1]. What would lie at `at` + extent or beyond is
 * not touched. */
typedef struct ac_access {
    const char *name;
    ac_address at;
    uint8_t operand; /* 0: dst, 1: a, 2: b */
    bool write;
    bool in_place; /* read, and written at the same place by the same instruction */
    uint32_t align;
    uint32_t spaces; /* bits of ac_space it may lie in; that of AC_GM stands for all its buffers */
    uint64_t extent; /* bytes from `at` on that must exist */
    uint64_t first, bytes;
    uint32_t count[2];
    uint64_t step[2];
} ac_access;

enum { AC_ACCESSES = 2 * AC_FRACTAL };

/* The accesses of a legal instruction, sources first. Returns how many there are. */
uint32_t ac_accesses_of(const ac_instruction *instruction, ac_access accesses[AC_ACCESSES]);

/* Whether an access may lie in a space. */
static inline bool ac_may_lie_in(const ac_access *access, uint32_t space)
{
    return space < AC_SPACES && access->spaces >> (space < AC_GM ? space : AC_GM) & 1;
}

/* An operand of a vector instruction. */
typedef struct ac_stream {
    const char *name;
    ac_address at;
    uint32_t width; /* bytes of an element */
    uint32_t block, repeat;
} ac_stream;

/* Those of an instruction: dst, then its sources. */
typedef struct ac_streams {
    ac_stream at[3];
    uint32_t count;
} ac_streams;

ac_streams ac_streams_of(const ac_instruction *instruction);

/* The number of 32-byte blocks of an operand that hold its first `lanes` elements. */
static inline uint32_t ac_stream_blocks(const ac_stream *s, uint32_t lanes)
{
    return (lanes * s->width + AC_BLOCK - 1) / AC_BLOCK;
}

/* Of A and B, whose rows of elements of K are a block. */
enum { AC_FRACTAL_BYTES = AC_FRACTAL * AC_BLOCK };

/* The product of an instruction in fractals. */
typedef struct ac_fractals {
    uint32_t m, k, n;
} ac_fractals;

ac_fractals ac_fractals_of(const ac_instruction *instruction);

#endif
