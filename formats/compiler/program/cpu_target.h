// SPDX-License-Identifier: Apache-2.0
/* CPUs for which this machine prepares models. */
#ifndef MONA_CPU_TARGET_H
#define MONA_CPU_TARGET_H

#include "engine/run/device.h"

#define CPU_TARGETS "c|x86-avx2|x86-avxvnni|x86-avx512|armv8|armv8-dot|armv7|armv7e-m|armv8.1-m"

/* The planner's knowledge of a CPU; its row kernels are only named. */
typedef struct cpu_target {
    const char *name;
    ac_isa isa;
    const char *rows; /* whose kernels it has besides conv_row */
} cpu_target;

/* The target of this name, or that of an instruction set. NULL: there is none. */
const cpu_target *cpu_target_find(const char *name);
const cpu_target *cpu_target_of_isa(const char *isa);

/* A machine to plan for; config.cpu is the target's name. */
extern const mona_device cpu_target_device;

#endif
