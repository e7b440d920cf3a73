// SPDX-License-Identifier: Apache-2.0
/* How functions of formats/ say what went wrong: one line, written where it happened, printed by
 * the command. */
#ifndef MONA_FORMAT_ERROR_H
#define MONA_FORMAT_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

typedef struct format_error {
    char text[512]; /* one line without a newline; "" until something failed */
} format_error;

/* Writes the line, with bytes that are not printable ASCII shown as '?': names come from files that
 * anybody may have written. Always returns false, so that `return format_fail(...)` reads well. A
 * line that is there already stays: the first cause is the one to tell. */
bool format_fail(format_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same of an operator: "node 'NAME' (OP_TYPE) " + the text. */
bool format_fail_node(format_error *error, const char *name, const char *op_type,
                      const char *format, va_list arguments) __attribute__((format(printf, 4, 0)));

#endif
