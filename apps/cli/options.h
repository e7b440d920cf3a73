// SPDX-License-Identifier: Apache-2.0
/* Command lines: one table of options for each command (pipeline/job/option.h). The parser, --help,
 * the man page and the completions for bash and zsh are all generated from it.
 *
 * To add an option to a command:
 *   1. give the struct that holds the command's values a field of the kind's type;
 *   2. add one row to the table in its cmd_*.c, beside those of its group.
 * Nothing else is needed: the row checks the value's range, sets the default and documents the
 * option. */
#ifndef MONA_OPTIONS_H
#define MONA_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "mona.h"
#include "pipeline/base/error.h"
#include "pipeline/job/model_source.h"
#include "pipeline/job/option.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Prints "mona: ..." and a newline on stderr; returns status. */
int cli_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a command line that is wrong; returns false. */
bool cli_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the line of an error; returns EXIT_USAGE where it says that an option is wrong, else
 * EXIT_FAILED. */
int cli_fail_of(const pipeline_error *error);

/* Whether a line was printed with the status EXIT_USAGE or by cli_misuse: that is how mona then
 * ends if it fails. */
bool cli_misused(void);

/* Whether a line said that something failed. */
bool cli_failed(void);

/* A pipeline_notes.say that prints a line like cli_fail. */
void cli_note(void *unused, const char *line);

/* A part of a command's options: rows of a table, which other commands may have too. */
typedef struct option_part {
    const option *rows;
    size_t count;
    const option_rule *rules; /* of those that do not work alike in all modes */
    size_t rule_count;
    const char *group, *needs; /* in place of the rows' own; NULL: their own */
} option_part;

/* Fields of an option_part from a table: all its rows, or rows [first, end). */
#define OPTIONS(table) .rows = (table), .count = sizeof(table) / sizeof *(table)
#define OPTIONS_FROM(table, first, end) .rows = (table) + (first), .count = (end) - (first)
#define RULES(table) .rules = (table), .rule_count = sizeof(table) / sizeof *(table)

enum { COMMAND_PARTS_MAX = 4 };

/* When a command is confined to its files (confine.h). 0: its row does not say, which a test
 * finds. */
typedef enum confinement {
    CONFINED_NEVER = 1, /* it reads nobody's files, or starts other programs */
    CONFINED_AT_ONCE,   /* by options_parse */
    CONFINED_LATER,     /* by itself */
} confinement;

/* How a command was called. */
typedef struct command_line {
    int argc;
    char **argv;           /* argv[0] is its name */
    const char **operands; /* ends with NULL */
    option_set given;      /* the rows that were used */
} command_line;

/* A command: its options and its documentation. */
typedef struct command {
    const char *name;
    const char *summary;                                /* a few words, for the list of commands */
    int (*run)(void *values, const command_line *line); /* returns the exit status */
    void *values;            /* fields without a default hold what the command wants in them */
    const char *usage;       /* what follows the name: "IN -o OUT [OPTION]..." */
    const char *description; /* one paragraph */
    const char *examples;    /* command lines; after two spaces and '#', what each of them does */
    option_part parts[COMMAND_PARTS_MAX]; /* the options, whose fields are of the same values */
    size_t operands_min, operands_max;    /* arguments that are not options */
    confinement confined;
    bool lists;       /* operands may name files beside and below them */
    bool takes_model; /* operands may also be names of embedded models */
    const char
        *modes[OPTION_MODES_MAX]; /* what the bits of modes stand for, as it follows "with" */
} command;

/* Option i of a command. False: it has fewer. */
bool options_at(const command *line, size_t i, option *row);

/* The rule of option i. NULL: it works alike in all modes. */
const option_rule *options_rule(const command *line, size_t i);

/* Which rows of a table the options that were given are. */
option_set options_given_of(const command *line, const option_set *given, const option *table,
                            size_t count);

