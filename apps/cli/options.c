// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/help.h"

int cli_fail(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("mona: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return status;
}

/* The option that argument names, up to a '=' in it. */
static const option *find_option(const command *line, const char *argument)
{
    size_t length = strcspn(argument, "=");
    for (size_t i = 0; i < line->option_count; i++) {
        const option *o = &line->options[i];
        if ((strlen(o->name) == length && !memcmp(o->name, argument, length)) ||
            (o->letter && !strcmp(o->letter, argument)))
            return o;
    }
    return NULL;
}

static bool bad_value(const option *o, const char *text)
{
    const char *what = o->kind == OPTION_WHOLE ? "a whole number" : "a number";
    cli_fail(0, "%s: expected %s from %.10g to %.10g, found '%s'", o->name, what, o->minimum,
             o->maximum, text);
    return false;
}

static bool parse_whole(const option *o, long *to, const char *text)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || (double)value < o->minimum || (double)value > o->maximum)
        return bad_value(o, text);
    *to = value;
    return true;
}

static bool parse_number(const option *o, double *to, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= o->minimum && value <= o->maximum))
        return bad_value(o, text);
    *to = value;
    return true;
}

static bool parse_choice(const option *o, const char **to, const char *text)
{
    const size_t length = strlen(text);
    for (const char *at = o->argument; at; at = strchr(at, '|')) {
        at += *at == '|';
        if (length && strcspn(at, "|") == length && !memcmp(at, text, length)) {
            *to = text;
            return true;
        }
    }
    cli_fail(0, "%s: expected %s, found '%s'", o->name, o->argument, text);
    return false;
}

static bool add_to_list(const option *o, option_list *list, const char *text)
{
    if (list->count == OPTION_LIST_MAX) {
        cli_fail(0, "%s: given more than %d times", o->name, OPTION_LIST_MAX);
        return false;
    }
    list->items[list->count++] = text;
    return true;
}

static bool set_value(const option *o, void *values, const char *text)
{
    void *field = (char *)values + o->field;
    switch (o->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return true;
    case OPTION_CHOICE:
        return parse_choice(o, field, text);
    case OPTION_WHOLE:
        return parse_whole(o, field, text);
    case OPTION_NUMBER:
        return parse_number(o, field, text);
    case OPTION_LIST:
    case OPTION_FILES:
        return add_to_list(o, field, text);
    case OPTION_STRING:
    case OPTION_FILE:
        break;
    }
    *(const char **)field = text;
    return true;
}

static bool set_defaults(const command *line, void *values)
{
    for (size_t i = 0; i < line->option_count; i++) {
        const option *o = &line->options[i];
        if (o->initial && !set_value(o, values, o->initial))
            return false;
    }
    return true;
}

/* Takes the option at argv[i]; returns how many arguments that was, 0 after printing an error. */
static int take_option(const command *line, void *values, int argc, char **argv, int i)
{
    const option *o = find_option(line, argv[i]);
    const char *equals = strchr(argv[i], '=');
    if (!o) {
        cli_fail(0, "unknown option '%s' (see mona %s --help)", argv[i], argv[0]);
        return 0;
    }
    if (o->kind == OPTION_FLAG) {
        if (equals) {
            cli_fail(0, "%s takes no value, found '%s'", o->name, equals + 1);
            return 0;
        }
        return set_value(o, values, NULL) ? 1 : 0;
    }
    if (equals)
        return set_value(o, values, equals + 1) ? 1 : 0;
    if (i + 1 >= argc) {
        cli_fail(0, "%s: expected %s after it, found the end of the line", o->name, o->argument);
        return 0;
    }
    return set_value(o, values, argv[i + 1]) ? 2 : 0;
}

options_result options_parse(const command *line, void *values, int argc, char **argv,
                             const char **operands)
{
    size_t count = 0;
    bool only_operands = false;

    if (!set_defaults(line, values))
        return OPTIONS_BAD;
    for (int i = 1; i < argc;) {
        const char *argument = argv[i];
        if (!only_operands && (!strcmp(argument, "--help") || !strcmp(argument, "-h"))) {
            help_print(line);
            return OPTIONS_HELP;
        }
        if (!only_operands && !strcmp(argument, "--")) {
            only_operands = true;
            i++;
        } else if (only_operands || argument[0] != '-' || !argument[1]) {
            if (count == line->operands_max) {
                cli_fail(0, "unexpected '%s'; usage: mona %s %s", argument, line->name,
                         line->usage);
                return OPTIONS_BAD;
            }
            operands[count++] = argument;
            i++;
        } else {
            int taken = take_option(line, values, argc, argv, i);
            if (!taken)
                return OPTIONS_BAD;
            i += taken;
        }
    }
    operands[count] = NULL;
    if (count < line->operands_min) {
        cli_fail(0, "usage: mona %s %s", line->name, line->usage);
        return OPTIONS_BAD;
    }
    return OPTIONS_RUN;
}

bool options_size(const char *text, unsigned limit, unsigned *width, unsigned *height)
{
    char rest;
    if (sscanf(text, "%5ux%5u%c", width, height, &rest) == 2 && *width && *height &&
        *width <= limit && *height <= limit)
        return true;
    cli_fail(0, "--size: expected WIDTHxHEIGHT of at most %u each, found '%s'", limit, text);
    return false;
}
