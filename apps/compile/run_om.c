// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/run_om.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/model_source.h"
#include "apps/cli/save.h"
#include "engine/mona_ascend.h"
#include "formats/file.h"
#include "formats/half.h"
#include "formats/npy.h"

static const struct {
    npy_type type;
    double low, high; /* equal: no limits */
} types[MONA_TYPE_COUNT] = {
    [MONA_U8] = {NPY_U1, 0, 255},
    [MONA_S8] = {NPY_I1, -128, 127},
    [MONA_F16] = {NPY_F2, 0, 0},
    [MONA_U16] = {NPY_U2, 0, 65535},
    [MONA_F32] = {NPY_F4, 0, 0},
    [MONA_S16] = {NPY_I2, -32768, 32767},
    [MONA_S32] = {NPY_I4, -2147483648.0, 2147483647},
    [MONA_U32] = {NPY_U4, 0, 4294967295.0},
    [MONA_S64] = {NPY_I8, -9007199254740992.0, 9007199254740992.0},
    [MONA_U64] = {NPY_U8, 0, 9007199254740992.0},
};

static uint64_t count_of(const mona_om_tensor *t)
{
    return t->bytes / mona_type_size(t->type);
}

/* ---- values ----------------------------------------------------------------------------------- */

static void store(void *to, uint64_t i, mona_type type, double value)
{
    uint8_t *at = (uint8_t *)to + i * mona_type_size(type);
    const float single = (float)value;
    const uint16_t half = half_from_double(value);
    const int64_t whole = type == MONA_F32 || type == MONA_F16
                              ? 0
                              : (int64_t)fmin(fmax(rint(value), types[type].low), types[type].high);
    const void *from = type == MONA_F32   ? (const void *)&single
                       : type == MONA_F16 ? (const void *)&half
                                          : (const void *)&whole; /* little-endian */
    memcpy(at, from, mona_type_size(type));
}

static bool read_input(const char *path, const mona_om_tensor *t, void *memory)
{
    format_error error = {0};
    npy_array array;
    uint8_t *file;
    size_t size;
    if (!file_read(path, "an array", SIZE_MAX / 2, &file, &size, &error))
        return cli_fail(0, "%s", error.text);
    bool ok = npy_parse(&array, file, size, &error) || cli_fail(0, "%s: %s", path, error.text);
    if (ok && array.count != count_of(t))
        ok = cli_fail(0, "%s: expected %llu numbers for the input %s, found %llu", path,
                      (unsigned long long)count_of(t), t->name, (unsigned long long)array.count);
    for (uint64_t i = 0; ok && i < array.count; i++)
        store(memory, i, t->type, npy_value(&array, i));
    free(file);
    return ok;
}

static bool write_output(const char *path, const mona_om_tensor *t, void *memory, bool raw)
{
    npy_array array = {.type = types[t->type].type, .rank = t->rank, .count = count_of(t)};
    size_t size;
    float *floats = NULL;
    array.data = memory;
    for (unsigned k = 0; k < t->rank; k++)
        array.shape[k] = t->dims[k];
    if (!raw && t->type != MONA_F32) {
        floats = malloc(array.count * sizeof *floats);
        for (uint64_t i = 0; floats && i < array.count; i++)
            floats[i] = (float)npy_value(&array, i);
        array.type = NPY_F4;
        array.data = floats;
    }
    uint8_t *bytes = array.data ? npy_format(&array, &size) : NULL;
    const bool ok = bytes ? save_file(path, bytes, size) : cli_fail(0, "out of memory");
    free(bytes);
    free(floats);
    return ok;
}

/* ---- a run ------------------------------------------------------------------------------------ */

typedef struct om_run {
    mona_om *om;
    void *memory[2][MONA_MAX_IO];
    mona_om_rows rows[2][MONA_MAX_IO];
} om_run;

static bool make_rows(om_run *r, unsigned side, unsigned i, const mona_om_tensor *t)
{
    r->memory[side][i] = malloc(t->bytes);
    r->rows[side][i] = (mona_om_rows){r->memory[side][i], (ptrdiff_t)t->bytes, t->bytes};
    return r->memory[side][i] || cli_fail(0, "out of memory");
}

static bool run_opened(om_run *r, const char *path, const option_list *inputs,
                       const option_list *outputs, bool raw)
{
    const unsigned in = mona_om_input_count(r->om), out = mona_om_output_count(r->om);
    bool ok = (inputs->count == in && outputs->count == out) ||
              cli_fail(0, "%s takes %u inputs and gives %u outputs; found %zu -i and %zu -o", path,
                       in, out, inputs->count, outputs->count);
    for (unsigned i = 0; i < in && ok; i++) {
        const mona_om_tensor t = mona_om_input(r->om, i);
        ok = make_rows(r, 0, i, &t) && read_input(inputs->items[i], &t, r->memory[0][i]);
    }
    for (unsigned i = 0; i < out && ok; i++) {
        const mona_om_tensor t = mona_om_output(r->om, i);
        ok = make_rows(r, 1, i, &t);
    }
    if (!ok)
        return false;
    mona_status status = mona_om_upload(r->om, 0, r->rows[0]);
    status = status ? status : mona_om_run(r->om, 0, r->rows[1]);
    status = status ? status : mona_om_download(r->om, 0, r->rows[1]);
    if (status)
        return cli_fail(0, "%s: %s", path, pipeline_reason(status));
    for (unsigned i = 0; i < out && ok; i++) {
        const mona_om_tensor t = mona_om_output(r->om, i);
        ok = write_output(outputs->items[i], &t, r->memory[1][i], raw);
    }
    return ok;
}

/* The batch and size of frames in an array, where a model leaves them open: N,C,H,W or N,H,W,C, or
 * the last of these dimensions. 0: its first. */
static bool read_choice(const char *path, uint32_t *batch, mona_size *frame)
{
    format_error error = {0};
    npy_array a;
    uint8_t *file;
    size_t size;
    *batch = 0;
    *frame = (mona_size){0};
    if (!file_read(path, "an array", SIZE_MAX / 2, &file, &size, &error))
        return cli_fail(0, "%s", error.text);
    const bool ok = npy_parse(&a, file, size, &error) || cli_fail(0, "%s: %s", path, error.text);
    if (ok && a.rank >= 2) {
        const unsigned last = a.rank - (a.rank > 2 && a.shape[a.rank - 1] <= 4);
        *batch = a.rank == 4 ? (uint32_t)a.shape[0] : 0;
        *frame = (mona_size){(uint32_t)a.shape[last - 1], (uint32_t)a.shape[last - 2]};
    }
    free(file);
    return ok;
}

bool run_om(const char *path, const mona_device *device, const option_list *inputs,
            const option_list *outputs, bool raw)
{
    model_source source = {0};
    uint32_t batch;
    mona_size frame;
    om_run r = {.om = file_alloc(mona_om_bytes())};
    bool ok = r.om || cli_fail(0, "out of memory");
    ok = ok && model_source_open_om(&source, path, device) &&
         read_choice(inputs->items[0], &batch, &frame);
    if (ok) {
        const mona_status status =
            mona_om_open(r.om, source.model.om, source.model.om_bytes, batch, frame);
        ok = status ? cli_fail(0, "%s: %s", path, pipeline_reason(status))
                    : run_opened(&r, path, inputs, outputs, raw);
        if (!status)
            mona_om_close(r.om);
    }
    for (unsigned i = 0; i < MONA_MAX_IO; i++) {
        free(r.memory[0][i]);
        free(r.memory[1][i]);
    }
    free(r.om);
    model_source_close(&source);
    return ok;
}
