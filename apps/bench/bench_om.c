// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/bench_model.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/bench/report/bench_result.h"
#include "apps/timing/statistics.h"
#include "apps/cli/options.h"
#include "engine/model_format.h"
#include "engine/mona_ascend.h"
#include "formats/file.h"
#include "formats/element.h"
#include "apps/cli/json_output.h"

enum { STEPS = 3 };

static const char *const step_keys[STEPS] = {"upload_ms", "run_ms", "download_ms"};

typedef struct om_bench {
    const char *name;
    mona_om *om;
    mona_om_rows in[MONA_MAX_IO], out[MONA_OM_SLOTS][MONA_MAX_IO];
    samples steps[STEPS];
} om_bench;

/* ---- tensors --------------------------------------------------------------------------------- */

/* Bytes of noise; real values of 0 to 1. */
static void fill_noise(void *memory, const mona_om_tensor *t)
{
    const size_t size = t->type == MONA_F16 || t->type == MONA_F32 ? mona_type_size(t->type) : 1;
    uint32_t state = 1;
    for (size_t i = 0; i < t->bytes / size; i++) {
        state = state * 1664525 + 1013904223;
        const float value = (float)(state >> 24) / 255;
        if (t->type == MONA_F32)
            ((float *)memory)[i] = value;
        else if (t->type == MONA_F16)
            ((uint16_t *)memory)[i] = half_from_double(value);
        else
            ((uint8_t *)memory)[i] = (uint8_t)(state >> 24);
    }
}

static bool open_rows(mona_om_rows *rows, const mona_om_tensor *t)
{
    *rows = (mona_om_rows){file_alloc(t->bytes), (ptrdiff_t)t->bytes, t->bytes};
    return rows->data || cli_fail(0, "out of memory");
}

static bool open_tensors(om_bench *b)
{
    for (unsigned i = 0; i < mona_om_input_count(b->om); i++) {
        const mona_om_tensor t = mona_om_input(b->om, i);
        if (!open_rows(&b->in[i], &t))
            return false;
        fill_noise(b->in[i].data, &t);
    }
    for (unsigned i = 0; i < MONA_OM_SLOTS * mona_om_output_count(b->om); i++) {
        const mona_om_tensor t = mona_om_output(b->om, i / MONA_OM_SLOTS);
        if (!open_rows(&b->out[i % MONA_OM_SLOTS][i / MONA_OM_SLOTS], &t))
            return false;
    }
    return true;
}

static void close_tensors(om_bench *b)
{
    for (unsigned i = 0; i < MONA_MAX_IO; i++) {
        free(b->in[i].data);
        for (unsigned slot = 0; slot < MONA_OM_SLOTS; slot++)
            free(b->out[slot][i].data);
    }
}

