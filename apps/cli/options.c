// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/options.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/commands.h"
#include "apps/cli/confine.h"
#include "apps/cli/printable.h"
#include "pipeline/job/devices.h"
#include "pipeline/job/limits.h"
#include "pipeline/job/option.h"

static atomic_bool misused, failed;

bool cli_misused(void)
{
    return misused;
}

bool cli_failed(void)
{
    return failed;
}

static void put_line(const char *line)
{
    flockfile(stderr);
    fputs("mona: ", stderr);
    printable_put(stderr, line);
    fputc('\n', stderr);
    funlockfile(stderr);
}

void cli_note(void *unused, const char *line)
{
    (void)unused;
    put_line(line);
}

static void print_error(bool misuse, const char *format, va_list arguments)
{
    failed = true;
    if (misuse)
        misused = true;
    char line[8192];
    vsnprintf(line, sizeof line, format, arguments);
    put_line(line);
}

int cli_fail(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_error(status == EXIT_USAGE, format, arguments);
    va_end(arguments);
    return status;
}

bool cli_misuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_error(true, format, arguments);
    va_end(arguments);
    return false;
}

int cli_fail_of(const pipeline_error *error)
{
    return cli_fail(error->misused ? EXIT_USAGE : EXIT_FAILED, "%s%s", error->text,
                    limits_explain(error->text));
}

/* ---- the rows of a command ------------------------------------------------------------------ */

/* The part that option *i is in, and *i its row there. NULL: there are fewer. */
static const option_part *part_of(const command *line, size_t *i)
{
    for (size_t p = 0; p < COMMAND_PARTS_MAX; p++) {
        if (*i < line->parts[p].count)
            return &line->parts[p];
        *i -= line->parts[p].count;
    }
    return NULL;
}

bool options_at(const command *line, size_t i, option *row)
{
    const option_part *part = part_of(line, &i);
    if (!part && !i && line->confined > CONFINED_NEVER) {
        *row = confine_row;
        return true;
    }
    if (!part)
        return false;
    *row = part->rows[i];
    row->group = part->group ? part->group : row->group;
    row->needs = part->needs ? part->needs : row->needs;
    return true;
}

const option_rule *options_rule(const command *line, size_t i)
{
    const option_part *part = part_of(line, &i);
    if (!part)
        return NULL;
    return option_rule_of(part->rules, part->rule_count, part->rows[i].name);
}

option_set options_given_of(const command *line, const option_set *given, const option *table,
                            size_t count)
{
    option_set of = {0};
    for (size_t i = 0, k = 0;; k = ++i) {
        const option_part *part = part_of(line, &k);
        if (!part)
            return of;
        for (size_t t = 0; t < count; t++)
            of.has[t] |= &table[t] == &part->rows[k] && given->has[i];
    }
}

/* ---- arguments ------------------------------------------------------------------------------ */

static bool is_named(const char *name, const char *argument, size_t length)
{
    return name && strlen(name) == length && !memcmp(name, argument, length);
}

/* "-j2": a letter and its value, which begins with a digit. So "-crf" is a misspelt "--crf" and not
 * "-c" with the value "rf". */
static bool is_joined(const option *o, const char *argument)
{
    return o->letter && o->kind != OPTION_FLAG && strlen(o->letter) == 2 &&
           !strncmp(o->letter, argument, 2) && isdigit((unsigned char)argument[2]);
}

/* Finds the option that argument names, which is number *i. *value: the value that follows in the
 * same argument; NULL: none. */
static bool find_option(const command *line, const char *argument, size_t *i, option *o,
                        const char **value)
{
    const size_t length = strcspn(argument, "=");
    for (*i = 0; options_at(line, *i, o); ++*i) {
        *value = argument[length] ? argument + length + 1 : NULL;
        if (is_named(o->name, argument, length) || is_named(o->alias, argument, length) ||
            (o->letter && !strcmp(o->letter, argument)))
            return true;
        *value = argument + 2;
        if (is_joined(o, argument))
            return true;
    }
    return false;
}

/* The first other command that has the option; NULL: none has. */
static const char *command_with(const char *argument)
{
    for (size_t i = 0, number; i < command_count; i++) {
        const char *value;
        option o;
        if (find_option(commands[i], argument, &number, &o, &value))
            return commands[i]->name;
    }
    return NULL;
}

/* ":" also ends the name, for ffmpeg's -c:v. */
static void tell_unknown(const command *line, const char *argument)
{
    char text[SUGGEST_TEXT];
    suggestion s = suggest_for(argument, strcspn(argument, "=:"));
    option o;
    for (size_t i = 0; options_at(line, i, &o); i++) {
        suggest_name(&s, o.name);
        if (o.letter)
            suggest_name(&s, o.letter);
    }
    const char *other = suggest_text(&s, text, sizeof text)[0] ? NULL : command_with(argument);
    if (other)
        snprintf(text, sizeof text, ", which mona %s has", other);
    cli_fail(0, "unknown option '%s'%s (mona %s --help lists the options)", argument, text,
             line->name);
}

/* Reads the option at argv[i] and notes it in *given. Returns the number of arguments used; 0 after
 * an error was printed. */
