// SPDX-License-Identifier: Apache-2.0
#include "apps/verify/verify_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/stages/session_binding.h"
#include "apps/compile/arrays.h"
#include "formats/compiler/program/programs.h"

typedef struct engine_run {
    const case_model *m;
    const conformance_set *set;
    mona_model model;
    session_binding bound;
    plan_planes planes;
    uint8_t *program; /* the model's bytes with a program */
    engine_result *result;
} engine_run;

static bool fail(engine_run *r, const char *reason)
{
    return format_fail(&r->result->reason, "%s", reason);
}

/* ---- opening ------------------------------------------------------------------------------ */

static bool bind(engine_run *r, const mona_device *device, pipeline_error *error)
{
    mona_config config = {.device = device};
    for (uint32_t i = 0; i < r->m->live_count; i++)
        config.sizes[i] = r->m->sizes[i];
    return session_binding_open(&r->bound, &r->model, "model.onnx", &config, error);
}

/* Large layers run on the modelled chip only by a program. */
static bool bind_program(engine_run *r, const mona_device *device, pipeline_error *error)
{
    size_t size;
    format_error why = {0};
    session_binding_close(&r->bound);
    r->result->alone = !program_add(&r->model, r->m->sizes[0], &r->program, &size, &why);
    if (r->result->alone)
        return fail(r, why.text);
    const mona_status status = mona_model_open(&r->model, r->program, size);
    *error = (pipeline_error){0};
    return !status ? bind(r, device, error) || fail(r, error->text)
                   : fail(r, pipeline_reason(status));
}

static bool open_run(engine_run *r, const mona_device *device)
{
    pipeline_error error = {0};
    const mona_status status = mona_model_open(&r->model, r->m->bytes, r->m->size);
    if (status)
        return fail(r, pipeline_reason(status));
    if (mona_model_output_count(&r->model) != r->set->output_count)
        return fail(r, "the model does not have the data set's outputs");
    if (!bind(r, device, &error) &&
        (device == &mona_device_model310 ? !bind_program(r, device, &error) : !fail(r, error.text)))
        return false;
    return plan_planes_open(&r->planes, &r->model, r->bound.plan) || fail(r, "out of memory");
}

static void close_run(engine_run *r)
{
    plan_planes_close(&r->planes);
    session_binding_close(&r->bound);
    free(r->program);
}

/* ---- comparing ---------------------------------------------------------------------------- */

/* fp16 results saturate, so infinity becomes their largest number. */
static double held(double value)
{
    return isinf(value) ? copysign(65504, value) : value;
}

static bool is_whole(const planes *found, const tensor *expected)
{
    return found->info.array && !element_is_float(expected->type);
}

/* Compares bit by bit, since doubles cannot represent all integers. */
static bool same_elements(const planes *found, const tensor *expected)
{
    return mona_type_size(found->info.type) == element_size(expected->type) &&
           !memcmp(found->buffer.data, expected->data, tensor_bytes(expected));
}

static double bound_of(const engine_run *r, const planes *found, const tensor *expected)
{
    double peak = 0;
    if (is_whole(found, expected))
        return r->m->quantised ? 1 : 0;
    for (size_t i = 0; i < expected->count; i++)
        peak = fmax(peak, fabs(held(tensor_number(expected, i))));
    return (r->m->nodes + 3) * 0x1p-11 * peak;
}

static void compare(engine_run *r, const planes *found, const tensor *expected, size_t first)
{
    engine_result *result = r->result;
    const double bound = bound_of(r, found, expected);
    if (is_whole(found, expected) && !r->m->quantised && !same_elements(found, expected))
        result->passed = false;
    for (size_t i = 0; i < found->count; i++) {
        const double number = tensor_number(expected, first + i);
        const double error = fabs(held(planes_get(found, i)) - held(number));
        if (isnan(number)) /* FP16 has no NaN */
            continue;
        if (!(error <= bound))
            result->passed = false;
        if (!(error <= result->error))
            result->error = error;
    }
    result->bound = fmax(result->bound, bound);
}

/* ---- running ------------------------------------------------------------------------------ */

/* Integers are copied, since a double cannot represent all of them. */
static void set_input(planes *p, const tensor *t, size_t first)
{
    const size_t size = element_size(t->type);
    if (p->info.array && !element_is_float(t->type) && mona_type_size(p->info.type) == size)
        memcpy(p->buffer.data, (const uint8_t *)t->data + first * size, p->count * size);
    else
        for (size_t k = 0; k < p->count; k++)
            planes_set(p, k, tensor_number(t, first + k));
}

