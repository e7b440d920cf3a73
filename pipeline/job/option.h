// SPDX-License-Identifier: Apache-2.0
/* Settings as rows of tables: names, kinds of values, ranges, defaults and what help says of them.
 *
 *     {"--crf", NULL, OPTION_NUMBER, CHANGES_BYTES, offsetof(job, crf), "N", encoding,
 *      .help = "quality of libx264, lower is better", .initial = "18", .maximum = 51}, */
#ifndef MONA_OPTION_H
#define MONA_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "mona.h"
#include "pipeline/base/error.h"
#include "pipeline/base/words.h"

/* The value of an option, and the type of the field it sets. */
typedef enum option_kind {
    OPTION_FLAG,     /* nothing; bool */
    OPTION_STRING,   /* const char *: the text itself; each use replaces the one before */
    OPTION_FILE,     /* the same, a path */
    OPTION_CHOICE,   /* one of the words in `argument`, which separates them by '|'; an enum, the
                        word's place: from 0, or from 1 where there is no default */
    OPTION_SWITCH,   /* one of two such words; bool: whether it is the first */
    OPTION_WHOLE,    /* long: minimum..maximum */
    OPTION_NUMBER,   /* double: minimum..maximum */
    OPTION_SHARE,    /* double from 0 to 1, or of the words in `values`: "auto" is -1, "remove" 0
                        and "keep" 1 */
    OPTION_SIZE,     /* mona_size: 1920x1080, each side 1..MONA_MAX_SIDE */
    OPTION_TIME,     /* double, seconds: 12.5, 1:30, 01:02:03.250 or 800ms; minimum.. */
    OPTION_DURATION, /* the same above 0, and a number needs its unit: 33.3ms */
    OPTION_LIST,     /* option_list: each use adds one */
    OPTION_FILES,    /* the same, paths */
} option_kind;

/* Whether the bytes of what a command makes depend on an option, or only how it is made, shown and
 * kept, or whether it makes a share of the same bytes. Each row says so: one that does not fails to
 * compile, since its field's offset is missing. */
typedef enum option_effect { CHANGES_BYTES, KEEPS_BYTES, SHARES_BYTES } option_effect;

enum { OPTION_LIST_MAX = 64 };
typedef struct option_list {
    const char *items[OPTION_LIST_MAX];
    size_t count;
} option_list;

typedef struct option {
    const char *name;   /* "--output" */
    const char *letter; /* "-o", or "-ss" as in ffmpeg, or NULL */
    option_kind kind;
    option_effect effect;
    size_t field;            /* its offset in the values */
    const char *argument;    /* name of the value, e.g. "FILE"; NULL for flags */
    const char *group;       /* the heading it is listed under */
    const char *help;        /* one line, without the default */
    const char *initial;     /* the default as it would be typed; NULL: the field is not changed */
    double minimum, maximum; /* WHOLE, NUMBER; TIME has a minimum */
    const char *needs;       /* an option without which this one has no effect, or several of which
                                one is enough ("--live or --resume"); or NULL */
    bool written;            /* FILE, FILES: the command writes it; it reads the others */
    const char *values; /* STRING, SHARE: values that completion offers, separated by spaces; or
                                NULL */
    const char *again;  /* what to do instead of giving it twice, which is refused; NULL: the
                                last one counts */
    const char *alias;  /* another name, not listed anywhere; or NULL */
    bool device;        /* STRING: the name of a device */
    const char *models; /* FILE: the value may also name an embedded model; those whose names
                                begin like this are offered; or NULL */
} option;

/* The rows of a table that were used. */
enum { OPTION_ROWS_MAX = 128 };
typedef struct option_set {
    bool has[OPTION_ROWS_MAX];
} option_set;

/* Where an option means nothing, it is refused, or it changes nothing for a reason. A run can be in
 * several modes at once; a bit stands for each. */
