// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/inspect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/element.h"
#include "engine/op/op.h"
#include "apps/cli/table.h"
#include "apps/compile/programs.h"
#include "pipeline/stages/session_binding.h"
#include "apps/cli/json_output.h"

static cJSON *tensor_rows(const mona_tensor_info *tensors, unsigned count)
{
    cJSON *rows = cJSON_CreateArray();
    for (unsigned i = 0; i < count; i++) {
        const mona_tensor_info *t = &tensors[i];
        cJSON *row = json_add_object(rows);
        char size[32] = "any";
        if (t->height)
            snprintf(size, sizeof size, "%ux%u", t->width, t->height);
        JSON_ADD(row, TEXT("name", t->name), TEXT("type", mona_type_name(t->type)),
                 NUMBER("channels", t->channels), TEXT("size", size), NUMBER("scale", t->scale));
    }
    return rows;
}

static void describe_activation(const mona_file_epilogue *e, mona_activation a, char *text,
                                size_t size)
{
    static const char *const functions[] = {"table", "sigmoid", "silu", "hard-swish", "tanh",
                                            "gelu",  "gelu",    "mish", "elu",        "softplus"};
    char clip[64];
    snprintf(clip, sizeof clip, "clip %g..%g", half_value(e->clip_min), half_value(e->clip_max));
    if (a == MONA_ACT_RELU)
        table_append(text, size, "relu");
    else if (a == MONA_ACT_PRELU)
        table_append(text, size, "prelu");
    else if (a == MONA_ACT_CLIP)
        table_append(text, size, clip);
    else if (mona_is_function((uint8_t)a))
        table_append(text, size, functions[a - MONA_ACT_TABLE]);
}

/* Describes what is fused into the operator. */
static void describe_epilogue(const mona_model *m, const mona_file_op *op, char *text, size_t size)
{
    const mona_op_class *class = mona_ops[op->kind];
    char residual[128];
    text[0] = 0;
    if (!class->has_epilogue)
        return;
    describe_activation(&op->epilogue, op->epilogue.activation, text, size);
    if (class->has_filter && op->input_count == 2) {
        snprintf(residual, sizeof residual, "+ %.60s x %g",
                 m->strings + m->tensors[op->inputs[1]].name,
                 half_value(op->epilogue.residual_scale));
        table_append(text, size, residual);
    }
    describe_activation(&op->epilogue, op->epilogue.activation_after_add, text, size);
}

typedef struct window {
    uint16_t kernel[2], stride[2], dilation[2], pads[4]; /* pads: top, left, bottom, right */
} window;

static void describe_window(const window *w, char *text, size_t size)
{
    char part[64];
    snprintf(text, size, "%ux%u", w->kernel[0], w->kernel[1]);
    snprintf(part, sizeof part, "stride %ux%u", w->stride[0], w->stride[1]);
    if (w->stride[0] != 1 || w->stride[1] != 1)
        table_append(text, size, part);
    snprintf(part, sizeof part, "dilation %ux%u", w->dilation[0], w->dilation[1]);
    if (w->dilation[0] != 1 || w->dilation[1] != 1)
        table_append(text, size, part);
    snprintf(part, sizeof part, "pad %u %u %u %u", w->pads[0], w->pads[1], w->pads[2], w->pads[3]);
    if (w->pads[0] || w->pads[1] || w->pads[2] || w->pads[3])
        table_append(text, size, part);
}

static void describe_conv(const mona_file_op *op, char *text, size_t size)
{
    const mona_file_conv *c = &op->conv;
    const window w = {{c->kernel_h, c->kernel_w},
                      {c->stride_h, c->stride_w},
                      {c->dilation_h, c->dilation_w},
                      {c->pad_top, c->pad_left, c->pad_bottom, c->pad_right}};
    char part[64];
    describe_window(&w, text, size);
    snprintf(part, sizeof part, "%u groups", c->groups);
    if (c->groups != 1)
        table_append(text, size, part);
}

static void describe_resize(const mona_file_op *op, char *text, size_t size)
{
    const mona_file_resize *r = &op->resize;
    static const char *const modes[] = {"nearest", "linear", "cubic"};
    static const char *const coordinates[] = {"half_pixel", "align_corners", "asymmetric"};
    snprintf(text, size, "%s, %s, x %u/%u, y %u/%u, offset %g %g", modes[r->mode],
             coordinates[r->coordinates], r->scale_w[0], r->scale_w[1], r->scale_h[0],
             r->scale_h[1], (double)r->offset_w, (double)r->offset_h);
}

