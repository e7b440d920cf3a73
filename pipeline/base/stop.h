// SPDX-License-Identifier: Apache-2.0
/* How the process ends on SIGINT, SIGTERM or SIGHUP.
 *
 * A separate thread receives the signals. It removes unfinished files, prints one line and ends the
 * process with status 128 + the signal's number, whatever the other threads are waiting for: a
 * pipe, a disk, a network, an encoder. Most of these cannot be interrupted: libav calls its
 * interrupt callback between two reads, and codecs never do. As results appear under their names
 * only when they are complete (outfile.h), no half-written file can remain.
 *
 * A crash removes unfinished files and prints a line, too.
 *
 * Any thread may call these functions. A process that never calls stop_begin handles signals as
 * usual. */
#ifndef MONA_STOP_H
#define MONA_STOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

/* Call it before any other thread is started: threads inherit the blocked signals. A SIGHUP that is
 * ignored (nohup) stays ignored. False: the thread could not be started. */
bool stop_begin(void);

/* Registers a file, or a folder with its files, for removal at the end. result, if not NULL, is the
 * name it would have got, for the line that is printed. False: out of memory. */
bool stop_removes(const char *path, const char *result);
void stop_keeps(const char *path);

/* Sets a line to print instead of "RESULT: interrupted, nothing was written"; NULL resets it. */
void stop_says(const char *line);

/* Keeps the end from coming between two steps that belong together. Only for short steps: the end
 * waits for half a second at most. */
void stop_hold(void);
void stop_release(void);

/* Ends the process with status 1 in the same way, after the caller has said why. */
_Noreturn void stop_fail(void);

/* From now on, the process ends in the same way after so many seconds, with status 1. */
void stop_after(double seconds);

/* From now on libraries may fail in any way: a crash ends with status 1 as well, and why is at the
 * end of its line. stop_excuse: that, or "". */
void stop_excuses(const char *why);
const char *stop_excuse(void);

/* Passes a signal on to this process (0: to none) and gives the caller a moment to end by itself.
 * Call it while the end is held. */
void stop_passes_to(pid_t child);

/* From now on, the first signal sets *asked and leaves the process STOP_SECONDS to end by itself;
 * one that comes half a second later ends it at once. asked must stay. */
enum { STOP_SECONDS = 10 };
void stop_asks(atomic_bool *asked);

/* The signal that has arrived; 0: none. */
int stop_signal(void);

#endif
