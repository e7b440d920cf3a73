// SPDX-License-Identifier: Apache-2.0
/* Generates --help, the man page and completions from the tables of options. All of it goes to
 * stdout. */
#ifndef MONA_HELP_H
#define MONA_HELP_H

#include "apps/cli/options.h"

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
