#include "bench_ablate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_result.h"
#include "model_format.h"
#include "options.h"
#include "provenance.h"
#include "statistics.h"

enum { VARIANTS_MAX = 5, TURNS = 20, TURNS_MAX = 10000, WARM_UP = 2 };

/* What is done without, and how. */
typedef struct variant {
    const char *name, *how;
    mona_config config;
    bench_session session;
    samples times;
} variant;

typedef struct ablation {
    const bench_model_job *job;
    variant variants[VARIANTS_MAX];
    unsigned count;
} ablation;

/* Questions of the engine that only other models or whole pipelines answer. */
static const char *const cannot[] = {
    "INT8: precision is the model's; compile it again with --precision fp16",
    "operator fusion: it is done when a model is compiled or planned",
    "buffer reuse by itself: rings are as deep as their readers need, or, layer by layer, whole",
    "double buffering: a model has no transfers on the host; --pipeline shows work and wait",
};

static variant *add_variant(ablation *a, const char *name, const char *how)
{
    variant *v = &a->variants[a->count++];
    *v = (variant){.name = name, .how = how, .config = *a->job->config};
    return v;
}

/* The first is the engine as it is. */
static void choose_variants(ablation *a)
{
    add_variant(a, "nothing", "as it is");
    variant *layers =
        add_variant(a, "depth-first strips", "every operator makes its whole output first");
    layers->config.strip_rows = layers->config.tile_columns = MONA_MAX_SIDE;
    if (!a->job->config->tile_columns)
        add_variant(a, "tiles", "strips as wide as the frame")->config.tile_columns = MONA_MAX_SIDE;
    if (a->job->config->threads != 1)
        add_variant(a, "threads", "one thread")->config.threads = 1;
    if (!a->job->config->cpu)
        add_variant(a, "vector instructions", "plain C, as compilers make it")->config.cpu = "c";
}

static bool open_variants(ablation *a)
{
    for (unsigned i = 0; i < a->count; i++)
        if (!bench_session_open(&a->variants[i].session, a->job->name, a->job->model,
                                &a->variants[i].config))
            return false;
    return true;
}

static bool run_variant(const ablation *a, variant *v, bool counts)
{
    const uint64_t start = clock_ns();
    return bench_session_run(&v->session, a->job->name) &&
           (!counts || samples_add(&v->times, 1e-6 * (double)(clock_ns() - start)));
}

static bool same_output(const ablation *a)
{
    const uint32_t expected = bench_planes_output_crc(&a->variants[0].session.planes);
    for (unsigned i = 1; i < a->count; i++)
        if (bench_planes_output_crc(&a->variants[i].session.planes) != expected)
            return cli_fail(0, "%s: without %s the output is another; it must not be", a->job->name,
                            a->variants[i].name);
    return true;
}

static bool run_turns(ablation *a)
{
    const sampling *how = &a->job->how;
    const long most = how->iterations ? how->iterations : how->seconds > 0 ? TURNS_MAX : TURNS;
    const uint64_t start = clock_ns();
    for (long turn = -WARM_UP; turn < most; turn++) {
        for (unsigned i = 0; i < a->count; i++)
            if (!run_variant(a, &a->variants[i], turn >= 0))
                return false;
        if (turn == -WARM_UP && !same_output(a))
            return false;
        if (turn >= 0 && how->seconds > 0 && 1e-9 * (double)(clock_ns() - start) > how->seconds)
            break;
    }
    return true;
}

static bool add_variant_row(cJSON *list, const variant *v, const variant *base)
{
    double *ratios = malloc(v->times.count * sizeof *ratios);
    if (!ratios)
        return cli_fail(0, "out of memory");
    for (size_t i = 0; i < v->times.count; i++)
        ratios[i] = v->times.ms[i] / base->times.ms[i];
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "without", v->name);
    cJSON_AddStringToObject(o, "how", v->how);
    result_add_number(o, "times", statistics_select(ratios, v->times.count, 50));
    cJSON_AddNumberToObject(o, "arena_bytes", (double)mona_plan_arena_bytes(v->session.plan));
    cJSON_AddItemToArray(list, o);
    free(ratios);
    return result_add_statistics(o, v->times.ms, v->times.count);
}

static bool fill(cJSON *result, const ablation *a, samples *base)
{
    const mona_plan *plan = a->variants[0].session.plan;
    const mona_tensor_info in = mona_plan_input(plan, 0);
    cJSON_AddStringToObject(result, "kind", "ablation");
    cJSON_AddStringToObject(result, "model", a->job->name);
    cJSON_AddNumberToObject(result, "width", in.width);
    cJSON_AddNumberToObject(result, "height", in.height);
    cJSON_AddStringToObject(result, "device", "host");
    cJSON_AddStringToObject(result, "isa", mona_plan_isa(plan));
    cJSON_AddNumberToObject(result, "threads", mona_plan_threads(plan));
    if (!result_add_samples(result, base, a->job->percentile))
        return false;
    cJSON *list = cJSON_AddArrayToObject(result, "ablations");
    for (unsigned i = 0; i < a->count; i++)
        if (!add_variant_row(list, &a->variants[i], &a->variants[0]))
            return false;
    cJSON_AddItemToObject(result, "cannot",
                          cJSON_CreateStringArray(cannot, sizeof cannot / sizeof *cannot));
    result_add_crc(result, "model_crc32", a->job->model->header->crc32);
    result_add_crc(result, "output_crc32", bench_planes_output_crc(&a->variants[0].session.planes));
    cJSON_AddItemToObject(result, "provenance", provenance());
    return true;
}

cJSON *bench_ablate(const bench_model_job *job)
{
    ablation a = {.job = job};
    cJSON *result = NULL;
    choose_variants(&a);
    const machine_moment before = machine_now();
    if (open_variants(&a) && run_turns(&a)) {
        samples base = a.variants[0].times;
        base.settled = true;
        base.warm_up = WARM_UP;
        base.before = before;
        base.after = machine_now();
        result = cJSON_CreateObject();
        if (!fill(result, &a, &base)) {
            cJSON_Delete(result);
            result = NULL;
        }
    }
    for (unsigned i = 0; i < a.count; i++) {
        bench_session_close(&a.variants[i].session);
        samples_free(&a.variants[i].times);
    }
    return result;
}

void bench_ablate_print(const cJSON *result)
{
    const cJSON *o;
    printf("%s at %.0fx%.0f, %s, %.0f threads: what each idea is worth\n",
           cJSON_GetObjectItemCaseSensitive(result, "model")->valuestring,
           result_number(result, "width"), result_number(result, "height"),
           cJSON_GetObjectItemCaseSensitive(result, "isa")->valuestring,
           result_number(result, "threads"));
    printf("  %-20s %9s %8s %12s  %s\n", "without", "p50, ms", "times", "arena bytes", "instead");
    cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(result, "ablations")) printf(
        "  %-20s %9.3f %8.2f %12.0f  %s\n",
        cJSON_GetObjectItemCaseSensitive(o, "without")->valuestring, result_number(o, "p50_ms"),
        result_number(o, "times"), result_number(o, "arena_bytes"),
        cJSON_GetObjectItemCaseSensitive(o, "how")->valuestring);
    cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(result, "cannot"))
        printf("  cannot     %s\n", o->valuestring);
}
