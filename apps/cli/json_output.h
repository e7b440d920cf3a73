// SPDX-License-Identifier: Apache-2.0
/* JSON as text, and as it is put together.
 *
 * File names are bytes, which need not be UTF-8, but JSON must be. A byte NN that is not part of a
 * UTF-8 character is written as \udcNN, half of a surrogate pair that stands for no character, so
 * that a reader can tell what the name was. Python's os.fsencode restores the bytes. */
#ifndef MONA_JSON_OUTPUT_H
#define MONA_JSON_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include <cjson/cJSON.h>

/* Call it before any document is made: cJSON leaves out what it finds no memory for, and json_text
 * must know. */
void json_begin(void);
bool json_is_short(void); /* of memory: a document lacks a part, and is not written */

/* Appends an empty object to an array, to be filled. */
static inline cJSON *json_add_object(cJSON *array)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(array, object);
    return object;
}

/* Rounded to nine significant digits, which keeps the nanoseconds of a time in seconds. */
void json_add_rounded(cJSON *object, const char *key, double value);

/* Adds members to an object, in their order. */
typedef struct json_member {
    const char *key;
    enum { JSON_NUMBER, JSON_ROUNDED, JSON_TEXT, JSON_TRUTH } kind;
    double number;
    const char *text;
} json_member;

#define NUMBER(key, value) ((json_member){key, JSON_NUMBER, (double)(value), NULL})
#define ROUNDED(key, value) ((json_member){key, JSON_ROUNDED, value, NULL})
#define TEXT(key, value) ((json_member){key, JSON_TEXT, 0, value})
#define TRUTH(key, value) ((json_member){key, JSON_TRUTH, value, NULL})
#define JSON_ADD(object, ...) json_add(object, (const json_member[]){__VA_ARGS__, {0}})

void json_add(cJSON *object, const json_member *members);

/* The text of a document, which may be NULL: indented, or one line. The caller frees it. NULL: out
 * of memory. */
char *json_text(const cJSON *document, bool indented);

/* Prints a document on stdout, indented or as one line. NULL: creating it ran out of memory. Return
 * the exit status: EXIT_FAILED after one line on stderr. */
int json_print(const cJSON *document);
int json_print_line(const cJSON *document);

/* The length in bytes of the UTF-8 character at the beginning of a text; 0: it is not valid. */
size_t utf8_character(const char *text);

/* Members of JSON objects. The object may be NULL. */

/* NULL: there is none. */
static inline cJSON *json_get(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

/* 0: there is none, or it is no number. */
static inline double json_number(const cJSON *object, const char *key)
{
    const cJSON *item = json_get(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* "": there is none, or it is no text. */
static inline const char *json_string(const cJSON *object, const char *key)
{
    const cJSON *item = json_get(object, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}

#endif
