/* mona inspect: what a model is, and what it needs for a frame. Everything is gathered as JSON, which is
 * printed as it is or as tables. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "commands.h"
#include "formats/file.h"
#include "formats/half.h"
#include "formats/onnx_reader.h"
#include "model_format.h"
#include "model_source.h"
#include "models/embedded.h"
#include "options.h"

typedef struct inspect_job {
    const char *model, *size, *device, *cpu;
    long threads, strip_rows, tile_columns;
    bool json;
    mona_config config;
} inspect_job;

/* ---- options ------------------------------------------------------------------------------ */

static bool check_options(inspect_job *job)
{
    unsigned width = 0, height = 0;
    char rest;
    if (job->size && (sscanf(job->size, "%5ux%5u%c", &width, &height, &rest) != 2 || !width ||
                      !height || width > MONA_MAX_SIDE || height > MONA_MAX_SIDE))
        return !cli_fail(EXIT_USAGE, "--size: expected WIDTHxHEIGHT of at most %d each, found '%s'",
                         MONA_MAX_SIDE, job->size);
    job->config = (mona_config){
        .device = mona_device_find(job->device),
        .cpu = job->cpu,
        .threads = (unsigned)job->threads,
        .strip_rows = (unsigned)job->strip_rows,
        .tile_columns = (unsigned)job->tile_columns,
        .sizes = {{width, height}},
    };
    return job->config.device ||
           !cli_fail(EXIT_FAILED, "no device '%s' answers; mona devices lists them", job->device);
}

static options_result read_options(inspect_job *job, int argc, char **argv)
{
    const option options[] = {
        {"--size", NULL, OPTION_STRING, &job->size, 0, 0, "WxH",
         "plan for frames of this size: memory and work"},
        {"--threads", NULL, OPTION_WHOLE, &job->threads, 1, MONA_MAX_THREADS, "N",
         "plan for N threads (one per core)"},
        {"--device", NULL, OPTION_STRING, &job->device, 0, 0, "NAME", "plan for a device (auto)"},
        {"--cpu", NULL, OPTION_STRING, &job->cpu, 0, 0, "ISA",
         "highest instruction set: c, avx2, avx512, neon"},
        {"--strip-rows", NULL, OPTION_WHOLE, &job->strip_rows, 1, MONA_MAX_SIDE, "N",
         "output rows of a step (the planner's choice)"},
        {"--tile-columns", NULL, OPTION_WHOLE, &job->tile_columns, 1, MONA_MAX_SIDE, "N",
         "output columns of a tile (the planner's choice)"},
        {"--json", NULL, OPTION_FLAG, &job->json, 0, 0, NULL, "print JSON"},
    };
    const command_line line = {
        "inspect MODEL [OPTION]...",
        "Shows a .mona model (a file, or one inside this binary) or the nodes of an .onnx model.",
        options, sizeof options / sizeof *options, 1, 1};
    const char *operands[2];
    const options_result result = options_parse(&line, argc, argv, operands);
    if (result != OPTIONS_RUN)
        return result;
    job->model = operands[0];
    return check_options(job) ? OPTIONS_RUN : OPTIONS_BAD;
}

/* ---- tables ------------------------------------------------------------------------------- */

/* One entry of a row as text. */
static const char *cell(const cJSON *row, const char *key, char *buffer, size_t size)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(row, key);
    buffer[0] = 0;
    if (cJSON_IsString(item))
        snprintf(buffer, size, "%s", item->valuestring);
    else if (cJSON_IsNumber(item))
        snprintf(buffer, size, "%.10g", item->valuedouble);
    for (char *p = buffer; *p; p++) /* names come from files anybody may have written */
        if ((unsigned char)*p < ' ' || *p == 127)
            *p = '?';
    return buffer;
}

