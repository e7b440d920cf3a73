// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/confine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/cli/options.h"
#include "apps/cli/save.h"
#include "pipeline/base/sandbox.h"
#include "pipeline/base/stop.h"
#include "pipeline/image/picture_kind.h"
#include "pipeline/job/devices.h"

bool confine_refused;
const option confine_row = {"--no-sandbox",
                            NULL,
                            OPTION_FLAG,
                            KEEPS_BYTES,
                            0,
                            NULL,
                            "Other",
                            .help = "do not confine mona to the files that the command line names "
                                    "(mona devices tells by what)"};

/* What the command line asks for. */
typedef struct wanted {
    bool connects, driver;
} wanted;

static bool is_address(const char *path)
{
    return strstr(path, "://") && access(path, F_OK);
}

/* A name in which digits stand for many files does not exist itself. */
static void read_path(const sandbox *s, const char *path, bool operand, bool lists)
{
    char signature[4096];
    const char *value = strchr(path, '=');
    if (!strcmp(path, "-"))
        sandbox_reads(s, "/dev/stdin");
    else if (lists || (strchr(path, '%') && access(path, F_OK)))
        sandbox_reads_beside(s, path);
    sandbox_reads(s, path);
    if (operand &&
        snprintf(signature, sizeof signature, "%s.minisig", path) < (int)sizeof signature)
        sandbox_reads(s, signature);
    if (value) /* INPUT=FILE */
        sandbox_reads(s, value + 1);
}

/* Calls back for each file that the command line names. */
static void each_file(const command *line, const void *values, const char *const *operands,
                      void (*take)(void *context, const char *path, bool written, bool operand),
                      void *context)
{
    option o;
    for (; *operands; operands++)
        take(context, *operands, false, true);
    for (size_t i = 0; options_at(line, i, &o); i++) {
        size_t count;
        const char *const *paths = files_of(&o, values, &count);
        for (size_t k = 0; k < count; k++)
            take(context, paths[k], o.written, false);
    }
}

static void note_address(void *context, const char *path, bool written, bool operand)
{
    wanted *w = context;
    (void)written, (void)operand;
    w->connects |= is_address(path);
}

typedef struct listing {
    sandbox walls;
    unsigned also;
    bool lists; /* operands do */
} listing;

static void allow_file(void *context, const char *path, bool written, bool operand)
{
    const listing *l = context;
    if (is_address(path) || (written && !strcmp(path, "-")))
        return;
    if (written)
        sandbox_writes_beside(&l->walls, path);
    else
        read_path(&l->walls, path, operand, l->also & CONFINE_LISTS || (operand && l->lists));
}

/* A chip's driver opens devices, files and sockets of its own. */
static bool needs_driver(const command *line, const void *values)
{
    option o;
    for (size_t i = 0; options_at(line, i, &o); i++) {
        const char *const *name = (const void *)((const char *)values + o.field);
        if (o.device && *name && devices_has_driver(*name))
            return true;
    }
    return false;
}

void confine(const command *line, const void *values, const char *const *operands, unsigned also)
{
    wanted w = {0};
    const policy *service = policy_of_service();
    pipeline_error error = {0};
    if (service->sandbox && confine_refused)
        exit(cli_fail(EXIT_USAGE,
                      "--no-sandbox: the policy of this service (MONA_POLICY) requires it"));
    each_file(line, values, operands, note_address, &w);
    if (!confine_refused && !(also & CONFINE_NOT) && !needs_driver(line, values)) {
        picture_libraries(&(pipeline_error){0});
        listing l = {sandbox_begin(w.connects), also, line->lists};
        each_file(line, values, operands, allow_file, &l);
        if (also & CONFINE_TEMP) {
            sandbox_writes(&l.walls, temp_folder_root());
            sandbox_writes(&l.walls, P_tmpdir); /* tmpfile's */
        }
        sandbox_enter(&l.walls);
    }
    if (service->sandbox && !(also & CONFINE_NOT) && !sandbox_is_whole())
        exit(cli_fail(EXIT_FAILED,
                      "the policy of this service (MONA_POLICY) requires a sandbox; this system "
                      "offers %s",
                      sandbox_raised()));
    if (!stop_begin())
        exit(cli_fail(EXIT_FAILED, "a thread cannot be started"));
    if (!(also & CONFINE_NOT) && !limits_apply(&service->limits, &error))
        exit(cli_fail_of(&error));
}
