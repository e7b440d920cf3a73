/* Time that only goes on, and how much of it some work took. */
#ifndef MONA_CLOCK_H
#define MONA_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

/* Nanoseconds since some moment of the past. */
static inline uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Started and stopped by one thread at a time, read by any. Zeroed: nothing was measured yet. */
typedef struct stopwatch {
    uint64_t started;
    atomic_uint_least64_t total; /* nanoseconds between starts and stops */
} stopwatch;

/* stopwatch_start and stopwatch_stop suit mona_stream_call. */
static inline void stopwatch_start(void *watch)
{
    ((stopwatch *)watch)->started = clock_ns();
}

static inline void stopwatch_stop(void *watch_)
{
    stopwatch *watch = watch_;
    atomic_fetch_add_explicit(&watch->total, clock_ns() - watch->started, memory_order_relaxed);
}

static inline uint64_t stopwatch_read(const stopwatch *watch)
{
    return atomic_load_explicit(&watch->total, memory_order_relaxed);
}

#endif
