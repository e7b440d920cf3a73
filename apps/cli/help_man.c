// SPDX-License-Identifier: Apache-2.0
/* The man page, in the man macros. */
#include <stdio.h>
#include <string.h>

#include "apps/cli/commands.h"
#include "mona.h"

/* Prints literal text: '-' stays one that can be copied, no line is taken as a request, and lists
 * of values may be broken. */
static void put(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        switch (text[i]) {
        case '-':
            fputs("\\-", stdout);
            break;
        case '|':
            fputs("|\\:", stdout);
            break;
        case '\\':
            fputs("\\e", stdout);
            break;
        case '.':
        case '\'':
            printf("%s%c", i ? "" : "\\&", text[i]);
            break;
        default:
            putchar(text[i]);
        }
}

static void put_all(const char *text)
{
    put(text, strlen(text));
}

static void put_font(char font, const char *text)
{
    printf("\\f%c", font);
    put_all(text);
    fputs("\\fR", stdout);
}

static void print_row(const option *row)
{
    char text[512];
    printf(".TP\n");
    if (row->letter) {
        put_font('B', row->letter);
        fputs(", ", stdout);
    }
    put_font('B', row->name);
    if (row->argument) {
        putchar(' ');
        put_font('I', row->argument);
    }
    putchar('\n');
    put_all(help_text(row, text, sizeof text));
    putchar('\n');
}

static void print_examples(const char *examples)
{
    printf(".PP\nExamples:\n.PP\n.nf\n");
    while (*examples) {
        const size_t length = strcspn(examples, "\n");
        fputs("    ", stdout);
        put(examples, length);
        putchar('\n');
        examples += length + (examples[length] != 0);
    }
    printf(".fi\n");
}

static void print_command(const command *line)
{
    printf(".SS ");
    put_font('B', "mona ");
    put_font('B', line->name);
    putchar(' ');
    put_all(line->usage);
    putchar('\n');
    put_all(line->description);
    putchar('\n');
    for (help_rows r = {.line = line}; help_next(&r);) {
        if (r.heads) {
            printf(".PP\n");
            put_all(r.row.group);
            printf(":\n");
        }
        print_row(&r.row);
    }
    if (line->examples)
        print_examples(line->examples);
}

void help_print_man(void)
{
    /* A line of a long list of values has no spaces that could grow. */
    printf(".TH MONA 1 \"\" \"mona %s\" \"User Commands\"\n.ad l\n", MONA_VERSION);
    printf(".SH NAME\nmona \\- make videos and pictures larger and cleaner with small neural "
           "networks\n"
           ".SH SYNOPSIS\n.B mona\n.I COMMAND\n[\\fIOPTION\\fR]...\n.SH DESCRIPTION\n"
           "Results go to standard output, messages and progress to standard error.\n"
           "The value of an option is the next argument, follows a \\(aq=\\(aq "
           "(\\fB\\-\\-frames=5\\fR) or, if it is a number, the letter (\\fB\\-j2\\fR). "
           "\\fB\\-\\-\\fR ends the options.\n.SH COMMANDS\n");
    for (size_t i = 0; i < command_count; i++)
        print_command(commands[i]);
    printf(".SH EXIT STATUS\n.TP\n0\nEverything asked for was done.\n.TP\n1\nSomething failed; one "
           "line on standard error says what.\n.TP\n2\nThe command line is "
           "wrong.\n.TP\n128 + N\nSignal N stopped it, for "
           "example 130 after Ctrl\\-C.\n"
           ".SH SEE ALSO\n.BR ffmpeg (1)\n");
}
