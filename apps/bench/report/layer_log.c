// SPDX-License-Identifier: Apache-2.0
/* The roofline (Williams, Waterman and Patterson 2009) with two slopes. An operator takes at least
 * each of
 *
 *     macs / peak               "compute"
 *     plane bytes / memory's    "memory": bytes of frames, and of maps between groups
 *     ring bytes / cache's      "cache": bytes of rows that stay in a core's cache
 *
 * The largest of these limits the operator; its ratio to the measured time is the share of the
 * roof. Bandwidths are measured by copies, which read as many bytes as they write: twice the bytes
 * copied. Weights stay in the cache and are left out. */
#include "apps/bench/report/layer_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/bench/report/bench_result.h"
#include "apps/devices/machine.h"
#include "apps/cli/options.h"
#include "apps/cli/json_output.h"
#include "apps/cli/table.h"
#include "apps/cli/printable.h"

typedef struct layer_tally {
    uint64_t ticks, rows;
} layer_tally;

static uint64_t now(void *context)
{
    (void)context;
    return machine_ticks();
}

static void add(void *context, const mona_op_event *event)
{
    const layer_log *l = context;
    layer_tally *t = &l->tallies[event->core * l->stride + event->op];
    t->ticks += event->end - event->begin;
    t->rows += event->rows;
}

static unsigned count_ops(const mona_plan *plan)
{
    mona_op_info info;
    unsigned count = 0;
    while (mona_plan_op_at(plan, count, &info))
        count++;
    return count;
}

/* There is one row of tallies per core, so that cores share lines of memory only at the ends of
 * rows. */
bool layer_log_open(layer_log *l, const mona_plan *plan)
{
    enum { LINE = 64 / sizeof(layer_tally) };
    *l = (layer_log){.cores = mona_plan_threads(plan),
                     .ops = count_ops(plan),
                     .observer = {.now = now, .done = add, .context = l}};
    l->stride = (l->ops + 2 * LINE - 1) / LINE * LINE;
    l->tallies = calloc((size_t)l->stride * l->cores, sizeof *l->tallies);
    l->infos = calloc(l->ops, sizeof *l->infos);
    if (!l->tallies || !l->infos)
        return cli_fail(0, "out of memory");
    bool named = true;
    for (unsigned op = 0; op < l->ops; op++) {
        mona_plan_op_at(plan, op, &l->infos[op]);
        l->infos[op].name = strdup(l->infos[op].name);
        named = named && l->infos[op].name;
    }
    return named || cli_fail(0, "out of memory");
}

