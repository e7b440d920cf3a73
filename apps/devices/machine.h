// SPDX-License-Identifier: Apache-2.0
/* The machine that a benchmark runs on, and its other load in the meantime. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "mona.h"
#include "pipeline/base/clock.h"
#include "engine/mona_ascend.h"

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

/* The most that this CPU can do, measured with loops that work in registers. Other figures are
 * shares of these limits. */

typedef struct peak {
    const char *int8_instruction, *fp32_instruction; /* that the loops consist of */
    double int8_gmac_per_s;                          /* u8 x s8 -> s32 */
    double fp16_gmac_per_s; /* as mona computes FP16 layers on a CPU: fp32 multiply-adds on widened
                            fp16 */
    double fp32_gmac_per_s;
    double copy_gb_per_s;       /* bytes read, and as many written, from memory to memory */
    double cache_copy_gb_per_s; /* the same within a core's own cache */
} peak;

/* Takes about a second in all, with `threads` threads; the best of five short runs of each loop.
 * False: a thread could not be started, or memory is short. */
bool peak_measure(unsigned threads, peak *result);

/* ---- ascend check ---------------------------------------------------------------------------- */

enum { ASCEND_FINDINGS = 6 + 2 * MONA_ASCEND_CHIPS };

typedef struct ascend_finding {
    char what[16];                /* "driver"; of several chips also "chip:1" and "health:1" */
    const char *state;            /* "OK", "too old", "too new", "missing", ... */
    char found[512], advice[256]; /* what is there, and what to do about it; may be "" */
} ascend_finding;

typedef struct ascend_findings {
    ascend_finding lines[ASCEND_FINDINGS];
    unsigned count;
} ascend_findings;

/* Finds what an Ascend 310 needs here, and how each chip is. Whether all are OK but the video
 * decoder, which is not needed. */
bool ascend_find(ascend_findings *all);

/* The same, printed. */
bool devices_check_ascend(void);

#endif
