// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/bench_model.h"

#include <stdlib.h>

#include "formats/file.h"
#include "apps/cli/options.h"

static bool open_streams(bench_transfer *t)
{
    mona_stream **const streams[] = {&t->upload, &t->compute, &t->download};
    for (int i = 0; i < 3; i++) {
        t->memory[i] = file_alloc(mona_stream_bytes());
        if (!t->memory[i])
            return cli_fail(0, "out of memory");
        const mona_status status = mona_stream_open(streams[i], t->session->bound.device,
                                                    t->memory[i], mona_stream_bytes());
        if (status)
            return cli_fail(0, "a stream cannot start: %s", pipeline_reason(status));
    }
    return true;
}

/* Where the session's device has memory of its own, its planes lie there. */
static bool place_on_device(const bench_transfer *t, transfer_slot *s)
{
    bench_planes *p = &s->planes;
    for (unsigned i = 0; t->session->bound.device && i < p->input_count + p->output_count; i++) {
        const bool input = i < p->input_count;
        mona_buffer *b = input ? &p->inputs[i] : &p->outputs[i - p->input_count];
        const mona_tensor_info info =
            input ? mona_plan_input(t->session->bound.plan, i)
                  : mona_plan_output(t->session->bound.plan, i - p->input_count);
        const mona_status status = mona_device_allocate(
            t->session->bound.device, mona_device_planes_bytes(&info), &s->chip[i]);
        if (status)
            return cli_fail(0, "memory of the device cannot be reserved: %s",
                            pipeline_reason(status));
        *b = mona_device_planes(s->chip[i], b, &info);
    }
    return true;
}

bool bench_transfer_open(bench_transfer *t, bench_session *session, const mona_model *model)
{
    *t = (bench_transfer){.session = session};
    for (unsigned i = 0; i < TRANSFER_SLOTS; i++)
        if (!bench_planes_open(&t->slot[i].planes, NULL, session->bound.plan, model))
            return cli_fail(0, "out of memory");
    for (unsigned i = 0; i < TRANSFER_SLOTS; i++)
        if (!place_on_device(t, &t->slot[i]))
            return false;
    return open_streams(t);
}

static mona_status upload(bench_transfer *t, transfer_slot *s)
{
    const bench_planes *frames = &t->session->planes;
    mona_status status = mona_stream_wait(t->upload, &s->computed);
    for (unsigned i = 0; i < frames->input_count && !status; i++) {
        const mona_tensor_info info = mona_plan_input(t->session->bound.plan, i);
        status = mona_stream_upload(t->upload, &s->planes.inputs[i], &frames->inputs[i], &info);
    }
    return status ? status : mona_stream_record(t->upload, &s->uploaded);
}

static mona_status compute(bench_transfer *t, transfer_slot *s)
{
    mona_status status = mona_stream_wait(t->compute, &s->uploaded);
    if (!status)
        status = mona_stream_wait(t->compute, &s->downloaded);
    if (!status)
        status = mona_stream_run(t->compute, t->session->bound.session, s->planes.inputs,
                                 s->planes.outputs);
    return status ? status : mona_stream_record(t->compute, &s->computed);
}

static mona_status download(bench_transfer *t, transfer_slot *s)
{
    const bench_planes *frames = &t->session->planes;
    mona_status status = mona_stream_wait(t->download, &s->computed);
    for (unsigned i = 0; i < frames->output_count && !status; i++) {
        const mona_tensor_info info = mona_plan_output(t->session->bound.plan, i);
        status =
            mona_stream_download(t->download, &frames->outputs[i], &s->planes.outputs[i], &info);
    }
    return status ? status : mona_stream_record(t->download, &s->downloaded);
}

bool bench_transfer_run(bench_transfer *t, unsigned frames)
{
    mona_status status = MONA_OK;
    for (unsigned n = 0; n < frames && !status; n++) {
        transfer_slot *s = &t->slot[n % TRANSFER_SLOTS];
        status = upload(t, s);
        if (!status)
            status = compute(t, s);
        if (!status)
            status = download(t, s);
    }
    if (!status)
        status = mona_stream_synchronize(t->download);
    return !status || cli_fail(0, "computing failed: %s", pipeline_reason(status));
}

void bench_transfer_close(bench_transfer *t)
{
    mona_stream_close(t->upload);
    mona_stream_close(t->compute);
    mona_stream_close(t->download);
    for (unsigned i = 0; i < TRANSFER_SLOTS; i++) {
        for (unsigned k = 0; t->session && k < 2 * MONA_MAX_IO; k++)
            mona_device_free(t->session->bound.device, t->slot[i].chip[k]);
        bench_planes_close(&t->slot[i].planes);
    }
    for (int i = 0; i < 3; i++)
        free(t->memory[i]);
    *t = (bench_transfer){0};
}
