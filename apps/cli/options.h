// SPDX-License-Identifier: Apache-2.0
/* Command lines: one table of options for each command. The parser, --help, the man page and the
 * completions for bash and zsh are all generated from it.
 *
 * To add an option to a command:
 *   1. give the struct that holds the command's values a field of the kind's type;
 *   2. add one row to the table in its cmd_*.c, beside those of its group.
 * Nothing else is needed: the row checks the value's range, sets the default and documents the
 * option.
 *
 *     {"--crf", NULL, OPTION_NUMBER, CHANGES_BYTES, offsetof(arguments, crf), "N", encoding,
 *      .help = "quality of libx264, lower is better", .initial = "18", .maximum = 51}, */
#ifndef MONA_OPTIONS_H
#define MONA_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "mona.h"
#include "pipeline/base/error.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Prints "mona: ..." and a newline on stderr; returns status. */
int cli_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a command line that is wrong; returns false. */
bool cli_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the line of an error; returns EXIT_USAGE where it says that an option is wrong, else
 * EXIT_FAILED. */
int cli_fail_of(const pipeline_error *error);

/* Whether a line was printed with the status EXIT_USAGE or by cli_misuse: that is how mona then ends
 * if it fails. */
bool cli_misused(void);

/* From now on, cli_fail in this thread writes the first line here instead of printing it; NULL: it
 * prints again. */
void cli_keep_failures(pipeline_error *error);

/* The value of an option, and the type of the field it sets. */
typedef enum option_kind {
    OPTION_FLAG,   /* nothing; bool */
    OPTION_STRING, /* const char *: points into argv; each use replaces the one before */
    OPTION_FILE,   /* the same, a path */
    OPTION_CHOICE, /* the same, one of the words in `argument`, which separates them by '|' */
    OPTION_WHOLE,  /* long: minimum..maximum */
    OPTION_NUMBER, /* double: minimum..maximum */
    OPTION_TIME,   /* double, seconds: 12.5, 1:30, 01:02:03.250 or 800ms; minimum.. */
    OPTION_BRIEF,  /* the same above 0, and a number needs its unit: 33.3ms */
    OPTION_LIST,   /* option_list: each use adds one */
    OPTION_FILES,  /* the same, paths */
} option_kind;

/* Whether the bytes of what a command makes depend on an option, or only how it is made, shown and
 * kept. Each row says so: one that does not fails to compile, since its field's offset is missing. */
typedef enum option_effect { CHANGES_BYTES, KEEPS_BYTES } option_effect;

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
    const char *needs;       /* an option without which this one has no effect; or NULL */
    bool written;            /* FILE, FILES: the command writes it; it reads the others */
    const char *values;      /* STRING: values that completion offers, separated by spaces; or
                                NULL */
    const char *alias;       /* another name, not listed anywhere; or NULL */
    const char *models;      /* FILE: the value may also name an embedded model; those whose names
                                begin like this are offered; or NULL */
} option;

/* The rows of a table that a command line used. */
enum { OPTION_ROWS_MAX = 128 };
typedef struct option_set {
    bool has[OPTION_ROWS_MAX];
} option_set;

/* Where an option means nothing, it is refused, or it changes nothing for a reason. A run of a command
 * can be in several of its modes at once; a bit stands for each. */
typedef struct option_rule {
    const char *option;
    unsigned only;   /* it works only in one of these modes; 0: in all */
    unsigned never;  /* it is refused in these */
    unsigned idle;   /* it is accepted in these and changes nothing, */
    const char *why; /* since ... */
} option_rule;

enum { COMMAND_MODES_MAX = 16 };

/* A command: its options and its documentation. */
typedef struct command {
    const char *name;
    const char *summary;               /* a few words, for the list of commands */
    int (*run)(int argc, char **argv); /* argv[0] is its name; returns the exit status */
    const char *usage;                 /* what follows the name: "IN -o OUT [OPTION]..." */
    const char *description;           /* one paragraph */
    const char *examples; /* command lines; after two spaces and '#', what each of them does */
    const option *options;
    size_t option_count;
    size_t operands_min, operands_max; /* arguments that are not options */
    bool takes_model;                  /* operands may also be names of embedded models */
    const char
        *modes[COMMAND_MODES_MAX]; /* what the bits of modes stand for, as it follows "with" */
    const option_rule *rules;      /* of options that do not work alike in all modes */
    size_t rule_count;
} command;

/* Whether a command goes on; else the status that it ends with. */
typedef enum options_result {
    OPTIONS_RUN = -1,
    OPTIONS_HELP = EXIT_SUCCESS,
    OPTIONS_BAD = EXIT_USAGE
} options_result;

/* Rows that several commands have. */
#define OPTION_DEVICE(field, group)                                                                \
    {                                                                                              \
        "--device", NULL, OPTION_STRING, KEEPS_BYTES, field, "NAME", group,                        \
            .help = "device to compute on; mona devices lists them", .initial = "auto"             \
    }
