// SPDX-License-Identifier: Apache-2.0
/* The steps of planning. Private to engine/plan. */
#ifndef MONA_PLANNER_H
#define MONA_PLANNER_H

#include "engine/layout/layout.h"

/* The steps of mona_plan_make() between those of layout.h. progress: room for every operator.
 * Divides operators into groups, and these into parts and tiles. */
mona_status mona_plan_groups(mona_plan *plan, const mona_config *config, plan_progress *progress);

/* Tiles of a group with results of this size that has fewer rows than there are cores: cores share
 * them. Else 1. */
uint32_t mona_plan_shared_tiles(const mona_plan *plan, uint32_t height, uint32_t width);

/* Decides on rings and tiles. */
mona_status mona_plan_rings(mona_plan *plan, const mona_config *config, plan_progress *progress);

/* Sets plan->parts and plan->reach. */
void mona_plan_reach(mona_plan *plan, plan_progress *progress);

/* The most that the rings of a group should take: the cache; on an AI Core the part of L1 that its
 * constants leave, less some sixteenths, which have a row of zeros. */
size_t mona_plan_room(const mona_plan *plan, const plan_group *g);

/* Whether L1, a hard limit on the chip, holds the rings and the constants of a group beside a row
 * of `zeros` bytes. */
static inline bool mona_plan_fits_l1(const mona_plan *plan, const plan_group *g, size_t zeros)
{
    return mona_plan_group_l1_bytes(g) + mona_plan_group_constants(plan, g) + align_up(zeros) <=
           plan->target->l1_bytes;
}

#endif
