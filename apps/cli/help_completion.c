// SPDX-License-Identifier: Apache-2.0
/* Completions. The value of an option is a file, one of some words, or unknown. */
#include <stdio.h>
#include <string.h>

#include "apps/cli/commands.h"
#include "models/embedded.h"

static bool is_path(const option *row)
{
    return row->kind == OPTION_FILE || row->kind == OPTION_FILES;
}

/* The words that may follow, separated by spaces; the table separates those of a choice by '|'. */
static void put_words(const option *row)
{
    const char *words =
        row->kind == OPTION_CHOICE || row->kind == OPTION_SWITCH ? row->argument : row->values;
    for (; words && *words; words++)
        putchar(*words == '|' ? ' ' : *words);
}

static void put_commands(void)
{
    for (size_t i = 0; i < command_count; i++)
        printf("%s%s", i ? " " : "", commands[i]->name);
}

/* Names of embedded models that begin like this. */
static void put_models(const char *beginning)
{
    const char *space = "";
    for (size_t i = 0; i < embedded_model_count; i++)
        if (!strncmp(embedded_models[i].name, beginning, strlen(beginning))) {
            printf("%s%s", space, embedded_models[i].name);
            space = " ";
        }
}

/* ---- bash ----------------------------------------------------------------------------------- */

/* "enhance,--output|enhance,-o) ... ;;" */
static void bash_value(const command *line, const option *row)
{
    printf("        %s,%s", line->name, row->name);
    if (row->letter)
        printf("|%s,%s", line->name, row->letter);
    printf(")%s", is_path(row) ? " _mona_files;" : "");
    if (!is_path(row) || row->models) {
        printf(" _mona_words '");
        put_words(row);
        if (row->models)
            put_models(row->models);
        printf("';");
    }
    printf(";\n");
}

static void bash_command(const command *line)
{
    printf("        %s,-*) _mona_words '", line->name);
    for (help_rows r = {.line = line}; help_next(&r);)
        printf("%s%s%s ", r.row.letter ? r.row.letter : "", r.row.letter ? " " : "", r.row.name);
    printf("' ;;\n        %s,*) ", line->name);
    if (line->operands_max)
        printf("_mona_files; ");
    printf("_mona_words '");
    if (line->takes_model)
        put_models("");
    printf("' ;;\n");
}

void help_print_bash(void)
{
    printf("# Completion of mona for bash: mona help --completion bash\n"
           "_mona_words()\n{\n"
           "    while IFS= read -r word; do COMPREPLY+=(\"$word\"); done "
           "< <(compgen -W \"$1\" -- \"$cur\")\n}\n\n"
           "_mona_files()\n{\n    compopt -o filenames 2> /dev/null\n"
           "    while IFS= read -r word; do COMPREPLY+=(\"$word\"); done "
           "< <(compgen -f -- \"$cur\")\n}\n\n"
           "_mona()\n{\n    local word cur=${COMP_WORDS[COMP_CWORD]} "
           "before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}\n"
           "    COMPREPLY=()\n"
           "    # --name=value comes as three words\n"
           "    if [ \"$cur\" = = ]; then cur=; "
           "elif [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then _mona_words '--help --version ");
    put_commands();
    printf("'; return; fi\n    case $command,$before in\n");
    for (size_t i = 0; i < command_count; i++)
        for (help_rows r = {.line = commands[i]}; help_next(&r);)
            if (r.row.argument)
                bash_value(commands[i], &r.row);
    printf("        *) _mona_argument ;;\n    esac\n}\n\n"
           "_mona_argument()\n{\n    case $command,$cur in\n");
    for (size_t i = 0; i < command_count; i++)
        bash_command(commands[i]);
    printf("    esac\n}\n\ncomplete -F _mona mona\n");
}

/* ---- zsh ------------------------------------------------------------------------------------ */

/* Escapes text for '...' and, inside that, for [...] of _arguments or before a ':'. */
static void zsh_put(const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '\'':
            fputs("'\\''", stdout);
            break;
        case '[':
        case ']':
        case ':':
        case '\\':
            printf("\\%c", *text);
            break;
        default:
            putchar(*text);
        }
}

/* Files, and models inside whose names begin like this. colon: as it is written there. */
static void zsh_models(const char *beginning, const char *colon)
{
    printf("_alternative \"models%smodel%s(", colon, colon);
    put_models(beginning);
    printf(")\" \"files%sfile%s_files\"", colon, colon);
}

static void zsh_values(const option *row)
{
    putchar(':');
    if (row->models) {
        zsh_models(row->models, "\\:"); /* another colon would begin a second value */
    } else if (is_path(row)) {
        printf("_files");
    } else {
        putchar('(');
        put_words(row);
        putchar(')');
    }
}

static void zsh_row(const option *row)
{
    char text[512];
    const bool repeats = row->kind == OPTION_LIST || row->kind == OPTION_FILES;
    printf(" \\\n                ");
    if (row->letter && repeats)
        printf("'*'{%s,%s}", row->letter, row->name);
    else if (row->letter)
        printf("'(%s %s)'{%s,%s}", row->letter, row->name, row->letter, row->name);
    else
        printf("%s%s", repeats ? "'*'" : "", row->name);
    printf("'%s[", "");
    zsh_put(help_text(row, text, sizeof text));
    putchar(']');
    if (row->argument) {
        putchar(':');
        zsh_put(row->argument);
        zsh_values(row);
    }
    putchar('\'');
}

static void zsh_command(const command *line)
{
    printf("        %s)\n            _arguments", line->name);
    for (help_rows r = {.line = line}; help_next(&r);)
        zsh_row(&r.row);
    if (line->takes_model) {
        printf(" \\\n                '*:model:");
        zsh_models("", ":");
        putchar('\'');
    } else if (line->operands_max) {
        printf(" \\\n                '*:file:_files'");
    }
    printf(" ;;\n");
}

void help_print_zsh(void)
{
    printf("#compdef mona\n# Completion of mona for zsh: mona help --completion zsh\n"
           "_mona()\n{\n    local -a commands=(");
    for (size_t i = 0; i < command_count; i++) {
        printf("\n        '%s:", commands[i]->name);
        zsh_put(commands[i]->summary);
        putchar('\'');
    }
    printf("\n    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n"
           "        return\n    fi\n    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n");
    for (size_t i = 0; i < command_count; i++)
        zsh_command(commands[i]);
    printf("    esac\n}\n\nif [ \"$funcstack[1]\" = _mona ]; then _mona \"$@\"; "
           "else compdef _mona mona; fi\n");
}
