// SPDX-License-Identifier: Apache-2.0
/* The device "ascend". Its streams are host threads that wait for the chip. Three of them, to send,
 * run and fetch frames, work on three frames at a time. */
#include "engine/ascend/acl.h"
#include "engine/ascend/session.h"
#include "engine/cpu/cpu.h"
#include "engine/mona_ascend.h"
#include "engine/libc.h"
#include "engine/run/device.h"
#include "engine/op/programs.h"

static mona_status open_chip(const mona_device *device, mona_device_properties *p)
{
    if (!ascend_open(device->number))
        return MONA_ERR_DEVICE;
    p->cores = ac_target_ascend310.cores;
    p->cache_bytes = ac_target_ascend310.l1_bytes;
    p->unified_memory = ascend_on_chip();
    return MONA_OK;
}

static mona_status open_for_programs(const mona_device *device, mona_device_properties *p)
{
    const mona_status status = open_chip(device, p);
    return status || ascend_runs_programs() ? status : MONA_ERR_DEVICE;
}

static void close_chip(const mona_device *device)
{
    ascend_close(device->number);
}

static mona_status allocate(const mona_device *device, size_t bytes, void **memory)
{
    *memory = NULL;
    return ascend_enter(device->number) ? ascend_allocate(bytes, memory) : MONA_ERR_DEVICE;
}

static void release(const mona_device *device, void *memory)
{
    ascend_enter(device->number);
    ascend_free(memory);
}

static mona_status copy(const mona_device *device, const mona_copy *c)
{
    if (!ascend_enter(device->number))
        return MONA_ERR_DEVICE;
    return c->direction == MONA_UPLOAD
               ? ascend_upload(c->dst, (size_t)c->dst_stride, c->src, c->src_stride, c->row_bytes,
                               c->rows)
               : ascend_download(c->dst, c->dst_stride, c->src, (size_t)c->src_stride, c->row_bytes,
                                 c->rows);
}

/* Plans bind operators to row kernels, which never run here. */
static const mona_isa *isa(const char *highest)
{
    return !highest || mona_names_equal(highest, mona_device_ascend.name) ? &mona_isa_c : NULL;
}

/* Models of the vendor's compiler have no plans: mona_om_open() runs them. */
static mona_status refuse_plan(mona_plan *plan)
{
    (void)plan;
    ASCEND_REPORT("the device ascend-om runs only models of the vendor's compiler (.om)");
    return MONA_ERR_UNSUPPORTED;
}

static const mona_ai_core no_programs = {.programs = mona_programs, .plan = refuse_plan};

/* ---- sensors, as the driver (DCMI) reads them ------------------------------------------------ */

enum { USE_OF_AI_CORES = 2, CLOCK_OF_AI_CORES = 7 }; /* kinds of rate and of frequency */

/* DCMI counts cards, and chips of a card. */
static bool find_card(uint32_t chip, int *card, int *at)
{
    return ascend.dcmi_get_card_id_device_id_from_logicid &&
           !ascend.dcmi_get_card_id_device_id_from_logicid(card, at, chip);
}

/* Figures that this driver does not have stay as they are. */
static void read_sensors(int card, int at, mona_telemetry *t)
{
    int number;
    unsigned int figure;
    if (ascend.dcmi_get_device_temperature &&
        !ascend.dcmi_get_device_temperature(card, at, &number))
        t->celsius = (float)number;
    if (ascend.dcmi_get_device_power_info && !ascend.dcmi_get_device_power_info(card, at, &number))
        t->watts = 0.1f * (float)number;
    if (ascend.dcmi_get_device_utilization_rate &&
        !ascend.dcmi_get_device_utilization_rate(card, at, USE_OF_AI_CORES, &figure))
        t->utilisation = 0.01f * (float)figure;
    if (ascend.dcmi_get_device_frequency &&
        !ascend.dcmi_get_device_frequency(card, at, CLOCK_OF_AI_CORES, &figure))
        t->clock_mhz = (float)figure;
}

static mona_status telemetry(const mona_device *chip, mona_telemetry *t)
{
    int card, at;
    size_t left, total;
    if (!ascend_open(chip->number) || !ascend_enter(chip->number))
        return MONA_ERR_DEVICE;
    if (!ascend.aclrtGetMemInfo(ASCEND_DDR, &left, &total)) {
        t->memory_bytes = (int64_t)total;
        t->memory_free_bytes = (int64_t)left;
    }
    if (find_card(chip->number, &card, &at))
        read_sensors(card, at, t);
    return MONA_OK;
}

mona_status mona_ascend_health_of(const mona_device *chip, mona_ascend_health *health)
{
    int card, at, level;
    unsigned int state;
    *health = (mona_ascend_health){-1, -1};
    if (!ascend_open(chip->number))
        return MONA_ERR_DEVICE;
    if (!find_card(chip->number, &card, &at))
        return MONA_ERR_UNSUPPORTED;
    if (ascend.dcmi_get_device_health && !ascend.dcmi_get_device_health(card, at, &state))
        health->health = state <= 3 ? (int)state : 3;
    if (ascend.dcmi_get_nve_level && !ascend.dcmi_get_nve_level(card, at, &level))
        health->level = level;
    return MONA_OK;
}

/* ---- all chips ------------------------------------------------------------------------------- */

#define ANY_CHIP(of, which)                                                                        \
    .first = (of), .number = (which), .target = &ac_target_ascend310, .close = close_chip,         \
    .telemetry = telemetry, .allocate = allocate, .free = release, .copy = copy, .isa = isa
#define PROGRAMS(of, which)                                                                        \
    {                                                                                              \
        .name = "ascend", .description = "the Ascend 310", .ai_core = &ascend_ai_core,             \
        .open = open_for_programs, ANY_CHIP(of, which)                                             \
    }
#define MODELS(of, which)                                                                          \
    {                                                                                              \
        .name = "ascend-om",                                                                       \
        .description = "any Ascend chip, for models of its vendor's compiler (.om)",               \
        .ai_core = &no_programs, .open = open_chip, ANY_CHIP(of, which)                            \
    }
#define FOUR(device, of, n)                                                                        \
    device(of, n), device(of, (n) + 1), device(of, (n) + 2), device(of, (n) + 3)
#define SIXTEEN(device, of, n)                                                                     \
    FOUR(device, of, n), FOUR(device, of, (n) + 4), FOUR(device, of, (n) + 8),                     \
        FOUR(device, of, (n) + 12)

const mona_device mona_device_ascend = PROGRAMS(NULL, 0);
const mona_device mona_device_ascend_om = MODELS(NULL, 0);

static const mona_device further[2][MONA_ASCEND_CHIPS] = {
    {SIXTEEN(PROGRAMS, &mona_device_ascend, 0), SIXTEEN(PROGRAMS, &mona_device_ascend, 16)},
    {SIXTEEN(MODELS, &mona_device_ascend_om, 0), SIXTEEN(MODELS, &mona_device_ascend_om, 16)},
};

const mona_device *mona_ascend_chip(const mona_device *kind, unsigned number)
{
    const mona_device *first = mona_device_first(kind);
    if (number >= MONA_ASCEND_CHIPS ||
        (first != &mona_device_ascend && first != &mona_device_ascend_om))
        return NULL;
    return number ? &further[first == &mona_device_ascend_om][number] : first;
}