/* Whether a command goes on; else the status that it ends with. */
typedef enum options_result {
    OPTIONS_RUN = -1,
    OPTIONS_HELP = EXIT_SUCCESS,
    OPTIONS_BAD = EXIT_USAGE
} options_result;

/* How a model is run. */
typedef struct option_computing {
    const char *device, *cpu;
    mona_size size; /* 0: not given */
    long threads, strip_rows, tile_columns;
} option_computing;

/* clang-format off */
/* Its rows but for size's. at: offset of an option_computing in the command's values. */
#define COMPUTING_FIELD(at, name) ((at) + offsetof(option_computing, name))
#define OPTIONS_COMPUTING(at, group)                                                               \
    {"--threads", "-j", OPTION_WHOLE, KEEPS_BYTES, COMPUTING_FIELD(at, threads), "N", group,       \
     .help = "threads (default 0: one per core)", .maximum = MONA_MAX_THREADS,                     \
     .alias = "--jobs"},                                                                           \
    OPTION_DEVICE(COMPUTING_FIELD(at, device), group),                                             \
    OPTION_CPU(COMPUTING_FIELD(at, cpu), group),                                                   \
    {"--strip-rows", NULL, OPTION_WHOLE, KEEPS_BYTES, COMPUTING_FIELD(at, strip_rows), "N", group, \
     .help = "output rows to compute at a time (default 0: the planner chooses)",                  \
     .maximum = MONA_MAX_SIDE},                                                                    \
    {"--tile-columns", NULL, OPTION_WHOLE, KEEPS_BYTES, COMPUTING_FIELD(at, tile_columns), "N",    \
     group, .help = "output columns of a tile (default 0: the planner chooses)",                   \
     .maximum = MONA_MAX_SIDE}
/* clang-format on */

/* The same for a plan or session; its first size is --size's, if given. False: one line was
 * printed. */
bool options_config(const option_computing *computing, mona_config *config);
/* The same where several devices may be given, of which the config has the first. */
bool options_config_set(const option_computing *computing, mona_config *config, device_set *set);

/* Reads the WIDTHxHEIGHT given to --size, each 1..limit. False: one line was printed. */
bool options_size(const char *text, unsigned limit, mona_size *size);

/* Whether the options that were used work in these modes. False: one line was printed. */
bool options_suit(const command *line, const option_set *given, unsigned modes);

/* The device given to --device, or several. NULL, false: one line was printed. */
const mona_device *options_device(const char *name);

/* As in model_source.h. False: one line was printed. */
bool options_model(model_source *source, const char *name);
bool options_model_om(model_source *source, const char *path, const mona_device *device);

/* Sets values from the defaults and then the arguments: `--name value`, `--name=value`, `-o value`,
 * `-j2`, and `--` before operands. operands has room for argc or for operands_max + 1, and ends
 * with NULL. Refuses an option without the one that it needs, and a file to be written that is also
 * read, or written twice (files_apart.c). --help always exists: it prints on stdout and returns
 * OPTIONS_HELP. OPTIONS_BAD: one line was printed. given: zeroed; gets the rows that were used. */
options_result options_parse(const command *line, void *values, int argc, char **argv,
                             const char **operands, option_set *given);
/* Runs a command on what it is called with. Returns the exit status. */
int options_run(const command *c, int argc, char **argv);

/* No command may write over a file that it reads, or write two results into one file. */

/* Compares the files of the options whose row says `written` with all others, and with the
 * operands. values: after all options were read. False: one line was printed. */
bool files_apart(const command *line, const void *values, const char *const *operands);

/* The paths in an option's field. */
const char *const *files_of(const option *o, const void *values, size_t *count);

/* Numbers with units on the command line. */

/* "33.3ms", "800us" or "2s" (OPTION_DURATION), in milliseconds. False, with a message that names
 * the option. */
bool quantity_ms(const char *option, const char *text, double *ms);

/* "5%", or a number of per cent, as a share: 0.05. 0 or more. */
bool quantity_share(const char *option, const char *text, double *share);

#endif
