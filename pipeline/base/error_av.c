// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stdio.h>

#include <libavutil/error.h>

#include "pipeline/base/error.h"

bool pipeline_fail_av(pipeline_error *error, int code, const char *format, ...)
{
    char before[512], reason[AV_ERROR_MAX_STRING_SIZE] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(before, sizeof before, format, arguments);
    va_end(arguments);
    av_strerror(code, reason, sizeof reason);
    return pipeline_fail(error, "%s: %s", before, reason);
}
