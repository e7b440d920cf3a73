// SPDX-License-Identifier: Apache-2.0
/* Who waits for a library that starts threads hears of those that the system refuses it. */
#ifndef MONA_REFUSED_THREAD_H
#define MONA_REFUSED_THREAD_H

#include <stdatomic.h>

/* What becomes true; NULL: nobody waits for what this thread calls. */
extern _Thread_local atomic_bool *refused_thread;

#endif
