// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/program/cpu_target.h"

#include <string.h>

static const cpu_target targets[] = {
    {"c", {.name = "c", .conv_scratch = AC_SCRATCH}, "c"},
    {"x86-avx2", {.name = "avx2", .winograd = true, .conv_scratch = AC_SCRATCH}, "avx2"},
    {"x86-avxvnni",
     {.name = "avxvnni", .unsigned_bias = true, .conv_scratch = AC_SCRATCH},
     "avxvnni"},
    {"x86-avx512", {.name = "avx512", .unsigned_bias = true, .conv_scratch = AC_SCRATCH}, "avx512"},
    {"armv8", {.name = "neon", .conv_scratch = AC_SCRATCH_NEON}, "neon"},
    {"armv8-dot", {.name = "dotprod", .conv_scratch = AC_SCRATCH_NEON}, "neon"},
    {"armv7", {.name = "neon", .conv_scratch = AC_SCRATCH_NEON}, "neon"},
    {"armv7e-m", {.name = "dsp", .conv_scratch = AC_SCRATCH_M}, "c"},
    {"armv8.1-m", {.name = "mve", .conv_scratch = AC_SCRATCH_M}, "mve"},
};

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
static mona_status open_device(mona_device_properties *p)
{
    p->cores = 1;
    p->cache_bytes = 512 << 10;
    return MONA_OK;
}

static const ac_isa *isa_of(const char *name)
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
