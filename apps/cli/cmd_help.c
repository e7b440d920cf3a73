// SPDX-License-Identifier: Apache-2.0
/* mona help: help on a command, the man page, completions. */
#include <stdlib.h>

#include "apps/cli/commands.h"

#define SHELLS(FIRST, NEXT) FIRST(SHELL_BASH, "bash") NEXT(SHELL_ZSH, "zsh")
typedef enum shell { SHELL_NONE, WORDS_ENUM(SHELLS) } shell;

typedef struct arguments {
    bool man;
    shell completion;
} arguments;

static int run(void *values, const command_line *line)
{
    arguments *a = values;
    const command *about = line->operands[0] ? command_find(line->operands[0]) : NULL;
    if (line->operands[0] && !about)
        return EXIT_USAGE;
    if (a->man + !!a->completion + !!about > 1)
        return cli_fail(EXIT_USAGE, "help: expected a command, --man or --completion, found more "
                                    "than one of them");
    if (a->man)
        help_print_man();
    else if (a->completion == SHELL_BASH)
        help_print_bash();
    else if (a->completion == SHELL_ZSH)
        help_print_zsh();
    else if (about)
        help_print(about);
    else
        help_print_commands();
    return EXIT_SUCCESS;
}

static const option options[] = {
    {"--man", NULL, OPTION_FLAG, CHANGES_BYTES, offsetof(arguments, man), NULL, "Other",
     .help = "print the man page, for man -l"},
    {"--completion", NULL, OPTION_CHOICE, CHANGES_BYTES, offsetof(arguments, completion),
     WORDS_TEXT(SHELLS), "Other", .help = "print the completion script for a shell"},
};

const command command_help = {
    .name = "help",
    .summary = "print help on a command, the man page or completions",
    .run = run,
    .values = &(arguments){0},
    .confined = CONFINED_NEVER,
    .usage = "[COMMAND | --man | --completion SHELL]",
    .description = "Lists the commands, or the options of one. It also prints the man page and the "
                   "completions that make install puts in place.",
    .examples = "mona help enhance\n"
                "mona help --man > mona.1\n"
                ". <(mona help --completion bash)  # completion in this shell\n",
    .parts = {{OPTIONS(options)}},
    .operands_max = 1,
};
