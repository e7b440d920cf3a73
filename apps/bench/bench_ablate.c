// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/bench_ablate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/bench/report/bench_result.h"
#include "apps/bench/bench_transfer.h"
#include "engine/model_format.h"
#include "apps/cli/options.h"
#include "apps/bench/report/provenance.h"
#include "apps/bench/recompile.h"
#include "apps/timing/statistics.h"
#include "apps/cli/json_read.h"
#include "apps/cli/json_output.h"

enum { VARIANTS_MAX = 10, TURNS = 20, TURNS_MAX = 10000, WARM_UP = 2, FRAMES_IN_TRANSFER = 4 };

/* A run without one technique, and what replaces it. */
typedef struct variant {
    const char *name, *how;
    unsigned against; /* the variant to compare with, which still uses the technique */
    mona_config config;
    mona_model model;
    uint8_t *bytes; /* of the model, if it was compiled for this variant */
    unsigned slots; /* planes are copied through this many; 0: they are not copied */
    bench_session session;
    bench_transfer transfer;
    samples times;
} variant;

typedef struct ablation {
    const bench_model_job *job;
    variant variants[VARIANTS_MAX];
    unsigned count;
    cJSON *cannot; /* why some variants are missing */
} ablation;

static variant *add_variant(ablation *a, const char *name, const char *how)
{
    variant *v = &a->variants[a->count++];
    *v = (variant){.name = name, .how = how, .config = *a->job->config, .model = *a->job->model};
    return v;
}

