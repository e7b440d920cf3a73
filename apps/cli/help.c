// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/help.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "apps/cli/commands.h"
#include "mona.h"

enum { LEFT_COLUMN = 28, LINE = 80 };

/* ---- rows in the order of their groups --------------------------------------------------------
 */

static const option help_row = {"--help", "-h", OPTION_FLAG, KEEPS_BYTES,
                                0,        NULL, "Other",     .help = "print this help"};

static const option *row_at(const command *line, size_t i)
{
    return i < line->option_count ? &line->options[i] : &help_row;
}

static size_t index_of(const command *line, const option *row)
{
    return row == &help_row ? line->option_count : (size_t)(row - line->options);
}

/* The first row from i on that is (or is not) the first of its group. */
static const option *find_head(const command *line, size_t i)
{
    for (; i <= line->option_count; i++) {
        bool head = true;
        for (size_t k = 0; k < i && head; k++)
            head = strcmp(row_at(line, k)->group, row_at(line, i)->group) != 0;
        if (head)
            return row_at(line, i);
    }
    return NULL;
}

static const option *find_in_group(const command *line, const char *group, size_t i)
{
    for (; i <= line->option_count; i++)
        if (!strcmp(row_at(line, i)->group, group))
            return row_at(line, i);
    return NULL;
}

const option *help_next(const command *line, const option *row)
{
    if (!row)
        return row_at(line, 0);
    const option *next = find_in_group(line, row->group, index_of(line, row) + 1);
    if (next)
        return next;
    const option *head = find_in_group(line, row->group, 0);
    return find_head(line, index_of(line, head) + 1);
}

bool help_begins_group(const command *line, const option *row)
{
    return find_in_group(line, row->group, 0) == row;
}

const char *help_text(const option *row, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s%s%s%s%s%s", row->help, row->initial ? " (default " : "",
             row->initial ? row->initial : "", row->initial ? ")" : "",
             row->needs ? "; only with " : "", row->needs ? row->needs : "");
    return buffer;
}

/* ---- text ----------------------------------------------------------------------------------- */

/* Prints words up to column LINE; further lines are indented as far as the first. A word may also
 * break behind '|'. Returns the column behind the last word. */
static size_t print_wrapped(const char *text, size_t indent)
{
    size_t column = indent;
    bool space = false;
    while (*text) {
        size_t length = strcspn(text, " |");
        length += text[length] == '|';
        if (column > indent && column + space + length > LINE) {
            printf("\n%*s", (int)indent, "");
            column = indent;
            space = false;
        }
        printf("%s%.*s", space ? " " : "", (int)length, text);
        column += space + length;
        text += length;
        space = *text == ' ';
        text += strspn(text, " ");
    }
    return column;
}

static void print_row(const option *row)
{
    char text[512];
    size_t column = (size_t)printf("  %s%s%s%s", row->letter ? row->letter : "    ",
                                   row->letter ? ", " : "", row->name, row->argument ? " " : "");
    if (row->argument)
        column = print_wrapped(row->argument, column);
    if (column + 1 > LEFT_COLUMN)
        putchar('\n'), column = 0;
    printf("%*s", (int)(LEFT_COLUMN - column), "");
    print_wrapped(help_text(row, text, sizeof text), LEFT_COLUMN);
    putchar('\n');
}

static void print_examples(const char *examples)
{
    printf("\nExamples:\n");
    while (*examples) {
        const size_t length = strcspn(examples, "\n");
        printf("  %.*s\n", (int)length, examples);
        examples += length + (examples[length] != 0);
    }
}

void help_print(const command *line)
{
    signal(SIGPIPE, SIG_DFL); /* a pager or `head` may have seen enough */
    printf("usage: mona %s %s\n", line->name, line->usage);
    print_wrapped(line->description, 0);
    putchar('\n');
    for (const option *row = help_next(line, NULL); row; row = help_next(line, row)) {
        if (help_begins_group(line, row))
            printf("\n%s:\n", row->group);
        print_row(row);
    }
    if (line->examples)
        print_examples(line->examples);
}

void help_print_commands(void)
{
    printf("usage: mona COMMAND [OPTION]...\n\n");
    for (size_t i = 0; i < command_count; i++)
        printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    printf("\nmona COMMAND --help describes a command; mona --version prints the versions\n"
           "of mona (%s) and of FFmpeg's libraries.\n",
           MONA_VERSION);
}
