#include "error.h"

#include <stdarg.h>
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
