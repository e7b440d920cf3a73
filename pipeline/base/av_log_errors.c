// SPDX-License-Identifier: Apache-2.0
#include "pipeline/base/av_library.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <libavutil/log.h>

static atomic_ullong count;
static char first[256];
static atomic_bool silent, paused;

static int category_of(void *object)
{
    const AVClass *class = object ? *(const AVClass *const *)object : NULL;
    if (!class)
        return AV_CLASS_CATEGORY_NA;
    return class->get_category ? (int)class->get_category(object) : (int)class->category;
}

static void hear(void *object, int level, const char *format, va_list arguments)
{
    va_list copy;
    va_copy(copy, arguments);
    if (level <= AV_LOG_PANIC || !atomic_load(&silent))       /* after a panic the process ends */
        av_log_default_callback(object, level, format, copy); /* prints what its level allows */
    va_end(copy);
    if (level > AV_LOG_ERROR || atomic_load(&paused))
        return;
    int category = category_of(object);
    if (category != AV_CLASS_CATEGORY_DEMUXER && category != AV_CLASS_CATEGORY_DECODER)
        return;
    if (atomic_fetch_add(&count, 1) == 0) {
        vsnprintf(first, sizeof first, format, arguments);
        first[strcspn(first, "\n")] = 0;
    }
}

void av_log_errors_silence(void)
{
    atomic_store(&silent, true);
    av_log_set_callback(hear);
}

void av_log_errors_listen(void)
{
    av_log_set_callback(hear);
    if (atomic_load(&paused))
        return;
    atomic_store(&count, 0);
    first[0] = 0;
}

void av_log_errors_pause(bool pauses)
{
    atomic_store(&paused, pauses);
}

uint64_t av_log_errors_count(void)
{
    return atomic_load(&count);
}

void av_log_errors_first(char *text, size_t size)
{
    snprintf(text, size, "%s", first);
}
