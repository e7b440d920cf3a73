// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/compile_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "apps/cli/json_output.h"
#include "apps/compile/precision.h"
#include "apps/compile/onnx_source.h"
#include "apps/page/page.h"
#include "pipeline/stages/session_binding.h"
#include "apps/cli/save.h"

/* Size of frames where the model leaves it open. */
enum { OPEN_WIDTH = 640, OPEN_HEIGHT = 360 };

/* ---- rules ---------------------------------------------------------------------------------- */

static cJSON *rules_of(const fusion_log *log, const fusion_switches *switches)
{
    cJSON *list = cJSON_CreateArray();
    for (int r = 0; r < FUSION_RULES; r++) {
        const fusion_row *row = fusion_rule_row((fusion_rule)r);
        const fusion_count n = fusion_log_count(log, (fusion_rule)r);
        cJSON *entry = json_add_object(list);
        JSON_ADD(entry, TEXT("rule", row->name), TEXT("does", row->does), TEXT("pass", row->pass),
                 TRUTH("mandatory", row->mandatory), TRUTH("on", !switches->off[r]),
                 NUMBER("matched", n.matched), NUMBER("applied", n.applied));
    }
    return list;
}

static cJSON *kept_of(const fusion_log *log)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < log->count; i++) {
        const fusion_event *e = &log->events[i];
        if (!e->why_not)
            continue;
        cJSON *entry = json_add_object(list);
        JSON_ADD(entry, TEXT("rule", fusion_rule_row(e->rule)->name), TEXT("operator", e->node),
                 TEXT("type", e->op_type), TEXT("why", e->why_not));
    }
    return list;
}

/* The fate of the layers of a quantised model. */
static cJSON *quantised_of(const fusion_log *log)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < log->count; i++) {
        const fusion_event *e = &log->events[i];
        if (!e->outcome)
            continue;
        cJSON *entry = json_add_object(list);
        JSON_ADD(entry, TEXT("operator", e->node), TEXT("type", e->op_type),
                 TEXT("outcome", e->outcome));
    }
    return list;
}

/* The share of operators that the merging rules merged; null: the rules match none. */
static void add_coverage(cJSON *document, const fusion_log *log)
{
    fusion_count all = {0, 0};
    for (int r = FUSION_QUANTISED; r < FUSION_RULES; r++) {
        const fusion_count n = fusion_log_count(log, (fusion_rule)r);
        all.matched += n.matched;
        all.applied += n.applied;
    }
    JSON_ADD(document, NUMBER("fusible", all.matched), NUMBER("fused", all.applied),
             NUMBER("coverage", all.matched ? (double)all.applied / (double)all.matched : NAN));
}

/* ---- memory --------------------------------------------------------------------------------- */

/* A model's needs for a frame. */
typedef struct needs {
    mona_plan_tensors tensors;
    mona_size size;
    unsigned calls;
    cJSON *arrays; /* operators on arrays, if these are wanted */
    const compiler *compiler;
} needs;

/* The cost of an operator on arrays: multiply-adds, and bytes from and to memory. */
static void add_array(const needs *n, const mona_op_info *info)
{
    if (!n->arrays || strncmp(info->kind, "array_", 6) != 0)
        return;
    cJSON *entry = json_add_object(n->arrays);
    JSON_ADD(entry, TEXT("operator", info->name), TEXT("kind", info->kind + 6),
             NUMBER("macs", info->macs), NUMBER("bytes", info->plane_bytes));
    const char *why = compiler_why_array(n->compiler, info->name);
    if (why)
        cJSON_AddStringToObject(entry, "why", why);
}

static bool find_needs(needs *n, const uint8_t *bytes, size_t size)
{
    mona_model model;
    mona_plan *plan;
    mona_op_info info;
    if (kernels_open(&model, bytes, size))
        return false;
    const mona_tensor_info input = mona_model_input(&model, 0);
    const bool open = !input.width || !input.height;
    n->size = open ? (mona_size){OPEN_WIDTH, OPEN_HEIGHT} : (mona_size){input.width, input.height};
    const mona_config config = {.threads = 1, .sizes = {n->size}};
    void *memory = session_binding_allocate(mona_plan_bytes(&model));
    const bool ok = memory && mona_plan_make(&plan, memory, &model, &config) == MONA_OK;
    n->calls = 0;
    if (ok)
        mona_plan_tensors_of(plan, &n->tensors);
    for (unsigned o = 0; ok && mona_plan_op_at(plan, o, &info); o++) {
        n->calls += !info.fused;
        add_array(n, &info);
    }
    free(memory);
    return ok;
}