/* Rows of an array of objects, a column for each key, as wide as its widest entry. */
static void print_table(const cJSON *rows, const char *const *keys, size_t key_count)
{
    enum { MAX_COLUMNS = 8 };
    int width[MAX_COLUMNS];
    char text[256];
    const cJSON *row;
    for (size_t k = 0; k < key_count; k++) {
        width[k] = (int)strlen(keys[k]);
        cJSON_ArrayForEach(row, rows)
        {
            const int length = (int)strlen(cell(row, keys[k], text, sizeof text));
            width[k] = length > width[k] ? length : width[k];
        }
        printf("%s%-*s", k ? "  " : "  ", k + 1 < key_count ? width[k] : 0, keys[k]);
    }
    printf("\n");
    cJSON_ArrayForEach(row, rows)
    {
        for (size_t k = 0; k < key_count; k++) {
            const bool number =
                cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(row, keys[k]));
            cell(row, keys[k], text, sizeof text);
            if (number)
                printf("  %*s", width[k], text);
            else
                printf("  %-*s", k + 1 < key_count ? width[k] : 0, text);
        }
        printf("\n");
    }
}

static void print_section(const cJSON *document, const char *name, const char *const *keys,
                          size_t key_count)
{
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(document, name);
    if (!rows)
        return;
    printf("\n%s\n", name);
    print_table(rows, keys, key_count);
}

/* ---- .mona: tensors and operators --------------------------------------------------------- */

static cJSON *tensor_rows(const mona_tensor_info *tensors, unsigned count)
{
    cJSON *rows = cJSON_CreateArray();
    for (unsigned i = 0; i < count; i++) {
        const mona_tensor_info *t = &tensors[i];
        cJSON *row = cJSON_CreateObject();
        char size[32] = "any";
        if (t->height)
            snprintf(size, sizeof size, "%ux%u", t->width, t->height);
        cJSON_AddStringToObject(row, "name", t->name);
        cJSON_AddStringToObject(row, "type", mona_type_name(t->type));
        cJSON_AddNumberToObject(row, "channels", t->channels);
        cJSON_AddStringToObject(row, "size", size);
        cJSON_AddNumberToObject(row, "step", (double)t->scale);
        cJSON_AddItemToArray(rows, row);
    }
    return rows;
}

/* Appends to a NUL-terminated text, cutting what does not fit. */
static void append(char *text, size_t size, const char *more)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? ", " : "", more);
}

static void describe_activation(const mona_file_epilogue *e, mona_activation a, char *text,
                                size_t size)
{
    char clip[64];
    snprintf(clip, sizeof clip, "clip %g..%g", half_value(e->clip_min), half_value(e->clip_max));
    if (a == MONA_ACT_RELU)
        append(text, size, "relu");
    else if (a == MONA_ACT_PRELU)
        append(text, size, "prelu");
    else if (a == MONA_ACT_CLIP)
        append(text, size, clip);
}

/* What is fused into the operator. */
static void describe_epilogue(const mona_model *m, const mona_file_op *op, char *text, size_t size)
{
    char residual[128];
    text[0] = 0;
    if (op->kind != MONA_OP_CONV && op->kind != MONA_OP_ADD && op->kind != MONA_OP_MUL)
        return;
    describe_activation(&op->epilogue, op->epilogue.activation, text, size);
    if (op->kind == MONA_OP_CONV && op->input_count == 2) {
        snprintf(residual, sizeof residual, "+ %.60s x %g",
                 m->strings + m->tensors[op->inputs[1]].name,
                 half_value(op->epilogue.residual_scale));
        append(text, size, residual);
    }
    describe_activation(&op->epilogue, op->epilogue.activation_after_add, text, size);
}

static void describe_conv(const mona_file_conv *c, char *text, size_t size)
{
    char part[64];
    snprintf(text, size, "%ux%u", c->kernel_h, c->kernel_w);
    snprintf(part, sizeof part, "stride %ux%u", c->stride_h, c->stride_w);
    if (c->stride_h != 1 || c->stride_w != 1)
        append(text, size, part);
    snprintf(part, sizeof part, "dilation %ux%u", c->dilation_h, c->dilation_w);
    if (c->dilation_h != 1 || c->dilation_w != 1)
        append(text, size, part);
    snprintf(part, sizeof part, "pad %u %u %u %u", c->pad_top, c->pad_left, c->pad_bottom,
             c->pad_right);
    if (c->pad_top || c->pad_left || c->pad_bottom || c->pad_right)
        append(text, size, part);
    snprintf(part, sizeof part, "%u groups", c->groups);
    if (c->groups != 1)
        append(text, size, part);
}

