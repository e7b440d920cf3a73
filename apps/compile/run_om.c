// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/atc.h"

#include <inttypes.h>
#include <stdlib.h>

#include "pipeline/job/model_source.h"
#include "apps/compile/arrays.h"
#include "engine/mona_ascend.h"
#include "formats/file.h"

/* A tensor as one row of numbers without a scale. */
static bool open_tensor(planes *p, const mona_om_tensor *t, mona_om_rows *rows)
{
    const uint32_t count = (uint32_t)(t->bytes / mona_type_size(t->type));
    const mona_tensor_info row = {
        .name = t->name, .type = t->type, .channels = 1, .height = 1, .width = count, .scale = 1};
    const bool ok = planes_open(p, row) || cli_fail(0, "out of memory");
    *rows = (mona_om_rows){p->buffer.data, (ptrdiff_t)t->bytes, t->bytes};
    return ok;
}

static bool read_input(const char *model, const char *path, const mona_om_tensor *t, planes *p)
{
    input_array in = {0};
    uint64_t dims[MONA_OM_DIMS];
    for (unsigned k = 0; k < t->rank; k++)
        dims[k] = t->dims[k];
    bool ok = array_open(&in, path) && array_suits(&in.array, model, t->name, dims, t->rank);
    if (ok && in.array.count != p->count)
        ok = cli_fail(0, "%s: expected %zu numbers for the input %s, found %" PRIu64, path,
                      p->count, p->info.name, in.array.count);
    if (ok)
        array_tell_clipped(p, path, array_fill(p, &in.array), "");
    free(in.file);
    return ok;
}

static bool write_output(const char *path, const mona_om_tensor *t, const planes *p, bool raw)
{
    npy_array shape = {.rank = t->rank};
    for (unsigned k = 0; k < t->rank; k++)
        shape.shape[k] = t->dims[k];
    return array_write_shaped(p, shape, path, raw);
}

/* ---- a run ----------------------------------------------------------------------------------- */

typedef struct om_run {
    mona_om *om;
    plan_planes tensors;
    mona_om_rows in[MONA_MAX_IO], out[MONA_MAX_IO];
} om_run;

static bool run_opened(om_run *r, const char *path, const option_list *inputs,
                       const option_list *outputs, bool raw)
{
    const unsigned in = mona_om_input_count(r->om), out = mona_om_output_count(r->om);
    bool ok = (inputs->count == in && outputs->count == out) ||
              cli_fail(0, "%s takes %u inputs and gives %u outputs; found %zu -i and %zu -o", path,
                       in, out, inputs->count, outputs->count);
    for (unsigned i = 0; i < in && ok; i++) {
        const mona_om_tensor t = mona_om_input(r->om, i);
        ok = open_tensor(&r->tensors.in[i], &t, &r->in[i]) &&
             read_input(path, inputs->items[i], &t, &r->tensors.in[i]);
    }
    for (unsigned i = 0; i < out && ok; i++) {
        const mona_om_tensor t = mona_om_output(r->om, i);
        ok = open_tensor(&r->tensors.out[i], &t, &r->out[i]);
    }
    if (!ok)
        return false;
    mona_status status = mona_om_upload(r->om, 0, r->in);
    status = status ? status : mona_om_run(r->om, 0, r->out);
    status = status ? status : mona_om_download(r->om, 0, r->out);
    if (status)
        return cli_fail(0, "%s: %s", path, pipeline_reason(status));
    for (unsigned i = 0; i < out && ok; i++) {
        const mona_om_tensor t = mona_om_output(r->om, i);
        ok = write_output(outputs->items[i], &t, &r->tensors.out[i], raw);
    }
    return ok;
}

/* The batch and size of frames in an array, where a model leaves them open: N,C,H,W or N,H,W,C, or
 * the last of these dimensions. 0: its first. */
static bool read_choice(const char *path, uint32_t *batch, mona_size *frame)
{
    input_array in = {0};
    const npy_array *a = &in.array;
    *batch = 0;
    *frame = (mona_size){0};
    const bool ok = array_open(&in, path);
    if (ok && a->rank >= 2) {
        const unsigned last = a->rank - (a->rank > 2 && a->shape[a->rank - 1] <= 4);
        *batch = a->rank == 4 ? (uint32_t)a->shape[0] : 0;
        *frame = (mona_size){(uint32_t)a->shape[last - 1], (uint32_t)a->shape[last - 2]};
    }
    free(in.file);
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
    ok = ok && options_model_om(&source, path, device) &&
         read_choice(inputs->items[0], &batch, &frame);
    if (ok) {
        const mona_status status =
            mona_om_open(r.om, device, source.model.om, source.model.om_bytes, batch, frame);
        ok = status ? cli_fail(0, "%s: %s", path, pipeline_reason(status))
                    : run_opened(&r, path, inputs, outputs, raw);
        if (!status)
            mona_om_close(r.om);
    }
    plan_planes_close(&r.tensors);
    free(r.om);
    model_source_close(&source);
    return ok;
}
