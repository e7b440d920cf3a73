// SPDX-License-Identifier: Apache-2.0
/* How functions of formats/ report errors: as one line, written where the error occurred and
 * printed by the command. */
#ifndef MONA_FORMAT_ERROR_H
#define MONA_FORMAT_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

typedef struct format_error {
    char text[512];  /* one line without a newline; "" until an error occurs */
    unsigned reason; /* where what is wrong begins in it, after the name of an operator */
} format_error;

/* Writes the line, with '?' for bytes that are not printable ASCII, since names come from untrusted
 * files. Always returns false, so that callers can write `return format_fail(...)`. A line that is
 * already there stays, since the first cause is the one to report. */
bool format_fail(format_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same for an operator: "node 'NAME' (OP_TYPE) " and the text. */
bool format_fail_node(format_error *error, const char *name, const char *op_type,
                      const char *format, va_list arguments) __attribute__((format(printf, 4, 0)));

#endif
