// SPDX-License-Identifier: Apache-2.0
/* mona inspect: describes a model and its needs for a frame. The results are collected as JSON,
 * which is printed directly or as tables. */
#include <stdio.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "apps/cli/commands.h"
#include "apps/compile/inspect.h"
#include "apps/compile/onnx_source.h"
#include "apps/sign/minisign.h"
#include "apps/compile/programs.h"
#include "formats/file.h"
#include "formats/onnx/onnx_reader.h"
#include "apps/cli/json_output.h"
#include "pipeline/job/model_source.h"
#include "apps/cli/save.h"
#include "apps/cli/table.h"

typedef struct inspect_job {
    const char *model, *dot, *firmware, *key, *kernels;
    long release;
    firmware_board board;
    option_computing computing;
    bool json, program, kernel;
    mona_config config;
} inspect_job;

/* ---- options ------------------------------------------------------------------------------ */

static bool check_options(const inspect_job *job, bool onnx, bool om)
{
    if ((onnx || om) && job->firmware)
        return cli_misuse("--firmware is for .mona models; found %s: mona compile makes one of it",
                          job->model);
    if ((onnx || om) && job->computing.size.width)
        return cli_misuse("--size is for .mona models; found %s", job->model);
    if (om && job->dot)
        return cli_misuse("--dot is for .mona and .onnx models; found %s", job->model);
    if ((job->program || job->kernel) &&
        (onnx || om || job->json || job->dot || job->computing.size.width))
        return cli_misuse("--program and --kernel print the programs of a .mona model, and nothing "
                          "else: expected no other option");
    return true;
}

/* ---- .mona -------------------------------------------------------------------------------- */

static bool add_plan(const inspect_job *job, const mona_model *model, cJSON *document)
{
    void *memory = session_binding_allocate(mona_plan_bytes(model));
    if (!memory)
        return cli_fail(0, "out of memory");
    mona_plan *plan;
    const mona_status status = mona_plan_make(&plan, memory, model, &job->config);
    if (status == MONA_ERR_DEVICE && job->config.cpu)
        cli_fail(EXIT_USAGE, SESSION_BINDING_NO_CPU, job->config.cpu);
    else if (status)
        cli_fail(EXIT_FAILED, "%s: cannot be planned for %ux%u: %s", job->model,
                 job->computing.size.width, job->computing.size.height, mona_status_text(status));
    else
        describe_plan(document, plan);
    free(memory);
    return !status;
}

static void print_plan(const cJSON *document)
{
    static const char *const frame_keys[] = {"name", "type", "channels", "size", "scale"};
    static const char *const buffer_keys[] = {"name", "kind", "offset", "bytes", "rows"};
    const cJSON *plan = json_get(document, "plan");
    if (!plan)
        return;
    char text[256];
    printf("\nplan\n");
    const cJSON *item;
    cJSON_ArrayForEach(item, plan)
        printf("  %-12s %s\n", item->string, table_cell(plan, item->string, text, sizeof text));
    table_print_member(document, "frames", frame_keys, 5);
    table_print_member(document, "buffers", buffer_keys, 5);
}

static void print_model(const cJSON *document)
{
    static const char *const tensor_keys[] = {"name", "type", "channels", "size", "scale"};
    static const char *const op_keys[] = {"op",    "name",       "inputs", "output",
                                          "scale", "parameters", "fused"};
    static const char *const program_keys[] = {"target", "size", "bytes", "constants_bytes",
                                               "l1_bytes"};
    static const char *const plan_keys[] = {"target", "size", "bytes", "threads", "arena_bytes"};
    char text[5][256];
    printf("%s: model %s, format version %s, written by %s, %s bytes\n",
           table_cell(document, "file", text[0], sizeof text[0]),
           table_cell(document, "model", text[1], sizeof text[1]),
           table_cell(document, "version", text[2], sizeof text[2]),
           table_cell(document, "producer", text[3], sizeof text[3]),
           table_cell(document, "bytes", text[4], sizeof text[4]));
    if (json_get(document, "signed"))
        printf("signed: %s\n", table_cell(document, "signed", text[0], sizeof text[0]));
    table_print_member(document, "inputs", tensor_keys, 5);
    table_print_member(document, "outputs", tensor_keys, 5);
    table_print_member(document, "operators", op_keys, 7);
    table_print_member(document, "programs", program_keys, 5);
    table_print_member(document, "plans", plan_keys, 5);
    print_plan(document);
    firmware_budget_print(document);
}

