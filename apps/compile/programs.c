// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/compile/onnx_source.h"
#include "engine/model/model.h"
#include "formats/compiler/program/cpu_target.h"
#include "formats/compiler/program/programs.h"
#include "formats/file.h"
#include "formats/mona_writer.h"
#include "apps/cli/json_output.h"
#include "apps/cli/printable.h"

static const char chip[] = "ascend310";

/* ---- writing -------------------------------------------------------------------------------- */

typedef struct size_list {
    mona_size at[OPTION_LIST_MAX];
    size_t count;
} size_list;

/* Sizes to write programs for: the one that the model is fixed to, or those asked for. */
static size_list sizes_of(const mona_model *model, const size_list *asked)
{
    const mona_tensor_info input = mona_model_input(model, 0);
    return input.width ? (size_list){{{input.width, input.height}}, 1} : *asked;
}

static bool is_chip(const char *target)
{
    return !strcmp(target, chip);
}

/* The file's name for this target: "host" is the machine that compiles. */
static const char *name_of(const char *target)
{
    mona_device_properties host;
    if (strcmp(target, "host") || mona_device_query(&mona_device_host, &host))
        return target;
    const cpu_target *t = cpu_target_of_isa(host.isa);
    return t ? t->name : target;
}

/* Whether a header of the file has these very bytes already. */
static bool is_there(const mona_model *model, const uint8_t *file, const mona_writer_program *made)
{
    uint32_t count;
    const mona_file_program *p = mona_model_programs(model, &count);
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(p[i].target, made->target) && p[i].bytes == made->size &&
            !memcmp(file + p[i].offset, made->bytes, made->size))
            return true;
    return false;
}

static bool same_plan_sizes(const mona_file_plan *a, const mona_file_plan *b)
{
    bool same = true;
    for (uint32_t i = 0; i < sizeof a->inputs / sizeof *a->inputs; i++)
        same &=
            a->inputs[i].width == b->inputs[i].width && a->inputs[i].height == b->inputs[i].height;
    return same;
}

/* Whether the file's program or plan is for the frames of the new one, damaged or of another
 * mona. */
static bool is_replaced(const uint8_t *file, const mona_file_program *p,
                        const mona_writer_program *made)
{
    const mona_file_plan *plan = (const mona_file_plan *)(const void *)(file + p->offset),
                         *made_plan = (const mona_file_plan *)(const void *)made->bytes;
    ac_program old, new;
    if (strcmp(p->target, made->target))
        return false;
    if (!is_chip(p->target))
        return p->bytes < sizeof *plan || plan->magic != made_plan->magic ||
               same_plan_sizes(plan, made_plan);
    return !ac_program_open(&old, file + p->offset, (size_t)p->bytes) ||
           !ac_program_open(&new, made->bytes, made->size) ||
           old.header.version != new.header.version || old.header.inputs != new.header.inputs ||
           !memcmp(old.buffers, new.buffers, old.header.inputs * sizeof *old.buffers);
}

/* Marks what the new programs replace as empty, which the writer leaves out. */
static void drop_replaced(uint8_t *file, const mona_file_header *h,
                          const mona_writer_program *programs, size_t count)
{
    mona_file_program *p = (mona_file_program *)(void *)(file + h->programs_offset);
    for (uint32_t i = 0; i < h->program_count; i++)
        for (size_t k = 0; k < count && p[i].bytes; k++)
            if (is_replaced(file, &p[i], &programs[k]))
                p[i].bytes = 0;
}

/* Adds the programs of one header, which is `at` bytes into the file. */
static bool add_for_header(const char *name, const char *target, uint64_t at,
                           const mona_model *model, const size_list *asked, uint8_t **bytes,
                           size_t *size)
{
    const size_list sizes = sizes_of(model, asked);
    mona_writer_program programs[OPTION_LIST_MAX];
    uint8_t *recorded[OPTION_LIST_MAX], *made = NULL;
    format_error error = {0};
    size_t done = 0;
    if (!sizes.count)
        return cli_fail(0,
                        "%s: the model takes frames of any size, and a program or plan is for one: "
                        "expected --size WxH",
                        name);
    for (; done < sizes.count; done++) {
        mona_writer_program *p = &programs[done];
        const mona_size at_size = sizes.at[done];
        if (!(is_chip(target)
                  ? program_record(model, at_size, &recorded[done], &p->size, &error)
                  : plan_record(model, target, at_size, &recorded[done], &p->size, &error))) {
            cli_fail(EXIT_FAILED, "%s: no %s for %s at %ux%u: %s", name,
                     is_chip(target) ? "program" : "plan", target, at_size.width, at_size.height,
                     error.text);
            break;
        }
        p->target = name_of(target);
        p->bytes = recorded[done];
        if (is_there(model, *bytes, p)) {
            cli_fail(EXIT_FAILED, "%s has this %s for %s at %ux%u already", name,
                     is_chip(target) ? "program" : "plan", p->target, at_size.width,
                     at_size.height);
            free(recorded[done]);
            break;
        }
    }
    bool ok = done == sizes.count;
    if (ok)
        drop_replaced(*bytes, (const mona_file_header *)(const void *)(*bytes + at), programs,
                      sizes.count);
    if (ok && !mona_writer_add_programs(*bytes, at, programs, sizes.count, &made, size, &error))
        ok = cli_fail(0, "%s: %s", name, error.text);
    while (done)
        free(recorded[--done]);
    if (ok) {
        free(*bytes);
        *bytes = made;
    }
    return ok;
}