static bool run_frame(engine_run *r, size_t frame)
{
    for (uint32_t i = 0; i < r->m->live_count; i++) {
        const tensor *t = &r->set->inputs[r->m->live[i]];
        planes *in = &r->planes.in[i];
        if (in->count * r->m->frames != t->count)
            return fail(r, "the engine's input does not have the data set's size");
        set_input(in, t, frame * in->count);
    }
    const mona_status status = plan_planes_run(&r->planes, r->bound.session);
    return !status || fail(r, pipeline_reason(status));
}

static bool compare_frame(engine_run *r, size_t frame)
{
    for (uint32_t i = 0; i < r->set->output_count; i++) {
        const planes *out = &r->planes.out[i];
        if (out->count * r->m->frames != r->set->outputs[i].count)
            return fail(r, "the engine's output does not have the data set's size");
        compare(r, out, &r->set->outputs[i], frame * out->count);
    }
    return true;
}

/* The other device has run the same frame before. */
static bool same_bytes(engine_run *host, const engine_run *other)
{
    for (uint32_t i = 0; i < host->set->output_count; i++) {
        const planes *a = &host->planes.out[i], *b = &other->planes.out[i];
        if (a->count != b->count ||
            memcmp(a->buffer.data, b->buffer.data, a->count * mona_type_size(a->info.type)) != 0)
            return fail(host, "the other device's bytes differ from the host's");
    }
    return true;
}

static bool run_case(const case_model *m, const conformance_set *set, const mona_device *device,
                     engine_result *result)
{
    engine_run host = {.m = m, .set = set, .result = result}, other = host;
    bool ok = open_run(&host, &mona_device_host);
    if (ok && device && !open_run(&other, device)) {
        ok = result->alone;
        device = NULL;
    }
    for (size_t i = 0; ok && i < m->frames; i++)
        ok = run_frame(&host, i) && compare_frame(&host, i) &&
             (!device || (run_frame(&other, i) && same_bytes(&host, &other)));
    close_run(&host);
    close_run(&other);
    return ok;
}

static bool engine_takes(case_model *model, format_error *reason)
{
    mona_model view;
    const mona_status status =
        model->bytes ? mona_model_open(&view, model->bytes, model->size) : MONA_OK;
    if (!status)
        return true;
    case_model_free(model);
    return format_fail(reason, "the engine refuses the model: %s", pipeline_reason(status));
}

/* Runs the first of these ways that leaves something to run. A way that leaves nothing, because
 * everything is constant, counts only if there is no other. False: none compiles, and the reason is
 * that of the first. */
static bool try_ways(const char *folder, const conformance_set *set, const case_way *ways,
                     size_t count, const mona_device *other, engine_result *result)
{
    format_error first = {0};
    bool compiled = false;
    for (size_t i = 0; i < count; i++) {
        case_model model;
        format_error reason = {0};
        bool constant;
        if (!case_compile(&model, folder, set, &ways[i], &constant, &reason) ||
            !engine_takes(&model, &reason)) {
            first = first.text[0] ? first : reason;
            continue;
        }
        compiled = true;
        result->constant = constant;
        if (constant)
            continue;
        result->frozen = ways[i].live != LIVE_ALL;
        if (!run_case(&model, set, other, result))
            result->passed = false;
        case_model_free(&model);
        return true;
    }
    if (!compiled && !result->reason.text[0])
        result->reason = first;
    return compiled;
}

void verify_engine(const char *folder, const conformance_set *set, const mona_device *other,
                   engine_result *result)
{
    static const case_way as_it_is[] = {
        {LIVE_ALL, false, false}, {LIVE_FLOATS, false, false}, {LIVE_FIRST, false, false}};
    static const case_way on_maps[] = {{LIVE_FIRST, true, true},
                                       {LIVE_FLOATS, true, true},
                                       {LIVE_FIRST, false, true},
                                       {LIVE_FLOATS, false, true}};
    engine_result maps = {.passed = true};
    result->compiled =
        try_ways(folder, set, as_it_is, sizeof as_it_is / sizeof *as_it_is, other, result);
    if (result->constant || !result->passed ||
        !try_ways(folder, set, on_maps, sizeof on_maps / sizeof *on_maps, other, &maps))
        return;
    if (!result->compiled)
        *result = maps;
    result->compiled = true;
    result->passed = result->passed && maps.passed;
    result->alone |= maps.alone;
    result->error = fmax(result->error, maps.error);
    result->bound = fmax(result->bound, maps.bound);
    result->reason = maps.passed && !maps.alone ? result->reason : maps.reason;
}