/* Writes the graph of one of the models. */
static bool save_graph(const char *path, const mona_model *model, const Onnx__GraphProto *graph)
{
    text_file t;
    text_file_begin(&t);
    const bool ok =
        t.f && (model ? inspect_graph_mona(t.f, model) : inspect_graph_onnx(t.f, graph));
    return text_file_save(&t, ok, path);
}

static int list_programs(const char *name, bool kernel)
{
    model_source source;
    const bool ok =
        kernels_model(&source, name) &&
        (kernel ? programs_print_kernel : programs_disassemble)(name, &source.model.model);
    model_source_close(&source);
    return ok ? EXIT_SUCCESS : EXIT_FAILED;
}

/* At the size that is given, or the only one that the model has. */
static bool add_firmware(const inspect_job *job, const mona_model *model, cJSON *document)
{
    const mona_tensor_info input = mona_model_input(model, 0);
    const mona_size size =
        job->computing.size.width ? job->computing.size : (mona_size){input.width, input.height};
    return size.width
               ? firmware_budget(document, job->model, model, job->firmware, size, &job->board)
               : cli_misuse("--firmware: expected --size WxH too, as the model takes any");
}

/* What firmware does with a model that comes from outside, and what it would say. */
typedef struct guarding {
    const inspect_job *job;
    char comment[MINISIGN_COMMENT];
    pipeline_error error;
} guarding;

static bool is_genuine(void *context, const void *bytes, size_t size)
{
    guarding *g = context;
    return minisign_verify(g->job->model, bytes, size, g->job->key, g->comment, &g->error);
}

static bool check_guard(const inspect_job *job, const mona_model *m, cJSON *document)
{
    guarding g = {.job = job};
    mona_model again;
    const mona_guard guard = {job->key ? is_genuine : NULL, &g, (uint32_t)job->release, m->kernels};
    const mona_status status =
        mona_model_open_guarded(&again, m->file, (size_t)m->header->file_bytes, &guard);
    if (status == MONA_ERR_RELEASE)
        return cli_fail(0, "%s: expected release %ld or later, found %u", job->model, job->release,
                        mona_model_release(m));
    if (status)
        return !cli_fail_of(&g.error);
    if (job->key)
        cJSON_AddStringToObject(document, "signed", g.comment);
    return true;
}

