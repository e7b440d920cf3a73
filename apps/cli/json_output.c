// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/json_output.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/options.h"
#include "apps/cli/printable.h"

size_t utf8_character(const char *bytes)
{
    const unsigned char *text = (const unsigned char *)bytes;
    const unsigned char c = text[0];
    const size_t length = c < 0x80                 ? 1
                          : c >= 0xc2 && c <= 0xdf ? 2
                          : c >= 0xe0 && c <= 0xef ? 3
                          : c >= 0xf0 && c <= 0xf4 ? 4
                                                   : 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    const bool overlong = (c == 0xe0 && text[1] < 0xa0) || (c == 0xf0 && text[1] < 0x90);
    const bool surrogate = c == 0xed && text[1] >= 0xa0, beyond = c == 0xf4 && text[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

static atomic_bool short_of_memory; /* some document lacks a part */

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory)
        atomic_store(&short_of_memory, true);
    return memory;
}

void json_begin(void)
{
    cJSON_InitHooks(&(cJSON_Hooks){allocate, free});
}

bool json_is_short(void)
{
    return atomic_load(&short_of_memory);
}

void json_add_rounded(cJSON *object, const char *key, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", value);
    cJSON_AddNumberToObject(object, key, strtod(text, NULL));
}

void json_add(cJSON *object, const json_member *members)
{
    for (const json_member *m = members; m->key; m++)
        if (m->kind == JSON_NUMBER)
            cJSON_AddNumberToObject(object, m->key, m->number);
        else if (m->kind == JSON_ROUNDED)
            json_add_rounded(object, m->key, m->number);
        else if (m->kind == JSON_TEXT)
            cJSON_AddStringToObject(object, m->key, m->text);
        else
            cJSON_AddBoolToObject(object, m->key, m->number != 0);
}

char *json_text(const cJSON *document, bool indented)
{
    enum { ESCAPE = sizeof "\\udcff" - 1 };
    char *raw = !document || json_is_short() ? NULL
                : indented                   ? cJSON_Print(document)
                                             : cJSON_PrintUnformatted(document);
    char *text = raw ? malloc(ESCAPE * strlen(raw) + 1) : NULL, *to = text;
    for (const char *from = raw; text && *from;) {
        char escape[PRINTABLE_ESCAPE] = "";
        const size_t length = utf8_character(from);
        if (length && (unsigned char)*from >= 0x7f)
            printable_next(from, escape);
        if (escape[0]) {
            to += sprintf(to, "%s", escape);
            from += length;
        } else if (length) {
            memcpy(to, from, length);
            to += length;
            from += length;
        } else {
            to += sprintf(to, "\\udc%02x", (unsigned char)*from++);
        }
    }
    if (text)
        *to = 0;
    cJSON_free(raw);
    return text;
}

static int print(const cJSON *document, bool indented)
{
    char *text = json_text(document, indented);
    if (!text)
        return cli_fail(EXIT_FAILED, "out of memory");
    puts(text);
    fflush(stdout);
    free(text);
    return EXIT_SUCCESS;
}

int json_print(const cJSON *document)
{
    return print(document, true);
}

int json_print_line(const cJSON *document)
{
    return print(document, false);
}
