// SPDX-License-Identifier: Apache-2.0
/* Arrays of JSON objects as tables. */
#ifndef MONA_TABLE_H
#define MONA_TABLE_H

#include <stddef.h>

#include <cjson/cJSON.h>

enum { TABLE_MAX_COLUMNS = 8 };

/* One entry of a row as printable text in buffer; "" if there is none. Returns buffer. */
const char *table_cell(const cJSON *row, const char *key, char *buffer, size_t size);

/* Appends to the text of a cell, after a comma if it is not empty. Cuts what does not fit. */
void table_append(char *text, size_t size, const char *more);

/* The columns that a text takes on a terminal, whose UTF-8 characters have none, one or two. */
int table_columns(const char *text);

/* The text, cut or padded with spaces to so many columns, in buffer. Returns buffer. */
const char *table_pad(char *buffer, size_t size, const char *text, int columns);

/* Prints the rows, a column for each key, as wide as its widest entry. */
void table_print(const cJSON *rows, const char *const *keys, size_t key_count);

/* The same for a member of a document, under its name; nothing if it has no rows. */
void table_print_member(const cJSON *document, const char *name, const char *const *keys,
                        size_t key_count);

#endif
