// SPDX-License-Identifier: Apache-2.0
/* The subcommands of mona. Each cmd_*.c defines one; commands.c lists them. Exit status: 0:
 * everything was done; 1: it was not, and one line on stderr says why; 2: the command line is
 * invalid. */
#ifndef MONA_COMMANDS_H
#define MONA_COMMANDS_H

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

#endif
