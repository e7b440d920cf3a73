// SPDX-License-Identifier: Apache-2.0
/* CPUs for which this machine prepares models. */
#ifndef MONA_CPU_TARGET_H
#define MONA_CPU_TARGET_H

#include "engine/cpu/isa_table.h"
#include "engine/run/device.h"

#define CPU_TARGET_LIST(TARGET, OR)                                                                \
    TARGET("c", c)                                                                                 \
    OR TARGET("x86-avx2", avx2)                                                                    \
    OR TARGET("x86-avxvnni", avxvnni)                                                              \
    OR TARGET("x86-avx512", avx512)                                                                \
    OR TARGET("x86-amx", amx)                                                                      \
    OR TARGET("armv8", neon)                                                                       \
    OR TARGET("armv8-dot", dotprod)                                                                \
    OR TARGET("armv8-i8mm", i8mm)                                                                  \
    OR TARGET("armv7", neon)                                                                       \
    OR TARGET("armv7e-m", dsp)                                                                     \
    OR TARGET("armv8-m", dsp)                                                                      \
    OR TARGET("armv8.1-m", mve)                                                                    \
    OR TARGET("rv64gcv", rvv)
#define CPU_TARGET_NAME(name, isa) name
#define CPU_TARGETS CPU_TARGET_LIST(CPU_TARGET_NAME, "|")

#define CPU_TARGET_SYMBOL(row, whose) const char *row;

/* The planner's knowledge of a CPU; its row kernels are only named. */
typedef struct cpu_target {
    const char *name;
    mona_isa isa;
    struct {
        MONA_ISA_KERNELS(CPU_TARGET_SYMBOL, , , )
    } kernels; /* functions of libmona.a on that CPU */
} cpu_target;

/* The target of this name, or that of an instruction set. NULL: there is none. */
const cpu_target *cpu_target_find(const char *name);
const cpu_target *cpu_target_of_isa(const char *isa);

/* A machine to plan for; config.cpu is the target's name. */
extern const mona_device cpu_target_device;

#endif
