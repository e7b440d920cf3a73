// SPDX-License-Identifier: Apache-2.0
/* A command line that was probably meant, as one would type it in a shell. */
#ifndef MONA_MEANT_H
#define MONA_MEANT_H

#include <stddef.h>

#include "apps/cli/options.h"

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

#endif