static void describe_pool(const mona_file_op *op, char *text, size_t size)
{
    const mona_file_pool *p = &op->pool;
    const window w = {{p->kernel_h, p->kernel_w},
                      {p->stride_h, p->stride_w},
                      {p->dilation_h, p->dilation_w},
                      {p->pad_top, p->pad_left, p->pad_bottom, p->pad_right}};
    if (p->kernel_h)
        describe_window(&w, text, size);
    else
        snprintf(text, size, "whole map");
    if (p->ceil_mode)
        table_append(text, size, "rounded up");
    if (p->count_include_pad)
        table_append(text, size, "padding counts");
}

static void describe_pad(const mona_file_op *op, char *text, size_t size)
{
    const mona_file_pad *p = &op->pad;
    snprintf(text, size, "%s, pad %u %u %u %u", p->mode == MONA_PAD_REFLECT ? "reflect" : "edge",
             p->top, p->left, p->bottom, p->right);
}

static void describe_depth(const mona_file_op *op, char *text, size_t size)
{
    snprintf(text, size, "block %u", op->block);
}

static void describe_normalise(const mona_file_op *op, char *text, size_t size)
{
    snprintf(text, size, "epsilon %g", (double)op->normalise.epsilon);
}

static void describe_attention(const mona_file_op *op, char *text, size_t size)
{
    snprintf(text, size, "%u heads", op->attention.heads);
}

static void describe_slice(const mona_file_op *op, char *text, size_t size)
{
    snprintf(text, size, "from channel %u", op->channels.first);
}

static void describe_load(const mona_file_op *op, char *text, size_t size)
{
    char part[64];
    for (uint32_t i = 0; i < op->input_count; i++) {
        snprintf(part, sizeof part, "block %u", op->load.block[i]);
        table_append(text, size, part);
    }
}

static void describe_store(const mona_file_op *op, char *text, size_t size)
{
    snprintf(text, size, "block %u, from channel %u", op->store.block, op->store.first_channel);
}

/* Operators without parameters worth a word have none. */
static void (*const describe[MONA_OP_COUNT])(const mona_file_op *op, char *text, size_t size) = {
    [MONA_OP_LOAD] = describe_load,
    [MONA_OP_STORE] = describe_store,
    [MONA_OP_CONV] = describe_conv,
    [MONA_OP_RESIZE] = describe_resize,
    [MONA_OP_DEPTH_TO_SPACE] = describe_depth,
    [MONA_OP_MAX_POOL] = describe_pool,
    [MONA_OP_AVERAGE_POOL] = describe_pool,
    [MONA_OP_SLICE] = describe_slice,
    [MONA_OP_NORMALISE] = describe_normalise,
    [MONA_OP_ATTENTION] = describe_attention,
    [MONA_OP_PAD] = describe_pad,
};

const char *describe_op_name(const mona_file_op *op)
{
    return mona_ops[op->kind]->name;
}

static void describe_padding(const mona_file_tensor *t, char *text, size_t size)
{
    char part[64] = "padding";
    for (uint32_t c = 0; c < t->channels && c < MONA_PADDED_CHANNELS; c++)
        snprintf(part + strlen(part), sizeof part - strlen(part), " %g",
                 t->type == MONA_F16 ? half_value(t->padding[c]) : t->padding[c]);
    if (mona_is_padded(t->padding))
        table_append(text, size, part);
}

static cJSON *op_row(const mona_model *m, const mona_file_op *op)
{
    cJSON *row = cJSON_CreateObject();
    char text[256] = "";
    const mona_file_tensor *out = &m->tensors[op->output];
    JSON_ADD(row, TEXT("op", describe_op_name(op)), TEXT("name", m->strings + op->name));
    for (uint32_t i = 0; i < op->input_count; i++)
        table_append(text, sizeof text,
                     op->inputs[i] == MONA_NONE ? "constant"
                                                : m->strings + m->tensors[op->inputs[i]].name);
    cJSON_AddStringToObject(row, "inputs", text);
    snprintf(text, sizeof text, "%u x %s", out->channels, mona_type_name(out->type));
    JSON_ADD(row, TEXT("output", text), NUMBER("scale", out->scale));
    text[0] = 0;
    if (describe[op->kind])
        describe[op->kind](op, text, sizeof text);
    describe_padding(out, text, sizeof text);
    cJSON_AddStringToObject(row, "parameters", text);
    describe_epilogue(m, op, text, sizeof text);
    cJSON_AddStringToObject(row, "fused", text);
    return row;
}

static unsigned inputs_of(const mona_model *m, mona_tensor_info *inputs)
{
    const unsigned count = mona_model_input_count(m);
    for (unsigned i = 0; i < count; i++)
        inputs[i] = mona_model_input(m, i);
    return count;
}

