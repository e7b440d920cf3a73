// SPDX-License-Identifier: Apache-2.0
/* Vector instructions over any number of elements: whole repeats, at most 255 in an instruction,
 * then one repeat with fewer lanes. Private to ops/.
 *
 * An ac_vector passed to these functions only sets strides. A repeat of fp16 is 8 blocks. */
#ifndef MONA_OPS_VECTORS_H
#define MONA_OPS_VECTORS_H

#include "engine/aicore/aicore.h"
#include "engine/arith.h"

/* HELD = 1.5 * 2^10 added to a number in [-2^9, 2^9) makes one in [2^10, 2^11), where fp16 holds
 * integers only. */
enum { HALF_LANES = AC_REPEAT / 2, FLOAT_LANES = AC_REPEAT / 4, HELD = 1536 };

/* Strides for fp16.
 *   side_by_side       all operands lie side by side
 *   b_again            b is one block of 16 values, used repeatedly
 *   b_stays            b is one repeat, used again
 *   b_every_second     b takes every second block
 *   dst_every_second   dst takes every second block */
static const ac_vector side_by_side = {
    .dst_block = 1, .a_block = 1, .b_block = 1, .dst_repeat = 8, .a_repeat = 8, .b_repeat = 8};
static const ac_vector b_again = {.dst_block = 1, .a_block = 1, .dst_repeat = 8, .a_repeat = 8};
static const ac_vector b_stays = {
    .dst_block = 1, .a_block = 1, .b_block = 1, .dst_repeat = 8, .a_repeat = 8};
static const ac_vector b_every_second = {
    .dst_block = 1, .a_block = 1, .b_block = 2, .dst_repeat = 8, .a_repeat = 8, .b_repeat = 16};
static const ac_vector dst_every_second = {
    .dst_block = 2, .a_block = 1, .b_block = 1, .dst_repeat = 16, .a_repeat = 8, .b_repeat = 8};

typedef struct vectors {
    ac_vector v;                /* of the next instruction */
    uint32_t lanes, left, done; /* lanes of a repeat; elements still to do; repeats done */
} vectors;

static inline vectors vectors_of(ac_vector strides, uint32_t lanes, uint32_t count)
{
    strides.repeat = 0;
    return (vectors){strides, lanes, count, 0};
}

static inline bool next_vectors(vectors *w)
{
    const uint32_t whole = w->left / w->lanes;
    w->done += w->v.repeat;
    if (!w->left)
        return false;
    w->v.repeat = (uint8_t)(whole > AC_MAX_REPEAT ? AC_MAX_REPEAT : whole ? whole : 1);
    w->v.lanes = (uint8_t)(whole ? w->lanes : w->left);
    w->left -= (uint32_t)w->v.repeat * w->v.lanes;
    return true;
}

static inline ac_address vectors_at(const vectors *w, ac_address base, uint8_t repeat_stride)
{
    return base + (size_t)w->done * repeat_stride * AC_BLOCK;
}

static inline void dup_strided(ac_core *core, ac_address dst, uint16_t value, uint32_t count,
                               ac_vector strides)
{
    for (vectors w = vectors_of(strides, HALF_LANES, count); next_vectors(&w);)
        ac_emit_dup(core, vectors_at(&w, dst, w.v.dst_repeat), value, w.v);
}

static inline void dup_all(ac_core *core, ac_address dst, uint16_t value, uint32_t count)
{
    dup_strided(core, dst, value, count, side_by_side);
}

static inline void vec2_all(ac_core *core, ac_vec2 op, ac_address dst, ac_address a, ac_address b,
                            uint32_t count, ac_vector strides)
{
    const uint32_t lanes = op >= AC_VADD_F32 ? FLOAT_LANES : HALF_LANES;
    for (vectors w = vectors_of(strides, lanes, count); next_vectors(&w);)
        ac_emit_vec2(core, op, vectors_at(&w, dst, w.v.dst_repeat), vectors_at(&w, a, w.v.a_repeat),
                     vectors_at(&w, b, w.v.b_repeat), w.v);
}

static inline void vecs_all(ac_core *core, ac_vecs op, ac_address dst, ac_address a, float s,
                            uint32_t count)
{
    const uint32_t lanes = op >= AC_VADDS_F32 ? FLOAT_LANES : HALF_LANES;
    for (vectors w = vectors_of(side_by_side, lanes, count); next_vectors(&w);)
        ac_emit_vecs(core, op, vectors_at(&w, dst, w.v.dst_repeat), vectors_at(&w, a, w.v.a_repeat),
                     s, w.v);
}

static inline void muls_all(ac_core *core, ac_address dst, ac_address a, float s, uint32_t count)
{
    vecs_all(core, AC_VMULS, dst, a, s, count);
}