void layer_log_close(layer_log *l)
{
    for (unsigned op = 0; l->infos && op < l->ops; op++)
        free((char *)l->infos[op].name);
    free(l->tallies);
    free(l->infos);
    *l = (layer_log){0};
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_roof(cJSON *row, const mona_op_info *info, const peak *limit, double ms)
{
    static const char *const names[] = {"compute", "cache", "memory"};
    const bool int8 = info->input != MONA_F16;
    const double peak_rate = int8 ? limit->int8_gmac_per_s : limit->fp16_gmac_per_s;
    const double min[] = {1e-6 * (double)info->macs / peak_rate,
                          1e-6 * (double)info->ring_bytes / (2 * limit->cache_copy_gb_per_s),
                          1e-6 * (double)info->plane_bytes / (2 * limit->copy_gb_per_s)};
    unsigned bound = 0;
    for (unsigned i = 1; i < 3; i++)
        bound = min[i] > min[bound] ? i : bound;
    JSON_ADD(row, ROUNDED("gmac", 1e-9 * (double)info->macs),
             ROUNDED("gmac_per_s", 1e-6 * (double)info->macs / ms),
             ROUNDED("peak_share", 1e-6 * (double)info->macs / ms / peak_rate),
             TEXT("bound", names[bound]), ROUNDED("roof_share", min[bound] / ms));
}

/* The precision of the arithmetic, which the operands' types determine. */
static const char *precision(const mona_op_info *info)
{
    return info->input == MONA_F16 || info->output == MONA_F16 ? "fp16" : "int8";
}

static cJSON *make_named(const char *stage, const char *name)
{
    cJSON *row = cJSON_CreateObject();
    if (stage)
        cJSON_AddStringToObject(row, "stage", stage);
    cJSON_AddStringToObject(row, "name", name);
    return row;
}

static cJSON *make_row(const mona_op_info *info, double ms, double frame_ms, const char *stage)
{
    char tile[32];
    cJSON *row = make_named(stage, info->name);
    snprintf(tile, sizeof tile, "%ux%u", info->columns, info->rows);
    JSON_ADD(row, TEXT("kind", info->kind), TEXT("precision", precision(info)), TEXT("tile", tile),
             ROUNDED("ms", ms), ROUNDED("share", ms / frame_ms),
             NUMBER("memory_bytes", info->plane_bytes), NUMBER("cache_bytes", info->ring_bytes),
             NUMBER("constant_bytes", info->constant_bytes));
    return row;
}

/* The ticks of an operator, summed over the cores and divided by their number: its contribution to
 * the frame's time if all cores always worked in parallel. */
static double ticks_of(const layer_log *l, unsigned op)
{
    double ticks = 0;
    for (unsigned core = 0; core < l->cores; core++)
        ticks += (double)l->tallies[core * l->stride + op].ticks;
    return ticks / l->cores;
}

double layer_log_add(cJSON *rows, const layer_log *l, const peak *limit, double ms_per_tick,
                     double runs, double frame_ms, const char *stage)
{
    double sum = 0;
    for (unsigned op = 0; op < l->ops; op++) {
        const double ms = ticks_of(l, op) * ms_per_tick;
        if (l->infos[op].fused || ms <= 0)
            continue;
        mona_op_info info = l->infos[op];
        info.macs = (uint64_t)(runs * (double)info.macs);
        info.plane_bytes = (uint64_t)(runs * (double)info.plane_bytes);
        info.ring_bytes = (uint64_t)(runs * (double)info.ring_bytes);
        cJSON *row = make_row(&info, ms, frame_ms, stage);
        add_roof(row, &info, limit, ms);
        cJSON_AddItemToArray(rows, row);
        sum += ms;
    }
    return sum;
}

void layer_log_add_other(cJSON *rows, double ms, double frame_ms, const char *stage)
{
    cJSON *other = make_named(stage, "(other)");
    JSON_ADD(other, ROUNDED("ms", frame_ms - ms), ROUNDED("share", 1 - ms / frame_ms));
    cJSON_AddItemToArray(rows, other);
}

/* ---- for people ------------------------------------------------------------------------------ */

void layer_log_print(const cJSON *rows)
{
    const cJSON *row;
    char name[128];
    char shown[128];
    const bool stages = json_get(cJSON_GetArrayItem(rows, 0), "stage");
    if (stages)
        printf("  %-8s", "stage");
    printf("  %-16s %-14s %-4s %9s %8s %6s %8s %6s %9s %9s  %s\n", "operator", "kind", "type",
           "tile", "ms", "share", "GMAC/s", "peak", "memory MB", "cache MB", "share of roof");
    cJSON_ArrayForEach(row, rows)
    {
        if (stages)
            printf("  %-8s", json_string(row, "stage"));
        printf("  %s %-14s %-4s %9s %8.3f %5.1f%%",
               table_pad(name, sizeof name,
                         printable(shown, sizeof shown, json_string(row, "name")), 16),
               json_string(row, "kind"), json_string(row, "precision"), json_string(row, "tile"),
               json_number(row, "ms"), 100 * json_number(row, "share"));
        if (json_get(row, "bound"))
            printf(" %8.1f %5.1f%% %9.2f %9.2f  %3.0f%% of %s", json_number(row, "gmac_per_s"),
                   100 * json_number(row, "peak_share"), 1e-6 * json_number(row, "memory_bytes"),
                   1e-6 * json_number(row, "cache_bytes"), 100 * json_number(row, "roof_share"),
                   json_string(row, "bound"));
        putchar('\n');
    }
}