#define OPTION_CPU(field, group)                                                                   \
    {                                                                                              \
        "--cpu", NULL, OPTION_STRING, KEEPS_BYTES, field, "ISA", group,                            \
            .help = "highest instruction set to use: c; avx2, avxvnni, avx512, amx; "              \
                    "neon, dotprod",                                                               \
            .values = "c avx2 avxvnni avx512 amx neon dotprod"                                     \
    }

/* How a model is run. */
typedef struct option_computing {
    const char *device, *cpu, *size;
    long threads, strip_rows, tile_columns;
} option_computing;

/* clang-format off */
/* Its rows but for size's. at: offset of an option_computing in the command's values. */
#define OPTIONS_COMPUTING(at, group)                                                               \
    {"--threads", "-j", OPTION_WHOLE, KEEPS_BYTES, (at) + offsetof(option_computing, threads), "N", group,      \
     .help = "threads (default 0: one per core)", .maximum = MONA_MAX_THREADS,                     \
     .alias = "--jobs"},                                                                           \
    OPTION_DEVICE((at) + offsetof(option_computing, device), group),                               \
    OPTION_CPU((at) + offsetof(option_computing, cpu), group),                                     \
    {"--strip-rows", NULL, OPTION_WHOLE, KEEPS_BYTES, (at) + offsetof(option_computing, strip_rows), "N", group,\
     .help = "output rows to compute at a time (default 0: the planner chooses)",                  \
     .maximum = MONA_MAX_SIDE},                                                                    \
    {"--tile-columns", NULL, OPTION_WHOLE, KEEPS_BYTES, (at) + offsetof(option_computing, tile_columns), "N",   \
     group, .help = "output columns of a tile (default 0: the planner chooses)",                   \
     .maximum = MONA_MAX_SIDE}
/* clang-format on */

/* The same for a plan or session; its first size is --size's, if given. False: one line was
 * printed. */
bool options_config(const option_computing *computing, mona_config *config);

/* A part of a clip as in ffmpeg: start <= time < end, in seconds. Set to OPTION_CUT_NONE before the
 * options are parsed. */
typedef struct option_cut {
    double start, duration, end;
} option_cut;

#define OPTION_CUT_NONE                                                                            \
    {                                                                                              \
        0, -1, -1                                                                                  \
    }

/* Its rows. at: offset of an option_cut in the command's values. */
#define OPTIONS_CUT(at, group, of)                                                                 \
    {"--start",                                                                                    \
     "-ss",                                                                                        \
     OPTION_TIME,                                                                                  \
     CHANGES_BYTES,                                                                                \
     (at) + offsetof(option_cut, start),                                                           \
     "TIME",                                                                                       \
     group,                                                                                        \
     .help = "start at this time" of ", such as 12.5, 1:30, 01:02:03.250 or 800ms"},               \
        {"--duration",                                                                             \
         "-t",                                                                                     \
         OPTION_TIME,                                                                              \
         CHANGES_BYTES,                                                                            \
         (at) + offsetof(option_cut, duration),                                                    \
         "TIME",                                                                                   \
         group,                                                                                    \
         .help = "stop this long after the start"},                                                \
    {                                                                                              \
        "--end", "-to", OPTION_TIME, CHANGES_BYTES, (at) + offsetof(option_cut, end), "TIME",      \
            group, .help = "stop at this time" of                                                  \
    }

/* Sets end from what was given; 0: no end. False: one line was printed. */
bool options_cut(option_cut *cut);

/* Reads a time in seconds, as the kinds TIME and BRIEF have it, from the value of an option with this
 * name. False: one line was printed. */
bool options_time(const char *name, const char *text, double *seconds);
bool options_brief(const char *name, const char *text, double *seconds);

/* Reads the WIDTHxHEIGHT given to --size, each 1..limit. False: one line was printed. */
bool options_size(const char *text, unsigned limit, unsigned *width, unsigned *height);

/* Whether the options that were used work in these modes. False: one line was printed. */
bool options_suit(const command *line, const option_set *given, unsigned modes);

/* The rule of an option. NULL: it works alike in all modes. */
const option_rule *options_rule(const command *line, const option *o);

/* The device given to --device. NULL: one line was printed. */
const mona_device *options_device(const char *name);
bool options_or_host(const char *device); /* "auto": what the chip cannot open, the host may */
extern const mona_device *const options_devices[]; /* ends with NULL */
void options_close_devices(void);

/* Sets values from the defaults and then the arguments: `--name value`, `--name=value`, `-o value`,
 * `-j2`, and `--` before operands. values is zeroed, or holds what the command wants in fields
 * without a default. operands has room for operands_max + 1 and ends with NULL. Refuses an option
 * without the one that it needs, and a file to be written that is also read, or written twice
 * (files_apart.h). --help always exists: it prints on stdout and returns OPTIONS_HELP.
 * OPTIONS_BAD: one line was printed. given: gets the rows that were used; may be NULL. */
options_result options_parse(const command *line, void *values, int argc, char **argv,
                             const char **operands, option_set *given);

#endif