static void add_cannot(ablation *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_cannot(ablation *a, const char *format, ...)
{
    char text[640];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cJSON_AddItemToArray(a->cannot, cJSON_CreateString(text));
}

/* ---- what only the compiler can leave out ------------------------------------------------------
 */

static void add_compiled(ablation *a, recompiler *r, const char *name, const char *how, bool int8,
                         bool fused)
{
    format_error why = {0};
    uint8_t *bytes;
    mona_model model;
    if (!recompile(r, int8, fused, &bytes, &model, &why)) {
        add_cannot(a, "%s: %s", name, why.text);
        free(bytes);
        return;
    }
    variant *v = add_variant(a, name, how);
    v->model = model;
    v->bytes = bytes;
}

/* False, with an error: the file cannot be read. Other reasons why it cannot be used are only
 * noted. */
static bool add_all_compiled(ablation *a, const char *path)
{
    const bool int8 = model_mostly_int8(a->job->model);
    format_error why = {0};
    recompiler *r = recompile_open(a->job->model, path, &why);
    const bool opened = r;
    if (opened) {
        add_compiled(a, r, "operator fusion", "operators are not merged (the output differs)", int8,
                     false);
        if (int8)
            add_compiled(a, r, "INT8", "FP16 (the output differs)", false, true);
        else
            add_cannot(a, "INT8: the model is FP16");
    } else if (why.text[0]) {
        add_cannot(a, "operator fusion, INT8: %s: %s", path, why.text);
    }
    recompile_close(r);
    return opened || why.text[0];
}

static bool choose_compiled(ablation *a)
{
    char *path = recompile_find(a->job->name, a->job->onnx);
    const bool done = !path || add_all_compiled(a, path);
    if (!path)
        add_cannot(a, "operator fusion, INT8: need the model's .onnx file; --onnx FILE names it");
    free(path);
    return done;
}

/* ---- what the engine can ------------------------------------------------------------------------
 */

static void choose_planned(ablation *a)
{
    const mona_config *own = a->job->config;
    variant *layers =
        add_variant(a, "depth-first strips", "every operator makes its whole output first");
    layers->config.strip_rows = layers->config.tile_columns = MONA_MAX_SIDE;
    add_variant(a, "buffer reuse", "strips, but no row takes the memory of another")
        ->config.keep_rows = true;
    if (!own->tile_columns)
        add_variant(a, "tiles", "strips as wide as the frame")->config.tile_columns = MONA_MAX_SIDE;
    if (own->threads != 1)
        add_variant(a, "threads", "one thread")->config.threads = 1;
    else
        add_cannot(a, "threads: only one is used");
    if (!own->cpu)
        add_variant(a, "vector instructions", "plain C, vectorised by the compiler")->config.cpu =
            "c";
}

/* Measures what memory shared with the host saves, and what a card without it would have to do. */
static void choose_transfers(ablation *a)
{
    const unsigned copies = a->count;
    add_variant(a, "zero copy", "planes are copied in and out, in two buffers")->slots = 2;
    variant *one = add_variant(a, "double buffering", "the same in one buffer");
    one->slots = 1;
    one->against = copies;
}

/* The first variant is the unchanged engine. */
static bool choose_variants(ablation *a)
{
    add_variant(a, "nothing", "as it is");
    choose_planned(a);
    choose_transfers(a);
    return choose_compiled(a);
}

static bool open_variants(ablation *a)
{
    for (unsigned i = 0; i < a->count; i++) {
        variant *v = &a->variants[i];
        if (!bench_session_open(&v->session, a->job->name, &v->model, &v->config) ||
            (v->slots && !bench_transfer_open(&v->transfer, &v->session, &v->model, v->slots)))
            return false;
    }
    return true;
}

static bool run_variant(variant *v, bool counts)
{
    const unsigned frames = v->slots ? FRAMES_IN_TRANSFER : 1;
    const uint64_t start = clock_ns();
    if (!(v->slots ? bench_transfer_run(&v->transfer, frames) : bench_session_run(&v->session)))
        return false;
    return !counts || samples_add(&v->times, 1e-6 * (double)(clock_ns() - start) / frames);
}

/* Variants that were compiled differently round differently. */
static bool same_output(const ablation *a)
{
    const uint32_t expected = bench_planes_output_crc(&a->variants[0].session.planes);
    for (unsigned i = 1; i < a->count; i++)
        if (!a->variants[i].bytes &&
            bench_planes_output_crc(&a->variants[i].session.planes) != expected)
            return cli_fail(0, "%s: without %s the output differs, which it must not", a->job->name,
                            a->variants[i].name);
    return true;
}

static bool run_turns(ablation *a, telemetry_log *sensors)
{
    const sampling *how = &a->job->how;
    const long max = how->iterations ? how->iterations : how->seconds > 0 ? TURNS_MAX : TURNS;
    const uint64_t start = clock_ns();
    for (long turn = -WARM_UP; turn < max; turn++) {
        for (unsigned i = 0; i < a->count; i++)
            if (!run_variant(&a->variants[i], turn >= 0))
                return false;
        telemetry_log_look(sensors);
        if (turn == -WARM_UP && !same_output(a))
            return false;
        if (turn >= 0 && how->seconds > 0 && 1e-9 * (double)(clock_ns() - start) > how->seconds)
            break;
    }
    return true;
}

static bool add_variant_row(cJSON *list, const variant *v, const variant *all)
{
    const variant *base = &all[v->against];
    double *ratios = malloc(v->times.count * sizeof *ratios);
    if (!ratios)
        return cli_fail(0, "out of memory");
    for (size_t i = 0; i < v->times.count; i++)
        ratios[i] = v->times.ms[i] / base->times.ms[i];
    cJSON *o = json_add_object(list);
    cJSON_AddStringToObject(o, "without", v->name);
    cJSON_AddStringToObject(o, "how", v->how);
    cJSON_AddStringToObject(o, "against", base->name);
    result_add_number(o, "times", statistics_select(ratios, v->times.count, 50));
    cJSON_AddNumberToObject(o, "operators", v->model.header->op_count);
    cJSON_AddStringToObject(o, "precision", model_mostly_int8(&v->model) ? "int8" : "fp16");
    cJSON_AddNumberToObject(o, "arena_bytes", (double)mona_plan_arena_bytes(v->session.bound.plan));
    free(ratios);
    return result_add_statistics(o, v->times.ms, v->times.count);
}

static bool fill(cJSON *result, ablation *a, samples *base)
{
    result_describe(result, "ablation", a->job->name, a->job->config->device,
                    a->variants[0].session.bound.plan);
    if (!result_add_samples(result, base, a->job->percentile))
        return false;
    cJSON *list = cJSON_AddArrayToObject(result, "ablations");
    for (unsigned i = 0; i < a->count; i++)
        if (!add_variant_row(list, &a->variants[i], a->variants))
            return false;
    cJSON_AddItemToObject(result, "cannot", a->cannot);
    a->cannot = NULL;
    result_add_crc(result, "model_crc32", a->job->model->header->crc32);
    result_add_crc(result, "output_crc32", bench_planes_output_crc(&a->variants[0].session.planes));
    cJSON_AddItemToObject(result, "provenance", provenance());
    return true;
}

static void close_variants(ablation *a)
{
    for (unsigned i = 0; i < a->count; i++) {
        variant *v = &a->variants[i];
        bench_transfer_close(&v->transfer);
        bench_session_close(&v->session);
        samples_free(&v->times);
        free(v->bytes);
    }
}

cJSON *bench_ablate(const bench_model_job *job)
{
    ablation *a = calloc(1, sizeof *a);
    cJSON *result = NULL;
    if (!a || !(a->cannot = cJSON_CreateArray())) {
        free(a);
        cli_fail(0, "out of memory");
        return NULL;
    }
    a->job = job;
    const machine_moment before = machine_now();
    telemetry_log sensors;
    telemetry_log_open(&sensors, job->config->device);
    if (choose_variants(a) && open_variants(a) && run_turns(a, &sensors)) {
        samples base = a->variants[0].times;
        base.settled = true;
        base.warm_up = WARM_UP;
        base.before = before;
        base.after = machine_now();
        telemetry_log_end(&sensors);
        base.sensors = sensors;
        result = cJSON_CreateObject();
        result = result_if(fill(result, a, &base), result);
    }
    close_variants(a);
    cJSON_Delete(a->cannot);
    free(a);
    return result;
}

void bench_ablate_print(const cJSON *result)
{
    const cJSON *o;
    printf("%s at %.0fx%.0f, %s, %.0f threads: what each technique is worth\n",
           json_string(result, "model"), json_number(result, "width"),
           json_number(result, "height"), json_string(result, "isa"),
           json_number(result, "threads"));
    printf("  %-20s %9s %8s %12s  %-46s %s\n", "without", "p50, ms", "times", "arena bytes",
           "instead", "compared with");
    cJSON_ArrayForEach(o, json_get(result, "ablations"))
        printf("  %-20s %9.3f %8.2f %12.0f  %-46s %s\n", json_string(o, "without"),
               json_number(o, "p50_ms"), json_number(o, "times"), json_number(o, "arena_bytes"),
               json_string(o, "how"), json_string(o, "against"));
    cJSON_ArrayForEach(o, json_get(result, "cannot")) printf("  cannot     %s\n", o->valuestring);
}
