// SPDX-License-Identifier: Apache-2.0
#include "pipeline/job/option.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values --------------------------------------------------------------------------------- */

static bool bad_value(const option *o, const char *text, pipeline_error *error)
{
    const char *what = o->kind == OPTION_WHOLE ? "a whole number" : "a number";
    if (isinf(o->maximum))
        return pipeline_misuse(error, "%s: expected %s of at least %.16g, found '%s'", o->name,
                               what, o->minimum, text);
    return pipeline_misuse(error, "%s: expected %s from %.16g to %.16g, found '%s'", o->name, what,
                           o->minimum, o->maximum, text);
}

static bool read_whole(const option *o, long *to, const char *text, pipeline_error *error)
{
    char *end;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (end == text || *end || errno || (double)value < o->minimum || (double)value > o->maximum)
        return bad_value(o, text, error);
    *to = value;
    return true;
}

static bool read_number(const option *o, double *to, const char *text, pipeline_error *error)
{
    char *end;
    const double value = strtod(text, &end);
    if (end == text || *end || !(value >= o->minimum && value <= o->maximum))
        return bad_value(o, text, error);
    *to = value;
    return true;
}

static bool read_share(const option *o, double *to, const char *text, pipeline_error *error)
{
    char *end;
    const bool automatic = !strcmp(o->values, "auto");
    if (!strcmp(text, automatic ? "auto" : "remove"))
        *to = automatic ? -1 : 0;
    else if (!automatic && !strcmp(text, "keep"))
        *to = 1;
    else {
        const double value = strtod(text, &end);
        if (end == text || *end || !(value >= 0 && value <= 1))
            return pipeline_misuse(error, "%s: expected %s or a number from 0 to 1, found '%s'",
                                   o->name, automatic ? "auto" : "keep, remove", text);
        *to = value;
    }
    return true;
}

/* Hours, minutes and seconds separated by ':'; hours, or hours and minutes, may be left out.
 * Returns how often ':' was found; -1: this is no time. *end: what follows. */
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

static bool read_time(const option *o, double *to, const char *text, pipeline_error *error)
{
    const char *unit;
    double seconds;
    const int colons = read_clock(text, &seconds, &unit);
    const double factor = colons < 0 || (colons && *unit) ? 0 : unit_factor(unit);
    if (!(factor > 0))
        return pipeline_misuse(
            error, "%s: expected a time such as 12.5, 1:30, 01:02:03.250 or 800ms, found '%s'",
            o->name, text);
    *to = seconds * factor;
    return *to >= o->minimum ||
           pipeline_misuse(error, "%s: expected a time of at least %g s, found '%s'", o->name,
                           o->minimum, text);
}

bool option_duration(const char *name, const char *text, double *seconds, pipeline_error *error)
{
    const char *unit;
    const bool good = !read_clock(text, seconds, &unit) && *unit && unit_factor(unit) > 0;
    if (good)
        *seconds *= unit_factor(unit);
    return (good && *seconds > 0) ||
           pipeline_misuse(error,
                           "%s: expected a time above 0 with its unit, such as 33.3ms, 800us or "
                           "2s, found '%s'",
                           name, text);
}

bool option_size(const char *name, const char *text, unsigned limit, mona_size *size,
                 pipeline_error *error)
{
    unsigned width, height;
    char rest;
    if (sscanf(text, "%5ux%5u%c", &width, &height, &rest) != 2 || !width || !height ||
        width > limit || height > limit)
        return pipeline_misuse(error, "%s: expected WIDTHxHEIGHT, each from 1 to %u, found '%s'",
                               name, limit, text);
    *size = (mona_size){width, height};
    return true;
}

/* *place: among the words, from 0. */
static bool read_choice(const option *o, unsigned *place, const char *text, pipeline_error *error)
{
    const size_t length = strlen(text);
    *place = 0;
    for (const char *at = o->argument; at; at = strchr(at, '|'), ++*place) {
        at += *at == '|';
        if (length && strcspn(at, "|") == length && !memcmp(at, text, length))
            return true;
    }
    char hint[SUGGEST_TEXT];
    suggestion s = suggest_for(text, length);
    suggest_names(&s, o->argument, "|");
    return pipeline_misuse(error, "%s: expected %s, found '%s'%s", o->name, o->argument, text,
                           suggest_text(&s, hint, sizeof hint));
}

/* The place of the first word of a CHOICE. */
static unsigned first_place(const option *o)
{
    return !o->initial;
}

static bool read_place(const option *o, void *field, const char *text, pipeline_error *error)
{
    unsigned place;
    if (!read_choice(o, &place, text, error))
        return false;
    if (o->kind == OPTION_SWITCH)
        *(bool *)field = !place;
    else
        *(unsigned *)field = place + first_place(o);
    return true;
}

/* The word that a CHOICE or SWITCH was set to, and those behind it; "": none. */
static const char *word_of(const option *o, const void *field)
{
    const char *word = o->argument;
    if (o->kind != OPTION_SWITCH && *(const unsigned *)field < first_place(o))
        return "";
    for (unsigned place = o->kind == OPTION_SWITCH ? !*(const bool *)field
                                                   : *(const unsigned *)field - first_place(o);
         place && word; place--)
        word = strchr(word, '|') ? strchr(word, '|') + 1 : NULL;
    return word ? word : "";
}

