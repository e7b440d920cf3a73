// SPDX-License-Identifier: Apache-2.0
/* The machine that a benchmark runs on, and its other load in the meantime. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdint.h>

#include "mona.h"
#include "pipeline/base/clock.h"

typedef struct machine {
    char cpu[96];      /* model name; "unknown" if the system does not say */
    char system[160];  /* kernel, release, architecture */
    char governor[32]; /* of CPU 0's clock; "unknown" */
    unsigned cores;    /* that this process may use */
    double load;       /* average of the last minute; negative: unknown */
} machine;

void machine_describe(machine *m);

/* How many cores a device has. */
unsigned machine_cores(const mona_device *device);

/* The most memory that this process has had resident, in bytes; 0: unknown. */
double machine_peak_bytes(void);

/* The memory of this process, in bytes; what it shares with others counts by its share. 0:
 * unknown. */
double machine_own_bytes(void);

/* The memory that may still be had: of the machine, and of this process's control group. 0:
 * unknown. */
double machine_free_bytes(void);

/* Counters at a moment, in seconds. The difference of two moments says what happened in between. */
typedef struct machine_moment {
    double wall;
    double busy;      /* time of all CPUs, including stolen time; negative: unknown */
    double own;       /* CPU time of this process, and of those it started that have ended */
    double clock_mhz; /* additions of a dependent chain per microsecond, now */
} machine_moment;

machine_moment machine_now(void);

/* CPU time used by others between two moments, as a share of one CPU: 1 is one whole CPU. Negative:
 * unknown. */
double machine_others(const machine_moment *from, const machine_moment *to);

/* A counter of unknown but constant rate that takes a few nanoseconds to read and never falls. */
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