/* Prepares a model that does not fit the chip's L1 as a whole. */
static bool cut_if_needed(const char *name, uint8_t **bytes, size_t *size, const size_list *asked)
{
    mona_model model;
    format_error error = {0};
    uint8_t *made;
    bool needed = false;
    if (kernels_open(&model, *bytes, *size))
        return cli_fail(0, "%s: the engine refuses the compiled model", name);
    const size_list sizes = sizes_of(&model, asked);
    for (size_t i = 0; i < sizes.count; i++)
        needed = needed || model_needs_cut(&model, sizes.at[i]);
    if (!needed)
        return true;
    if (!model_cut(&model, sizes.at, sizes.count, &made, size, &error))
        return cli_fail(0, "%s does not fit %s as a whole, and cannot be cut: %s", name, chip,
                        error.text);
    free(*bytes);
    *bytes = made;
    return true;
}

bool programs_add(const char *name, const char *target, uint8_t **bytes, size_t *size,
                  const option_list *sizes)
{
    uint64_t at = 0;
    size_list asked = {.count = sizes->count};
    for (size_t i = 0; i < sizes->count; i++)
        if (!options_size(sizes->items[i], MONA_MAX_SIDE, &asked.at[i]))
            return false;
    if (is_chip(target) && !cut_if_needed(name, bytes, size, &asked))
        return false;
    do {
        mona_model model, next;
        if (!model_open_at(&model, *bytes, *size, at, kernels_all()))
            return cli_fail(0, "%s: the engine refuses the compiled model", name);
        const uint64_t following = mona_model_next(&model, &next) ? model.header->next : 0;
        if (!add_for_header(name, target, at, &model, &asked, bytes, size))
            return false;
        at = following;
    } while (at);
    return true;
}

/* ---- showing -------------------------------------------------------------------------------- */

/* Program i of a model. False: it is a plan, or cannot be read. */
static bool open_program(const mona_model *model, uint32_t i, ac_program *program)
{
    uint32_t count;
    const mona_file_program *p = &mona_model_programs(model, &count)[i];
    return is_chip(p->target) &&
           ac_program_open(program, model->file + p->offset, (size_t)p->bytes);
}

/* Adds what plan i comes to. */
static void describe_plan(const mona_model *model, const mona_file_program *p, cJSON *row)
{
    const mona_file_plan *f = (const mona_file_plan *)(const void *)(model->file + p->offset);
    mona_config config = {.device = &cpu_target_device, .cpu = p->target};
    char text[32] = "?";
    mona_plan *plan = NULL;
    void *memory = file_alloc(mona_plan_bytes(model));
    for (uint32_t i = 0; p->bytes >= sizeof *f && i < mona_model_input_count(model); i++)
        config.sizes[i] = (mona_size){f->inputs[i].width, f->inputs[i].height};
    if (p->bytes >= sizeof *f)
        config.threads = f->cores;
    const bool sound = memory && !mona_plan_load(&plan, memory, model, &config);
    if (sound)
        snprintf(text, sizeof text, "%ux%u", config.sizes[0].width, config.sizes[0].height);
    JSON_ADD(row, TEXT("size", text), NUMBER("bytes", p->bytes),
             NUMBER("threads", sound ? mona_plan_threads(plan) : 0),
             NUMBER("arena_bytes", sound ? (double)mona_plan_arena_bytes(plan) : 0));
    free(memory);
}

/* Names of the operators that call kernels and run on the AI CPUs, for want of a program. */
static void add_without(const mona_model *model, const ac_program *program, cJSON *row)
{
    cJSON *names = NULL;
    for (uint32_t i = 0; i < program->header.segments; i++) {
        const uint32_t op = program->segments[i].array;
        if (!op || op > model->header->op_count || !mona_ops[model->ops[op - 1].kind]->kernel)
            continue;
        names = names ? names : cJSON_AddArrayToObject(row, "kernels_on_ai_cpus");
        cJSON_AddItemToArray(names, cJSON_CreateString(model->strings + model->ops[op - 1].name));
    }
}

