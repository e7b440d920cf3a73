// SPDX-License-Identifier: Apache-2.0
/* The steps of planning. Private to engine/plan. */
#ifndef MONA_PLANNER_H
#define MONA_PLANNER_H

#include "engine/run/plan.h"

/* The steps of mona_plan_make(). progress: room for every operator. */
mona_status mona_plan_bind(mona_plan *plan, const mona_config *config);
/* Finds which operators read which outputs. Fuses a STORE into the convolution before it if it is
 * the only reader and takes all channels. */
void mona_plan_readers(mona_plan *plan);
/* Divides operators into groups. Separates a fused STORE from its convolution if it runs in a later
 * group. The functions after it are its steps. */
mona_status mona_plan_groups(mona_plan *plan, const mona_config *config, plan_progress *progress);
void mona_plan_place(mona_plan *plan);
mona_status mona_plan_maps(mona_plan *plan);
mona_status mona_plan_rings(mona_plan *plan, const mona_config *config, plan_progress *progress);

/* Sets plan->parts and plan->reach. */
void mona_plan_reach(mona_plan *plan, plan_progress *progress);

/* Sets plan->lines. */
void mona_plan_find_lines(mona_plan *plan, plan_progress *progress);

/* Lays out the arena for a plan that is linked into a program with its constants. */
mona_status mona_plan_link(mona_plan *plan);

/* No region or arena may reach this, so that sums of them cannot wrap. */
#define PLAN_MAX_BYTES (SIZE_MAX / 16)

/* Whether a group may begin with operator `first` on an AI Core. */
bool mona_plan_may_begin(const mona_plan *plan, uint32_t first);

/* What the rings of a group should take at most: the cache; on an AI Core what its constants leave of
 * L1, less a sixteenth for a row of zeros. */
size_t mona_plan_room(const mona_plan *plan, const plan_group *g);

#endif
