// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/table.h"
#include "apps/cli/json_output.h"
#include "apps/cli/printable.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void table_append(char *text, size_t size, const char *more)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? ", " : "", more);
}

const char *table_cell(const cJSON *row, const char *key, char *buffer, size_t size)
{
    const cJSON *item = json_get(row, key);
    buffer[0] = 0;
    if (cJSON_IsString(item))
        printable(buffer, size, item->valuestring);
    else if (cJSON_IsNumber(item))
        snprintf(buffer, size, item->valuedouble == trunc(item->valuedouble) ? "%.0f" : "%.6g",
                 item->valuedouble);
    return buffer;
}

/* Marks that are drawn over the character before, and characters as wide as two, by their
 * numbers. */
static const struct {
    uint32_t first, last;
    int columns;
} odd_characters[] = {
    {0x300, 0x36f, 0},     {0x200b, 0x200f, 0}, {0xfe00, 0xfe0f, 0},   {0x1100, 0x115f, 2},
    {0x2e80, 0xa4cf, 2},   {0xac00, 0xd7a3, 2}, {0xf900, 0xfaff, 2},   {0xfe30, 0xfe6f, 2},
    {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2}, {0x1f300, 0x1f64f, 2}, {0x1f900, 0x1f9ff, 2},
    {0x20000, 0x3fffd, 2},
};

/* The bytes of the character that text begins with, and its columns. A byte that is none counts as
 * one. */
static size_t next_character(const char *text, int *columns)
{
    const size_t length = utf8_character(text);
    uint32_t number = (unsigned char)text[0];
    *columns = 1;
    if (length < 2)
        return 1;
    number &= 0x7fu >> length;
    for (size_t i = 1; i < length; i++)
        number = number << 6 | ((unsigned char)text[i] & 0x3f);
    for (size_t i = 0; i < sizeof odd_characters / sizeof *odd_characters; i++)
        if (number >= odd_characters[i].first && number <= odd_characters[i].last)
            *columns = odd_characters[i].columns;
    return length;
}

int table_columns(const char *text)
{
    int total = 0, columns;
    for (; *text; total += columns)
        text += next_character(text, &columns);
    return total;
}

const char *table_pad(char *buffer, size_t size, const char *text, int columns)
{
    size_t used = 0;
    int taken = 0, wide;
    while (*text) {
        const size_t length = next_character(text, &wide);
        if (taken + wide > columns || used + length >= size)
            break;
        memcpy(buffer + used, text, length);
        used += length;
        text += length;
        taken += wide;
    }
    for (; taken < columns && used + 1 < size; taken++)
        buffer[used++] = ' ';
    buffer[used] = 0;
    return buffer;
}

void table_print(const cJSON *rows, const char *const *keys, size_t key_count)
{
    int width[TABLE_MAX_COLUMNS];
    char text[256], padded[2 * sizeof text];
    const cJSON *row;
    for (size_t k = 0; k < key_count; k++) {
        width[k] = (int)strlen(keys[k]);
        cJSON_ArrayForEach(row, rows)
        {
            const int length = table_columns(table_cell(row, keys[k], text, sizeof text));
            width[k] = length > width[k] ? length : width[k];
        }
        printf("  %-*s", k + 1 < key_count ? width[k] : 0, keys[k]);
    }
    printf("\n");
    cJSON_ArrayForEach(row, rows)
    {
        for (size_t k = 0; k < key_count; k++) {
            const bool number = cJSON_IsNumber(json_get(row, keys[k]));
            table_cell(row, keys[k], text, sizeof text);
            if (number)
                printf("  %*s", width[k], text);
            else
                printf("  %s",
                       k + 1 < key_count ? table_pad(padded, sizeof padded, text, width[k]) : text);
        }
        printf("\n");
    }
}

void table_print_member(const cJSON *document, const char *name, const char *const *keys,
                        size_t key_count)
{
    const cJSON *rows = json_get(document, name);
    if (!cJSON_GetArraySize(rows))
        return;
    printf("\n%s\n", name);
    table_print(rows, keys, key_count);
}
