// SPDX-License-Identifier: Apache-2.0
/* Command lines, an argument on each line, of which the first is the command's name: what parsing
 * makes of them. Nothing is run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/commands.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_ARGUMENTS = 64, VALUES = 1 << 16 /* more than a command's values take */ };

static void parse(const command *line, int count, char **arguments)
{
    static uint64_t values[VALUES / sizeof(uint64_t)];
    command alone = *line; /* parsing confines the process of a command that is, for good */
    option_set given = {0};
    const char **operands = calloc(line->operands_max + 2, sizeof *operands);
    alone.confined = CONFINED_LATER;
    memset(values, 0, sizeof values);
    if (operands &&
        options_parse(&alone, values, count, arguments, operands, &given) == OPTIONS_RUN)
        options_suit(&alone, &given, 0);
    free(operands);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *arguments[MAX_ARGUMENTS + 1], *text = malloc(size + 1);
    int count = 0;
    static FILE *quiet;
    FILE *const out = stdout, *const err = stderr;
    if (!quiet)
        quiet = fopen("/dev/null", "w");
    if (!text || !quiet)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    for (char *rest = text, *one; count < MAX_ARGUMENTS && (one = strsep(&rest, "\n"));)
        arguments[count++] = one;
    arguments[count] = NULL;
    stdout = stderr = quiet;
    for (size_t i = 0; i < command_count; i++)
        if (!strcmp(commands[i]->name, arguments[0]))
            parse(commands[i], count, arguments);
    stdout = out;
    stderr = err;
    free(text);
    return 0;
}
