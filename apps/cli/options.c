// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/files_apart.h"
#include "apps/cli/help.h"
#include "apps/cli/suggest.h"
#include "apps/compile/programs.h"
#include "apps/devices/ascend_setup.h"
#include "pipeline/stages/session_binding.h"
#include "apps/cli/printable.h"

static _Thread_local pipeline_error *kept;

static atomic_bool misused;

bool cli_misused(void)
{
    return misused;
}

void cli_keep_failures(pipeline_error *error)
{
    kept = error;
}

static void print_note(void *context, const char *line)
{
    (void)context;
    flockfile(stderr);
    fputs("mona: ", stderr);
    printable_put(stderr, line);
    fputc('\n', stderr);
    funlockfile(stderr);
}

static void tell(bool misuse, const char *format, va_list arguments)
{
    if (kept) {
        if (!kept->text[0])
            vsnprintf(kept->text, sizeof kept->text, format, arguments);
        return;
    }
    if (misuse)
        misused = true;
    char line[8192];
    vsnprintf(line, sizeof line, format, arguments);
    print_note(NULL, line);
}

int cli_fail(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell(status == EXIT_USAGE, format, arguments);
    va_end(arguments);
    return status;
}

bool cli_misuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell(true, format, arguments);
    va_end(arguments);
    return false;
}

int cli_fail_of(const pipeline_error *error)
{
    return cli_fail(error->misused ? EXIT_USAGE : EXIT_FAILED, "%s", error->text);
}

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

/* The option that argument names. *value: the value that follows in the same argument; NULL:
 * none. */
static const option *find_option(const command *line, const char *argument, const char **value)
{
    const size_t length = strcspn(argument, "=");
    for (size_t i = 0; i < line->option_count; i++) {
        const option *o = &line->options[i];
        *value = argument[length] ? argument + length + 1 : NULL;
        if (is_named(o->name, argument, length) || is_named(o->alias, argument, length) ||
            (o->letter && !strcmp(o->letter, argument)))
            return o;
        *value = argument + 2;
        if (is_joined(o, argument))
            return o;
    }
    return NULL;
}

/* ":" also ends the name, for ffmpeg's -c:v. */
static void tell_unknown(const command *line, const char *argument)
{
    char text[SUGGEST_TEXT];
    suggestion s = suggest_for(argument, strcspn(argument, "=:"));
    for (size_t i = 0; i < line->option_count; i++) {
        suggest_name(&s, line->options[i].name);
        if (line->options[i].letter)
            suggest_name(&s, line->options[i].letter);
    }
    cli_fail(0, "unknown option '%s'%s (mona %s --help lists the options)", argument,
             suggest_text(&s, text, sizeof text), line->name);
}

static bool bad_value(const option *o, const char *text)
{
    const char *what = o->kind == OPTION_WHOLE ? "a whole number" : "a number";
    if (isinf(o->maximum))
        return cli_fail(0, "%s: expected %s of at least %.16g, found '%s'", o->name, what,
                        o->minimum, text);
    return cli_fail(0, "%s: expected %s from %.16g to %.16g, found '%s'", o->name, what, o->minimum,
                    o->maximum, text);
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

/* Hours, minutes and seconds separated by ':'; hours, or hours and minutes, may be left out. Returns
 * how often ':' was found; -1: this is no time. *end: what follows. */
static int read_clock(const char *text, double *seconds, const char **end)
{
    *seconds = 0;
    for (int colons = 0;; colons++) {
        const size_t digits = strspn(text, "0123456789");
        const bool last = text[digits] != ':';
        char *rest;
        const double field = strtod(text, &rest);
        *end = rest;
        /* strtod would also accept a sign, spaces, 1e3, 0x10, inf and nan. */
        if (!digits || strspn(text, ".0123456789") < (size_t)(rest - text) || field >= 1e9 ||
            (colons && field >= 60) || (!last && (rest != text + digits || colons == 2)))
            return -1;
        *seconds = 60 * *seconds + field;
        if (last)
            return colons;
        text = rest + 1;
    }
}

/* The factor of a unit; 1 without one; 0: there is no such unit. */
static double unit_factor(const char *text)
{
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(text, units[i].name))
            return units[i].factor;
    return 0;
}

