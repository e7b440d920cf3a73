// SPDX-License-Identifier: Apache-2.0
/* How pipeline functions report errors: as one line, written where the error occurred and printed
 * by the command. Notes report facts worth knowing although nothing failed. */
#ifndef MONA_PIPELINE_ERROR_H
#define MONA_PIPELINE_ERROR_H

#include <stdbool.h>

#include "mona.h"

typedef struct pipeline_error {
    char text[768]; /* one line without a newline */
    bool misused;   /* it says that an option or its value is wrong */
} pipeline_error;

/* Writes the line. Always returns false, so that callers can write `return pipeline_fail(...)`. A
 * line that is already there stays, since the first cause is the one to report. */
bool pipeline_fail(pipeline_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same where an option or its value is wrong. */
bool pipeline_misuse(pipeline_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for a libav error code: "<text>: <what libav says>". */
bool pipeline_fail_av(pipeline_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A status in words: what the chip says of it, if it does, or mona_status_text(). */
const char *pipeline_reason(mona_status status);
/* The same of one device, where others go on. */
const char *pipeline_reason_of(const mona_device *device, mona_status status);

/* Where lines about changes and omissions go, which are no errors. say NULL: nowhere. */
typedef struct pipeline_notes {
    void (*say)(void *context, const char *line); /* a line without a newline; any thread */
    void *context;
} pipeline_notes;

void pipeline_note(const pipeline_notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
