// SPDX-License-Identifier: Apache-2.0
#include "apps/devices/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/job/devices.h"
#include "apps/devices/telemetry.h"

enum { VERSION = 64 };

/* ---- versions -------------------------------------------------------------------------------- */

/* The value of the first line that begins with `key`; of a list "[a:b]", b. */
static bool read_version(const char *path, const char *key, char version[VERSION])
{
    char line[512];
    bool found = false;
    FILE *file = fopen(path, "r");
    while (file && !found && fgets(line, sizeof line, file)) {
        const char *value = strncmp(line, key, strlen(key)) ? NULL : strchr(line, '=');
        if (!value)
            continue;
        const char *colon = strchr(value, ':');
        value = colon ? colon + 1 : value + 1;
        snprintf(version, VERSION, "%.*s", (int)strcspn(value, "]\r\n"), value);
        found = version[0];
    }
    if (file)
        fclose(file);
    return found;
}

static bool find_kit(char version[VERSION])
{
    const char *const folders[] = {getenv("ASCEND_TOOLKIT_HOME"), getenv("ASCEND_HOME_PATH"),
                                   "/usr/local/Ascend/ascend-toolkit/latest",
                                   "/usr/local/Ascend/nnrt/latest"};
    char path[4096];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (!folders[i])
            continue;
        snprintf(path, sizeof path, "%s/version.cfg", folders[i]);
        if (read_version(path, "runtime_running_version", version))
            return true;
    }
    return false;
}

/* Negative, 0 or positive, as `a` comes before, with or after b. What is no number counts as 0. */
static int compare(const char *a, const char *b)
{
    for (int i = 0; i < 3; i++) {
        const long x = strtol(a, NULL, 10), y = strtol(b, NULL, 10);
        if (x != y)
            return x < y ? -1 : 1;
        a = strchr(a, '.') ? strchr(a, '.') + 1 : "";
        b = strchr(b, '.') ? strchr(b, '.') + 1 : "";
    }
    return 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool line(ascend_findings *all, const char *what, const char *state, const char *found,
                 const char *advice)
{
    ascend_finding *f = &all->lines[all->count++];
    *f = (ascend_finding){.state = state};
    snprintf(f->what, sizeof f->what, "%s", what);
    snprintf(f->found, sizeof f->found, "%s", found);
    snprintf(f->advice, sizeof f->advice, "%s", advice);
    return !strcmp(state, "OK");
}

/* Releases that know the Ascend 310 are told, of other chips not: there are always newer ones. */
static bool check_kit(ascend_findings *all, bool own_programs)
{
    char version[VERSION] = "";
    if (find_kit(version) && !own_programs)
        return line(all, "CANN", "OK", version, "");
    if (!find_kit(version))
        return line(all, "CANN", "missing", "",
                    "install CANN 5.0.4 to 8.1 (toolkit or nnrt) and source its set_env.sh");
    return compare(version, "5.0.4") < 0
               ? line(all, "CANN", "too old", version, "install CANN 5.0.4 to 8.1")
           : compare(version, "8.2") >= 0
               ? line(all, "CANN", "too new", version,
                      "it no longer knows the Ascend 310: install CANN 5.0.4 to 8.1")
               : line(all, "CANN", "OK", version, "");
}

static bool check_driver(ascend_findings *all, const mona_ascend_info *info, bool own_programs)
{
    char installed[VERSION] = "";
    const bool found = read_version("/usr/local/Ascend/driver/version.info", "Version", installed);
    const char *version = found ? installed : info ? info->driver : "";
    if (!version[0])
        return line(all, "driver", "missing", "", "install the driver of the card or module");
    return own_programs && compare(version, "21.0.4") < 0
               ? line(all, "driver", "too old", version,
                      "install 21.0.4 or newer, with its firmware")
               : line(all, "driver", "OK", version, "");
}

static bool check_firmware(ascend_findings *all)
{
    char version[VERSION] = "";
    return read_version("/usr/local/Ascend/firmware/version.info", "Version", version)
               ? line(all, "firmware", "OK", version, "")
               : line(all, "firmware", "missing", "",
                      "install the firmware package of the driver's release");
}

static bool check_functions(ascend_findings *all, const mona_ascend_info *info)
{
    char text[128] = "";
    if (info->missing)
        snprintf(text, sizeof text, "AscendCL %d.%d.%d, without %s, which is not needed",
                 info->acl[0], info->acl[1], info->acl[2], info->missing);
    else
        snprintf(text, sizeof text, "AscendCL %d.%d.%d", info->acl[0], info->acl[1], info->acl[2]);
    return line(all, "libraries", "OK", text, "");
}

/* A chip of the machine, and what it says of itself. */
typedef struct one_chip {
    const mona_device *device;
    unsigned number, of;
    bool answers;
    mona_ascend_info info;
} one_chip;

/* What is said of one of several chips has its number. */
static bool line_of(ascend_findings *all, const one_chip *chip, const char *what, const char *state,
                    const char *found, const char *advice)
{
    char name[16];
    snprintf(name, sizeof name, chip->of > 1 ? "%s:%u" : "%s", what, chip->number);
    return line(all, name, state, found, advice);
}

static bool check_health(ascend_findings *all, const one_chip *chip)
{
    mona_ascend_health health;
    char text[64];
    const bool library = !mona_ascend_health_of(chip->device, &health);
    if (library && health.health < 0)
        return true;
    snprintf(text, sizeof text, "%s",
             library ? telemetry_chip_health(health.health) : npu_smi_read(chip->number).health);
    const bool good = !strcmp(text, "ok");
    if (!good && !strcmp(text, "unknown"))
        return line_of(all, chip, "health", "unknown", "",
                       "libdcmi.so and npu-smi are missing: install the driver");
    if (library && health.level >= 0)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", power level %d", health.level);
    return line_of(all, chip, "health", good ? "OK" : "bad", text,
                   good ? "" : "npu-smi info says why");
}