bool options_time(const char *name, const char *text, double *seconds)
{
    const char *unit;
    const int colons = read_clock(text, seconds, &unit);
    const double factor = colons < 0 || (colons && *unit) ? 0 : unit_factor(unit);
    *seconds *= factor;
    return factor > 0 ||
           cli_fail(0, "%s: expected a time such as 12.5, 1:30, 01:02:03.250 or 800ms, found '%s'",
                    name, text);
}

bool options_brief(const char *name, const char *text, double *seconds)
{
    const char *unit;
    const bool good = !read_clock(text, seconds, &unit) && *unit && unit_factor(unit) > 0;
    if (good)
        *seconds *= unit_factor(unit);
    return (good && *seconds > 0) ||
           cli_fail(0,
                    "%s: expected a time above 0 with its unit, such as 33.3ms, 800us or 2s, "
                    "found '%s'",
                    name, text);
}

static bool parse_time(const option *o, double *to, const char *text)
{
    return options_time(o->name, text, to) &&
           (*to >= o->minimum || cli_fail(0, "%s: expected a time of at least %g s, found '%s'",
                                          o->name, o->minimum, text));
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
    char hint[SUGGEST_TEXT];
    suggestion s = suggest_for(text, length);
    suggest_names(&s, o->argument, "|");
    return cli_fail(0, "%s: expected %s, found '%s'%s", o->name, o->argument, text,
                    suggest_text(&s, hint, sizeof hint));
}

static bool add_to_list(const option *o, option_list *list, const char *text)
{
    if (list->count == OPTION_LIST_MAX)
        return cli_fail(0, "%s: given more than %d times", o->name, OPTION_LIST_MAX);
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
    case OPTION_TIME:
        return parse_time(o, field, text);
    case OPTION_BRIEF:
        return options_brief(o->name, text, field);
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

/* Reads the option at argv[i] and notes it in *given. Returns the number of arguments used; 0 after
 * an error was printed. */
static int take_option(const command *line, void *values, int argc, char **argv, int i,
                       option_set *given)
{
    const char *value;
    const option *o = find_option(line, argv[i], &value);
    if (!o) {
        tell_unknown(line, argv[i]);
        return 0;
    }
    given->has[o - line->options] = true;
    if (o->kind == OPTION_FLAG) {
        if (value)
            return cli_fail(0, "%s takes no value, found '%s'", o->name, value);
        return set_value(o, values, NULL) ? 1 : 0;
    }
    if (value)
        return set_value(o, values, value) ? 1 : 0;
    if (i + 1 >= argc)
        return cli_fail(0, "%s: expected a value (%s) after it, found none", o->name, o->argument);
    return set_value(o, values, argv[i + 1]) ? 2 : 0;
}

static bool is_given(const command *line, const option_set *given, const char *name)
{
    for (size_t i = 0; i < line->option_count; i++)
        if (given->has[i] && !strcmp(line->options[i].name, name))
            return true;
    return false;
}

static bool has_needs(const command *line, const option_set *given)
{
    for (size_t i = 0; i < line->option_count; i++) {
        const option *o = &line->options[i];
        if (given->has[i] && o->needs && !is_given(line, given, o->needs))
            return cli_fail(0, "%s works only with %s", o->name, o->needs);
    }
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
    option_set used = {0};
    if (!set_defaults(line, values))
        return OPTIONS_BAD;
    const options_result result = read_arguments(line, values, argc, argv, operands, &used);
    if (given)
        *given = used;
    return result == OPTIONS_RUN &&
                   (!has_needs(line, &used) || !files_apart(line, values, operands))
               ? OPTIONS_BAD
               : result;
}

const option_rule *options_rule(const command *line, const option *o)
{
    for (size_t i = 0; i < line->rule_count; i++)
        if (!strcmp(line->rules[i].option, o->name))
            return &line->rules[i];
    return NULL;
}

/* "--pipeline", "--device model310 or --pipeline". */
static void list_modes(const command *line, unsigned modes, char *text, size_t size)
{
    size_t used = 0;
    *text = 0;
    for (unsigned m = 0; m < COMMAND_MODES_MAX && used < size; m++)
        if (modes >> m & 1)
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     !used              ? ""
                                     : modes >> (m + 1) ? ", "
                                                        : " or ",
                                     line->modes[m]);
}

