// SPDX-License-Identifier: Apache-2.0
/* What is written from the tables of options: --help, the man page, completions. All on stdout. */
#ifndef MONA_HELP_H
#define MONA_HELP_H

#include "apps/cli/options.h"

/* mona COMMAND --help. */
void help_print(const command *line);

/* mona --help. */
void help_print_commands(void);

/* mona.1, of all commands. */
void help_print_man(void);

/* Scripts that a shell sources, or finds under the name its completions have. */
void help_print_bash(void);
void help_print_zsh(void);

/* The rows of a command as they are listed: group by group in the order in which these first
 * appear, --help last. help_next of NULL is the first row, of the last one NULL. */
const option *help_next(const command *line, const option *row);
/* Whether a heading goes before row: the one listed before it is of another group. */
bool help_begins_group(const command *line, const option *row);

/* "the text (default 18)" in buffer. */
const char *help_text(const option *row, char *buffer, size_t size);

#endif
