// SPDX-License-Identifier: Apache-2.0
/* Makes words from records (words.h): chunks, flags and registers (words_chunks.c), instructions,
 * tiles and drains (words_instructions.c), loops and segments (words.c). The same code first
 * measures the output, with no destination, and then writes it.
 *
 * A tile's records are one entry, and so are its drains: with an entry for each the kernel executes
 * 2.3 times as many scalar instructions (tests/bench/kernel/cost.sh, sr_x2_fast at 1080p). */
#ifndef MONA_WORDS_MAKER_H
#define MONA_WORDS_MAKER_H

#include "engine/ascend/words.h"

enum {
    CHUNK_WORDS = WORDS_CHUNK / 8,
    FLAGS_PENDING = 16,
    UNKNOWN = 1 << 30, /* what a register holds */
};

/* How operands advance in the loops around them, and in which ring; NULL: none. */
typedef struct phase {
    const ac_ring *ring;
    int32_t step[AC_LOOPS], reserved;
} phase;

typedef struct phase_set {
    uint64_t bits[(WORDS_PHASES + 64) / 64];
} phase_set;

typedef struct place {
    uint32_t offset, base, phase;
} place;

typedef struct maker {
    const ac_program *program;
    const ac_segment *segment;
    uint64_t *out;         /* NULL: nowhere to write */
    uint32_t words;        /* so far, behind the image's header */
    uint32_t chunk;        /* of them, before the one that is being written */
    bool measuring;        /* a loop's body, in a chunk that does not end */
    const char *why;       /* the kernel cannot run it; NULL: it can */
    uint32_t depth;        /* of loops */
    uint32_t lanes, scale; /* in registers */
    const ac_form *load3d; /* whose registers are set; NULL: unknown */
    place loaded;          /* of L1, by the last load3d of a tile; offset UNKNOWN: unknown */
    uint32_t phases;
    phase phase[WORDS_PHASES + 1]; /* from 1 on */
    uint16_t flag[FLAGS_PENDING];  /* of 10 bits each, that are not written yet */
    uint32_t flag_count;
    uint32_t held; /* events from S to V that are set and not waited for yet, a bit each */
} maker;

/* ---- chunks, flags, registers --------------------------------------------------------------- */

void words_refuse(maker *m, bool when, const char *why);
void words_put(maker *m, uint64_t word);
void words_new_chunk(maker *m);
void words_end_chunk(maker *m);
/* The next so many words lie in one chunk. */
void words_need_room(maker *m, uint32_t words);

void words_add_flag(maker *m, uint16_t flag);
void words_write_flags(maker *m);
/* An event from S to V that the kernel may use in between. */
uint64_t words_free_event(maker *m);

/* Begins an entry of so many words. */
void words_begin(maker *m, uint32_t words);
/* Begins the entry of a tile or an instruction: returns the bits of the last flags, which its first
 * word holds. Those before them are written. */
uint64_t words_begin_flagged(maker *m, uint32_t words);
/* Begins an entry that sets a register, ahead of flags that are not written yet, unless they are of
 * S themselves. */
void words_begin_register(maker *m, uint32_t words);

/* ---- instructions --------------------------------------------------------------------------- */

static inline uint32_t words_rounded(uint32_t bytes)
{
    return (bytes + AC_BLOCK - 1) / AC_BLOCK * AC_BLOCK;
}

/* A record's form; NULL: it is no instruction, or there is none. */
static inline const ac_form *words_form_of(const maker *m, const ac_record *r, const ac_record *end)
{
    return r < end && r->form < AC_RECORD_OPERATOR ? &m->program->forms[r->form] : NULL;
}

/* Where a byte of the constants lies in L1: behind the rings, and the row of zeros behind that. */
uint32_t words_constant_at(const maker *m, uint32_t at);
/* The phase of an operand, which is added if it is new; 0: it does not move. */
uint32_t words_phase_of(maker *m, const ac_record *r, uint32_t k);
/* Begins the entry of an instruction: its first word, its operands, and room for `more` words. */
void words_put_operands(maker *m, uint32_t code, uint32_t type, const place *at, uint32_t count,
                        uint32_t more);
void words_put_instruction(maker *m, const ac_record *r);

/* ---- several records in one entry ----------------------------------------------------------- */

/* Writes load3ds and the mad that they are for as a tile. Returns how many records it takes; 0:
 * they are none. *sets: the one behind has one flag less then. */
uint32_t words_put_tile(maker *m, const ac_record *r, const ac_record *end, bool *sets);
/* Returns how many records it takes. */
uint32_t words_put_drains(maker *m, const ac_record *r, const ac_record *end);

#endif