static void describe_resize(const mona_file_resize *r, char *text, size_t size)
{
    static const char *const modes[] = {"nearest", "linear", "cubic"};
    static const char *const coordinates[] = {"half_pixel", "align_corners", "asymmetric"};
    snprintf(text, size, "%s, %s, x %u/%u, y %u/%u, offset %g %g", modes[r->mode],
             coordinates[r->coordinates], r->scale_w[0], r->scale_w[1], r->scale_h[0],
             r->scale_h[1], (double)r->offset_w, (double)r->offset_h);
}

static void describe_op(const mona_file_op *op, char *text, size_t size)
{
    text[0] = 0;
    char part[64];
    switch ((mona_op_kind)op->kind) {
    case MONA_OP_CONV: describe_conv(&op->conv, text, size); break;
    case MONA_OP_RESIZE: describe_resize(&op->resize, text, size); break;
    case MONA_OP_DEPTH_TO_SPACE: snprintf(text, size, "block %u", op->block); break;
    case MONA_OP_LOAD:
        for (uint32_t i = 0; i < op->input_count; i++) {
            snprintf(part, sizeof part, "block %u", op->load.block[i]);
            append(text, size, part);
        }
        break;
    case MONA_OP_STORE:
        snprintf(text, size, "block %u, from channel %u", op->store.block,
                 op->store.first_channel);
        break;
    case MONA_OP_ADD:
    case MONA_OP_MUL:
    case MONA_OP_COUNT: break;
    }
}

static const char *const op_names[MONA_OP_COUNT] = {
    "load", "store", "conv", "add", "mul", "resize", "depth_to_space"};

static cJSON *op_row(const mona_model *m, const mona_file_op *op)
{
    cJSON *row = cJSON_CreateObject();
    char text[256] = "";
    const mona_file_tensor *out = &m->tensors[op->output];
    cJSON_AddStringToObject(row, "op", op_names[op->kind]);
    cJSON_AddStringToObject(row, "name", m->strings + op->name);
    for (uint32_t i = 0; i < op->input_count; i++)
        append(text, sizeof text, m->strings + m->tensors[op->inputs[i]].name);
    cJSON_AddStringToObject(row, "inputs", text);
    snprintf(text, sizeof text, "%u x %s", out->channels, mona_type_name(out->type));
    cJSON_AddStringToObject(row, "output", text);
    cJSON_AddNumberToObject(row, "step", (double)out->scale);
    describe_op(op, text, sizeof text);
    cJSON_AddStringToObject(row, "parameters", text);
    describe_epilogue(m, op, text, sizeof text);
    cJSON_AddStringToObject(row, "fused", text);
    return row;
}

static cJSON *describe_model(const char *path, const mona_model *m)
{
    cJSON *document = cJSON_CreateObject();
    mona_tensor_info tensors[MONA_MAX_IO];
    cJSON_AddStringToObject(document, "file", path);
    cJSON_AddStringToObject(document, "model", m->strings + m->header->name);
    cJSON_AddStringToObject(document, "producer", m->strings + m->header->producer);
    cJSON_AddNumberToObject(document, "version", m->header->version);
    cJSON_AddNumberToObject(document, "bytes", (double)m->header->file_bytes);
    for (unsigned i = 0; i < mona_model_input_count(m); i++)
        tensors[i] = mona_model_input(m, i);
    cJSON_AddItemToObject(document, "inputs", tensor_rows(tensors, mona_model_input_count(m)));
    for (unsigned i = 0; i < mona_model_output_count(m); i++)
        tensors[i] = mona_model_output(m, i);
    cJSON_AddItemToObject(document, "outputs", tensor_rows(tensors, mona_model_output_count(m)));
    cJSON *ops = cJSON_AddArrayToObject(document, "operators");
    for (uint32_t i = 0; i < m->header->op_count; i++)
        cJSON_AddItemToArray(ops, op_row(m, &m->ops[i]));
    return document;
}