static int take_option(const command *line, void *values, int argc, char **argv, int i,
                       option_set *given)
{
    const char *value;
    size_t number;
    option o;
    pipeline_error error = {0};
    if (!find_option(line, argv[i], &number, &o, &value)) {
        tell_unknown(line, argv[i]);
        return 0;
    }
    if (o.again && given->has[number])
        return cli_fail(0, "%s is given twice: %s", o.name, o.again);
    given->has[number] = true;
    if (o.name == confine_row.name)
        values = &confine_refused;
    const bool apart = !value && o.kind != OPTION_FLAG && i + 1 < argc;
    if (!option_read(&o, values, apart ? argv[i + 1] : value, &error))
        return cli_fail_of(&error), 0;
    return apart ? 2 : 1;
}

static bool is_given(const command *line, const option_set *given, const char *name)
{
    option o;
    for (size_t i = 0; options_at(line, i, &o); i++)
        if (given->has[i] && !strcmp(o.name, name))
            return true;
    return false;
}

/* names: one, or several with " or " between them. */
static bool is_any_given(const command *line, const option_set *given, const char *names)
{
    static const char or [] = " or ";
    char name[64];
    for (const char *next = names; next; names = next ? next + strlen(or) : names) {
        next = strstr(names, or);
        snprintf(name, sizeof name, "%.*s", next ? (int)(next - names) : INT_MAX, names);
        if (is_given(line, given, name))
            return true;
    }
    return false;
}

static bool has_needs(const command *line, const option_set *given)
{
    option o;
    for (size_t i = 0; options_at(line, i, &o); i++)
        if (given->has[i] && o.needs && !is_any_given(line, given, o.needs))
            return cli_fail(0, "%s works only with %s", o.name, o.needs);
    return true;
}

static options_result read_arguments(const command *line, void *values, int argc, char **argv,
                                     const char **operands, option_set *given)
{
    size_t count = 0;
    bool only_operands = false;

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
            if (count == line->operands_max)
                return cli_fail(OPTIONS_BAD, "unexpected '%s'; usage: mona %s %s", argument,
                                line->name, line->usage);
            operands[count++] = argument;
            i++;
        } else {
            int taken = take_option(line, values, argc, argv, i, given);
            if (!taken)
                return OPTIONS_BAD;
            i += taken;
        }
    }
    operands[count] = NULL;
    if (count < line->operands_min)
        return cli_fail(OPTIONS_BAD, "usage: mona %s %s", line->name, line->usage);
    return OPTIONS_RUN;
}

options_result options_parse(const command *line, void *values, int argc, char **argv,
                             const char **operands, option_set *given)
{
    for (size_t p = 0; p < COMMAND_PARTS_MAX; p++)
        option_defaults(line->parts[p].rows, line->parts[p].count, values);
    const options_result result = read_arguments(line, values, argc, argv, operands, given);
    if (result != OPTIONS_RUN)
        return result;
    if (!has_needs(line, given) || !files_apart(line, values, operands))
        return OPTIONS_BAD;
    if (line->confined != CONFINED_LATER)
        confine(line, values, operands, line->confined == CONFINED_NEVER ? CONFINE_NOT : 0);
    return result;
}

int options_run(const command *c, int argc, char **argv)
{
    command_line line = {argc, argv, .operands = calloc((size_t)argc, sizeof *line.operands)};
    if (!line.operands)
        return cli_fail(EXIT_FAILED, "out of memory");
    int status = options_parse(c, c->values, argc, argv, line.operands, &line.given);
    if (status == OPTIONS_RUN)
        status = c->run(c->values, &line);
    free(line.operands);
    return status;
}

bool options_suit(const command *line, const option_set *given, unsigned modes)
{
    pipeline_error error = {0};
    option o;
    for (size_t i = 0; options_at(line, i, &o); i++)
        if (given->has[i] &&
            !option_suits(o.name, options_rule(line, i), modes, line->modes, &error))
            return !cli_fail_of(&error);
    return true;
}

bool options_size(const char *text, unsigned limit, mona_size *size)
{
    pipeline_error error = {0};
    return option_size("--size", text, limit, size, &error) || !cli_fail_of(&error);
}

static bool is_one(const device_set *set)
{
    return set->count == 1 ||
           cli_fail(0,
                    "--device: expected one device here, found %u: mona enhance, and mona bench "
                    "with --pipeline or --streams, take several",
                    set->count);
}

bool options_config(const option_computing *c, mona_config *config)
{
    device_set set;
    return options_config_set(c, config, &set) && is_one(&set);
}

static bool options_devices(const char *name, device_set *set)
{
    pipeline_error error = {0};
    return devices_find(name, set, &error) || !cli_fail_of(&error);
}

bool options_config_set(const option_computing *c, mona_config *config, device_set *set)
{
    if (!options_devices(c->device, set))
        return false;
    *config = (mona_config){.device = set->at[0],
                            .cpu = c->cpu,
                            .threads = (unsigned)c->threads,
                            .strip_rows = (unsigned)c->strip_rows,
                            .tile_columns = (unsigned)c->tile_columns,
                            .sizes = {c->size}};
    return true;
}

const mona_device *options_device(const char *name)
{
    device_set set;
    return options_devices(name, &set) && is_one(&set) ? set.at[0] : NULL;
}

bool options_model(model_source *source, const char *name)
{
    pipeline_error error = {0};
    return model_source_open(source, name, &error) || !cli_fail_of(&error);
}

bool options_model_om(model_source *source, const char *path, const mona_device *device)
{
    pipeline_error error = {0};
    return model_source_open_om(source, path, device, &error) || !cli_fail_of(&error);
}
