// SPDX-License-Identifier: Apache-2.0
#include "pipeline/base/error.h"

#include <stdarg.h>
#include <stdio.h>

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

bool pipeline_misuse(pipeline_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!error->text[0]) {
        vsnprintf(error->text, sizeof error->text, format, arguments);
        error->misused = true;
    }
    va_end(arguments);
    return false;
}

const char *pipeline_reason(mona_status status)
{
    const char *problem = mona_ascend_problem();
    return status && *problem ? problem : mona_status_text(status);
}

const char *pipeline_reason_of(const mona_device *device, mona_status status)
{
    const char *problem = mona_ascend_chip(device, 0) ? mona_ascend_problem_of(device) : "";
    return *problem ? problem : mona_status_text(status);
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
