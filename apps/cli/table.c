// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/table.h"
#include "apps/cli/json_read.h"

#include <math.h>
#include <stdbool.h>
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
        snprintf(buffer, size, "%s", item->valuestring);
    else if (cJSON_IsNumber(item))
        snprintf(buffer, size, item->valuedouble == trunc(item->valuedouble) ? "%.0f" : "%.6g",
                 item->valuedouble);
    for (char *p = buffer; *p; p++) /* names come from untrusted files */
        if ((unsigned char)*p < ' ' || *p == 127)
            *p = '?';
    return buffer;
}

void table_print(const cJSON *rows, const char *const *keys, size_t key_count)
{
    int width[TABLE_MAX_COLUMNS];
    char text[256];
    const cJSON *row;
    for (size_t k = 0; k < key_count; k++) {
        width[k] = (int)strlen(keys[k]);
        cJSON_ArrayForEach(row, rows)
        {
            const int length = (int)strlen(table_cell(row, keys[k], text, sizeof text));
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
                printf("  %-*s", k + 1 < key_count ? width[k] : 0, text);
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
