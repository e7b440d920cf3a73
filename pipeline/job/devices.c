// SPDX-License-Identifier: Apache-2.0
#include "pipeline/job/devices.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/mona_ascend.h"
#include "formats/compiler/program/programs.h"
#include "pipeline/job/model_source.h"
#include "pipeline/job/option.h"
#include "pipeline/stages/session_binding.h"

const mona_device *const devices_all[] = {&mona_device_ascend, &mona_device_host,
                                          &mona_device_model310, &mona_device_ascend_om, NULL};

static bool make_program(const mona_model *model, mona_size size, uint8_t **bytes, size_t *count,
                         pipeline_error *why)
{
    format_error error = {0};
    return program_add(model, size, bytes, count, &error) ||
           pipeline_fail(why, "no program for ascend310: %s", error.text);
}

static void set_rules(void)
{
    session_binding_rules.compile = make_program;
}

bool devices_or_host(const char *name)
{
    return !strcmp(name, "auto");
}

bool devices_has_driver(const char *name)
{
    return !strncmp(name, "ascend", strlen("ascend")) ||
           (devices_or_host(name) && !access("/dev/davinci_manager", F_OK));
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool refuse(const char *name, pipeline_error *error)
{
    char text[SUGGEST_TEXT];
    suggestion s = suggest_for(name, strlen(name));
    mona_device_properties properties;
    for (size_t i = 0; devices_all[i]; i++)
        if (!mona_device_query(devices_all[i], &properties))
            suggest_name(&s, properties.name);
    return pipeline_misuse(error, "--device: there is no device '%s'%s (mona devices lists them)",
                           name, suggest_text(&s, text, sizeof text));
}

static bool refuse_chip(const char *name, const mona_device *chip, pipeline_error *error)
{
    const unsigned number = mona_device_number(chip);
    return number ? pipeline_misuse(error, "--device %s:%u: %s", name, number,
                                    mona_ascend_problem_of(chip))
                  : pipeline_misuse(error, "--device %s: %s", name, mona_ascend_problem_of(chip));
}

static bool add(device_set *set, const char *name, const mona_device *chip, pipeline_error *error)
{
    mona_device_properties p;
    for (unsigned i = 0; i < set->count; i++)
        if (set->at[i] == chip)
            return pipeline_misuse(error, "--device: chip %u is named twice",
                                   mona_device_number(chip));
    if (mona_device_query(chip, &p))
        return refuse_chip(name, chip, error);
    set->at[set->count++] = chip;
    return true;
}

/* The first one that answers knows. */
unsigned devices_chips(const mona_device *first)
{
    mona_ascend_info info = {0};
    for (unsigned n = 0; n < DEVICES_MAX; n++)
        if (!mona_ascend_query(mona_ascend_chip(first, n), &info))
            return info.chips < DEVICES_MAX ? info.chips : DEVICES_MAX;
    return 1;
}

/* Those of this machine that answer. */
static bool add_all(device_set *set, const char *name, const mona_device *first,
                    pipeline_error *error)
{
    mona_device_properties p;
    const unsigned chips = devices_chips(first);
    for (unsigned n = 0; n < chips; n++) {
        const mona_device *chip = mona_ascend_chip(first, n);
        if (!mona_device_query(chip, &p))
            set->at[set->count++] = chip;
        else if (chips > 1)
            pipeline_note(&session_binding_rules.notes, "%s:%u is left out: %s", name, n,
                          mona_ascend_problem_of(chip));
    }
    return set->count || refuse_chip(name, first, error);
}

/* "0,2", of the chips of this machine. */
static bool add_numbered(device_set *set, const char *name, const mona_device *first,
                         const char *list, pipeline_error *error)
{
    if (!strcmp(list, "all"))
        return add_all(set, name, first, error);
    for (const char *at = list;; at++) {
        char *end;
        const unsigned long number = strtoul(at, &end, 10);
        const mona_device *chip =
            number < DEVICES_MAX ? mona_ascend_chip(first, (unsigned)number) : NULL;
        if (*at < '0' || *at > '9' || (*end && *end != ',') || !chip)
            return pipeline_misuse(error,
                                   "--device: expected the number of a chip after %s:, such as "
                                   "%s:0, several such as %s:0,2, or all, found '%s'",
                                   name, name, name, list);
        if (!add(set, name, chip, error))
            return false;
        at = end;
        if (!*at)
            return true;
    }
}

/* A modelled chip is as many as one wants. */
static bool add_copies(device_set *set, const char *name, const mona_device *device,
                       const char *count, pipeline_error *error)
{
    char *end;
    const unsigned long number = strtoul(count, &end, 10);
    if (*count < '0' || *count > '9' || *end || !number || number > DEVICES_MAX)
        return pipeline_misuse(error, "--device: expected 1 to %d chips after %s:, found '%s'",
                               DEVICES_MAX, name, count);
    while (set->count < number)
        set->at[set->count++] = device;
    return true;
}

/* How a name goes on after a colon. */
static const struct {
    const mona_device *device;
    const char *name;
    bool (*add)(device_set *set, const char *name, const mona_device *device, const char *text,
                pipeline_error *error);
} several[] = {{&mona_device_ascend, "ascend", add_numbered},
               {&mona_device_ascend_om, "ascend-om", add_numbered},
               {&mona_device_model310, "model310", add_copies}};

/* *found: the name is one of these. */
static bool find_several(const char *asked, device_set *set, bool *found, pipeline_error *error)
{
    const size_t length = strcspn(asked, ":");
    *found = false;
    for (size_t i = 0; i < sizeof several / sizeof *several && !*found; i++) {
        const char *name = several[i].name;
        *found = length == strlen(name) && !strncmp(asked, name, length);
        if (*found && asked[length])
            return several[i].add(set, name, several[i].device, asked + length + 1, error);
        if (*found)
            return add(set, name, several[i].device, error);
    }
    return true;
}

static bool runs_om_alone(mona_ascend_info *info)
{
    return !mona_ascend_query(&mona_device_ascend_om, info) && !info->runs_programs;
}

const char *devices_asked(const char *name, const char *model)
{
    mona_ascend_info info;
    return model && ends_in(model, ".om") && devices_or_host(name) &&
                   ascend_setup(&(format_error){0}) && runs_om_alone(&info)
               ? "ascend-om"
               : name;
}

/* "auto" leaves a chip alone that runs no programs of mona's. */
static void tell_other_chip(const char *asked)
{
    mona_ascend_info info;
    if (devices_or_host(asked) && runs_om_alone(&info))
        pipeline_note(&session_binding_rules.notes,
                      "the chip is %s, which runs .om models alone; the CPU runs all others",
                      info.soc ? info.soc : "unnamed");
}

bool devices_find(const char *asked, device_set *set, pipeline_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    format_error problem = {0};
    bool named;
    const bool prepared = ascend_setup(&problem);
    *set = (device_set){0};
    pthread_once(&once, set_rules);
    if (!find_several(asked, set, &named, error))
        return false;
    if (!named) {
        set->at[0] = mona_device_find(devices_all, asked);
        set->count = 1;
    }
    if (!set->at[0])
        return refuse(asked, error);
    const bool own = device_is_ascend(set->at[0]);
    if (own && !prepared)
        return pipeline_misuse(error, "%s", problem.text);
    tell_other_chip(asked);
    if (!own)
        mona_ascend_forget(); /* that there is none is no cause of what may fail later */
    return true;
}

void devices_close(void)
{
    for (size_t i = 0; devices_all[i]; i++) {
        mona_device_close(devices_all[i]);
        for (unsigned n = 1; n < MONA_ASCEND_CHIPS; n++)
            mona_device_close(mona_ascend_chip(devices_all[i], n));
    }
}
