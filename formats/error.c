// SPDX-License-Identifier: Apache-2.0
#include "formats/error.h"

#include <stdio.h>

bool format_fail(format_error *error, const char *format, ...)
{
    if (error->text[0])
        return false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    for (char *p = error->text; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
    return false;
}

bool format_fail_node(format_error *error, const char *name, const char *op_type,
                      const char *format, va_list arguments)
{
    char text[384];
    if (error->text[0])
        return false;
    vsnprintf(text, sizeof text, format, arguments);
    error->reason = (unsigned)snprintf(NULL, 0, "node '%.80s' (%.40s) ", name, op_type);
    return format_fail(error, "node '%.80s' (%.40s) %s", name, op_type, text);
}