/* ---- .mona: the plan ---------------------------------------------------------------------- */

static void describe_plan(cJSON *document, const mona_plan *plan)
{
    cJSON *summary = cJSON_AddObjectToObject(document, "plan");
    mona_tensor_info tensors[2 * MONA_MAX_IO];
    cJSON_AddNumberToObject(summary, "arena_bytes", (double)mona_plan_arena_bytes(plan));
    cJSON_AddNumberToObject(summary, "stack_bytes", (double)mona_plan_stack_bytes(plan));
    cJSON_AddNumberToObject(summary, "threads", mona_plan_threads(plan));
    cJSON_AddStringToObject(summary, "isa", mona_plan_isa(plan));
    cJSON_AddNumberToObject(summary, "macs", (double)mona_plan_macs(plan));
    const unsigned inputs = (unsigned)cJSON_GetArraySize(
        cJSON_GetObjectItemCaseSensitive(document, "inputs"));
    const unsigned outputs = (unsigned)cJSON_GetArraySize(
        cJSON_GetObjectItemCaseSensitive(document, "outputs"));
    for (unsigned i = 0; i < inputs + outputs; i++)
        tensors[i] = i < inputs ? mona_plan_input(plan, i) : mona_plan_output(plan, i - inputs);
    cJSON_AddItemToObject(document, "frames", tensor_rows(tensors, inputs + outputs));
    cJSON *buffers = cJSON_AddArrayToObject(document, "buffers");
    mona_plan_buffer b;
    for (unsigned i = 0; mona_plan_buffer_at(plan, i, &b); i++) {
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "name", b.name);
        cJSON_AddStringToObject(row, "kind", b.kind);
        cJSON_AddNumberToObject(row, "offset", (double)b.offset);
        cJSON_AddNumberToObject(row, "bytes", (double)b.bytes);
        cJSON_AddNumberToObject(row, "rows", b.rows);
        cJSON_AddItemToArray(buffers, row);
    }
}

static bool add_plan(const inspect_job *job, const mona_model *model, cJSON *document)
{
    void *memory = bound_allocate(mona_plan_bytes());
    if (!memory)
        return !cli_fail(EXIT_FAILED, "out of memory");
    mona_plan *plan;
    const mona_status status = mona_plan_make(&plan, memory, model, &job->config);
    if (status)
        cli_fail(EXIT_FAILED, "%s: cannot be planned for %s: %s", job->model, job->size,
                 mona_status_text(status));
    else
        describe_plan(document, plan);
    free(memory);
    return !status;
}

static void print_plan(const cJSON *document)
{
    static const char *const frame_keys[] = {"name", "type", "channels", "size", "step"};
    static const char *const buffer_keys[] = {"name", "kind", "offset", "bytes", "rows"};
    const cJSON *plan = cJSON_GetObjectItemCaseSensitive(document, "plan");
    if (!plan)
        return;
    char text[256];
    printf("\nplan\n");
    const cJSON *item;
    cJSON_ArrayForEach(item, plan)
        printf("  %-12s %s\n", item->string, cell(plan, item->string, text, sizeof text));
    print_section(document, "frames", frame_keys, 5);
    print_section(document, "buffers", buffer_keys, 5);
}

static void print_model(const cJSON *document)
{
    static const char *const tensor_keys[] = {"name", "type", "channels", "size", "step"};
    static const char *const op_keys[] = {"op", "name", "inputs", "output", "step", "parameters",
                                          "fused"};
    char text[5][256];
    printf("%s: model %s, format version %s, written by %s, %s bytes\n",
           cell(document, "file", text[0], sizeof text[0]),
           cell(document, "model", text[1], sizeof text[1]),
           cell(document, "version", text[2], sizeof text[2]),
           cell(document, "producer", text[3], sizeof text[3]),
           cell(document, "bytes", text[4], sizeof text[4]));
    print_section(document, "inputs", tensor_keys, 5);
    print_section(document, "outputs", tensor_keys, 5);
    print_section(document, "operators", op_keys, 7);
    print_plan(document);
}

