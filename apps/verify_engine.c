#include "verify_engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/compiler/compiler.h"
#include "formats/file.h"
#include "pipeline/bound.h"
#include "planes.h"

typedef struct engine_case {
    const conformance_set *set;
    onnx_graph graph;
    uint32_t live[MONA_MAX_IO]; /* tensors of the set that stay inputs */
    uint32_t live_count;
    mona_size sizes[MONA_MAX_IO];
    size_t frames; /* of the batch, run one by one */
    uint32_t nodes;
    uint8_t *bytes;
    size_t size;
    engine_result *result;
} engine_case;

static bool fail(engine_case *c, const char *reason)
{
    return format_fail(&c->result->reason, "%s", reason);
}

/* ---- the model ---------------------------------------------------------------------------- */

static bool read_graph(engine_case *c, const char *folder)
{
    char path[4096];
    uint8_t *bytes;
    size_t size;
    format_error error = {0};
    const onnx_read_options options = {.folder = folder};
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    const bool read = file_read(path, "an ONNX model", ONNX_MAX_BYTES, &bytes, &size, &error);
    const bool ok = read && onnx_graph_read(&c->graph, bytes, size, &options, &error);
    if (read)
        free(bytes);
    return ok || fail(c, error.text);
}

static bool freeze(engine_case *c, uint32_t input, const tensor *from)
{
    tensor copy;
    if (!tensor_make(&copy, from->type, from->rank, from->dims))
        return fail(c, "out of memory");
    memcpy(copy.data, from->data, tensor_bytes(from));
    onnx_graph_freeze(&c->graph, input, &copy);
    return true;
}

/* Keeps the first input, or every one of floats, and makes constants of the others. */
static bool freeze_inputs(engine_case *c, bool all)
{
    uint32_t input = 0;
    if (c->set->input_count != c->graph.input_count)
        return fail(c, "the data set has not the inputs of the model");
    for (uint32_t i = 0; i < c->set->input_count; i++) {
        const tensor *t = &c->set->inputs[i];
        const bool live = element_is_float(t->type) && t->count && (all || !c->live_count);
        if (live && c->live_count < MONA_MAX_IO) {
            c->live[c->live_count++] = i;
            input++;
        } else if (!freeze(c, input, t)) {
            return false;
        }
    }
    return true;
}

/* Inputs get the sizes of the data set. With by_frame, the first side is a batch, of which the
 * model gets one frame. */
static void set_sizes(engine_case *c, bool by_frame)
{
    c->frames = by_frame ? 0 : 1;
    for (uint32_t i = 0; by_frame && i < c->live_count; i++) {
        const tensor *t = &c->set->inputs[c->live[i]];
        const size_t frames = t->rank > 1 ? (size_t)t->dims[0] : 1;
        c->frames = !i || c->frames == frames ? frames : 1;
    }
    for (uint32_t i = 0; i < c->live_count; i++) {
        const tensor *t = &c->set->inputs[c->live[i]];
        for (uint32_t k = 0; k < t->rank && k < c->graph.inputs[i].rank; k++)
            onnx_graph_set_side(&c->graph, i, k, k || c->frames == 1 ? t->dims[k] : 1);
    }
}

static bool compile(engine_case *c, const char *folder, bool all, bool by_frame)
{
    const compiler_options halves = {.has_input_type = true,
                                     .input_type = MONA_F16,
                                     .has_output_type = true,
                                     .output_type = MONA_F16};
    format_error error = {0};
    c->live_count = 0;
    if (!read_graph(c, folder))
        return false;
    compiler *made = NULL;
    if (freeze_inputs(c, all)) {
        set_sizes(c, by_frame);
        c->nodes = c->graph.node_count;
        made = compiler_open_graph(&c->graph, &error);
        const bool ok = made && compiler_emit(made, &halves, &c->bytes, &c->size, &error);
        if (!ok)
            fail(c, error.text);
        for (unsigned i = 0; ok && i < compiler_input_count(made); i++) {
            const compiler_tensor t = compiler_input(made, i);
            c->sizes[i] = (mona_size){t.width, t.height};
        }
    }
    onnx_graph_free(&c->graph);
    compiler_close(made);
    return c->bytes;
}

/* ---- running ------------------------------------------------------------------------------ */

