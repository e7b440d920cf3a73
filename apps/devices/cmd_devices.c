// SPDX-License-Identifier: Apache-2.0
/* mona devices: the devices that mona can compute on, and their state. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "apps/cli/commands.h"
#include "apps/cli/json_output.h"
#include "engine/mona_ascend.h"
#include "apps/devices/machine.h"
#include "apps/devices/telemetry.h"
#include "pipeline/base/sandbox.h"
#include "pipeline/job/devices.h"

typedef struct arguments {
    bool json, peak, check;
    double watch;
    long times;
} arguments;

enum { MAX_DEVICES = 2 + 2 * MONA_ASCEND_CHIPS };

typedef struct watched {
    const mona_device *device;
    mona_device_properties properties;
    char name[32]; /* for --device */
    telemetry now;
    telemetry_counters counters;
    peak peaks;
    bool has_peaks;
} watched;

typedef struct list {
    watched devices[MAX_DEVICES];
    unsigned count;
} list;

/* In a machine with several chips each is named by its number. */
static bool add_device(list *l, const mona_device *device, bool numbered)
{
    watched *d = &l->devices[l->count];
    *d = (watched){.device = device};
    if (mona_device_query(device, &d->properties))
        return false;
    snprintf(d->name, sizeof d->name, numbered ? "%s:%u" : "%s", d->properties.name,
             mona_device_number(device));
    l->count++;
    return true;
}

static void add_chips(list *l, const mona_device *first)
{
    const unsigned chips = devices_chips(first);
    for (unsigned n = 0; n < chips; n++)
        if (!add_device(l, mona_ascend_chip(first, n), chips > 1) && chips > 1)
            fprintf(stderr, "chip %u: %s\n", n, mona_ascend_problem_of(mona_ascend_chip(first, n)));
}

static void open_list(list *l)
{
    for (size_t i = 0; devices_all[i]; i++)
        if (mona_ascend_chip(devices_all[i], 0))
            add_chips(l, devices_all[i]);
        else
            add_device(l, devices_all[i], false);
}

/* A chip that does not answer is in no list; the reason is not a result, so it goes to stderr. */
static void tell_missing(const list *l)
{
    for (unsigned i = 0; i < l->count; i++)
        if (mona_ascend_chip(l->devices[i].device, 0))
            return;
    fprintf(stderr, "no Ascend chip: %s; mona devices --check tells all that it needs\n",
            mona_ascend_problem());
}

static void read_list(list *l)
{
    for (unsigned i = 0; i < l->count; i++)
        l->devices[i].now = telemetry_read(l->devices[i].device, &l->devices[i].counters);
}

static void sleep_for(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&time, NULL); /* a signal interrupts it */
}

