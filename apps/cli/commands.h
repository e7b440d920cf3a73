// SPDX-License-Identifier: Apache-2.0
/* The subcommands of mona. Each cmd_*.c defines one; commands.c lists them. Exit status: 0:
 * everything was done; 1: it was not, and one line on stderr says why; 2: the command line is
 * invalid. */
#ifndef MONA_COMMANDS_H
#define MONA_COMMANDS_H

#include <stddef.h>

#include "apps/cli/options.h"

extern const command command_enhance, command_compare, command_compile, command_verify, command_ops,
    command_inspect, command_run, command_eval, command_bench, command_devices, command_sign,
    command_help, command_join;

/* In the order in which help lists them. */
extern const command *const commands[];
extern const size_t command_count;

/* NULL: there is no command of that name; after command_find, one line was printed. */
const command *command_named(const char *name);
const command *command_find(const char *name);

/* A command line that was probably meant, as one would type it in a shell. */

enum { MEANT_TEXT = 512 };

/* The option for what becomes of an input: -o, or --out-dir of a folder. */
const char *meant_output(const char *input);

/* "mona COMMAND WORD...", with an option before the word that is output; NULL: before none. A line
 * that is too long ends in "...". Returns buffer, of MEANT_TEXT. */
const char *meant_text(char *buffer, const char *command, char **words, int count,
                       const char *option, const char *output);

/* Prints what command a line without one may have meant; false: unknown. argv[0]: what stands in
 * place of the command. */
bool meant_tell(int argc, char **argv);

/* Generates --help, the man page and completions from the tables of options. All of it goes to
 * stdout. */

/* mona COMMAND --help. */
void help_print(const command *line);

/* mona --help. */
void help_print_commands(void);

/* mona.1, with all commands. */
void help_print_man(void);

/* Scripts for a shell to source, or to find under the name that its completions have. */
void help_print_bash(void);
void help_print_zsh(void);

/* The rows of a command in the order in which they are listed: group by group as these first
 * appear, --help last. */
typedef struct help_rows {
    const command *line; /* all else is 0 before the first */
    option row;
    bool begun, heads; /* heads: the row listed before it is in another group */
    size_t number;
} help_rows;

/* False: there are no more. */
bool help_next(help_rows *rows);

/* "the text (default 18)" in buffer. */
const char *help_text(const option *row, char *buffer, size_t size);

#endif
