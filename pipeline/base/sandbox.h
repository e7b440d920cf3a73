// SPDX-License-Identifier: Apache-2.0
/* Walls around a process that reads a stranger's bytes, as far as its kernel has them: Landlock
 * names the files that it may open, and seccomp refuses system calls that no run needs. Who takes
 * over a decoder by such bytes can spoil the result, and use up memory and time within their
 * limits; it reads and writes nothing else, starts no program, connects to nobody, and reaches no
 * other process.
 *
 * They last until the process ends, and hold for the threads that it starts; threads that run
 * already keep their files. So it is for the owner of the process to say, before it starts any. */
#ifndef MONA_SANDBOX_H
#define MONA_SANDBOX_H

#include <stdbool.h>

/* The files that may be opened. What is open already may be used. */
typedef struct sandbox {
    int rules; /* negative: this kernel has no Landlock */
    bool connects;
} sandbox;

/* Begins with what a process itself needs: libraries, its own figures and those of the machine.
 * connects: to other machines, too, which takes names of hosts and certificates. */
sandbox sandbox_begin(bool connects);

/* A file, or a folder with all below it; what does not exist is passed over. */
void sandbox_reads(const sandbox *s, const char *path);

/* The folder that a file lies in, with all below it. */
void sandbox_reads_beside(const sandbox *s, const char *path);

/* Files of any name in a folder and below it. */
void sandbox_writes(const sandbox *s, const char *folder);

/* The same in the folder in which path lies, or would; a device alone. */
void sandbox_writes_beside(const sandbox *s, const char *path);

/* Raises the walls for good. s is no more. */
void sandbox_enter(sandbox *s);

/* What walls there are in this process: "Landlock (ABI 6) and seccomp", or "none". */
const char *sandbox_raised(void);

/* Whether files and calls are both confined. */
bool sandbox_is_whole(void);

/* The same of what this kernel can raise. */
const char *sandbox_possible(void);

#endif
