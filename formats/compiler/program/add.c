// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "formats/compiler/program/programs.h"
#include "formats/file.h"
#include "formats/mona_writer.h"

static uint64_t offset_of(const mona_model *model)
{
    return (uint64_t)((const uint8_t *)model->header - model->file);
}

bool model_open_at(mona_model *model, const uint8_t *bytes, size_t size, uint64_t at,
                   const mona_kernel *const *kernels)
{
    const mona_guard guard = {.kernels = kernels};
    bool ok = !mona_model_open_guarded(model, bytes, size, &guard);
    while (ok && offset_of(model) < at)
        ok = mona_model_next(model, model);
    return ok;
}

/* Replaces *bytes, whose header at `at` gets a program. */
static bool add_one(uint8_t **bytes, size_t *count, uint64_t at, mona_size size,
                    const mona_kernel *const *kernels, format_error *error)
{
    mona_model model;
    uint8_t *recorded, *made;
    mona_writer_program p = {.target = "ascend310"};
    if (!model_open_at(&model, *bytes, *count, at, kernels))
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

bool program_add(const mona_model *model, mona_size size, uint8_t **bytes, size_t *count,
                 format_error *error)
{
    uint64_t at = offset_of(model);
    bool ok;
    *bytes = NULL;
    if (model_needs_cut(model, size)) {
        at = 0;
        ok = model_cut(model, &size, 1, bytes, count, error);
    } else {
        *count = (size_t)model->header->file_bytes;
        *bytes = file_alloc(*count);
        ok = *bytes || format_fail(error, "out of memory");
        if (ok)
            memcpy(*bytes, model->file, *count);
    }
    return ok && add_one(bytes, count, at, size, model->kernels, error);
}