typedef struct option_rule {
    const char *option;
    unsigned only;   /* it works only in one of these modes; 0: in all */
    unsigned never;  /* it is refused in these */
    unsigned idle;   /* it is accepted in these and changes nothing, */
    const char *why; /* since ... */
} option_rule;

enum { OPTION_MODES_MAX = 16 };

/* A row's value as it would be typed, in buffer if it is no text; NULL: a FLAG or a list. */
enum { OPTION_TEXT = 64 };
const char *option_text(const option *row, const void *values, char buffer[OPTION_TEXT]);

/* Sets a row's field from a text, which it may point to afterwards; a FLAG takes none. */
bool option_read(const option *row, void *values, const char *text, pipeline_error *error);

/* Sets the fields of the rows that have a default. */
void option_defaults(const option *rows, size_t count, void *values);

/* Whether an option works in these modes, as its rule says, if there is one. modes: what the bits
 * stand for, as it follows "with". */
bool option_suits(const char *name, const option_rule *rule, unsigned bits,
                  const char *const modes[OPTION_MODES_MAX], pipeline_error *error);

/* The rule of this name. NULL: the option works alike in all modes. */
const option_rule *option_rule_of(const option_rule *rules, size_t count, const char *name);

/* Reads a value of the kind DURATION or SIZE, whose sides are 1..limit. name: the option's. */
bool option_duration(const char *name, const char *text, double *seconds, pipeline_error *error);
bool option_size(const char *name, const char *text, unsigned limit, mona_size *size,
                 pipeline_error *error);

/* Sets the end of a part of a clip as in ffmpeg, start <= time < end, in seconds, from what was
 * given of duration and end; negative: not given. 0: no end. */
bool option_cut_complete(double start, double duration, double *end, pipeline_error *error);

/* clang-format off */
/* Its rows, and the fields that they set. */
#define OPTIONS_CUT(start, duration, end, group, of)                                               \
    {"--start", "-ss", OPTION_TIME, CHANGES_BYTES, start, "TIME", group,                           \
     .help = "start at this time" of ", such as 12.5, 1:30, 01:02:03.250 or 800ms"},               \
    {"--duration", "-t", OPTION_TIME, CHANGES_BYTES, duration, "TIME", group,                      \
     .help = "stop this long after the start"},                                                    \
    {"--end", "-to", OPTION_TIME, CHANGES_BYTES, end, "TIME", group,                               \
     .help = "stop at this time" of}

/* Rows that say what computes. */
#define OPTION_DEVICE(field, group)                                                                \
    {"--device", NULL, OPTION_STRING, KEEPS_BYTES, field, "NAME", group,                           \
     .help = "device to compute on, or several that share the frames, such as ascend:0,2; "        \
             "mona devices lists them",                                                            \
     .initial = "auto", .device = true}
#define OPTION_CPU(field, group)                                                                   \
    {"--cpu", NULL, OPTION_STRING, KEEPS_BYTES, field, "ISA", group,                               \
     .help = "highest instruction set to use: c; avx2, avxvnni, avx512, amx; neon, dotprod, i8mm",       \
     .values = "c avx2 avxvnni avx512 amx neon dotprod i8mm"}
/* clang-format on */

/* "did you mean": the name that is closest to a misspelt word. */

typedef struct suggestion {
    const char *word; /* as typed */
    size_t length;    /* length of the part of it that counts */
    size_t distance;  /* distance of nearest; before that, one more than may still be meant */
    char nearest[64]; /* "": no name is close */
} suggestion;

/* length: that of the part of word that is a name. */
suggestion suggest_for(const char *word, size_t length);

/* Considers one of the existing names. */
void suggest_name(suggestion *s, const char *name);

/* Considers several, separated by any of the separators. */
void suggest_names(suggestion *s, const char *names, const char *separators);

/* "; did you mean 'NAME'?" in buffer, or "". */
const char *suggest_text(const suggestion *s, char *buffer, size_t size);

enum { SUGGEST_TEXT = 96 }; /* for any such text */

#endif
