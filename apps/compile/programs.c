// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/compile/disassemble.h"
#include "engine/model/model.h"
#include "formats/compiler/program/cut.h"
#include "formats/compiler/program/record.h"
#include "formats/file.h"
#include "formats/mona_writer.h"

static const char target[] = "ascend310";

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

/* Adds the programs of one header, which is `at` bytes into the file. */
static bool add_for_header(const char *name, uint64_t at, const mona_model *model,
                           const size_list *asked, uint8_t **bytes, size_t *size)
{
    const size_list sizes = sizes_of(model, asked);
    mona_writer_program programs[OPTION_LIST_MAX];
    uint8_t *recorded[OPTION_LIST_MAX], *made = NULL;
    format_error error = {0};
    size_t done = 0;
    if (!sizes.count)
        return !cli_fail(EXIT_FAILED,
                         "%s: the model takes frames of any size, and a program is for one: "
                         "expected --size WxH",
                         name);
    for (; done < sizes.count; done++) {
        mona_writer_program *p = &programs[done];
        if (!program_record(model, sizes.at[done], &recorded[done], &p->size, &error)) {
            cli_fail(EXIT_FAILED, "%s: no program for %s at %ux%u: %s", name, target,
                     sizes.at[done].width, sizes.at[done].height, error.text);
            break;
        }
        p->target = target;
        p->bytes = recorded[done];
    }
    bool ok = done == sizes.count;
    if (ok && !mona_writer_add_programs(*bytes, at, programs, sizes.count, &made, size, &error))
        ok = !cli_fail(EXIT_FAILED, "%s: %s", name, error.text);
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
    if (mona_model_open(&model, *bytes, *size))
        return !cli_fail(EXIT_FAILED, "%s: the engine refuses the compiled model", name);
    const size_list sizes = sizes_of(&model, asked);
    for (size_t i = 0; i < sizes.count; i++)
        needed = needed || model_needs_cut(&model, sizes.at[i]);
    if (!needed)
        return true;
    if (!model_cut(&model, &made, size, &error))
        return !cli_fail(EXIT_FAILED, "%s does not fit %s as a whole, and cannot be cut: %s", name,
                         target, error.text);
    free(*bytes);
    *bytes = made;
    return true;
}

bool programs_add(const char *name, uint8_t **bytes, size_t *size, const option_list *sizes)
{
    uint64_t at = 0;
    size_list asked = {.count = sizes->count};
    for (size_t i = 0; i < sizes->count; i++)
        if (!options_size(sizes->items[i], MONA_MAX_SIDE, &asked.at[i].width, &asked.at[i].height))
            return false;
    if (!cut_if_needed(name, bytes, size, &asked))
        return false;
    do {
        mona_model model, next;
        if (mona_model_open(&model, *bytes, *size))
            return !cli_fail(EXIT_FAILED, "%s: the engine refuses the compiled model", name);
        while ((uint64_t)((const uint8_t *)model.header - model.file) < at)
            if (!mona_model_next(&model, &model))
                return false;
        const uint64_t following = mona_model_next(&model, &next) ? model.header->next : 0;
        if (!add_for_header(name, at, &model, &asked, bytes, size))
            return false;
        at = following;
    } while (at);
    return true;
}

/* Replaces *bytes, whose header at `at` gets a program. */
static bool add_one(uint8_t **bytes, size_t *count, uint64_t at, mona_size size,
                    format_error *error)
{
    mona_model model;
    uint8_t *recorded, *made;
    mona_writer_program p = {.target = target};
    if (mona_model_open(&model, *bytes, *count))
        return format_fail(error, "the engine refuses the model");
    while ((uint64_t)((const uint8_t *)model.header - model.file) < at)
        if (!mona_model_next(&model, &model))
            return format_fail(error, "the engine refuses the model");
    if (!program_record(&model, size, &recorded, &p.size, error))
        return false;
    p.bytes = recorded;
    const bool ok = mona_writer_add_programs(*bytes, at, &p, 1, &made, count, error);
    free(recorded);
    if (!ok)
        return false;
    free(*bytes);
    *bytes = made;
    return true;
}

