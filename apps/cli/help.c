// SPDX-License-Identifier: Apache-2.0

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "apps/cli/commands.h"
#include "mona.h"

enum { LEFT_COLUMN = 28, LINE = 80 };

/* ---- rows in the order of their groups ------------------------------------------------------- */

static const option help_row = {"--help", "-h", OPTION_FLAG, KEEPS_BYTES,
                                0,        NULL, "Other",     .help = "print this help"};

/* Row i, where --help is the last. False: there are fewer. */
static bool row_at(const command *line, size_t i, option *row)
{
    if (options_at(line, i, row))
        return true;
    *row = help_row;
    return !i || options_at(line, i - 1, &(option){0});
}

/* The first row from i on in this group, or (group NULL) that begins one. False: there is none. */
static bool find_row(const command *line, const char *group, size_t *i, option *row)
{
    for (; row_at(line, *i, row); ++*i) {
        size_t first = 0;
        option head;
        if (group ? !strcmp(row->group, group)
                  : find_row(line, row->group, &first, &head) && first == *i)
            return true;
    }
    return false;
}

bool help_next(help_rows *r)
{
    const char *group = r->row.group;
    size_t head = 0;
    option row;
    if (r->begun && !find_row(r->line, group, &head, &row))
        return false;
    size_t next = r->begun ? r->number + 1 : 0;
    r->heads = !r->begun || !find_row(r->line, group, &next, &row);
    if (r->heads) {
        next = r->begun ? head + 1 : 0;
        if (!find_row(r->line, NULL, &next, &row))
            return false;
    }
    r->begun = true;
    r->number = next;
    r->row = row;
    return true;
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
    for (help_rows r = {.line = line}; help_next(&r);) {
        if (r.heads)
            printf("\n%s:\n", r.row.group);
        print_row(&r.row);
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
