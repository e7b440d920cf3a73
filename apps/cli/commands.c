// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/commands.h"

#include <string.h>

#include "pipeline/job/option.h"

const command *command_named(const char *name)
{
    for (size_t i = 0; i < command_count; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

const command *command_find(const char *name)
{
    const command *found = command_named(name);
    if (found)
        return found;
    char text[SUGGEST_TEXT];
    suggestion s = suggest_for(name, strlen(name));
    for (size_t i = 0; i < command_count; i++)
        suggest_name(&s, commands[i]->name);
    suggest_names(&s, "--help --version", " ");
    cli_fail(0, "unknown %s '%s'%s (mona help lists the commands)",
             name[0] == '-' ? "option" : "command", name, suggest_text(&s, text, sizeof text));
    return NULL;
}
