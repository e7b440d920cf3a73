/* How pipeline functions say what went wrong: one line, written where it happened, printed by the
 * command. */
#ifndef MONA_PIPELINE_ERROR_H
#define MONA_PIPELINE_ERROR_H

#include <stdbool.h>

typedef struct pipeline_error {
    char text[768]; /* one line without a newline */
} pipeline_error;

/* Writes the line; always returns false, so that `return pipeline_fail(...)` reads well. A line
 * that is there already stays: the first cause is the one to tell. */
bool pipeline_fail(pipeline_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for a libav error code: "<text>: <what libav says>". */
bool pipeline_fail_av(pipeline_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
