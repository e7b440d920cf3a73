// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/chip.h"

#include <math.h>
#include <stdlib.h>

#include "engine/cpu/c/f16.h"

/* ---- streams --------------------------------------------------------------------------------- */

/* A session computes one frame at a time, a model of the vendor's two. */
static bool open_streams(chip *c, pipeline_error *error)
{
    mona_stream **const streams[CHIP_STREAMS] = {&c->upload, &c->compute[0], &c->compute[1]};
    for (int i = 0; i < (c->om ? CHIP_STREAMS : CHIP_STREAMS - 1); i++) {
        c->stream_memory[i] = session_binding_allocate(mona_stream_bytes());
        if (!c->stream_memory[i])
            return pipeline_fail(error, "out of memory");
        const mona_status status =
            mona_stream_open(streams[i], c->om ? &mona_device_ascend_om : &mona_device_ascend,
                             c->stream_memory[i], mona_stream_bytes());
        if (status)
            return pipeline_fail(error, "a stream cannot start: %s", pipeline_reason(status));
    }
    for (int i = 0; i < CHIP_SLOTS; i++)
        c->slot[i].chip = c;
    return true;
}

bool chip_is_open(const chip *c)
{
    return c->upload && c->compute[0];
}

/* ---- a session ------------------------------------------------------------------------------- */

static bool has_gaps(const mona_tensor_info *t)
{
    return t->width * mona_type_size(t->type) % MONA_ALIGNMENT;
}

bool chip_copies(const session_binding *bound)
{
    mona_device_properties p;
    const mona_tensor_info in = mona_plan_input(bound->plan, 0);
    const mona_tensor_info out = mona_plan_output(bound->plan, 0);
    return mona_device_query(bound->device, &p) || !p.unified_memory || has_gaps(&in) ||
           has_gaps(&out);
}

bool chip_open(chip *c, const session_binding *bound, pipeline_error *error)
{
    *c = (chip){.bound = bound,
                .info_in = mona_plan_input(bound->plan, 0),
                .info_out = mona_plan_output(bound->plan, 0)};
    for (int i = 0; i < CHIP_SLOTS; i++) {
        chip_slot *s = &c->slot[i];
        const mona_buffer none = {0};
        mona_status status = mona_device_allocate(
            bound->device, mona_device_planes_bytes(&c->info_in), &s->memory[0]);
        if (!status)
            status = mona_device_allocate(bound->device, mona_device_planes_bytes(&c->info_out),
                                          &s->memory[1]);
        if (status)
            return pipeline_fail(error, "frames do not fit the chip: %s", pipeline_reason(status));
        s->in = mona_device_planes(s->memory[0], &none, &c->info_in);
        s->out = mona_device_planes(s->memory[1], &none, &c->info_out);
    }
    return open_streams(c, error);
}

/* ---- a model of the vendor's compiler -------------------------------------------------------- */

static mona_size size_of(const mona_om_tensor *t)
{
    const unsigned last = t->channels_last && t->rank == 4 ? 3 : t->rank;
    return last < 2 ? (mona_size){0} : (mona_size){t->dims[last - 1], t->dims[last - 2]};
}

/* Whether it is one plane, of samples that the chip and the host both have: inputs of bytes,
 * outputs also of real values. */
static bool is_plane(const mona_om_tensor *t)
{
    const mona_size size = size_of(t);
    const bool type = t->type == MONA_U8 || (!t->input && t->type == MONA_F16);
    return type && size.width && size.height &&
           t->bytes == mona_type_size(t->type) * size.width * size.height;
}

static bool open_om(chip *c, const named_model *model, mona_size asked, mona_size *in,
                    mona_size *out, pipeline_error *error)
{
    *c = (chip){.om = session_binding_allocate(mona_om_bytes())};
    if (!c->om)
        return pipeline_fail(error, "out of memory");
    const mona_status status = mona_om_open(c->om, model->om, model->om_bytes, 1, asked);
    if (status) {
        free(c->om);
        c->om = NULL;
        return pipeline_fail(error, "%s: %s", model->name, pipeline_reason(status));
    }
    const mona_om_tensor input = mona_om_input(c->om, 0), output = mona_om_output(c->om, 0);
    if (mona_om_input_count(c->om) != 1 || mona_om_output_count(c->om) != 1 || !is_plane(&input) ||
        !is_plane(&output))
        return pipeline_fail(error,
                             "%s: expected a model of one plane, of u8 in and u8 or f16 out, as "
                             "'mona compile --target ascend310-om' makes it",
                             model->name);
    *in = size_of(&input);
    *out = size_of(&output);
    return (out->width / in->width >= 1 && out->width % in->width == 0 &&
            out->height / in->height == out->width / in->width && out->height % in->height == 0) ||
           pipeline_fail(error, "%s: expected a model that enlarges, found %ux%u from %ux%u",
                         model->name, out->width, out->height, in->width, in->height);
}

bool chip_open_om(chip *c, const named_model *model, mona_size size, unsigned *scale,
                  pipeline_error *error)
{
    mona_size in = {0}, out = {0};
    if (!open_om(c, model, size, &in, &out, error))
        return false;
    if (in.width != size.width || in.height != size.height)
        return pipeline_fail(error,
                             "%s is compiled for %ux%u, and the frames have %ux%u: mona compile "
                             "--target ascend310-om --size %ux%u",
                             model->name, in.width, in.height, size.width, size.height, size.width,
                             size.height);
    *scale = out.width / in.width;
    c->values = session_binding_allocate(mona_om_output(c->om, 0).bytes);
    return c->values ? open_streams(c, error) : pipeline_fail(error, "out of memory");
}

