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
 * appear, --help last. help_next of NULL is the first row, of the last row NULL. */
const option *help_next(const command *line, const option *row);
/* Whether a heading comes before row: the row listed before it is in another group. */
bool help_begins_group(const command *line, const option *row);

/* "the text (default 18)" in buffer. */
const char *help_text(const option *row, char *buffer, size_t size);

#endif
