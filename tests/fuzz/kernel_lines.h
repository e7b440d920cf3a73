// SPDX-License-Identifier: Apache-2.0
/* Changes a kernel's interface word by word and line by line: bytes would only break it. */
#ifndef MONA_TESTS_FUZZ_KERNEL_LINES_H
#define MONA_TESTS_FUZZ_KERNEL_LINES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

enum { KERNEL_TEXT = 1 << 16, KERNEL_WORD = 32 };

typedef struct kernel_lines {
    char text[KERNEL_TEXT];
    size_t size;
    uint64_t state;
} kernel_lines;

static inline uint32_t kernel_draw(kernel_lines *l, size_t below)
{
    return below ? fuzz_draw(&l->state) % (uint32_t)below : 0;
}

/* Puts `word` in place of the bytes from `at` to `end`. */
static inline void kernel_replace(kernel_lines *l, size_t at, size_t end, const char *word,
                                  size_t length)
{
    if (l->size - (end - at) + length >= sizeof l->text)
        return;
    memmove(l->text + at + length, l->text + end, l->size - end);
    memcpy(l->text + at, word, length);
    l->size = l->size - (end - at) + length;
}

/* Where what holds a byte begins and ends, between any of these. */
static inline size_t kernel_part(const kernel_lines *l, size_t *at, const char *between)
{
    size_t end = *at;
    while (*at && !strchr(between, l->text[*at - 1]))
        --*at;
    while (end < l->size && !strchr(between, l->text[end]))
        end++;
    return end;
}

/* A word of the same kind as one that there is. */
static inline size_t kernel_word(kernel_lines *l, const char *old, char word[KERNEL_WORD])
{
    static const char *const names[] = {
        "add",    "sub",   "mul",     "max",   "min",    "iadd",   "isub",  "imul", "imax",
        "imin",   "hadd",  "hsub",    "hmul",  "hmax",   "hmin",   "and",   "or",   "half",
        "const",  "entry", "row",     "u8",    "s8",     "u16",    "width", "s32",  "height",
        "column", "f32",   "sample",  "f16",   "cell",   "spread", "rows",  "s16",  "halves",
        "gather", "store", "program", "table", "planes", "around"};
    static const char *const numbers[] = {"0",   "1",     "2",    "3",         "4",  "8",
                                          "-1",  "7",     "16",   "31",        "-8", "127",
                                          "255", "65535", "1024", "1133903872"};
    const char *number = numbers[kernel_draw(l, sizeof numbers / sizeof *numbers)];
    const long long now = strtoll(old + (strchr("fus", *old) != NULL), NULL, 10) % (1LL << 33);
    const long long near = now + (long long)kernel_draw(l, 3) - 1;
    if (strchr("fus", *old) && old[1] >= '0' && old[1] <= '9' && kernel_draw(l, 8))
        return (size_t)snprintf(word, KERNEL_WORD, "%c%lld", "fus"[kernel_draw(l, 3)],
                                kernel_draw(l, 2) ? llabs(near) : (long long)kernel_draw(l, 12));
    if (!strchr("0123456789-", *old))
        return (size_t)snprintf(word, KERNEL_WORD, "%s",
                                names[kernel_draw(l, sizeof names / sizeof *names)]);
    if (kernel_draw(l, 2))
        return (size_t)snprintf(word, KERNEL_WORD, "%lld", near);
    return (size_t)snprintf(word, KERNEL_WORD, "%s", number);
}

static inline void kernel_change(kernel_lines *l)
{
    size_t at = kernel_draw(l, l->size), other = kernel_draw(l, l->size);
    char word[KERNEL_WORD], *line;
    const uint32_t how = kernel_draw(l, 8);
    if (how < 5) {
        const size_t end = kernel_part(l, &at, " \n"), length = kernel_word(l, l->text + at, word);
        kernel_replace(l, at, end, word, length);
        return;
    }
    size_t end = kernel_part(l, &at, "\n");
    end += end < l->size;
    if (how == 5) {
        kernel_replace(l, at, end, "", 0);
        return;
    }
    line = malloc(end - at + 1);
    if (!line)
        return;
    memcpy(line, l->text + at, end - at);
    kernel_part(l, &other, "\n");
    kernel_replace(l, other, other, line, end - at);
    free(line);
}

static inline size_t change_lines(char *data, size_t size, size_t room, unsigned seed)
{
    static kernel_lines l;
    if (size >= sizeof l.text)
        return size;
    memcpy(l.text, data, size);
    memset(l.text + size, 0, sizeof l.text - size);
    l.size = size;
    l.state = seed;
    for (uint32_t n = 1 + kernel_draw(&l, 4); n; n--)
        kernel_change(&l);
    l.size = l.size < room ? l.size : room;
    memcpy(data, l.text, l.size);
    return l.size;
}

#endif
