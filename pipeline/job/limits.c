// SPDX-License-Identifier: Apache-2.0
#include "pipeline/job/limits.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "pipeline/base/stop.h"
#include "pipeline/job/option.h"

bool limits_count(const char *text, double thousand, double *value)
{
    static const char units[] = "KMGT";
    char *end;
    *value = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (unit)
        *value *= pow(thousand, (double)(unit - units + 1));
    return end != text && !end[unit != NULL] && *value >= 1 && *value <= 0x1p53;
}

static bool read_bytes(const char *text, double *value)
{
    return limits_count(text, 1024, value);
}

static bool read_number(const char *text, double *value)
{
    return limits_count(text, 1000, value);
}

/* "10m", or as any duration. */
static bool read_time(const char *text, double *value)
{
    pipeline_error unused = {0};
    char number[32], unit, rest;
    if (sscanf(text, "%31[0-9.]%c%c", number, &unit, &rest) == 2 && strchr("mh", unit)) {
        *value = strtod(number, NULL) * (unit == 'h' ? 3600 : 60);
        return *value > 0;
    }
    return option_duration("time", text, value, &unused) && *value > 0;
}

#define ROW(field, read, example)                                                                  \
    {                                                                                              \
#field, offsetof(limits, field), read, example                                             \
    }
static const struct {
    const char *name;
    size_t at;
    bool (*read)(const char *text, double *value);
    const char *example;
} rows[] = {ROW(memory, read_bytes, "memory=2G"), ROW(pixels, read_number, "pixels=100M"),
            ROW(streams, read_number, "streams=64"), ROW(time, read_time, "time=10m")};
enum { ROWS = sizeof rows / sizeof *rows };

static bool lower(limits *l, const char *option, const char *item, pipeline_error *error)
{
    const size_t length = strcspn(item, "=");
    for (size_t i = 0; i < ROWS; i++) {
        double value, *kept = (double *)(void *)((char *)l + rows[i].at);
        if (strlen(rows[i].name) != length || memcmp(rows[i].name, item, length) != 0)
            continue;
        if (!item[length] || !rows[i].read(item + length + 1, &value))
            return pipeline_misuse(error, "%s: expected a limit such as %s, found '%s'", option,
                                   rows[i].example, item);
        if (!*kept || value < *kept)
            *kept = value;
        return true;
    }
    return pipeline_misuse(error, "%s: expected memory, pixels, streams or time, found '%s'",
                           option, item);
}

bool limits_read(limits *l, const char *option, const char *text, pipeline_error *error)
{
    char item[64];
    do {
        const size_t length = strcspn(text, ",");
        snprintf(item, sizeof item, "%.*s", (int)length, text);
        if (!lower(l, option, item, error))
            return false;
        text += length;
    } while (*text++);
    return true;
}

/* What mona, libc and libraries say where there is no memory, for data, stacks or code. */
const char *limits_explain(const char *fault)
{
    static const char *const signs[] = {"memory",          "thread",
                                        "cannot be used",  "external library",
                                        "does not accept", "temporarily unavailable"};
    bool fits = false;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        fits |= strstr(fault, signs[i]) != NULL;
    return fits ? stop_excuse() : "";
}

bool limits_apply(const limits *l, pipeline_error *error)
{
    if (l->memory > 0) {
        const struct rlimit most = {(rlim_t)l->memory, (rlim_t)l->memory};
        if (setrlimit(RLIMIT_DATA, &most))
            return pipeline_fail(error, "memory cannot be limited to %.0f bytes: %s", l->memory,
                                 strerror(errno));
        stop_excuses("; --limit memory is in effect");
    }
    if (l->time > 0)
        stop_after(l->time);
    return true;
}
