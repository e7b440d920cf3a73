// SPDX-License-Identifier: Apache-2.0
/* How a process ends when it is told to, by SIGINT, SIGTERM or SIGHUP.
 *
 * A thread of its own takes the signals. It removes what is unfinished, says one line and ends the
 * process with status 128 + the signal's number, whatever the other threads are waiting for: a
 * pipe, a disk, a network, an encoder. Most of these could not be asked to give up: libav's
 * interrupt callback is heard between two reads, and not at all by codecs. Results only appear under
 * their names when they are complete (outfile.h), so nothing half-done can stay.
 *
 * Any thread may call these functions. A process that never calls stop_begin keeps its own way with
 * signals. */
#ifndef MONA_STOP_H
#define MONA_STOP_H

#include <stdbool.h>
#include <sys/types.h>

/* Call before any other thread is started: threads inherit that the signals are not theirs. A
 * SIGHUP that is ignored (nohup) stays ignored. False: the system refused the thread. */
bool stop_begin(void);

/* A file, or a folder with the files in it, to be removed at the end; result, if not NULL, is what
 * it would have become, for the line that is said. False: out of memory. */
bool stop_removes(const char *path, const char *result);
void stop_keeps(const char *path);

/* What to say in place of "RESULT: interrupted, nothing was written"; NULL: that again. */
void stop_says(const char *line);

/* Keeps the end from coming between two steps that belong together. Short steps only: the end
 * waits half a second. */
void stop_hold(void);
void stop_release(void);

/* The signal is passed on to this process (0: to none), and the caller has a moment to end by
 * itself before it is ended. Call while the end is held. */
void stop_passes_to(pid_t child);

/* The signal that has come, 0: none. */
int stop_signal(void);

#endif
