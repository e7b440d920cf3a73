// SPDX-License-Identifier: Apache-2.0
/* The machine a benchmark runs on, and what else it did meanwhile. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdint.h>

#include "pipeline/clock.h"

typedef struct machine {
    char cpu[96];      /* model name, "unknown" where the system does not say */
    char system[160];  /* kernel, release, architecture */
    char governor[32]; /* of CPU 0's clock; "unknown" */
    unsigned cores;    /* this process may use */
    double load;       /* average of the last minute; negative: unknown */
} machine;

void machine_describe(machine *m);

/* Times so far, in seconds; their differences say what happened between two of these. */
typedef struct machine_moment {
    double wall;
    double busy;      /* of all CPUs, stolen time included; negative: unknown */
    double own;       /* CPU time of this process */
    double clock_mhz; /* additions a dependent chain makes in a microsecond, now */
    unsigned cpus;    /* that busy is the sum of */
} machine_moment;

machine_moment machine_now(void);

/* CPU time that others took between two moments, as a share of one CPU: 1 is one CPU's worth.
 * Negative: unknown. */
double machine_others(const machine_moment *from, const machine_moment *to);

/* A counter of unknown but constant rate that is read in a few nanoseconds; never falls. */
static inline uint64_t machine_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return clock_ns();
#endif
}

static inline double machine_clock_ms(void)
{
    return 1e-6 * (double)clock_ns();
}

#endif