typedef struct engine_run {
    mona_model model;
    bound_model bound;
    planes in[MONA_MAX_IO], out[MONA_MAX_IO];
} engine_run;

static bool open_run(engine_case *c, engine_run *r)
{
    mona_config config = {0};
    pipeline_error error = {0};
    const mona_status status = mona_model_open(&r->model, c->bytes, c->size);
    if (status)
        return fail(c, mona_status_text(status));
    for (uint32_t i = 0; i < c->live_count; i++)
        config.sizes[i] = c->sizes[i];
    if (!bound_open(&r->bound, &r->model, "model.onnx", &config, &error))
        return fail(c, error.text);
    bool ok = true;
    for (unsigned i = 0; ok && i < mona_model_input_count(&r->model); i++)
        ok = planes_open(&r->in[i], mona_plan_input(r->bound.plan, i));
    for (unsigned i = 0; ok && i < mona_model_output_count(&r->model); i++)
        ok = planes_open(&r->out[i], mona_plan_output(r->bound.plan, i));
    return ok || fail(c, "out of memory");
}

static void close_run(engine_run *r)
{
    for (unsigned i = 0; i < MONA_MAX_IO; i++) {
        planes_close(&r->in[i]);
        planes_close(&r->out[i]);
    }
    bound_close(&r->bound);
}

/* What fp16 holds of a number: it saturates. */
static double held(double value)
{
    return fmax(-65504, fmin(value, 65504));
}

static void compare(engine_case *c, const planes *found, const tensor *expected, size_t first)
{
    double peak = 0;
    for (size_t i = 0; i < expected->count; i++)
        peak = fmax(peak, fabs(held(tensor_number(expected, i))));
    const double bound = (c->nodes + 3) * 0x1p-11 * peak;
    for (size_t i = 0; i < found->count; i++) {
        const double number = tensor_number(expected, first + i);
        const double error = fabs(planes_get(found, i) - held(number));
        if (isnan(number)) /* which the engine does not have */
            continue;
        if (!(error <= bound))
            c->result->passed = false;
        if (!(error <= c->result->error))
            c->result->error = error;
    }
    c->result->bound = fmax(c->result->bound, bound);
}

static bool run_frame(engine_case *c, engine_run *r, size_t frame)
{
    mona_buffer in[MONA_MAX_IO], out[MONA_MAX_IO];
    for (uint32_t i = 0; i < c->live_count; i++) {
        const tensor *t = &c->set->inputs[c->live[i]];
        if (r->in[i].count * c->frames != t->count)
            return fail(c, "the engine's input has another size");
        for (size_t k = 0; k < r->in[i].count; k++)
            planes_set(&r->in[i], k, tensor_number(t, frame * r->in[i].count + k));
        in[i] = r->in[i].buffer;
    }
    for (uint32_t i = 0; i < c->set->output_count; i++)
        out[i] = r->out[i].buffer;
    const mona_status status = mona_session_run(r->bound.session, in, out);
    if (status)
        return fail(c, mona_status_text(status));
    for (uint32_t i = 0; i < c->set->output_count; i++) {
        if (r->out[i].count * c->frames != c->set->outputs[i].count)
            return fail(c, "the engine's output has another size");
        compare(c, &r->out[i], &c->set->outputs[i], frame * r->out[i].count);
    }
    return true;
}

static bool run(engine_case *c)
{
    engine_run r = {0};
    bool ok = open_run(c, &r);
    if (ok && mona_model_output_count(&r.model) != c->set->output_count)
        ok = fail(c, "the model has other outputs than the data set");
    for (size_t i = 0; ok && i < c->frames; i++)
        ok = run_frame(c, &r, i);
    close_run(&r);
    return ok;
}

void verify_engine(const char *folder, const conformance_set *set, engine_result *result)
{
    engine_case c = {.set = set, .result = result};
    for (int way = 0; way < 4 && !c.bytes; way++) {
        format_error first = result->reason; /* the one to tell */
        compile(&c, folder, way & 1, !(way & 2));
        result->reason = first.text[0] ? first : result->reason;
    }
    if (!c.bytes)
        return;
    result->compiled = true;
    result->reason.text[0] = 0;
    if (!run(&c))
        result->passed = false;
    free(c.bytes);
}