static uint32_t output_crc(const om_bench *b)
{
    uint32_t crc = 0;
    for (unsigned i = 0; i < mona_om_output_count(b->om); i++)
        crc = mona_crc32(crc, b->out[0][i].data, b->out[0][i].row_bytes);
    return crc;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static mona_status take_step(const om_bench *b, unsigned step, unsigned slot)
{
    switch (step) {
    case 0:
        return mona_om_upload(b->om, slot, b->in);
    case 1:
        return mona_om_run(b->om, slot, b->out[slot]);
    default:
        return mona_om_download(b->om, slot, b->out[slot]);
    }
}

/* One frame, alone. */
static bool run_frame(void *bench)
{
    om_bench *b = bench;
    for (unsigned step = 0; step < STEPS; step++) {
        const uint64_t begin = clock_ns();
        const mona_status status = take_step(b, step, 0);
        if (status)
            return cli_fail(0, "%s: %s", b->name, pipeline_reason(status));
        if (!samples_add(&b->steps[step], 1e-6 * (double)(clock_ns() - begin)))
            return false;
    }
    return true;
}

typedef struct lane {
    om_bench *bench;
    unsigned slot, frames;
    mona_status status;
    pthread_t thread;
} lane;

static void *run_lane(void *argument)
{
    lane *l = argument;
    for (unsigned n = 0; n < l->frames && !l->status; n++)
        for (unsigned step = 0; step < STEPS && !l->status; step++)
            l->status = take_step(l->bench, step, l->slot);
    return NULL;
}

/* A thread for each slot, so that as many frames are in work as there are slots. *ms: of a
 * frame. */
static bool run_overlapped(om_bench *b, unsigned frames, double *ms)
{
    lane lanes[MONA_OM_SLOTS];
    unsigned started = 0;
    mona_status status = MONA_OK;
    const uint64_t begin = clock_ns();
    for (; started < MONA_OM_SLOTS; started++) {
        lanes[started] = (lane){.bench = b, .slot = started, .frames = frames};
        if (pthread_create(&lanes[started].thread, NULL, run_lane, &lanes[started]))
            break;
    }
    for (unsigned i = 0; i < started; i++) {
        pthread_join(lanes[i].thread, NULL);
        status = status ? status : lanes[i].status;
    }
    *ms = 1e-6 * (double)(clock_ns() - begin) / ((double)frames * MONA_OM_SLOTS);
    if (status)
        return cli_fail(0, "%s: %s", b->name, pipeline_reason(status));
    return started == MONA_OM_SLOTS || cli_fail(0, "a thread cannot be started");
}

/* ---- the result ------------------------------------------------------------------------------ */

static void describe(cJSON *result, const bench_om_job *job, const om_bench *b)
{
    mona_device_properties device = {.name = ""};
    const mona_om_tensor in = mona_om_input(b->om, 0);
    const unsigned last = in.channels_last && in.rank == 4 ? 3 : in.rank;
    mona_device_query(job->device, &device);
    JSON_ADD(result, TEXT("kind", "om"), TEXT("model", b->name),
             NUMBER("width", last < 2 ? 0 : in.dims[last - 1]),
             NUMBER("height", last < 2 ? 0 : in.dims[last - 2]), TEXT("device", device.name));
}

static bool fill(cJSON *result, const bench_om_job *job, om_bench *b, const samples *s)
{
    double overlapped;
    describe(result, job, b);
    if (!result_add_samples(result, s, job->percentile))
        return false;
    for (unsigned step = 0; step < STEPS; step++) {
        samples *t = &b->steps[step];
        json_add_rounded(result, step_keys[step],
                         statistics_select(t->ms + t->count - s->count, s->count, 50));
    }
    result_add_crc(result, "output_crc32", output_crc(b));
    if (!run_overlapped(b, s->count < 100 ? (unsigned)s->count : 100, &overlapped))
        return false;
    json_add_rounded(result, "overlapped_ms", overlapped);
    cJSON_AddItemToObject(result, "provenance", provenance());
    return true;
}

static cJSON *measure(const bench_om_job *job, om_bench *b)
{
    samples s = {0};
    cJSON *result = NULL;
    if (open_tensors(b) && samples_take(&s, &job->how, run_frame, b)) {
        result = cJSON_CreateObject();
        result = result_if(fill(result, job, b, &s), result);
    }
    samples_free(&s);
    return result;
}

cJSON *bench_om(const bench_om_job *job)
{
    om_bench b = {.name = job->model->name, .om = file_alloc(mona_om_bytes())};
    cJSON *result = NULL;
    if (!b.om)
        return cli_fail(0, "out of memory"), NULL;
    const mona_status status =
        mona_om_open(b.om, job->device, job->model->om, job->model->om_bytes, 0, job->size);
    if (status) {
        cli_fail(0, "%s: %s", b.name, pipeline_reason(status));
    } else {
        result = measure(job, &b);
        mona_om_close(b.om);
    }
    close_tensors(&b);
    for (unsigned step = 0; step < STEPS; step++)
        samples_free(&b.steps[step]);
    free(b.om);
    return result;
}

void bench_om_print(const cJSON *result)
{
    printf("%s at %.0fx%.0f, %s\n", json_string(result, "model"), json_number(result, "width"),
           json_number(result, "height"), json_string(result, "device"));
    result_print_times(result);
    printf("  steps      upload %.3f ms, run %.3f ms, download %.3f ms (medians)\n",
           json_number(result, step_keys[0]), json_number(result, step_keys[1]),
           json_number(result, step_keys[2]));
    printf("  overlapped %.3f ms a frame with %d in work\n", json_number(result, "overlapped_ms"),
           MONA_OM_SLOTS);
    printf("  output     CRC-32 %s\n", json_string(result, "output_crc32"));
}
