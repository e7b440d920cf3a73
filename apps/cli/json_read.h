// SPDX-License-Identifier: Apache-2.0
/* Members of JSON objects. The object may be NULL. */
#ifndef MONA_JSON_READ_H
#define MONA_JSON_READ_H

#include <cjson/cJSON.h>

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