static void add_memory(cJSON *document, const needs *n, const needs *plain)
{
    cJSON *memory = cJSON_AddObjectToObject(document, "memory");
    const double all = (double)n->tensors.all_bytes;
    char size[32];
    snprintf(size, sizeof size, "%ux%u", n->size.width, n->size.height);
    JSON_ADD(memory, TEXT("size", size), NUMBER("calls", n->calls), NUMBER("tensors_bytes", all),
             NUMBER("planned_bytes", n->tensors.planned_bytes),
             NUMBER("live_bytes", n->tensors.live_bytes));
    if (all > 0) {
        JSON_ADD(memory, NUMBER("reuse", 1 - (double)n->tensors.planned_bytes / all),
                 NUMBER("bound", 1 - (double)n->tensors.live_bytes / all));
    }
    if (!plain)
        return;
    cJSON *before = cJSON_AddObjectToObject(memory, "plain");
    JSON_ADD(before, NUMBER("calls", plain->calls),
             NUMBER("tensors_bytes", plain->tensors.all_bytes));
}

/* Figures without fusion: with every optional rule off. A model that cannot be compiled in this
 * way, for example because a layer would need calibration, has none. */
static bool find_plain(needs *n, const compile_report *r, compiler *c)
{
    compiler_options options = *r->options;
    format_error error = {0};
    uint8_t *bytes;
    size_t size;
    fusion_switch_off(&options.fusion);
    if (!compiler_emit(c, &options, &bytes, &size, &error))
        return false;
    const bool ok = find_needs(n, bytes, size);
    free(bytes);
    return ok;
}

/* ---- layers --------------------------------------------------------------------------------- */

static cJSON *layers_of(const compiler *c)
{
    cJSON *list = cJSON_CreateArray();
    for (unsigned i = 0; i < compiler_layer_count(c); i++) {
        const compiler_layer l = compiler_layer_at(c, i);
        const struct {
            const char *name;
            double value;
        } measured[] = {{"cosine", l.cosine},       {"sqnr_db", l.sqnr},
                        {"saturated", l.saturated}, {"drop", l.drop},
                        {"fp16_cost", l.fp16_cost}, {"int8_cost", l.int8_cost}};
        cJSON *entry = json_add_object(list);
        JSON_ADD(entry, TEXT("layer", l.name), TEXT("precision", l.made_int8 ? "int8" : "fp16"),
                 TRUTH("pinned", l.pinned), TRUTH("given", l.prequantised));
        for (size_t k = 0; k < sizeof measured / sizeof *measured; k++)
            if (isfinite(measured[k].value))
                cJSON_AddNumberToObject(entry, measured[k].name, measured[k].value);
    }
    return list;
}

/* ---- the report ----------------------------------------------------------------------------- */

static cJSON *describe(const compile_report *r, compiler *c)
{
    const fusion_log *log = compiler_log(c);
    cJSON *document = cJSON_CreateObject();
    needs compiled = {.arrays = cJSON_AddArrayToObject(document, "arrays"), .compiler = c};
    needs plain = {0};
    JSON_ADD(document, TEXT("file", r->output), TEXT("onnx", r->onnx));
    JSON_ADD(document, TEXT("precision", precision_made(r->precision, c, "mixed")),
             NUMBER("bytes", r->size));
    add_coverage(document, log);
    cJSON_AddItemToObject(document, "rules", rules_of(log, &r->options->fusion));
    cJSON_AddItemToObject(document, "kept", kept_of(log));
    cJSON_AddItemToObject(document, "quantised", quantised_of(log));
    cJSON_AddItemToObject(document, "layers", layers_of(c));
    const bool whole = !log->failed;
    if (find_needs(&compiled, r->bytes, r->size))
        add_memory(document, &compiled, find_plain(&plain, r, c) ? &plain : NULL);
    if (!whole) {
        cJSON_Delete(document);
        document = NULL;
    }
    return document;
}

static bool save_json(const cJSON *document, const char *path)
{
    text_file t;
    text_file_begin(&t);
    char *text = json_text(document, true);
    const bool whole = t.f && text && fprintf(t.f, "%s\n", text) > 0;
    free(text);
    return text_file_save(&t, whole, path);
}

bool compile_report_save(const compile_report *r, compiler *c, const char *path)
{
    cJSON *document = describe(r, c);
    const bool good = ends_in(path, ".html") ? page_save(PAGE_COMPILE, document, path)
                                             : save_json(document, path);
    cJSON_Delete(document);
    return good;
}
