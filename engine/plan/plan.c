// SPDX-License-Identifier: Apache-2.0
/* Makes a plan: decides on groups (plan_groups.c), rings and tiles (plan_rings.c), and computes the
 * resulting layout (engine/layout). */
#include "engine/plan/planner.h"

static mona_status check_l1(const mona_plan *plan)
{
    for (const plan_group *g = mona_plan_first_group(plan); g; g = mona_plan_next_group(plan, g))
        if (!mona_plan_fits_l1(plan, g, plan->zero_bytes))
            return MONA_ERR_UNSUPPORTED;
    return MONA_OK;
}

/* Planes that AI Cores read and write, one tensor after another. */
static size_t planes_bytes(const mona_plan *plan)
{
    const mona_file_header *h = plan->model.header;
    size_t bytes = 0;
    for (uint32_t i = 0; i < h->input_count + h->output_count; i++) {
        const mona_tensor_info info = mona_plan_planes_info(plan, i);
        bytes += align_up(mona_device_planes_bytes(&info));
    }
    return bytes;
}

mona_status mona_plan_make(mona_plan **out, void *memory, const mona_model *model,
                           const mona_config *config)
{
    mona_plan *plan;
    plan_progress *progress;
    mona_status status = mona_plan_begin(out ? &plan : NULL, &progress, memory, model, config);
    if (!status)
        status = mona_plan_groups(plan, config, progress);
    if (!status && mona_plan_on_ai_core(plan))
        plan->planes_bytes = planes_bytes(plan);
    if (!status && mona_plan_on_ai_core(plan) && !config->strip_rows && !config->tile_columns &&
        !config->cache_bytes && (!config->threads || config->threads >= AC_PROGRAM_CORES))
        status = plan->device->ai_core->plan(plan);
    if (!status)
        status = mona_plan_lay_out(plan);
    if (!status)
        mona_plan_reach(plan, progress);
    if (!status)
        mona_plan_find_lines(plan, progress);
    if (!status && mona_plan_on_ai_core(plan))
        status = check_l1(plan);
    if (!status)
        *out = plan;
    return status;
}