/* Only the peaks of this machine itself can be measured. */
static bool measure_peaks(list *l)
{
    for (unsigned i = 0; i < l->count; i++) {
        watched *d = &l->devices[i];
        d->has_peaks = !strcmp(d->properties.name, "host");
        if (d->has_peaks && !peak_measure(d->properties.cores, &d->peaks))
            return cli_fail(0, "the peak cannot be measured: no threads or memory left");
    }
    return true;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Unknown figures are null. */
static void add_figure(cJSON *o, const char *key, double value)
{
    if (value < 0)
        cJSON_AddNullToObject(o, key);
    else
        cJSON_AddNumberToObject(o, key, value);
}

static cJSON *describe(const watched *d)
{
    const mona_device_properties *p = &d->properties;
    cJSON *o = cJSON_CreateObject();
    JSON_ADD(o, TEXT("name", d->name), TEXT("description", p->description), TEXT("isa", p->isa),
             NUMBER("cores", p->cores), NUMBER("cache_bytes", p->cache_bytes),
             TRUTH("unified_memory", p->unified_memory));
    add_figure(o, "memory_bytes", d->now.memory_bytes);
    add_figure(o, "memory_free_bytes", d->now.memory_free_bytes);
    add_figure(o, "temperature_c", d->now.temperature_c);
    add_figure(o, "power_w", d->now.power_w);
    add_figure(o, "utilisation", d->now.utilisation);
    add_figure(o, "clock_mhz", d->now.clock_mhz);
    cJSON_AddStringToObject(o, "health", d->now.health);
    if (d->has_peaks) {
        JSON_ADD(o, NUMBER("int8_gmac_per_s", d->peaks.int8_gmac_per_s),
                 NUMBER("fp16_gmac_per_s", d->peaks.fp16_gmac_per_s),
                 NUMBER("fp32_gmac_per_s", d->peaks.fp32_gmac_per_s),
                 NUMBER("copy_gb_per_s", d->peaks.copy_gb_per_s));
    }
    return o;
}

/* Indented if printed once; one line per reading with --watch. */
static bool print_json(const list *l, bool line)
{
    cJSON *array = cJSON_CreateArray();
    for (unsigned i = 0; i < l->count; i++)
        cJSON_AddItemToArray(array, describe(&l->devices[i]));
    const int status = line ? json_print_line(array) : json_print(array);
    cJSON_Delete(array);
    return status == EXIT_SUCCESS;
}

/* ---- for people ------------------------------------------------------------------------------ */

static const char *figure(char *buffer, size_t size, double value, double factor, const char *unit)
{
    if (value < 0)
        snprintf(buffer, size, "-");
    else
        snprintf(buffer, size, "%.*f %s", value * factor < 10 ? 1 : 0, value * factor, unit);
    return buffer;
}

static void print_table(const list *l)
{
    char t[6][32];
    printf("%-10s %-8s %5s %9s %9s %7s %7s %6s %9s %-9s %s\n", "NAME", "ISA", "CORES", "CACHE",
           "MEMORY", "TEMP", "POWER", "BUSY", "CLOCK", "HEALTH", "DESCRIPTION");
    for (unsigned i = 0; i < l->count; i++) {
        const watched *d = &l->devices[i];
        const telemetry *n = &d->now;
        const mona_device_properties *p = &d->properties;
        printf("%-10s %-8s %5u %9s %9s %7s %7s %6s %9s %-9s %s\n", d->name, p->isa, p->cores,
               figure(t[0], sizeof t[0], (double)p->cache_bytes, 1 / 1024.0, "KiB"),
               figure(t[1], sizeof t[1], n->memory_bytes, 1 / (1024.0 * 1024 * 1024), "GiB"),
               figure(t[2], sizeof t[2], n->temperature_c, 1, "C"),
               figure(t[3], sizeof t[3], n->power_w, 1, "W"),
               figure(t[4], sizeof t[4], n->utilisation, 100, "%"),
               figure(t[5], sizeof t[5], n->clock_mhz, 1, "MHz"), n->health, p->description);
        if (d->has_peaks)
            printf("%-10s at most int8 %.0f, fp16 %.0f, fp32 %.0f GMAC/s, copies %.1f GB/s\n", "",
                   d->peaks.int8_gmac_per_s, d->peaks.fp16_gmac_per_s, d->peaks.fp32_gmac_per_s,
                   d->peaks.copy_gb_per_s);
    }
    fflush(stdout);
}

static bool show(const list *l, const arguments *a, long turn)
{
    if (a->json)
        return print_json(l, a->watch > 0);
    if (turn && isatty(STDOUT_FILENO))
        printf("\033[H\033[J"); /* clears the screen */
    print_table(l);
    return true;
}

enum { DEVICES_CHECK = 1 << 0 }; /* the bit of its mode */

static int run(void *values, const command_line *line)
{
    arguments *a = values;
    list l = {0};
    if (!options_suit(&command_devices, &line->given, a->check ? DEVICES_CHECK : 0))
        return EXIT_USAGE;
    if (a->check)
        return devices_check_ascend() ? EXIT_SUCCESS : EXIT_FAILED;
    open_list(&l);
    if (!a->json) {
        tell_missing(&l);
        fprintf(stderr, "sandbox of commands that read files: %s\n", sandbox_possible());
    }
    if (a->peak && !measure_peaks(&l))
        return EXIT_FAILED;
    /* Utilisation and power are differences between readings. */
    read_list(&l);
    sleep_for(a->watch > 0 ? a->watch : 0.1);
    const long turns = a->times ? a->times : a->watch > 0 ? -1 : 1;
    for (long turn = 0; turn != turns; turn++) {
        if (turn)
            sleep_for(a->watch);
        read_list(&l);
        if (!show(&l, a, turn))
            return EXIT_FAILED;
    }
    return EXIT_SUCCESS;
}

static const option options[] = {
    {"--watch", "-w", OPTION_NUMBER, KEEPS_BYTES, offsetof(arguments, watch), "SECONDS", "Output",
     .help = "print the list again every SECONDS, until interrupted", .minimum = 0.01,
     .maximum = 86400},
    {"--times", "-n", OPTION_WHOLE, KEEPS_BYTES, offsetof(arguments, times), "N", "Output",
     .help = "stop after N times", .minimum = 1, .maximum = 1e9, .needs = "--watch"},
    {"--peak", NULL, OPTION_FLAG, CHANGES_BYTES, offsetof(arguments, peak), NULL, "Output",
     .help = "measure the peak speed of each device in every precision, which takes some seconds"},
    {"--check", NULL, OPTION_FLAG, CHANGES_BYTES, offsetof(arguments, check), NULL, "Output",
     .help = "say what an Ascend 310 needs here: what is missing or too old, and what to install"},
    {"--json", NULL, OPTION_FLAG, KEEPS_BYTES, offsetof(arguments, json), NULL, "Other",
     .help = "print JSON; with --watch, one line each time"},
};

static const option_rule rules[] = {
    {"--watch", .never = DEVICES_CHECK},
    {"--times", .never = DEVICES_CHECK},
    {"--peak", .never = DEVICES_CHECK},
    {"--json", .never = DEVICES_CHECK},
};

const command command_devices = {
    .name = "devices",
    .summary = "list the devices that mona can compute on",
    .run = run,
    .values = &(arguments){0},
    .confined = CONFINED_NEVER,
    .usage = "[--watch SECONDS] [--peak] [--json] | --check",
    .description = "Lists the devices that answer, with the readings of their sensors where the "
                   "system offers them.",
    .examples = "mona devices\n"
                "mona devices --watch 1\n"
                "mona devices --peak --json\n",
    .parts = {{OPTIONS(options), RULES(rules)}},
    .modes = {"--check"},
};
