// SPDX-License-Identifier: Apache-2.0
/* The AI Core program that computes a few output rows of a convolution, shared by
 * conv_instructions.c, conv_finish.c, conv_residual.c and conv_store.c. Private to ops/. */
#ifndef MONA_OPS_CONV_INSTRUCTIONS_H
#define MONA_OPS_CONV_INSTRUCTIONS_H

#include "ops/ascend/conv_packing.h"
#include "ops/ascend/functions.h"
#include "ops/ascend/lanes.h"
#include "ops/ascend/polynomials.h"
#include "ops/ascend/ub.h"
#include "ops/ascend/vectors.h"

#include "engine/arith.h"

enum {
    HALVES = 2,
    VECTOR = LANES * 2, /* bytes: 16 fp16 values, one block */
    MAX_BATCH = 24,     /* lane blocks whose constants UB holds at once */
    LOAD3D_HEAD = 16,   /* cycles of a load3d in addition to those of its fractals */
};

/* The layout of UB. */
typedef struct buffers {
    /* Constants of a batch of parts, [part][width][16]. */
    ac_address bias;         /* 32 bits each; 16 of them `bias_copies` times */
    ac_address scale, slope; /* fp16 */
    ac_address mask;         /* all bits set where there is a channel, else 0 */
    mona_bounds clip;
    ac_address residual_scale; /* 16 times, in fp16 */
    ac_address bounds, work;   /* of the polynomials, or of the function */
    /* Of a tile. */
    ac_address t, negative;       /* fp16, laid out as `tile` says */
    ac_address residual;          /* like t if the cube adds the residual, else conv_residual.c */
    ac_address lanes, spare;      /* of a residual that is turned: lanes.h */
    ac_address raw[HALVES], wide; /* a residual that the cube does not add, as stored and as fp16 */
    ac_address result[HALVES];    /* rounded results */
} buffers;

/* The planes that a row of results goes to, as mona_planes has them. */
typedef struct planes_at {
    const ac_address *rows;
    uint32_t block;
    mona_type type;
    uint16_t scale; /* fp16 bits */
    uint32_t maximum;
    bool padded; /* rows begin whole blocks of 32 bytes apart */
} planes_at;

/* One output row, as mona_conv_row has it. */
typedef struct mona_conv_place {
    const ac_address *runs;
    uint32_t pixels;
    bool whole; /* these are all of the row */
    mona_row_at residual, output;
    const planes_at *planes; /* NULL: to the output row */
} mona_conv_place;

/* How the runs of a row lie: those of a kernel row and of a channel block; bytes from the beginning
 * of a row of the ring to the first run, and from one run of a kernel row to the next; whether the
 * rows that runs lie in, if these are not always the same, may be taken as a picture. */
typedef struct mona_conv_source {
    bool rows;
    uint32_t row_runs, block_runs, blocks;
    size_t before, run_bytes, block_stride;
} mona_conv_source;

/* Pixels of one row, or several whole rows, for parts [first, end), which are one group. Each of
 * several rows begins at a fractal.
 *
 * In UB, t holds each part as pieces: the rows of every lane block are cut into `cuts` pieces of
 * piece_rows blocks of 16 values each. Pieces begin `pitch` blocks apart, and piece number
 * cut * width + lane block holds that cut of that lane block. */
typedef struct tile {
    uint32_t first, end, y, x, pixels; /* y counts the program's rows */
    uint32_t count;                    /* output rows from y on, whole ones if several */
    uint32_t slot;                     /* half of L0C, of raw and of result that it uses */
    uint32_t rows, m1;                 /* rows of A, and fractals of them */
    uint32_t row_m1;                   /* fractals of an output row */
    uint32_t piece_rows, pitch;
} tile;

typedef struct program {
    ac_core *core;
    const mona_conv_place *rows; /* [row_count]; they differ only in their addresses */
    uint32_t row_count;
    const mona_conv_place *row; /* the current one */
    const mona_conv_source *source;
    const mona_conv *conv;
    const mona_conv_packing *k;
    ac_address constants, weights; /* all of them; the weights among them */
    uint32_t element;              /* bytes of an element of the source */
    uint32_t chunk, m1;     /* fractals of K in a chunk; fractals of rows of A in a full tile */
    uint32_t stack;         /* output rows of a full tile */
    uint32_t cuts;          /* pieces that a lane block's rows are cut into in ub.t */
    bool weights_stay;      /* L0B holds all weights of a group */
    bool along_k;           /* load3ds go along K where they can */
    mona_function function; /* of the results, unless it is a table */
    buffers ub;
    uint32_t batch;     /* the batch whose constants UB holds; MONA_NONE: none */
    uint32_t l0b_first; /* first part of the group whose weights L0B holds; MONA_NONE: none */
    uint32_t half;      /* the half of L0A that is filled next */
    /* Bytes of the weights; those that are in L1, and those that are or will be. */
    size_t all_weights, loaded, loading;
} program;

static inline void sync(const program *p, ac_pipe from, ac_pipe to, uint32_t event)
{
    ac_emit_sync(p->core, from, to, event);
}

/* How often UB holds 16 biases: for every row of fractals that one instruction fills, if with one
 * copy there are more rows than instructions for all lane blocks of a tile. */
static inline uint32_t bias_copies(const program *p)
{
    enum { MOST = 8 };
    const uint32_t copies = min_u32(p->m1, MOST);
    return p->k->group * p->k->width * ceil_div_u32(p->m1, copies) < p->m1 ? copies : 1;
}