static cJSON *inspect_mona(const inspect_job *job)
{
    model_source source;
    cJSON *document = NULL;
    if (kernels_model(&source, job->model)) {
        document = describe_model(job->model, &source.model.model);
        if (!check_guard(job, &source.model.model, document)) {
            cJSON_Delete(document);
            model_source_close(&source);
            return NULL;
        }
        const bool planned = job->firmware ? add_firmware(job, &source.model.model, document)
                                           : !job->computing.size.width ||
                                                 add_plan(job, &source.model.model, document);
        if (!planned || (job->dot && !save_graph(job->dot, &source.model.model, NULL))) {
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
        table_append(text, size, onnx_text(names[i])[0] ? names[i] : "-");
}

static cJSON *describe_onnx(const char *path, const Onnx__ModelProto *model)
{
    const Onnx__GraphProto *g = model->graph;
    cJSON *document = cJSON_CreateObject();
    char text[256];
    JSON_ADD(document, TEXT("file", path), TEXT("model", onnx_text(g->name)),
             TEXT("producer", onnx_text(model->producer_name)),
             NUMBER("version", model->ir_version));
    cJSON *nodes = cJSON_AddArrayToObject(document, "nodes");
    for (size_t i = 0; i < g->n_node; i++) {
        const Onnx__NodeProto *n = g->node[i];
        cJSON *row = json_add_object(nodes);
        JSON_ADD(row, TEXT("op", onnx_text(n->op_type)), TEXT("name", onnx_text(n->name)));
        join(n->input, n->n_input, text, sizeof text);
        cJSON_AddStringToObject(row, "inputs", text);
        join(n->output, n->n_output, text, sizeof text);
        cJSON_AddStringToObject(row, "outputs", text);
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
    const bool saved = !model || !job->dot || save_graph(job->dot, NULL, model->graph);
    cJSON *document = model && saved ? describe_onnx(job->model, model) : NULL;
    if (!model)
        cli_fail(EXIT_FAILED, "%s: %s", job->model, error.text);
    onnx_release(model);
    return document;
}

static void print_onnx(const cJSON *document)
{
    static const char *const keys[] = {"op", "name", "inputs", "outputs"};
    char text[3][256];
    printf("%s: ONNX model %s, written by %s\n",
           table_cell(document, "file", text[0], sizeof text[0]),
           table_cell(document, "model", text[1], sizeof text[1]),
           table_cell(document, "producer", text[2], sizeof text[2]));
    table_print_member(document, "nodes", keys, 4);
}

/* ------------------------------------------------------------------------------------------- */

enum {
    INSPECT_ONNX = 1 << 0,
    INSPECT_OM = 1 << 1,
    INSPECT_PROGRAM = 1 << 2,
    INSPECT_UNSIZED = 1 << 3, /* a model of any size is not planned */
};

static unsigned modes_of(const inspect_job *job, bool onnx, bool om)
{
    return (unsigned)((onnx ? INSPECT_ONNX : 0) | (om ? INSPECT_OM : 0) |
                      (job->program || job->kernel ? INSPECT_PROGRAM : 0) |
                      (!job->computing.size.width ? INSPECT_UNSIZED : 0));
}

static int run(void *values, const command_line *line)
{
    inspect_job *job = values;
    job->model = line->operands[0];
    const bool onnx = ends_in(job->model, ".onnx"), om = ends_in(job->model, ".om");
    if (!options_config(&job->computing, &job->config) ||
        !options_suit(&command_inspect, &line->given, modes_of(job, onnx, om)) ||
        !check_options(job, onnx, om))
        return EXIT_USAGE;
    if (!kernels_list(job->kernels))
        return EXIT_FAILED;
    if (job->program || job->kernel)
        return list_programs(job->model, job->kernel);
    cJSON *document = onnx ? inspect_onnx(job) : om ? inspect_om(job->model) : inspect_mona(job);
    if (!document)
        return EXIT_FAILED;
    int status = EXIT_SUCCESS;
    if (job->json)
        status = json_print(document);
    else
        (onnx ? print_onnx : om ? inspect_om_print : print_model)(document);
    cJSON_Delete(document);
    return status;
}

static const char planning[] = "Planning";

#define OF_BOARD(name, field, value, text)                                                         \
    {                                                                                              \
        name, NULL, OPTION_STRING, CHANGES_BYTES, offsetof(inspect_job, board.field), value,       \
            planning, .help = text, .needs = "--firmware"                                          \
    }

static const option options[] = {
    {"--size", NULL, OPTION_SIZE, CHANGES_BYTES, offsetof(inspect_job, computing.size), "WxH",
     planning, .help = "plan for frames of this size, and print memory and work"},
    OPTIONS_COMPUTING(offsetof(inspect_job, computing), planning),
    {"--firmware", NULL, OPTION_STRING, CHANGES_BYTES, offsetof(inspect_job, firmware), "CPU",
     planning,
     .help = "print flash, memory and work of the model as C on a small CPU: " FIRMWARE_CPUS
             ", or " FIRMWARE_ALL},
    OF_BOARD("--flash", flash, "BYTES", "flash of the board, such as 512K: say whether it fits"),
    OF_BOARD("--ram", ram, "BYTES", "memory of the board, such as 256K"),
    OF_BOARD("--clock", clock, "HERTZ", "clock of the CPU, such as 400M: print frames a second"),
    {"--fps", NULL, OPTION_NUMBER, CHANGES_BYTES, offsetof(inspect_job, board.fps), "N", planning,
     .help = "frames a second that are wanted", .maximum = 1e6, .needs = "--clock"},
    {"--program", NULL, OPTION_FLAG, CHANGES_BYTES, offsetof(inspect_job, program), NULL, "Other",
     .help = "print the instructions of the model's AI Core programs"},
    {"--kernel", NULL, OPTION_FLAG, CHANGES_BYTES, offsetof(inspect_job, kernel), NULL, "Other",
     .help = "print the source of a kernel that runs the model's first AI Core program"},
    {"--kernels", NULL, OPTION_FILE, CHANGES_BYTES, offsetof(inspect_job, kernels), "FOLDER",
     "Other", .help = "kernels of your own that the model calls, as for mona compile"},
    {"--dot", NULL, OPTION_FILE, KEEPS_BYTES, offsetof(inspect_job, dot), "FILE", "Other",
     .help = "write the graph for Graphviz", .written = true},
    {"--verify", NULL, OPTION_FILE, CHANGES_BYTES, offsetof(inspect_job, key), "KEY.pub", "Other",
     .help = "fail unless MODEL.minisig is a signature of the model by this key (mona sign)"},
    {"--least-release", NULL, OPTION_WHOLE, CHANGES_BYTES, offsetof(inspect_job, release), "N",
     "Other", .help = "fail if the model is an older release (mona compile --release)",
     .minimum = 1, .maximum = UINT32_MAX},
    {"--json", NULL, OPTION_FLAG, KEEPS_BYTES, offsetof(inspect_job, json), NULL, "Other",
     .help = "print JSON"},
};

#define ONLY_OF_PLANS                                                                              \
    .never = INSPECT_ONNX | INSPECT_OM | INSPECT_PROGRAM, .idle = INSPECT_UNSIZED,                 \
    .why = "which plans only a model of one size"

static const option_rule rules[] = {
    {"--threads", ONLY_OF_PLANS},
    {"--device", ONLY_OF_PLANS},
    {"--cpu", ONLY_OF_PLANS},
    {"--strip-rows", ONLY_OF_PLANS},
    {"--tile-columns", ONLY_OF_PLANS},
    {"--verify", .never = INSPECT_ONNX | INSPECT_OM | INSPECT_PROGRAM},
    {"--least-release", .never = INSPECT_ONNX | INSPECT_OM | INSPECT_PROGRAM},
};

const command command_inspect = {
    .name = "inspect",
    .summary = "describe a model and what it needs",
    .run = run,
    .values = &(inspect_job){0},
    .confined = CONFINED_AT_ONCE,
    .usage = "MODEL [OPTION]...",
    .description = "Describes a .mona model (a file or a built-in one), the nodes of an .onnx "
                   "model, or the contents of an .om model from the vendor's compiler.",
    .examples =
        "mona inspect sr_x2_fast --size 1920x1080  # every byte it will need\n"
        "mona inspect denoise_fast --firmware cortex-m55 --size 320x240  # flash, RAM, cycles\n"
        "mona inspect sr_x2_fast --firmware all --size 320x240 --ram 256K --fps 15 --clock 400M\n"
        "mona inspect net.onnx --dot net.dot && dot -Tsvg -O net.dot  # the graph as a picture\n"
        "mona inspect net.om  # partitions, kernels, and the command that made it\n",
    .parts = {{OPTIONS(options), RULES(rules)}},
    .modes = {"an .onnx model", "an .om model", "--program or --kernel", "no --size"},
    .operands_min = 1,
    .operands_max = 1,
    .takes_model = true,
};
