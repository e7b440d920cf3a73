// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/program/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/layout/layout.h"
#include "formats/compiler/program/cpu_target.h"
#include "formats/file.h"

#pragma GCC diagnostic error "-Wmissing-field-initializers"

/* All members are given here and below, in order, so that none is forgotten. */
static void put_plan(mona_file_plan *f, const mona_plan *plan)
{
    *f = (mona_file_plan){
        MONA_PLAN_MAGIC, plan->cores, plan->strip_rows, plan->copies, plan->parts, {0}, "", {{0}}};
    snprintf(f->isa, sizeof f->isa, "%s", mona_plan_isa(plan));
    for (uint32_t i = 0; i < plan->model.header->input_count; i++) {
        const plan_reach *r = &plan->reach[i];
        const mona_shape *s = &plan->shapes[i];
        f->inputs[i].width = s->width;
        f->inputs[i].height = s->height;
        const int64_t reach[] = {r->above, r->below, r->left, r->right};
        for (int side = 0; side < 4; side++)
            f->inputs[i].reach[side] = (int32_t)reach[side];
    }
}

static void put_op(mona_file_plan_op *f, const mona_plan *plan, uint32_t o)
{
    const plan_op *op = &plan->ops[o];
    const plan_group *g = &op->group;
    const uint32_t flags =
        (g->whole_maps ? MONA_PLAN_WHOLE_MAPS : 0) | (g->by_channels ? MONA_PLAN_BY_CHANNELS : 0);
    const uint32_t rows = op->depth ? op->depth : 1; /* 1: nobody needs them */
    *f = (mona_file_plan_op){
        g->last, g->parts, g->tiles, flags, mona_plan_needs_ring(plan, o) ? rows : 0, 0};
}

bool plan_record(const mona_model *model, const char *target, mona_size size, uint8_t **bytes,
                 size_t *count, format_error *error)
{
    const bool host = !strcmp(target, "host");
    const mona_config config = {.device = host ? &mona_device_host : &cpu_target_device,
                                .cpu = host ? NULL : target,
                                .sizes = {size}};
    mona_plan *plan;
    void *memory = file_alloc(mona_plan_bytes(model));
    *bytes = NULL;
    if (!memory)
        return format_fail(error, "out of memory");
    const mona_status status = mona_plan_make(&plan, memory, model, &config);
    if (!status) {
        const uint32_t ops = plan->model.header->op_count;
        *count = sizeof(mona_file_plan) + ops * sizeof(mona_file_plan_op);
        *bytes = file_alloc(*count);
        if (*bytes) {
            put_plan((mona_file_plan *)(void *)*bytes, plan);
            for (uint32_t o = 0; o < ops; o++)
                put_op((mona_file_plan_op *)(void *)(*bytes + sizeof(mona_file_plan)) + o, plan, o);
        }
    }
    free(memory);
    return *bytes || format_fail(error, "%s", status ? mona_status_text(status) : "out of memory");
}
