// SPDX-License-Identifier: Apache-2.0
/* How long a thread waits for others: for the packets of a camera or a pipe, or until a receiver
 * takes what is written. */
#ifndef MONA_WAITING_H
#define MONA_WAITING_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct waiting {
    uint64_t wall, work; /* when a call began, by the clock and by the thread's processor time */
} waiting;

waiting waiting_begin(void);

/* All of the time since then in which the thread did not work was waiting. */
void waiting_end(waiting began);

/* Nanoseconds that this thread has waited so far. */
uint64_t waiting_ns(void);

/* Becomes true where the system refuses a thread to a library that this thread waits for. NULL:
 * nobody waits for what this thread calls. */
extern _Thread_local atomic_bool *refused_thread;

#endif