/* Converts side by side. A repeat of the narrower type is 4 blocks. */
static inline void vconv_all(ac_core *core, ac_vconv kind, ac_address dst, ac_address src,
                             uint32_t count)
{
    const bool narrows = kind == AC_F16_U8 || kind == AC_F16_S8 || kind == AC_F32_F16;
    const uint32_t lanes = kind == AC_F32_F16 || kind == AC_F16_F32 ? FLOAT_LANES : HALF_LANES;
    const ac_vector strides = {
        .dst_block = 1, .a_block = 1, .dst_repeat = narrows ? 4 : 8, .a_repeat = narrows ? 8 : 4};
    for (vectors w = vectors_of(strides, lanes, count); next_vectors(&w);)
        ac_emit_vconv(core, kind, vectors_at(&w, dst, w.v.dst_repeat),
                      vectors_at(&w, src, w.v.a_repeat), w.v);
}

/* Transposes elements of `element` bytes. Strides have 8 bits; with longer ones each repeat is an
 * instruction of its own. */
static inline void turn_all(ac_core *core, uint32_t element, const ac_turned *to,
                            const ac_turned *from, uint32_t repeats)
{
    const bool near = to->repeat <= UINT8_MAX && from->repeat <= UINT8_MAX;
    ac_turned t = *to, f = *from;
    if (!near)
        t.repeat = f.repeat = 1;
    for (uint32_t done = 0, count; done < repeats; done += count) {
        count = near ? min_u32(repeats - done, AC_MAX_REPEAT) : 1;
        for (uint32_t i = 0; i < AC_FRACTAL; i++) {
            t.at[i] = to->at[i] + (size_t)done * to->repeat * AC_BLOCK;
            f.at[i] = from->at[i] + (size_t)done * from->repeat * AC_BLOCK;
        }
        ac_emit_transpose(core, element == 1 ? AC_OP_TRANSPOSE_B8 : AC_OP_TRANSPOSE, &t, &f,
                          (uint8_t)count);
    }
}

/* The same, and what follows on V waits for it. */
static inline void dup_done(ac_core *core, ac_address dst, uint16_t value, uint32_t count)
{
    dup_all(core, dst, value, count);
    ac_emit_barrier(core, AC_PIPE_V);
}

static inline void vec2_done(ac_core *core, ac_vec2 op, ac_address dst, ac_address a, ac_address b,
                             uint32_t count, ac_vector strides)
{
    vec2_all(core, op, dst, a, b, count, strides);
    ac_emit_barrier(core, AC_PIPE_V);
}

static inline void vecs_done(ac_core *core, ac_vecs op, ac_address dst, ac_address a, float s,
                             uint32_t count)
{
    vecs_all(core, op, dst, a, s, count);
    ac_emit_barrier(core, AC_PIPE_V);
}

static inline void vconv_done(ac_core *core, ac_vconv kind, ac_address dst, ac_address src,
                              uint32_t count)
{
    vconv_all(core, kind, dst, src, count);
    ac_emit_barrier(core, AC_PIPE_V);
}

/* Numbers of fp16 from those stored at `from`: there if they are of fp16, else at `to`. */
static inline ac_address widen_all(ac_core *core, mona_type type, ac_address to, ac_address from,
                                   uint32_t count)
{
    if (type == MONA_F16)
        return from;
    vconv_done(core, type == MONA_U8 ? AC_U8_F16 : AC_S8_F16, to, from, count);
    return to;
}

/* The reverse: to be stored at `to`. */
static inline void narrow_all(ac_core *core, mona_type type, ac_address to, ac_address from,
                              uint32_t count)
{
    if (type != MONA_F16)
        vconv_all(core, type == MONA_U8 ? AC_F16_U8 : AC_F16_S8, to, from, count);
}

static inline void turn_done(ac_core *core, uint32_t element, const ac_turned *to,
                             const ac_turned *from, uint32_t repeats)
{
    turn_all(core, element, to, from, repeats);
    ac_emit_barrier(core, AC_PIPE_V);
}

/* Takes the zero of a tensor (model_format.h) from its stored values as fp16, exactly. */
static inline void take_zero(ac_core *core, ac_address at, uint8_t zero, uint32_t count)
{
    if (zero)
        vecs_done(core, AC_VADDS, at, at, -(float)zero, count);
}

/* Rounds results that are ready to be stored with a zero, after adding it: as HELD is even, halves
 * go to even numbers of the sum. What is out of range of HELD stays out of that of U8. */
static inline void add_zero(ac_core *core, ac_address at, uint8_t zero, uint32_t count)
{
    if (zero) {
        vecs_done(core, AC_VADDS, at, at, (float)(HELD + zero), count);
        vecs_done(core, AC_VADDS, at, at, -HELD, count);
    }
}

#endif