static bool check_chip(ascend_findings *all, const one_chip *chip)
{
    char text[160];
    const mona_ascend_info *info = &chip->info;
    if (!chip->answers)
        return line_of(all, chip, "chip", "missing", "", mona_ascend_problem_of(chip->device));
    int length = snprintf(text, sizeof text, "%s", info->on_chip ? "a module" : "a card");
    if (chip->of > 1)
        length += snprintf(text + length, sizeof text - (size_t)length,
                           ", --device ascend-om:%u, or ascend-om:all for all %u", chip->number,
                           chip->of);
    if (!info->runs_programs)
        snprintf(text + length, sizeof text - (size_t)length,
                 ", for .om models alone: mona's own programs are for Ascend310");
    return line_of(all, chip, "chip", "OK", info->soc ? info->soc : "unnamed", text);
}

/* mona does without it. */
static void show_video(ascend_findings *all, const mona_ascend_info *info)
{
    char text[128] = "H.264 and H.265 are decoded on the chip";
    if (info->no_video)
        snprintf(text, sizeof text, "no %s: the CPU decodes; CANN's toolkit and nnrt have it",
                 info->no_video);
    line(all, "video", info->no_video ? "missing" : "OK", text, "");
}

/* Asks all chips. Returns the first that answers, or NULL; *programs: some run mona's own, or none
 * answers. */
static const mona_ascend_info *ask(one_chip chips[MONA_ASCEND_CHIPS], unsigned count,
                                   bool *programs)
{
    const mona_ascend_info *first = NULL;
    *programs = false;
    for (unsigned n = 0; n < count; n++) {
        one_chip *c = &chips[n];
        *c = (one_chip){mona_ascend_chip(&mona_device_ascend_om, n), n, count, false, {0}};
        c->answers = mona_ascend_query(c->device, &c->info) == MONA_OK;
        *programs = *programs || (c->answers && c->info.runs_programs);
        first = !first && c->answers ? &c->info : first;
    }
    *programs = *programs || !first;
    return first;
}

bool ascend_find(ascend_findings *all)
{
    one_chip chips[MONA_ASCEND_CHIPS];
    format_error error = {0};
    bool own_programs;
    const bool prepared = ascend_setup(&error);
    const unsigned count = devices_chips(&mona_device_ascend_om);
    const mona_ascend_info *info = ask(chips, count, &own_programs);
    all->count = 0;
    bool ok = check_kit(all, own_programs);
    ok &= check_driver(all, info, own_programs);
    ok &= check_firmware(all);
    if (info)
        ok &= check_functions(all, info);
    for (unsigned n = 0; n < count; n++)
        ok &= check_chip(all, &chips[n]);
    if (info)
        show_video(all, info);
    for (unsigned n = 0; n < count; n++)
        ok &= !chips[n].answers || check_health(all, &chips[n]);
    if (!own_programs) /* nor a kernel for them */
        return ok;
    ok &= !prepared                         ? line(all, "kernel", "missing", "", error.text)
          : mona_ascend_has_replay_kernel() ? line(all, "kernel", "OK", ascend_kernel_path(), "")
          : ascend_kernel_path()
              ? line(all, "kernel", "too old", ascend_kernel_path(),
                     "none of these is this mona's for all programs: make ascend-kernel "
                     "CANN=FOLDER makes it")
              : line(all, "kernel", "missing", "",
                     "make ascend-kernel CANN=FOLDER makes it; without it only .om models run");
    return ok;
}

bool devices_check_ascend(void)
{
    ascend_findings all;
    const bool ok = ascend_find(&all);
    for (const ascend_finding *f = all.lines; f < all.lines + all.count; f++)
        printf("%-10s %-8s %s%s%s\n", f->what, f->state, f->found,
               f->found[0] && f->advice[0] ? ": " : "", f->advice);
    return ok;
}
