// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/chip_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/bench/bench_model.h"
#include "apps/bench/report/bench_result.h"
#include "apps/cli/json_output.h"
#include "pipeline/job/model_source.h"
#include "apps/cli/options.h"
#include "apps/cli/save.h"
#include "apps/devices/machine.h"
#include "pipeline/job/devices.h"
#include "engine/model_format.h"
#include "engine/mona_ascend.h"
#include "formats/file.h"

/* Small ones first, whose faults are easiest to understand. */
static const char *const networks[] = {"bicubic_x2",     "denoise_fast", "sr_x2_tiny", "sr_x2_fast",
                                       "sr_x2_balanced", "sr_x3_fast",   "sr_x4_fast"};

enum { CHIP_FRAMES = 30, MAX_KERNEL_BYTES = 16 << 20 };

/* ---- privacy --------------------------------------------------------------------------------- */

/* Messages may name files: folders, which may name people, are left out. */
static void leave_out_folders(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        size_t length = strcspn(from, " \t'\"(),:=");
        const char *slash = NULL;
        for (const char *c = from; c < from + length; c++)
            slash = *c == '/' ? c : slash;
        const size_t folders = slash && *from == '/' ? (size_t)(slash + 1 - from) : 0;
        length += from[length] != 0;
        memmove(to, from + folders, length - folders);
        to += length - folders;
        from += length;
    }
    *to = 0;
}

static void make_public(cJSON *item)
{
    for (; item; item = item->next) {
        if (cJSON_IsString(item))
            leave_out_folders(item->valuestring);
        make_public(item->child);
    }
}

/* ---- the installation ------------------------------------------------------------------------ */

static bool add_checks(cJSON *report)
{
    ascend_findings all;
    const bool ok = ascend_find(&all);
    cJSON *list = cJSON_AddArrayToObject(report, "checks");
    for (const ascend_finding *f = all.lines; f < all.lines + all.count; f++) {
        cJSON *o = json_add_object(list);
        JSON_ADD(o, TEXT("what", f->what), TEXT("state", f->state), TEXT("found", f->found),
                 TEXT("advice", f->advice));
    }
    puts(ok ? "installation: OK" : "installation: see mona devices --check");
    return ok;
}

static void add_chip(cJSON *report)
{
    mona_ascend_info info;
    if (mona_ascend_query(&mona_device_ascend, &info))
        return;
    char acl[40];
    cJSON *o = cJSON_AddObjectToObject(report, "chip");
    snprintf(acl, sizeof acl, "%d.%d.%d", info.acl[0], info.acl[1], info.acl[2]);
    JSON_ADD(o, TEXT("soc", info.soc), NUMBER("chips", info.chips), TRUTH("module", info.on_chip),
             TEXT("acl", acl), TEXT("driver", info.driver),
             TEXT("missing", info.missing ? info.missing : ""),
             TEXT("no_video", info.no_video ? info.no_video : ""));
}

static void add_kernel(cJSON *report)
{
    uint8_t *bytes;
    size_t size;
    format_error error;
    const char *path = ascend_kernel_path();
    if (!path || !file_read(path, "a kernel", MAX_KERNEL_BYTES, &bytes, &size, &error))
        return;
    cJSON *o = cJSON_AddObjectToObject(report, "kernel");
    cJSON_AddNumberToObject(o, "bytes", (double)size);
    result_add_crc(o, "crc32", mona_crc32(0, bytes, size));
    free(bytes);
}

/* ---- networks -------------------------------------------------------------------------------- */

typedef struct network {
    const char *name;
    const mona_model *model;
    mona_size size;
    bench_session session;
} network;

static bool open_network(network *n, const mona_device *device)
{
    const mona_config config = {.device = device, .sizes = {n->size}};
    return bench_session_open(&n->session, n->name, n->model, &config);
}

static bool add_host(cJSON *o, network *n)
{
    const bool ran = open_network(n, &mona_device_host) && bench_session_run(&n->session);
    if (ran)
        result_add_crc(o, "host_crc32", bench_planes_output_crc(&n->session.planes));
    bench_session_close(&n->session);
    return ran;
}

static bool time_frames(cJSON *o, network *n, const sampling *how)
{
    samples s = {0};
    const bool good = bench_session_sample(&n->session, how, &s) && result_add_samples(o, &s, 0) &&
                      chip_steps_add(o, &n->session, n->model, CHIP_FRAMES);
    samples_free(&s);
    return good;
}

static bool add_chip_run(cJSON *o, network *n, const sampling *how)
{
    const bool opened = open_network(n, &mona_device_ascend),
               ran = opened && bench_session_run(&n->session);
    if (ran)
        result_add_crc(o, "chip_crc32", bench_planes_output_crc(&n->session.planes));
    const bool timed = ran && time_frames(o, n, how);
    bench_session_close(&n->session);
    if (!timed)
        cJSON_AddStringToObject(o, "error", mona_ascend_problem());
    return timed;
}

static bool add_network(cJSON *list, const char *name, mona_size size, const sampling *how)
{
    model_source source = {0};
    cJSON *o = json_add_object(list);
    JSON_ADD(o, TEXT("model", name), NUMBER("width", size.width), NUMBER("height", size.height));
    if (!options_model(&source, name))
        return false;
    network n = {.name = name, .model = &source.model.model, .size = size};
    const bool ran = add_host(o, &n) && add_chip_run(o, &n, how);
    const bool equal = ran && !strcmp(json_string(o, "host_crc32"), json_string(o, "chip_crc32"));
    cJSON_AddBoolToObject(o, "equal", equal);
    printf("%s at %ux%u: ", name, size.width, size.height);
    if (ran)
        printf("%s, %.3f ms a frame\n", equal ? "the CPU's bytes" : "other bytes than the CPU's",
               json_number(o, "p50_ms"));
    else
        puts("failed");
    model_source_close(&source);
    return equal;
}

static bool add_networks(cJSON *report, mona_size size, const sampling *how)
{
    cJSON *list = cJSON_AddArrayToObject(report, "networks");
    mona_device_properties properties;
    bool good = true;
    if (mona_device_query(&mona_device_ascend, &properties)) {
        cJSON_AddStringToObject(report, "error", mona_ascend_problem());
        printf("no chip: %s\n", mona_ascend_problem());
        return false;
    }
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        good = add_network(list, networks[i], size, how) && good;
    return good;
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool save(const cJSON *report, const char *path)
{
    char *text = json_text(report, true);
    const bool saved =
        text ? save_file(path, text, strlen(text)) : (bool)cli_fail(0, "%s: out of memory", path);
    free(text);
    if (saved)
        printf("wrote %s; nothing in it names you, your files or this machine\n", path);
    return saved;
}

bool chip_report(const char *path, mona_size size, const sampling *how)
{
    cJSON *report = cJSON_CreateObject();
    cJSON_AddStringToObject(report, "kind", "ascend");
    bool good = add_checks(report);
    add_chip(report);
    add_kernel(report);
    good = add_networks(report, size, how) && good;
#ifndef MONA_NO_VIDEO
    good = chip_report_video(report) && good;
#endif
    cJSON_AddItemToObject(report, "provenance", provenance());
    make_public(report->child);
    good = save(report, path) && good;
    cJSON_Delete(report);
    return good;
}
