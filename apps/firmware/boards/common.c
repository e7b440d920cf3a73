// SPDX-License-Identifier: Apache-2.0
/* Shared by all boards: text output, the stack's mark, and the four C library functions that
 * libmona.a calls, for programs without a C library. */
#include <stdarg.h>
#include <stddef.h>

#include "apps/firmware/board.h"

/* ---- text ------------------------------------------------------------------------------------ */

static void put_number(uint32_t value, uint32_t base, uint32_t digits)
{
    char text[10];
    uint32_t n = 0;
    for (; n < digits || value; value /= base)
        text[n++] = "0123456789abcdef"[value % base];
    while (n)
        board_put(text[--n]);
}

static void put_signed(int32_t value)
{
    if (value < 0)
        board_put('-');
    put_number(value < 0 ? 0u - (uint32_t)value : (uint32_t)value, 10, 1);
}

void board_print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    for (; *format; format++) {
        if (*format != '%') {
            board_put(*format);
            continue;
        }
        switch (*++format) {
        case 's':
            for (const char *s = va_arg(arguments, const char *); *s; s++)
                board_put(*s);
            break;
        case 'd':
            put_signed(va_arg(arguments, int32_t));
            break;
        case 'x':
            put_number(va_arg(arguments, uint32_t), 16, 8);
            break;
        default:
            put_number(va_arg(arguments, uint32_t), 10, 1);
        }
    }
    va_end(arguments);
}

/* ---- the stack ------------------------------------------------------------------------------- */

extern uint32_t stack_bottom[], stack_top[]; /* of the linker script */
enum { UNUSED_WORD = 0x5aa5f00f };

/* Marks the stack below the caller's frame; the start-up code calls it first. */
void board_mark_stack(void);
void board_mark_stack(void)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0) - 256;
    for (volatile uint32_t *p = stack_bottom; (uintptr_t)p < here; p++)
        *p = UNUSED_WORD;
}

uint32_t board_stack_bytes(void)
{
    return (uint32_t)((uintptr_t)stack_top - (uintptr_t)stack_bottom);
}

uint32_t board_stack_used(void)
{
    const volatile uint32_t *p = stack_bottom;
    while (p < stack_top && *p == UNUSED_WORD)
        p++;
    return (uint32_t)((uintptr_t)stack_top - (uintptr_t)p);
}

/* ---- memory ---------------------------------------------------------------------------------- */

void *memcpy(void *restrict to, const void *restrict from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int byte, size_t count);
int memcmp(const void *a, const void *b, size_t count);

/* Words of any alignment and of any type, as memory is. */
typedef uint32_t __attribute__((aligned(1), may_alias)) word;

void *memcpy(void *restrict to, const void *restrict from, size_t count)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    for (; count >= 16; count -= 16, t += 16, f += 16)
        for (uint32_t i = 0; i < 4; i++)
            ((word *)t)[i] = ((const word *)f)[i];
    while (count--)
        *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size_t count)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    if ((uintptr_t)t <= (uintptr_t)f)
        for (size_t i = 0; i < count; i++)
            t[i] = f[i];
    else
        while (count--)
            t[count] = f[count];
    return to;
}

void *memset(void *to, int byte, size_t count)
{
    uint8_t *t = to;
    const uint32_t four = (uint8_t)byte * 0x01010101u;
    for (; count >= 16; count -= 16, t += 16)
        for (uint32_t i = 0; i < 4; i++)
            ((word *)t)[i] = four;
    while (count--)
        *t++ = (uint8_t)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t count)
{
    const uint8_t *p = a, *q = b;
    for (; count; count--, p++, q++)
        if (*p != *q)
            return *p < *q ? -1 : 1;
    return 0;
}
