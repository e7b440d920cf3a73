// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/recompile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/compiler/compiler.h"
#include "formats/file.h"
#include "ops/ops.h"
#include "apps/compile/onnx_source.h"

struct recompiler {
    const mona_model *model; /* as shipped */
    compiler *compiler;
    compiler_options options;
    bool calibrated;
};

enum { SIDE = 64 }; /* of the noise used to calibrate INT8 */

char *recompile_find(const char *name, const char *path)
{
    static const char suffix[] = ".mona";
    const size_t length = strlen(name), cut = length - (sizeof suffix - 1);
    char *found = NULL;
    if (path)
        return strdup(path);
    if (length < sizeof suffix || strcmp(name + cut, suffix) ||
        asprintf(&found, "%.*s.onnx", (int)cut, name) < 0)
        return NULL;
    if (!access(found, R_OK))
        return found;
    free(found);
    return NULL;
}

bool model_mostly_int8(const mona_model *model)
{
    unsigned int8 = 0, fp16 = 0;
    for (uint32_t i = 0; i < model->header->op_count; i++)
        if (mona_ops[model->ops[i].kind]->has_filter)
            *(model->ops[i].conv.scales == MONA_NONE ? &fp16 : &int8) += 1;
    return int8 >= fp16;
}

/* ---- noise --------------------------------------------------------------------------------------
 */

/* Makes a sample for an input, whose size relative to the others is as the model requires. */
static bool fill(reference_array *array, const mona_tensor_info *info, float range)
{
    *array = (reference_array){info->channels, info->height, info->width, NULL};
    const size_t count = (size_t)info->channels * info->height * info->width;
    uint32_t state = 1;
    array->data = malloc(count * sizeof *array->data);
    for (size_t i = 0; array->data && i < count; i++) {
        state = state * 1664525 + 1013904223;
        array->data[i] = range * (float)(state >> 24) / 255;
    }
    return array->data;
}

static bool calibrate_on(recompiler *r, const mona_plan *plan, format_error *why)
{
    reference_array inputs[MONA_MAX_IO] = {0};
    const unsigned count = mona_model_input_count(r->model);
    bool done = true;
    for (unsigned i = 0; i < count && done; i++) {
        const mona_tensor_info info = mona_plan_input(plan, i);
        done = fill(&inputs[i], &info, r->options.input_range) || format_fail(why, "out of memory");
    }
    done = done && compiler_calibrate(r->compiler, inputs, why);
    reference_arrays_free(inputs, count);
    return done;
}

static bool calibrate(recompiler *r, format_error *why)
{
    const mona_tensor_info first = mona_model_input(r->model, 0);
    const mona_config config = {.threads = 1,
                                .sizes[0] = {first.width ? 0 : SIDE, first.height ? 0 : SIDE}};
    mona_plan *plan;
    void *memory = file_alloc(mona_plan_bytes(r->model));
    if (!memory)
        return format_fail(why, "out of memory");
    const mona_status status = mona_plan_make(&plan, memory, r->model, &config);
    r->calibrated =
        status ? format_fail(why, "%s", mona_status_text(status)) : calibrate_on(r, plan, why);
    free(memory);
    return r->calibrated;
}

/* ---- compiling ----------------------------------------------------------------------------------
 */

/* The real value of the largest sample. */
static float range_of(const mona_tensor_info *t)
{
    return t->type == MONA_U8 ? 255 * t->scale : t->type == MONA_S8 ? 127 * t->scale : 1;
}

/* Derives how the model was compiled from the types and scales of its planes. */
static bool take_options(recompiler *r, format_error *why)
{
    const mona_tensor_info in = mona_model_input(r->model, 0), out = mona_model_output(r->model, 0);
    if (in.type == MONA_U16 || out.type == MONA_U16)
        return format_fail(why, "its planes have more than 8 bits");
    r->options = (compiler_options){.input_type = in.type,
                                    .output_type = out.type,
                                    .input_range = range_of(&in),
                                    .range = range_of(&out),
                                    .any_size = !in.width};
    return true;
}

static bool same_operators(const mona_model *a, const mona_model *b)
{
    bool same = a->header->op_count == b->header->op_count;
    for (uint32_t i = 0; same && i < a->header->op_count; i++)
        same = a->ops[i].kind == b->ops[i].kind;
    return same;
}

static bool open_network(recompiler *r, const char *path, format_error *why)
{
    uint8_t *bytes = NULL;
    mona_model again;
    onnx_graph graph;
    if (!take_options(r, why) || !onnx_source_read(&graph, path, NULL, why))
        return false;
    r->compiler = compiler_open_image(&graph, NULL, why);
    onnx_graph_free(&graph);
    const bool done =
        r->compiler && recompile(r, model_mostly_int8(r->model), true, &bytes, &again, why) &&
        (same_operators(r->model, &again) || format_fail(why, "it compiles to another network"));
    free(bytes);
    return done;
}

recompiler *recompile_open(const mona_model *model, const char *path, format_error *why)
{
    recompiler *r = calloc(1, sizeof *r);
    if (!r)
        return format_fail(why, "out of memory"), NULL;
    r->model = model;
    if (open_network(r, path, why))
        return r;
    recompile_close(r);
    return NULL;
}

bool recompile(recompiler *r, bool int8, bool fused, uint8_t **bytes, mona_model *model,
               format_error *why)
{
    size_t size;
    *bytes = NULL;
    if (int8 && !r->calibrated && !calibrate(r, why))
        return false;
    compiler_options options = r->options;
    options.int8 = int8;
    if (!fused)
        fusion_switch_off(&options.fusion);
    if (!compiler_emit(r->compiler, &options, bytes, &size, why))
        return false;
    const mona_status status = mona_model_open(model, *bytes, size);
    return !status || format_fail(why, "%s", mona_status_text(status));
}

void recompile_close(recompiler *r)
{
    if (r)
        compiler_close(r->compiler);
    free(r);
}
