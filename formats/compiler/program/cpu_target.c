// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/program/cpu_target.h"

#include <string.h>

#define SYMBOL(row, whose) .row = "mona_" #whose "_" #row,
#define TARGET_OF(name_, isa_, depthwise, rows, curves, ...)                                       \
    {                                                                                              \
        .name = name_, .isa = {.name = #isa_, __VA_ARGS__},                                        \
        .kernels = {MONA_ISA_KERNELS(SYMBOL, isa_, depthwise, rows)},                              \
    }
#define TARGET_FROM(name, isa, ...) TARGET_OF(name, isa, __VA_ARGS__),
#define TARGET(name, isa) TARGET_FROM(name, isa, MONA_ISA_##isa)

static const cpu_target targets[] = {CPU_TARGET_LIST(TARGET, )};

enum { TARGETS = sizeof targets / sizeof *targets };

const cpu_target *cpu_target_find(const char *name)
{
    for (size_t i = 0; i < TARGETS; i++)
        if (!strcmp(targets[i].name, name))
            return &targets[i];
    return NULL;
}

const cpu_target *cpu_target_of_isa(const char *isa)
{
    for (size_t i = 0; i < TARGETS; i++)
        if (!strcmp(targets[i].isa.name, isa))
            return &targets[i];
    return NULL;
}

/* Small CPUs have at least so much second-level cache. */
static mona_status open_device(const mona_device *device, mona_device_properties *p)
{
    (void)device;
    p->cores = 1;
    p->cache_bytes = 512 << 10;
    return MONA_OK;
}

static const mona_isa *isa_of(const char *name)
{
    const cpu_target *target = name ? cpu_target_find(name) : NULL;
    return target ? &target->isa : NULL;
}

const mona_device cpu_target_device = {
    .name = "host",
    .target = &ac_target_host,
    .open = open_device,
    .isa = isa_of,
};
