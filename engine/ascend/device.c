// SPDX-License-Identifier: Apache-2.0
/* The device "ascend". Its streams are host threads that wait for the chip. Three of them, to send,
 * run and fetch frames, work on three frames at a time. */
#include "engine/ascend/acl.h"
#include "engine/ascend/session.h"
#include "engine/ascend/telemetry.h"
#include "engine/cpu/cpu.h"
#include "engine/mona_ascend.h"
#include "engine/name.h"
#include "engine/run/device.h"
#include "engine/op/programs.h"

static mona_status open_chip(mona_device_properties *p)
{
    if (!ascend_open())
        return MONA_ERR_DEVICE;
    p->cores = ac_target_ascend310.cores;
    p->cache_bytes = ac_target_ascend310.l1_bytes;
    p->unified_memory = ascend_on_chip();
    return MONA_OK;
}

static mona_status open_for_programs(mona_device_properties *p)
{
    const mona_status status = open_chip(p);
    return status || ascend_runs_programs() ? status : MONA_ERR_DEVICE;
}

static mona_status copy(const mona_copy *c)
{
    return c->direction == MONA_UPLOAD
               ? ascend_upload(c->dst, (size_t)c->dst_stride, c->src, c->src_stride, c->row_bytes,
                               c->rows)
               : ascend_download(c->dst, c->dst_stride, c->src, (size_t)c->src_stride, c->row_bytes,
                                 c->rows);
}

/* Plans bind operators to row kernels, which never run here. */
static const ac_isa *isa(const char *highest)
{
    return !highest || mona_names_equal(highest, mona_device_ascend.name) ? &ac_isa_c : NULL;
}

/* Models of the vendor's compiler have no plans: mona_om_open() runs them. */
static mona_status refuse_plan(mona_plan *plan)
{
    (void)plan;
    ASCEND_REPORT("the device ascend-om runs only models of the vendor's compiler (.om)");
    return MONA_ERR_UNSUPPORTED;
}

static const mona_ai_core no_programs = {.programs = mona_programs, .plan = refuse_plan};

#define CHIP                                                                                       \
    .target = &ac_target_ascend310, .close = ascend_close, .telemetry = ascend_telemetry,          \
    .allocate = ascend_allocate, .free = ascend_free, .copy = copy, .isa = isa

const mona_device mona_device_ascend = {
    .name = "ascend",
    .description = "the Ascend 310",
    .ai_core = &ascend_ai_core,
    .open = open_for_programs,
    CHIP,
};

const mona_device mona_device_ascend_om = {
    .name = "ascend-om",
    .description = "any Ascend chip, for models of its vendor's compiler (.om)",
    .ai_core = &no_programs,
    .open = open_chip,
    CHIP,
};
