// SPDX-License-Identifier: Apache-2.0
/* Time that never runs backwards. */
#ifndef MONA_CLOCK_H
#define MONA_CLOCK_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

/* Nanoseconds of one of the system's clocks, such as the CPU time of a thread; 0: there is no such
 * clock. */
static inline uint64_t clock_ns_of(clockid_t clock)
{
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Nanoseconds since an arbitrary moment. */
static inline uint64_t clock_ns(void)
{
    return clock_ns_of(CLOCK_MONOTONIC);
}

/* Sleeps until clock_ns() has reached ns. */
static inline void clock_sleep_until(uint64_t ns)
{
    const struct timespec until = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

#endif
