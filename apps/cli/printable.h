// SPDX-License-Identifier: Apache-2.0
/* Text from files, whose author may not be the one who reads it: what a terminal would obey is
 * shown as its number instead. */
#ifndef MONA_PRINTABLE_H
#define MONA_PRINTABLE_H

#include <stddef.h>
#include <stdio.h>

enum { PRINTABLE_ESCAPE = sizeof "\\u0000" };

/* How a terminal may show the character that text begins with. Returns its bytes in text; escape:
 * "" if it can be shown itself, else "\u001b", or "\x9b" for a byte of no character. */
size_t printable_next(const char *text, char escape[PRINTABLE_ESCAPE]);

/* The text in to, cut before a character that does not fit. Returns to. */
char *printable(char *to, size_t size, const char *text);

/* Writes all of it. */
void printable_put(FILE *f, const char *text);

/* The same for a text that is put together, of at most 8191 bytes; it can hold no new line. */
void printable_print(FILE *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
