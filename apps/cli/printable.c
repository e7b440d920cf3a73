// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/printable.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "apps/cli/json_output.h"

/* Control characters of both sets, separators of lines, and what turns the direction of the text
 * after it, so that it reads as something else. */
static bool is_obeyed(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

size_t printable_next(const char *text, char escape[PRINTABLE_ESCAPE])
{
    const size_t length = utf8_character(text);
    uint32_t number = (unsigned char)text[0];
    escape[0] = 0;
    if (!length) {
        snprintf(escape, PRINTABLE_ESCAPE, "\\x%02x", (unsigned)number & 0xff);
        return 1;
    }
    if (length > 1)
        number &= 0x7fu >> length;
    for (size_t i = 1; i < length; i++)
        number = number << 6 | ((unsigned char)text[i] & 0x3f);
    if (is_obeyed(number))
        snprintf(escape, PRINTABLE_ESCAPE, "\\u%04x", (unsigned)number & 0xffff);
    return length;
}

char *printable(char *to, size_t size, const char *text)
{
    char escape[PRINTABLE_ESCAPE];
    size_t used = 0;
    while (*text) {
        const size_t taken = printable_next(text, escape);
        const size_t length = escape[0] ? strlen(escape) : taken;
        if (used + length >= size)
            break;
        memcpy(to + used, escape[0] ? escape : text, length);
        used += length;
        text += taken;
    }
    to[used] = 0;
    return to;
}

void printable_put(FILE *f, const char *text)
{
    char escape[PRINTABLE_ESCAPE];
    for (size_t taken; *text; text += taken) {
        taken = printable_next(text, escape);
        fwrite(escape[0] ? escape : text, 1, escape[0] ? strlen(escape) : taken, f);
    }
}

void printable_print(FILE *f, const char *format, ...)
{
    char text[8192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    printable_put(f, text);
}
