// SPDX-License-Identifier: Apache-2.0
#include "pipeline/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <libavutil/error.h>

#include "engine/mona_ascend.h"

bool pipeline_fail(pipeline_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!error->text[0])
        vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return false;
}

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

const char *pipeline_reason(mona_status status)
{
    const char *problem = mona_ascend_problem();
    return status && *problem ? problem : mona_status_text(status);
}

void pipeline_note(const pipeline_notes *notes, const char *format, ...)
{
    char line[512];
    va_list arguments;
    if (!notes->say)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    notes->say(notes->context, line);
}