unsigned chip_om_scale(const named_model *model, pipeline_error *error)
{
    chip c;
    mona_size in = {0}, out = {0};
    const bool ok = open_om(&c, model, (mona_size){0}, &in, &out, error);
    chip_close(&c);
    return ok ? out.width / in.width : 0;
}

static unsigned number_of(const chip_slot *s)
{
    return (unsigned)(s - s->chip->slot);
}

static mona_om_rows rows_of(const mona_buffer *b, const mona_om_tensor *t)
{
    return (mona_om_rows){b->data, b->row_stride, size_of(t).width};
}

/* Real values of 0 to 1 become samples. */
static void round_rows(const mona_buffer *to, const uint16_t *from, mona_size size)
{
    for (uint32_t y = 0; y < size.height; y++)
        for (uint32_t x = 0; x < size.width; x++) {
            const float v = 255 * ac_f32_from_f16(from[(size_t)y * size.width + x]);
            ((uint8_t *)to->data)[(ptrdiff_t)y * to->row_stride + x] =
                (uint8_t)(v > 0 ? v < 255 ? lrintf(v) : 255 : 0); /* NaN becomes 0 */
        }
}

static mona_status upload_om(void *argument)
{
    const chip_slot *s = argument;
    const mona_om_tensor t = mona_om_input(s->chip->om, 0);
    const mona_om_rows rows = rows_of(&s->host_in, &t);
    return mona_om_upload(s->chip->om, number_of(s), &rows);
}

static mona_om_rows output_rows(const chip_slot *s, const mona_om_tensor *t)
{
    return t->type == MONA_F16 ? (mona_om_rows){s->chip->values, (ptrdiff_t)t->bytes, t->bytes}
                               : rows_of(&s->host_out, t);
}

static mona_status run_om(void *argument)
{
    const chip_slot *s = argument;
    const mona_om_tensor t = mona_om_output(s->chip->om, 0);
    const mona_om_rows rows = output_rows(s, &t);
    return mona_om_run(s->chip->om, number_of(s), &rows);
}

static mona_status download_om(void *argument)
{
    const chip_slot *s = argument;
    const mona_om_tensor t = mona_om_output(s->chip->om, 0);
    const mona_om_rows rows = output_rows(s, &t);
    const mona_status status = mona_om_download(s->chip->om, number_of(s), &rows);
    if (!status && t.type == MONA_F16)
        round_rows(&s->host_out, s->chip->values, size_of(&t));
    return status;
}

/* ---- a frame --------------------------------------------------------------------------------- */

static mona_status upload(chip *c, chip_slot *s)
{
    mona_status status = mona_stream_wait(c->upload, &s->computed); /* its frame before this one */
    if (!status)
        status = c->om ? mona_stream_try(c->upload, upload_om, s)
                       : mona_stream_upload(c->upload, &s->in, &s->host_in, &c->info_in);
    return status ? status : mona_stream_record(c->upload, &s->uploaded);
}

static mona_status compute(chip *c, chip_slot *s)
{
    mona_stream *stream = c->compute[c->om ? number_of(s) % 2 : 0];
    mona_status status = mona_stream_wait(stream, &s->uploaded);
    if (!status)
        status = mona_stream_wait(stream, &s->downloaded);
    if (!status)
        status = c->om ? mona_stream_try(stream, run_om, s)
                       : mona_stream_run(stream, c->bound->session, &s->in, &s->out);
    return status ? status : mona_stream_record(stream, &s->computed);
}

static mona_status download(chip *c, chip_slot *s, mona_stream *stream)
{
    mona_status status = mona_stream_wait(stream, &s->computed);
    if (!status)
        status = c->om ? mona_stream_try(stream, download_om, s)
                       : mona_stream_download(stream, &s->host_out, &s->out, &c->info_out);
    return status ? status : mona_stream_record(stream, &s->downloaded);
}

/* The planes of a slot are read by commands of its frame; those before it are done once it has been
 * downloaded. */
mona_status chip_enqueue(chip *c, mona_stream *stream, const mona_buffer *from,
                         const mona_buffer *to)
{
    chip_slot *s = &c->slot[c->frames++ % CHIP_SLOTS];
    mona_status status = mona_event_synchronize(&s->downloaded);
    s->host_in = *from;
    s->host_out = *to;
    if (!status)
        status = upload(c, s);
    if (!status)
        status = compute(c, s);
    return status ? status : download(c, s, stream);
}

/* After a failure frames may still wait to be computed, for events of the other streams. */
void chip_close(chip *c)
{
    for (int i = 0; i < 2; i++)
        mona_stream_synchronize(c->compute[i]);
    mona_stream_close(c->upload);
    for (int i = 0; i < 2; i++)
        mona_stream_close(c->compute[i]);
    for (int i = 0; i < CHIP_SLOTS && c->bound; i++)
        for (int k = 0; k < 2; k++)
            mona_device_free(c->bound->device, c->slot[i].memory[k]);
    mona_om_close(c->om);
    free(c->om);
    free(c->values);
    for (int i = 0; i < CHIP_STREAMS; i++)
        free(c->stream_memory[i]);
    *c = (chip){0};
}