static bool suits(const command *line, const option *o, unsigned modes)
{
    const option_rule *rule = options_rule(line, o);
    char text[256];
    if (rule && rule->never & modes) {
        const unsigned refusing = rule->never & modes;
        list_modes(line, refusing & -refusing, text, sizeof text);
        return cli_misuse("%s does not work with %s", o->name, text);
    }
    if (!rule || !rule->only || rule->only & modes)
        return true;
    list_modes(line, rule->only, text, sizeof text);
    return cli_misuse("%s works only with %s", o->name, text);
}

bool options_suit(const command *line, const option_set *given, unsigned modes)
{
    for (size_t i = 0; i < line->option_count; i++)
        if (given->has[i] && !suits(line, &line->options[i], modes))
            return false;
    return true;
}

bool options_cut(option_cut *cut)
{
    if (cut->duration >= 0 && cut->end >= 0)
        return cli_fail(0, "expected --duration or --end, found both");
    if (cut->duration == 0)
        return cli_fail(0, "--duration: expected more than 0 s");
    if (cut->end >= 0 && cut->end <= cut->start)
        return cli_fail(0, "--end: expected a time after --start, which is %g s, found %g s",
                        cut->start, cut->end);
    cut->end = cut->duration > 0 ? cut->start + cut->duration : cut->end < 0 ? 0 : cut->end;
    return true;
}

bool options_size(const char *text, unsigned limit, unsigned *width, unsigned *height)
{
    char rest;
    if (sscanf(text, "%5ux%5u%c", width, height, &rest) == 2 && *width && *height &&
        *width <= limit && *height <= limit)
        return true;
    return cli_misuse("--size: expected WIDTHxHEIGHT, each from 1 to %u, found '%s'", limit, text);
}

/* "auto" takes the first that answers. */
const mona_device *const options_devices[] = {&mona_device_ascend, &mona_device_host,
                                              &mona_device_model310, &mona_device_ascend_om, NULL};

static pthread_once_t rules_set = PTHREAD_ONCE_INIT;

static void set_rules(void)
{
    session_binding_rules =
        (session_binding_policy){.compile = programs_make, .notes = {print_note, NULL}};
}

bool options_or_host(const char *device)
{
    return !strcmp(device, "auto");
}

bool options_config(const option_computing *c, mona_config *config)
{
    *config = (mona_config){.device = options_device(c->device),
                            .cpu = c->cpu,
                            .threads = (unsigned)c->threads,
                            .strip_rows = (unsigned)c->strip_rows,
                            .tile_columns = (unsigned)c->tile_columns};
    mona_size *size = &config->sizes[0];
    return config->device &&
           (!c->size || options_size(c->size, MONA_MAX_SIDE, &size->width, &size->height));
}

const mona_device *options_device(const char *name)
{
    format_error error = {0};
    const bool prepared = ascend_setup(&error);
    pthread_once(&rules_set, set_rules);
    const mona_device *found = mona_device_find(options_devices, name);
    char text[SUGGEST_TEXT];
    suggestion s = suggest_for(name, strlen(name));
    mona_device_properties properties;
    if (!found && (!strcmp(name, "ascend") || !strcmp(name, "ascend-om"))) {
        cli_fail(0, "--device %s: %s", name, mona_ascend_problem());
        return NULL;
    }
    for (size_t i = 0; options_devices[i] && !found; i++)
        if (!mona_device_query(options_devices[i], &properties))
            suggest_name(&s, properties.name);
    if (!found)
        cli_fail(0, "--device: there is no device '%s'%s (mona devices lists them)", name,
                 suggest_text(&s, text, sizeof text));
    if (found == &mona_device_ascend && !prepared) {
        cli_fail(0, "MONA_ASCEND_KERNEL: %s", error.text);
        return NULL;
    }
    if (found != &mona_device_ascend)
        mona_ascend_forget(); /* that there is none is no cause of what may fail later */
    return found;
}

void options_close_devices(void)
{
    for (size_t i = 0; options_devices[i]; i++)
        mona_device_close(options_devices[i]);
}