const char *option_text(const option *o, const void *values, char buffer[OPTION_TEXT])
{
    const void *field = (const char *)values + o->field;
    const mona_size *size = field;
    const double *number = field;
    const char *word;
    switch (o->kind) {
    case OPTION_FLAG:
    case OPTION_LIST:
    case OPTION_FILES:
        return NULL;
    case OPTION_STRING:
    case OPTION_FILE:
        return *(const char *const *)field;
    case OPTION_CHOICE:
    case OPTION_SWITCH:
        word = word_of(o, field);
        snprintf(buffer, OPTION_TEXT, "%.*s", (int)strcspn(word, "|"), word);
        break;
    case OPTION_WHOLE:
        snprintf(buffer, OPTION_TEXT, "%ld", *(const long *)field);
        break;
    case OPTION_SIZE:
        snprintf(buffer, OPTION_TEXT, "%ux%u", size->width, size->height);
        break;
    case OPTION_SHARE:
    case OPTION_NUMBER:
    case OPTION_TIME:
    case OPTION_DURATION:
        snprintf(buffer, OPTION_TEXT, "%.17g", *number);
        return o->kind == OPTION_SHARE && *number < 0 ? "auto" : buffer;
    }
    return buffer;
}

static bool add_to_list(const option *o, option_list *list, const char *text, pipeline_error *error)
{
    if (list->count == OPTION_LIST_MAX)
        return pipeline_misuse(error, "%s: given more than %d times", o->name, OPTION_LIST_MAX);
    list->items[list->count++] = text;
    return true;
}

bool option_read(const option *o, void *values, const char *text, pipeline_error *error)
{
    void *field = (char *)values + o->field;
    if (o->kind == OPTION_FLAG && text)
        return pipeline_misuse(error, "%s takes no value, found '%s'", o->name, text);
    if (o->kind != OPTION_FLAG && !text)
        return pipeline_misuse(error, "%s: expected a value (%s) after it, found none", o->name,
                               o->argument);
    switch (o->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return true;
    case OPTION_CHOICE:
    case OPTION_SWITCH:
        return read_place(o, field, text, error);
    case OPTION_WHOLE:
        return read_whole(o, field, text, error);
    case OPTION_NUMBER:
        return read_number(o, field, text, error);
    case OPTION_SHARE:
        return read_share(o, field, text, error);
    case OPTION_SIZE:
        return option_size(o->name, text, MONA_MAX_SIDE, field, error);
    case OPTION_TIME:
        return read_time(o, field, text, error);
    case OPTION_DURATION:
        return option_duration(o->name, text, field, error);
    case OPTION_LIST:
    case OPTION_FILES:
        return add_to_list(o, field, text, error);
    case OPTION_STRING:
    case OPTION_FILE:
        break;
    }
    *(const char **)field = text;
    return true;
}

void option_defaults(const option *rows, size_t count, void *values)
{
    pipeline_error unused = {0}; /* a default is valid, as every run of a command shows */
    for (size_t i = 0; i < count; i++)
        if (rows[i].initial)
            option_read(&rows[i], values, rows[i].initial, &unused);
}

/* ---- several of them ------------------------------------------------------------------------ */

/* "--pipeline", "--device model310 or --pipeline". */
static void list_modes(const char *const names[OPTION_MODES_MAX], unsigned modes, char *text,
                       size_t size)
{
    size_t used = 0;
    *text = 0;
    for (unsigned m = 0; m < OPTION_MODES_MAX && used < size; m++)
        if (modes >> m & 1)
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     !used              ? ""
                                     : modes >> (m + 1) ? ", "
                                                        : " or ",
                                     names[m]);
}

bool option_suits(const char *name, const option_rule *rule, unsigned bits,
                  const char *const modes[OPTION_MODES_MAX], pipeline_error *error)
{
    const unsigned refusing = rule ? rule->never & bits : 0;
    char text[256];
    if (refusing) {
        list_modes(modes, refusing & -refusing, text, sizeof text);
        return pipeline_misuse(error, "%s does not work with %s", name, text);
    }
    if (!rule || !rule->only || rule->only & bits)
        return true;
    list_modes(modes, rule->only, text, sizeof text);
    return pipeline_misuse(error, "%s works only with %s", name, text);
}

const option_rule *option_rule_of(const option_rule *rules, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(rules[i].option, name))
            return &rules[i];
    return NULL;
}

bool option_cut_complete(double start, double duration, double *end, pipeline_error *error)
{
    if (duration >= 0 && *end >= 0)
        return pipeline_misuse(error, "expected --duration or --end, found both");
    if (duration == 0)
        return pipeline_misuse(error, "--duration: expected more than 0 s");
    if (*end >= 0 && *end <= start)
        return pipeline_misuse(
            error, "--end: expected a time after --start, which is %g s, found %g s", start, *end);
    *end = duration > 0 ? start + duration : *end < 0 ? 0 : *end;
    return true;
}
