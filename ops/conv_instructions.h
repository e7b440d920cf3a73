/* What conv_instructions.c, conv_finish.c, conv_residual.c and conv_store.c share: the program of
 * one output row of a convolution. Private to ops/. */
#ifndef MONA_OPS_CONV_INSTRUCTIONS_H
#define MONA_OPS_CONV_INSTRUCTIONS_H

#include "helpers.h"
#include "vectors.h"

#include "../engine/aicore/scatter.h"

enum {
    HALVES = 2,
    C_FRACTAL_BYTES = AC_FRACTAL * AC_FRACTAL * 4,
    VECTOR = AC_FRACTAL * 2, /* bytes: 16 fp16 values, one block */
    MAX_BATCH = 24,          /* blocks whose constants are in UB at once: groups of 1, 2 or 3 */
};

/* UB. Constants of a batch of blocks, and single blocks of values; then tiles. */
typedef struct buffers {
    uint8_t *bias; /* [batch], 16 x 32 bit each */
    uint8_t *float_scale, *float_slope;
    uint16_t *scale, *slope; /* [batch][16] */
    uint16_t *zero, *low, *high,
        *mask;              /* 16 each: 0, the bounds of CLIP, all bits of real channels */
    uint16_t *t, *negative; /* fp16, [pixel][16] */
    uint16_t *residual;     /* fp16, [pixel][channels of its blocks], at least 16 */
    uint16_t *stored, *phases, *unused; /* of a residual of one channel: spread_channel */
    uint8_t *bytes;                     /* rounded, on its way to planes: round_pairs; */
    uint16_t *spare;                    /* for what is turned there but not wanted */
    uint16_t *joined;                   /* fp16, [pixel][32] */
    uint8_t *raw[HALVES]; /* the residual as stored, a piece for each of its channel blocks */
    uint8_t *result;      /* rounded, a tile for each block of a group */
} buffers;

/* Blocks [first, end) of outputs: one group. */
typedef struct tile {
    uint32_t first, end, y, x, pixels; /* y: of the program's rows */
    uint32_t slot;                     /* half of L0C and of the raw residual */
} tile;

typedef struct program {
    ac_core *core;
    const ac_isa *isa;
    const ac_conv_row *rows; /* alike but for where they lie */
    uint32_t row_count;
    const ac_conv_row *row; /* the one being worked on */
    const ac_conv *conv;
    uint32_t element, fractal_k, fractal_bytes, run_fractals;
    uint32_t chunk, m1; /* of a full tile */
    uint32_t group;
    bool joins;        /* two blocks of 16 channels make a channel block of 32 bytes */
    bool pairs;        /* two samples of 8 bits a pixel for every row of planes */
    bool weights_stay; /* L0B holds all weights of a group */
    buffers ub;
    uint32_t batch;     /* the one whose constants UB holds; MONA_NONE: none */
    uint32_t l0b_first; /* the group whose weights L0B holds, if they stay */
    uint32_t half;      /* of L0A, next */
} program;

static inline uint32_t at_most(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline void sync(const program *p, ac_pipe from, ac_pipe to, uint32_t event)
{
    p->isa->set_flag(p->core, from, to, (ac_event)event);
    p->isa->wait_flag(p->core, from, to, (ac_event)event);
}

/* Block n of the tile's half of L0C. */
static inline uint8_t *l0c_of(const program *p, const tile *t, uint32_t n)
{
    return p->core->l0c + (size_t)t->slot * (p->core->target->l0c_bytes / HALVES) +
           (size_t)(n - t->first) * p->m1 * C_FRACTAL_BYTES;
}

static inline uint32_t elements_of(const tile *t)
{
    return t->pixels * AC_FRACTAL;
}

/* Takes so many bytes of UB from *at on, in whole blocks. */
static inline uint8_t *take(uint8_t **at, size_t bytes)
{
    uint8_t *taken = *at;
    *at += (bytes + AC_BLOCK - 1) / AC_BLOCK * AC_BLOCK;
    return taken;
}

static inline uint16_t *take_halves(uint8_t **at, size_t bytes)
{
    return (uint16_t *)(void *)take(at, bytes);
}

static inline void copy_blocks(const program *p, ac_path path, void *to, const void *from,
                               uint32_t blocks)
{
    p->isa->copy(p->core, path, to, from, (ac_copy){.bursts = 1, .blocks = (uint16_t)blocks});
}

/* conv_finish.c */

/* Lays out UB for tiles of m1 fractals; the bytes it takes. */
size_t mona_conv_place_buffers(program *p, uint32_t m1);
/* Brings the constants of the tile's blocks to UB, unless they are there. */
void mona_conv_load_constants(program *p, const tile *t);
/* ub.t op a block of 16 values, to `to`. */
void mona_conv_with_block(const program *p, ac_vec2 op, uint16_t *to, const uint16_t *block,
                          const tile *t);
/* Drains the tile's half of L0C and finishes its pixels. */
void mona_conv_finish(const program *p, const tile *t);

/* conv_residual.c. place: its part of UB. load: starts to bring the tile's residual there. add:
 * that of block n to ub.t. */
void mona_conv_place_residual(program *p, uint8_t **at, uint32_t m1);
void mona_conv_load_residual(const program *p, const tile *t);
void mona_conv_add_residual(const program *p, const tile *t, uint32_t n);

/* conv_store.c. place: its part of UB. round: block n, which is in ub.t. store: the tile, once all
 * its blocks are rounded. */
void mona_conv_place_results(program *p, uint8_t **at, uint32_t m1);
void mona_conv_round(const program *p, const tile *t, uint32_t n);
void mona_conv_store(const program *p, const tile *t);

#endif