/* Where the model names the size of every input, outputs have one as well. */
static unsigned outputs_of(const mona_model *m, mona_tensor_info *outputs)
{
    const unsigned count = mona_model_output_count(m);
    void *memory = session_binding_allocate(mona_plan_bytes(m));
    mona_plan *plan;
    const bool sized = memory && mona_plan_make(&plan, memory, m, &(mona_config){0}) == MONA_OK;
    for (unsigned i = 0; i < count; i++)
        outputs[i] = sized ? mona_plan_output(plan, i) : mona_model_output(m, i);
    free(memory);
    return count;
}

/* Those of a model for several sizes have as many. */
static cJSON *all_rows(const mona_model *m,
                       unsigned (*tensors_of)(const mona_model *, mona_tensor_info *))
{
    mona_tensor_info tensors[MONA_MAX_IO];
    cJSON *rows = tensor_rows(tensors, tensors_of(m, tensors));
    for (mona_model other = *m; mona_model_next(&other, &other);) {
        const unsigned count = tensors_of(&other, tensors);
        for (unsigned i = 0; i < count; i++) {
            cJSON *size = cJSON_GetObjectItem(cJSON_GetArrayItem(rows, (int)i), "size");
            char text[1024], one[32];
            snprintf(text, sizeof text, "%s", cJSON_GetStringValue(size));
            snprintf(one, sizeof one, "%ux%u", tensors[i].width, tensors[i].height);
            table_append(text, sizeof text, one);
            cJSON_SetValuestring(size, text);
        }
    }
    return rows;
}

cJSON *describe_model(const char *path, const mona_model *m)
{
    cJSON *document = cJSON_CreateObject();
    JSON_ADD(document, TEXT("file", path), TEXT("model", m->strings + m->header->name),
             TEXT("producer", m->strings + m->header->producer),
             NUMBER("version", m->header->version), NUMBER("release", mona_model_release(m)),
             NUMBER("bytes", m->header->file_bytes));
    cJSON_AddItemToObject(document, "inputs", all_rows(m, inputs_of));
    cJSON_AddItemToObject(document, "outputs", all_rows(m, outputs_of));
    cJSON *ops = cJSON_AddArrayToObject(document, "operators");
    for (uint32_t i = 0; i < m->header->op_count; i++)
        cJSON_AddItemToArray(ops, op_row(m, &m->ops[i]));
    cJSON_AddItemToObject(document, "programs", programs_describe(m));
    cJSON_AddItemToObject(document, "plans", plans_describe(m));
    return document;
}

void describe_plan(cJSON *document, const mona_plan *plan)
{
    cJSON *summary = cJSON_AddObjectToObject(document, "plan");
    mona_tensor_info tensors[2 * MONA_MAX_IO];
    JSON_ADD(summary, NUMBER("arena_bytes", mona_plan_arena_bytes(plan)),
             NUMBER("stack_bytes", mona_plan_stack_bytes(plan)),
             NUMBER("threads", mona_plan_threads(plan)), TEXT("isa", mona_plan_isa(plan)),
             NUMBER("macs", mona_plan_macs(plan)));
    mona_lines lines;
    if (mona_plan_lines(plan, &lines) == MONA_OK) {
        JSON_ADD(summary, NUMBER("lines", lines.count), NUMBER("latency_lines", lines.latency));
    }
    mona_plan_tensors between;
    mona_plan_tensors_of(plan, &between);
    JSON_ADD(summary, NUMBER("tensors_bytes", between.all_bytes),
             NUMBER("tensors_live_bytes", between.live_bytes),
             NUMBER("tensors_planned_bytes", between.planned_bytes));
    const unsigned inputs = (unsigned)cJSON_GetArraySize(json_get(document, "inputs"));
    const unsigned outputs = (unsigned)cJSON_GetArraySize(json_get(document, "outputs"));
    for (unsigned i = 0; i < inputs + outputs; i++)
        tensors[i] = i < inputs ? mona_plan_input(plan, i) : mona_plan_output(plan, i - inputs);
    cJSON_AddItemToObject(document, "frames", tensor_rows(tensors, inputs + outputs));
    cJSON *buffers = cJSON_AddArrayToObject(document, "buffers");
    mona_plan_buffer b;
    for (uint64_t i = 0; mona_plan_next_buffer(plan, &i, &b);) {
        cJSON *row = json_add_object(buffers);
        JSON_ADD(row, TEXT("name", b.name), TEXT("kind", b.kind), NUMBER("offset", b.offset),
                 NUMBER("bytes", b.bytes), NUMBER("rows", b.rows));
    }
}
