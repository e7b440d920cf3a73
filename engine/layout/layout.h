// SPDX-License-Identifier: Apache-2.0
/* Turns decisions into a plan: shapes, places and every offset of an arena. The planner and
 * load_plan.c, which reads decisions from a model's record, call these in this order. Private to
 * engine/. */
#ifndef MONA_LAYOUT_H
#define MONA_LAYOUT_H

#include "engine/run/plan.h"

/* No region or arena may reach this, so that sums of them cannot wrap. */
#define PLAN_MAX_BYTES (SIZE_MAX / 16)

/* Takes `bytes` from *end on; returns where they begin. */
static inline size_t place(size_t *end, size_t bytes)
{
    const size_t offset = *end;
    *end += align_up(bytes);
    return offset;
}

/* Checks arguments, chooses the model's size and binds it to the target: every operator with its
 * shapes, constants' sizes and fusions. *progress: room for every operator. */
mona_status mona_plan_begin(mona_plan **plan, plan_progress **progress, void *memory,
                            const mona_model *model, const mona_config *config);
/* Its second half. progress: scratch for every operator. */
mona_status mona_plan_bind(mona_plan *plan, const mona_config *config, plan_progress *progress);
/* Finds which operators read which outputs, as mona_plan_begin does. Fuses a STORE into the
 * convolution before it if it is the only reader and takes all channels. Forgets all groups. */
void mona_plan_readers(mona_plan *plan);
/* Separates a convolution from its fused STORE. */
static inline void mona_plan_part_store(plan_op *op)
{
    op->store = MONA_NONE;
    op->bound.store = NULL;
}
/* Makes operators [first, last) a group, without parts and tiles. Separates a fused STORE from its
 * convolution if it runs in a later group. */
plan_group *mona_plan_add_group(mona_plan *plan, uint32_t first, uint32_t last, bool whole_maps);
/* Bytes of the constants of operators [first, last), side by side. */
size_t mona_plan_constants(const mona_plan *plan, uint32_t first, uint32_t last);
/* With all groups known: what lies in the ring or map of another operator; where maps lie. uses,
 * lives: scratch for every operator. */
void mona_plan_place(mona_plan *plan, plan_progress *uses);
mona_status mona_plan_maps(mona_plan *plan, plan_progress *lives);
/* Whether operator `o` has a ring of its own, whose depth is then to be decided. */
bool mona_plan_needs_ring(const mona_plan *plan, uint32_t o);
/* Widths and offsets of a group's rings, for its number of tiles. Returns their bytes;
 * PLAN_MAX_BYTES or more: too large. */
size_t mona_plan_size_rings(mona_plan *plan, const plan_group *g, plan_progress *progress);
/* Keeps these bytes as those of the group. */
mona_status mona_plan_keep_rings(mona_plan *plan, plan_group *g, size_t bytes);
/* With all rings known: the place of tensors that share a ring or map. */
void mona_plan_share_homes(mona_plan *plan);
/* Bytes of the row of zeros that operators read outside of tensors, once rings are known. */
size_t mona_plan_zero_bytes(const mona_plan *plan);
/* Every offset of the arena. */
mona_status mona_plan_lay_out(mona_plan *plan);
/* Sets plan->lines. */
void mona_plan_find_lines(mona_plan *plan, plan_progress *progress);

/* Lays out the arena for a plan that is linked into a program with its constants. */
mona_status mona_plan_link(mona_plan *plan);

#endif