/* Lane block 0 of a part in the tile's half of L0C: its sums, or its residuals. Those of all parts
 * lie side by side. */
static inline ac_address l0c_of(const program *p, const tile *t, uint32_t part, bool residual)
{
    const size_t parts = residual * p->k->group + part - t->first;
    return ac_at(AC_L0C, (size_t)t->slot * (p->core->target->l0c_bytes / HALVES) +
                             parts * p->k->width * t->m1 * C_FRACTAL_BYTES);
}

/* Parts whose constants are in UB at the same time: a batch, which consists of whole groups. */
static inline uint32_t batch_parts(const mona_conv_packing *k)
{
    const uint32_t groups = MAX_BATCH / (k->width * k->group);
    return min_u32((groups ? groups : 1) * k->group, ceil_div_u32(k->parts, k->group) * k->group);
}

/* The batch that holds the tile's constants. */
static inline uint32_t batch_of(const program *p, const tile *t)
{
    return t->first / batch_parts(p->k);
}

/* Bytes before the fp16 constants of lane block j of a part, in arrays [parts of a
 * batch][width][16]. */
static inline size_t lanes_at(const program *p, uint32_t part, uint32_t j)
{
    return ((size_t)(part % batch_parts(p->k)) * p->k->width + j) * VECTOR;
}

/* Elements of t that a part takes, including the room between its pieces. */
static inline uint32_t part_elements(const program *p, const tile *t)
{
    return p->k->width * p->cuts * t->pitch * LANES;
}

/* Where a piece begins in t, or in a buffer laid out like it. */
static inline ac_address piece_at(const program *p, const tile *t, ac_address base, uint32_t part,
                                  uint32_t cut, uint32_t j)
{
    return base + (size_t)(part - t->first) * part_elements(p, t) * sizeof(uint16_t) +
           (size_t)(cut * p->k->width + j) * t->pitch * VECTOR;
}

/* Elements of t, or of a buffer laid out like it. */
static inline uint32_t tile_elements(const program *p, const tile *t)
{
    return (t->end - t->first) * part_elements(p, t);
}

/* conv_finish.c. */

/* Sets rows, m1, piece_rows and pitch of the tile from its first, end and pixels. */
void mona_conv_shape_tile(const program *p, tile *t);
/* Lays out UB for tiles like t. Returns the bytes that takes. */
size_t mona_conv_place_buffers(program *p, const tile *t);
/* Loads the constants of the tile's parts into UB, unless they are there already. */
void mona_conv_load_constants(program *p, const tile *t);
/* Drains the tile's half of L0C, applies the epilogue and stores the results. */
void mona_conv_finish(const program *p, const tile *t);

/* Pixels from one output row of a tile to the next, in its results and residuals. */
static inline uint32_t row_pitch(const program *p, const tile *t)
{
    return t->row_m1 * AC_FRACTAL * p->k->pixels;
}

/* conv_residual.c: a residual that the cube does not add.
 *   place  lays out its part of UB, from *at on
 *   clear  writes what is read of it but never loaded
 *   load   starts to load that of the tile
 *   add    adds it to ub.t
 *   in_lanes  whether its channel blocks are those of the lanes */
void mona_conv_place_residual(program *p, ac_address *at, const tile *t);
void mona_conv_clear_residual(const program *p, const tile *t);
void mona_conv_load_residual(const program *p, const tile *t);
void mona_conv_add_residual(const program *p, const tile *t);
bool mona_conv_residual_in_lanes(const program *p);

/* Whether the output's scale is applied to t before the results are rounded. Results in fp16 are
 * scaled while they are rounded, unless some lanes must end as +0 (masked), a function follows or
 * planes have a scale of their own. */
static inline bool scales_first(const program *p)
{
    return p->row->output.type != MONA_F16 || p->k->masked || p->function.count ||
           p->k->way == MONA_CONV_PLANES;
}

/* Whether results in fp16, which need no scale, are rounded, that is copied, by the maximum of them
 * and 0. */
static inline bool rounds_by_max(const program *p)
{
    return !scales_first(p) && p->conv->epilogue.output_scale == 1 &&
           p->conv->epilogue.activation_after_add == MONA_ACT_RELU;
}

/* conv_store.c.
 *   cuts   pieces that a lane block's rows are cut into in ub.t
 *   place  lays out the results' part of UB, from *at on
 *   store  rounds ub.t and stores it */
uint32_t mona_conv_cuts(const program *p);
void mona_conv_place_results(program *p, ac_address *at, const tile *t);
void mona_conv_store(const program *p, const tile *t);

/* conv_walk.c.
 *   walk          the fractals of a part's K from fractal i on, at most `most`, that load3ds along
 *                 K take; 0: none do. *w: the first one of the tile's current row
 *   load_along_k  loads them for all pixels of that row: 16 of them at l0a, the next ones `next`
 *                 bytes further on
 *   prefers_k     whether that is quicker than along pixels, and the size of chunks for it */
typedef struct mona_conv_walk_at {
    ac_address at;
    ac_load3d load;
} mona_conv_walk_at;

uint32_t mona_conv_walk(const program *p, const tile *t, uint32_t part, uint32_t i, uint32_t most,
                        mona_conv_walk_at *w);
void mona_conv_load_along_k(const program *p, const tile *t, const mona_conv_walk_at *w,
                            ac_address l0a, size_t next);
bool mona_conv_prefers_k(const program *p, const tile *t, uint32_t *chunk);

/* Whether the vector unit adds the residual. */
static inline bool adds_by_vector(const program *p)
{
    return p->conv->epilogue.add && !p->k->residual_by_cube;
}

#endif
