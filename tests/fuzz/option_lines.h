// SPDX-License-Identifier: Apache-2.0
/* Makes lines of options from their tables: values of each kind within its range, at its ends and
 * beyond them. */
#ifndef MONA_TESTS_FUZZ_OPTION_LINES_H
#define MONA_TESTS_FUZZ_OPTION_LINES_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/job/option.h"
#include "tests/fuzz/fuzz.h"

typedef struct option_lines {
    char *text;
    size_t room, used;
    uint64_t state;
} option_lines;

__attribute__((format(printf, 2, 3))) static inline void lines_put(option_lines *l,
                                                                   const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int wanted = vsnprintf(l->text + l->used, l->room - l->used, format, arguments);
    va_end(arguments);
    l->used += (size_t)wanted < l->room - l->used ? (size_t)wanted : l->room - l->used - 1;
}

static inline uint32_t lines_draw(option_lines *l, size_t below)
{
    return fuzz_draw(&l->state) % (uint32_t)below;
}

/* One of the words that a text separates. */
static inline void lines_put_word(option_lines *l, const char *words, char separator)
{
    const char *from = words;
    for (uint32_t skip = lines_draw(l, 8); skip; skip--) {
        const char *next = strchr(from, separator);
        from = next ? next + 1 : words;
    }
    const char ends[] = {separator, 0};
    lines_put(l, "%.*s", (int)strcspn(from, ends), from);
}

static inline void lines_put_number(option_lines *l, const option *o)
{
    const double wide = o->maximum < 1e9 ? o->maximum : 1e9,
                 at[] = {o->minimum,     o->maximum, wide, (o->minimum + wide) / 2,
                         o->minimum - 1, wide + 1,   -wide};
    if (o->kind == OPTION_WHOLE)
        lines_put(l, "%.0f", at[lines_draw(l, sizeof at / sizeof *at)]);
    else
        lines_put(l, "%g", at[lines_draw(l, sizeof at / sizeof *at)]);
}

/* Texts that some kinds or options take, and all others refuse. */
static inline void lines_put_text(option_lines *l)
{
    static const char *const texts[] = {"",
                                        "-",
                                        "x",
                                        "nan",
                                        "1e3",
                                        "-1",
                                        "2",
                                        "0.5",
                                        "auto",
                                        "keep",
                                        "remove",
                                        "all",
                                        "16x8",
                                        "99999x1",
                                        "8x8x",
                                        "12.5",
                                        "1:30",
                                        "01:02:03.250",
                                        "1:90",
                                        "800ms",
                                        "33.3us",
                                        "2s",
                                        "0ms",
                                        "5 parsecs",
                                        "memory=2G,pixels=100M,streams=64,time=10m",
                                        "time=1h",
                                        "time=-1",
                                        "memory=x",
                                        "pixels=0",
                                        "weight=1",
                                        "denoise,sr",
                                        "delay:5ms",
                                        "delay:5ms/2s@3,sr",
                                        "sr,sr,sr,sr,sr,sr,sr,sr",
                                        "denoize",
                                        "16x8:yuv420p:25",
                                        "a.mp4",
                                        "b.mkv",
                                        "rtsp://host/x",
                                        "udp://@:1",
                                        "sftp://x",
                                        "list.m3u8",
                                        "host",
                                        "ascend:0,1",
                                        "model310",
                                        "c,avx2"};
    lines_put(l, "%s", texts[lines_draw(l, sizeof texts / sizeof *texts)]);
}

static inline void lines_put_value(option_lines *l, const option *o)
{
    if (!lines_draw(l, 4))
        lines_put_text(l);
    else if (o->kind == OPTION_CHOICE || o->kind == OPTION_SWITCH)
        lines_put_word(l, o->argument, '|');
    else if (o->kind == OPTION_WHOLE || o->kind == OPTION_NUMBER)
        lines_put_number(l, o);
    else if (o->values)
        lines_put_word(l, o->values, ' ');
    else
        lines_put_text(l);
}

#endif