static cJSON *inspect_mona(const inspect_job *job)
{
    model_source source;
    const bool embedded = embedded_model_find(job->model);
    cJSON *document = NULL;
    if (model_source_open(&source, embedded ? NULL : job->model, embedded ? job->model : NULL)) {
        document = describe_model(job->model, &source.model.model);
        if (job->size && !add_plan(job, &source.model.model, document)) {
            cJSON_Delete(document);
            document = NULL;
        }
    }
    model_source_close(&source);
    return document;
}

/* ---- .onnx -------------------------------------------------------------------------------- */

static void join(char *const *names, size_t count, char *text, size_t size)
{
    text[0] = 0;
    for (size_t i = 0; i < count; i++)
        append(text, size, onnx_text(names[i])[0] ? names[i] : "-");
}

static cJSON *describe_onnx(const char *path, const Onnx__ModelProto *model)
{
    const Onnx__GraphProto *g = model->graph;
    cJSON *document = cJSON_CreateObject();
    char text[256];
    cJSON_AddStringToObject(document, "file", path);
    cJSON_AddStringToObject(document, "model", onnx_text(g->name));
    cJSON_AddStringToObject(document, "producer", onnx_text(model->producer_name));
    cJSON_AddNumberToObject(document, "version", (double)model->ir_version);
    cJSON *nodes = cJSON_AddArrayToObject(document, "nodes");
    for (size_t i = 0; i < g->n_node; i++) {
        const Onnx__NodeProto *n = g->node[i];
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "op", onnx_text(n->op_type));
        cJSON_AddStringToObject(row, "name", onnx_text(n->name));
        join(n->input, n->n_input, text, sizeof text);
        cJSON_AddStringToObject(row, "inputs", text);
        join(n->output, n->n_output, text, sizeof text);
        cJSON_AddStringToObject(row, "outputs", text);
        cJSON_AddItemToArray(nodes, row);
    }
    return document;
}

static cJSON *inspect_onnx(const inspect_job *job)
{
    format_error error = {0};
    uint8_t *bytes;
    size_t size;
    if (!file_read(job->model, "an ONNX model", ONNX_MAX_BYTES, &bytes, &size, &error)) {
        cli_fail(EXIT_FAILED, "%s", error.text);
        return NULL;
    }
    Onnx__ModelProto *model = onnx_parse(bytes, size, &error);
    free(bytes);
    cJSON *document = model ? describe_onnx(job->model, model) : NULL;
    if (!model)
        cli_fail(EXIT_FAILED, "%s: %s", job->model, error.text);
    onnx_release(model);
    return document;
}

static void print_onnx(const cJSON *document)
{
    static const char *const keys[] = {"op", "name", "inputs", "outputs"};
    char text[3][256];
    printf("%s: ONNX model %s, written by %s\n", cell(document, "file", text[0], sizeof text[0]),
           cell(document, "model", text[1], sizeof text[1]),
           cell(document, "producer", text[2], sizeof text[2]));
    print_section(document, "nodes", keys, 4);
}

/* ------------------------------------------------------------------------------------------- */

static int print_json(const cJSON *document)
{
    char *text = cJSON_Print(document);
    if (!text)
        return cli_fail(EXIT_FAILED, "out of memory");
    puts(text);
    free(text);
    return EXIT_SUCCESS;
}

int cmd_inspect(int argc, char **argv)
{
    inspect_job job = {.device = "auto"};
    const options_result result = read_options(&job, argc, argv);
    if (result != OPTIONS_RUN)
        return result == OPTIONS_HELP ? EXIT_SUCCESS : EXIT_USAGE;
    const size_t length = strlen(job.model);
    const bool onnx = length >= 5 && !strcmp(job.model + length - 5, ".onnx");
    if (onnx && job.size)
        return cli_fail(EXIT_USAGE, "--size is for .mona models; found %s", job.model);
    cJSON *document = onnx ? inspect_onnx(&job) : inspect_mona(&job);
    if (!document)
        return EXIT_FAILED;
    int status = EXIT_SUCCESS;
    if (job.json)
        status = print_json(document);
    else
        (onnx ? print_onnx : print_model)(document);
    cJSON_Delete(document);
    return status;
}
