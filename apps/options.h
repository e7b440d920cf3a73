/* Command lines: a table of options per command serves parsing, range checks and --help alike. */
#ifndef MONA_OPTIONS_H
#define MONA_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Prints "mona: ..." and a newline on stderr; returns status. */
int cli_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

typedef enum option_kind {
    OPTION_FLAG,   /* bool *: set to true */
    OPTION_STRING, /* const char **: points into argv; each use replaces the one before */
    OPTION_LIST,   /* option_list *: each use adds one */
    OPTION_WHOLE,  /* long *: minimum..maximum */
    OPTION_NUMBER, /* double *: minimum..maximum */
} option_kind;

enum { OPTION_LIST_MAX = 64 };
typedef struct option_list {
    const char *items[OPTION_LIST_MAX];
    size_t count;
} option_list;

typedef struct option {
    const char *name;   /* "--output" */
    const char *letter; /* "-o" or NULL */
    option_kind kind;
    void *value;             /* keeps its initial value when the option is not given */
    double minimum, maximum; /* WHOLE, NUMBER */
    const char *argument;    /* what --help calls the value, e.g. "FILE"; NULL for flags */
    const char *help;        /* one line */
} option;

typedef struct command_line {
    const char *usage;   /* "enhance IN -o OUT [OPTION]..." */
    const char *summary; /* one line: what the command does */
    const option *options;
    size_t option_count;
    size_t operands_min, operands_max; /* arguments that are not options */
} command_line;

typedef enum options_result { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_BAD } options_result;

/* Reads the WIDTHxHEIGHT given to --size, each 1..limit. False: one line was printed. */
bool options_size(const char *text, unsigned limit, unsigned *width, unsigned *height);

/* Accepts `--name value`, `--name=value`, `-o value` and `--` before operands. operands has room
 * for operands_max + 1 and ends with NULL. --help is always there: it prints on stdout and gives
 * OPTIONS_HELP (exit with 0). OPTIONS_BAD: one line was printed (exit with EXIT_USAGE). */
options_result options_parse(const command_line *line, int argc, char **argv,
                             const char **operands);

#endif
