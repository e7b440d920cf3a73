// SPDX-License-Identifier: Apache-2.0
#include "pipeline/job/devices.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/mona_ascend.h"
#include "formats/compiler/program/programs.h"
#include "pipeline/job/ascend_setup.h"
#include "pipeline/job/suggest.h"
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

static bool refuse(const char *name, pipeline_error *error)
{
    char text[SUGGEST_TEXT];
    suggestion s = suggest_for(name, strlen(name));
    mona_device_properties properties;
    if (!strcmp(name, "ascend") || !strcmp(name, "ascend-om"))
        return pipeline_misuse(error, "--device %s: %s", name, mona_ascend_problem());
    for (size_t i = 0; devices_all[i]; i++)
        if (!mona_device_query(devices_all[i], &properties))
            suggest_name(&s, properties.name);
    return pipeline_misuse(error, "--device: there is no device '%s'%s (mona devices lists them)",
                           name, suggest_text(&s, text, sizeof text));
}

/* "ascend-om:1" is the second chip. Leaves the name of the device. */
static bool take_number(const char *name, char *device, size_t room, pipeline_error *error)
{
    const char *colon = strncmp(name, "ascend", strlen("ascend")) ? NULL : strchr(name, ':');
    char *end = NULL;
    const unsigned long number = colon ? strtoul(colon + 1, &end, 10) : 0;
    snprintf(device, room, "%.*s", (int)(colon ? colon - name : (ptrdiff_t)strlen(name)), name);
    if (colon && (end == colon + 1 || *end || number > 1023))
        return pipeline_misuse(error,
                               "--device: expected the number of a chip after %s:, found '%s'",
                               device, colon + 1);
    return !colon || !mona_ascend_choose((unsigned)number) ||
           pipeline_misuse(error, "--device: another chip is in use already");
}

const mona_device *devices_find(const char *asked, pipeline_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    format_error problem = {0};
    char name[64];
    const bool prepared = ascend_setup(&problem);
    if (!take_number(asked, name, sizeof name, error))
        return NULL;
    pthread_once(&once, set_rules);
    const mona_device *found = mona_device_find(devices_all, name);
    if (!found) {
        refuse(name, error);
        return NULL;
    }
    if (found == &mona_device_ascend && !prepared) {
        pipeline_misuse(error, "MONA_ASCEND_KERNEL: %s", problem.text);
        return NULL;
    }
    if (found != &mona_device_ascend)
        mona_ascend_forget(); /* that there is none is no cause of what may fail later */
    return found;
}

void devices_close(void)
{
    for (size_t i = 0; devices_all[i]; i++)
        mona_device_close(devices_all[i]);
}