static void describe_program(const mona_model *model, uint32_t i, cJSON *row)
{
    uint32_t count;
    const mona_file_program *p = &mona_model_programs(model, &count)[i];
    ac_program program;
    char text[32] = "?";
    const bool known = open_program(model, i, &program);
    if (known && program.header.buffers)
        snprintf(text, sizeof text, "%ux%u", program.buffers[0].width, program.buffers[0].height);
    cJSON_AddStringToObject(row, "size", text);
    const uint32_t constants = known ? program.header.constants_bytes : 0;
    JSON_ADD(row, NUMBER("bytes", (double)(p->bytes - constants)),
             NUMBER("constants_bytes", constants),
             NUMBER("l1_bytes", known ? program.header.l1_bytes : 0));
    if (known)
        add_without(model, &program, row);
}

/* The programs or the plans of a model and of all its sizes. */
static cJSON *describe_all(const mona_model *model, bool programs)
{
    cJSON *rows = cJSON_CreateArray();
    mona_model m = *model;
    do {
        uint32_t count;
        const mona_file_program *p = mona_model_programs(&m, &count);
        for (uint32_t i = 0; i < count; i++) {
            if (is_chip(p[i].target) != programs)
                continue;
            cJSON *row = json_add_object(rows);
            cJSON_AddStringToObject(row, "target", p[i].target);
            if (programs)
                describe_program(&m, i, row);
            else
                describe_plan(&m, &p[i], row);
        }
    } while (mona_model_next(&m, &m));
    return rows;
}

cJSON *programs_describe(const mona_model *model)
{
    return describe_all(model, true);
}

cJSON *plans_describe(const mona_model *model)
{
    return describe_all(model, false);
}

void programs_print(const mona_model *model)
{
    cJSON *programs = programs_describe(model), *plans = plans_describe(model);
    const cJSON *row;
    cJSON_ArrayForEach(row, programs)
    {
        const cJSON *name;
        printf("  program for %s at %s: %.0f bytes, and %.0f of constants\n",
               json_string(row, "target"), json_string(row, "size"), json_number(row, "bytes"),
               json_number(row, "constants_bytes"));
        cJSON_ArrayForEach(name, cJSON_GetObjectItem(row, "kernels_on_ai_cpus"))
        {
            printable_print(stdout, "    %s runs on the AI CPUs: its kernel is no AI Core program",
                            name->valuestring);
            putchar('\n');
        }
    }
    cJSON_ArrayForEach(row, plans) printf(
        "  plan for %s at %s: %.0f bytes, for an arena of %.0f\n", json_string(row, "target"),
        json_string(row, "size"), json_number(row, "bytes"), json_number(row, "arena_bytes"));
    cJSON_Delete(programs);
    cJSON_Delete(plans);
}

static bool no_programs(const char *name)
{
    return cli_fail(0,
                    "%s: expected a model with programs, found none; 'mona compile %s "
                    "--target ascend310 --size WxH -o OUT.mona' adds one",
                    name, name);
}

bool programs_disassemble(const char *name, const mona_model *model)
{
    mona_model m = *model;
    uint32_t shown = 0;
    do {
        uint32_t count;
        ac_proof proof;
        const mona_file_program *p = mona_model_programs(&m, &count);
        for (uint32_t i = 0; i < count; i++) {
            ac_program program;
            if (!is_chip(p[i].target))
                continue;
            if (!open_program(&m, i, &program) ||
                !ac_program_prove(&program, &ac_target_ascend310, m.header->op_count, &proof))
                return cli_fail(0, "%s: program %u is damaged, or another mona compiled it", name,
                                shown + 1);
            disassemble(&m, &program, proof.instructions);
            shown++;
        }
    } while (mona_model_next(&m, &m));
    return shown || no_programs(name);
}

bool programs_print_kernel(const char *name, const mona_model *model)
{
    uint32_t count, i = 0;
    ac_program program;
    ac_proof proof;
    char *source;
    format_error error = {0};
    mona_model_programs(model, &count);
    while (i < count && !open_program(model, i, &program))
        i++;
    if (i == count)
        return no_programs(name);
    if (!ac_program_prove(&program, &ac_target_ascend310, model->header->op_count, &proof))
        return cli_fail(0, "%s: the program is damaged, or another mona compiled it", name);
    if (!emit_kernel(&program, &source, &error))
        return cli_fail(0, "%s: no kernel for it: %s", name, error.text);
    fputs(source, stdout);
    free(source);
    return true;
}