bool programs_make(const mona_model *model, mona_size size, uint8_t **bytes, size_t *count,
                   pipeline_error *why)
{
    format_error error = {0};
    uint64_t at = (uint64_t)((const uint8_t *)model->header - model->file);
    bool ok;
    *bytes = NULL;
    if (model_needs_cut(model, size)) {
        at = 0;
        ok = model_cut(model, bytes, count, &error);
    } else {
        *count = (size_t)model->header->file_bytes;
        *bytes = file_alloc(*count);
        ok = *bytes || format_fail(&error, "out of memory");
        if (ok)
            memcpy(*bytes, model->file, *count);
    }
    ok = ok && add_one(bytes, count, at, size, &error);
    return ok || pipeline_fail(why, "no program for %s: %s", target, error.text);
}

/* ---- showing -------------------------------------------------------------------------------- */

/* Program i of a model. False: it cannot be read. */
static bool open_program(const mona_model *model, uint32_t i, ac_program *program)
{
    uint32_t count;
    const mona_file_program *p = &mona_model_programs(model, &count)[i];
    return !strcmp(p->target, target) &&
           ac_program_open(program, model->file + p->offset, (size_t)p->bytes);
}

static cJSON *describe_program(const mona_model *model, uint32_t i)
{
    uint32_t count;
    const mona_file_program *p = &mona_model_programs(model, &count)[i];
    cJSON *row = cJSON_CreateObject();
    ac_program program;
    char text[32] = "?";
    const bool known = open_program(model, i, &program);
    if (known && program.header.buffers)
        snprintf(text, sizeof text, "%ux%u", program.buffers[0].width, program.buffers[0].height);
    cJSON_AddStringToObject(row, "target", p->target);
    cJSON_AddStringToObject(row, "size", text);
    const uint32_t constants = known ? program.header.constants_bytes : 0;
    cJSON_AddNumberToObject(row, "bytes", (double)(p->bytes - constants));
    cJSON_AddNumberToObject(row, "constants_bytes", constants);
    cJSON_AddNumberToObject(row, "l1_bytes", known ? program.header.l1_bytes : 0);
    return row;
}

cJSON *programs_describe(const mona_model *model)
{
    cJSON *rows = cJSON_CreateArray();
    mona_model m = *model;
    do {
        uint32_t count;
        mona_model_programs(&m, &count);
        for (uint32_t i = 0; i < count; i++)
            cJSON_AddItemToArray(rows, describe_program(&m, i));
    } while (mona_model_next(&m, &m));
    return rows;
}

void programs_print(const mona_model *model)
{
    cJSON *rows = programs_describe(model);
    const cJSON *row;
    cJSON_ArrayForEach(row, rows)
        printf("  program for %s at %s: %.0f bytes, and %.0f of constants\n",
               cJSON_GetStringValue(cJSON_GetObjectItem(row, "target")),
               cJSON_GetStringValue(cJSON_GetObjectItem(row, "size")),
               cJSON_GetNumberValue(cJSON_GetObjectItem(row, "bytes")),
               cJSON_GetNumberValue(cJSON_GetObjectItem(row, "constants_bytes")));
    cJSON_Delete(rows);
}

bool programs_disassemble(const char *name, const mona_model *model)
{
    mona_model m = *model;
    uint32_t shown = 0;
    do {
        uint32_t count;
        ac_proof proof;
        mona_model_programs(&m, &count);
        for (uint32_t i = 0; i < count; i++, shown++) {
            ac_program program;
            if (!open_program(&m, i, &program) ||
                !ac_program_prove(&program, &ac_target_ascend310, m.header->op_count, &proof))
                return !cli_fail(EXIT_FAILED, "%s: program %u is damaged", name, shown + 1);
            disassemble(&m, &program, proof.instructions);
        }
    } while (mona_model_next(&m, &m));
    return shown || !cli_fail(EXIT_FAILED,
                              "%s: expected a model with programs, found none; 'mona compile %s "
                              "--target ascend310 --size WxH -o OUT.mona' adds one",
                              name, name);
}
