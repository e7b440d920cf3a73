// SPDX-License-Identifier: Apache-2.0
#include "pipeline/base/av_library.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <libavutil/log.h>

static atomic_ullong count, large; /* large: width and height, 32 bits each */
static char first[256];
static atomic_bool silent, paused;

static int category_of(void *object)
{
    const AVClass *class = object ? *(const AVClass *const *)object : NULL;
    if (!class)
        return AV_CLASS_CATEGORY_NA;
    return class->get_category ? (int)class->get_category(object) : (int)class->category;
}

/* Of libav's errors about sizes, this one alone is of max_pixels. The codes are those of others. */
static void hear_size(const char *format, va_list arguments)
{
    static const char begin[] = "Picture size %ux%u exceeds specified max pixel count";
    va_list copy;
    if (strncmp(format, begin, sizeof begin - 1) != 0)
        return;
    va_copy(copy, arguments);
    const uint64_t width = va_arg(copy, unsigned);
    atomic_store(&large, width << 32 | va_arg(copy, unsigned));
    va_end(copy);
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
    hear_size(format, arguments);
    const int category = category_of(object);
    if (category != AV_CLASS_CATEGORY_DEMUXER && category != AV_CLASS_CATEGORY_DECODER &&
        category != AV_CLASS_CATEGORY_BITSTREAM_FILTER)
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
    atomic_store(&large, 0);
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

bool av_log_errors_size(uint32_t *width, uint32_t *height)
{
    const uint64_t size = atomic_load(&large);
    *width = (uint32_t)(size >> 32);
    *height = (uint32_t)size;
    return size;
}
