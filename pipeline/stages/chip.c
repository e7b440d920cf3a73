// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stages/chip.h"

#include <math.h>
#include <stdlib.h>

#include "engine/cpu/c/f16.h"

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

static void make_lock(chip *c)
{
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->ended, NULL);
}

/* Places a lane's planes in memory; NULL: only counts. */
static size_t place(chip *c, chip_lane *lane, uint8_t *memory)
{
    size_t end = 0;
    for (unsigned i = 0; i < c->inputs + c->outputs; i++) {
        const bool in = i < c->inputs;
        const mona_tensor_info t = in ? mona_plan_input(c->bound->plan, i)
                                      : mona_plan_output(c->bound->plan, i - c->inputs);
        if (memory)
            *(in ? &lane->in[i] : &lane->out[i - c->inputs]) =
                mona_device_planes(memory + end, NULL, &t);
        end +=
            (mona_device_planes_bytes(&t) + MONA_ALIGNMENT - 1) / MONA_ALIGNMENT * MONA_ALIGNMENT;
    }
    return end;
}

/* A device without memory of its own uses the host's. */
static bool open_lane(chip *c, chip_lane *lane, pipeline_error *error)
{
    const size_t bytes = place(c, lane, NULL);
    const mona_status status = mona_device_allocate(c->device, bytes, &lane->memory);
    if (status)
        return pipeline_fail(error, "frames do not fit the chip: %s", pipeline_reason(status));
    if (!lane->memory)
        lane->memory = lane->host = session_binding_allocate(bytes);
    if (!lane->memory)
        return pipeline_fail(error, "out of memory");
    place(c, lane, lane->memory);
    return true;
}

bool chip_open(chip *c, const session_binding *first, const mona_config *config, const char *name,
               pipeline_error *error)
{
    *c = (chip){.device = config ? config->device : first->device, .bound = first};
    make_lock(c);
    if (config) {
        c->bound = &c->own;
        if (!session_binding_open(&c->own, mona_plan_model(first->plan), name, config, error))
            return false;
    }
    mona_session_io_count(c->bound->session, &c->inputs, &c->outputs);
    for (c->lanes = 0; c->lanes < CHIP_LANES; c->lanes++)
        if (!open_lane(c, &c->lane[c->lanes], error))
            return false;
    return true;
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

static bool open_om(chip *c, const mona_device *device, const named_model *model, mona_size asked,
                    mona_size *in, mona_size *out, pipeline_error *error)
{
    *c = (chip){.device = device,
                .om = session_binding_allocate(mona_om_bytes()),
                .inputs = 1,
                .outputs = 1};
    make_lock(c);
    if (!c->om)
        return pipeline_fail(error, "out of memory");
    const mona_status status = mona_om_open(c->om, device, model->om, model->om_bytes, 1, asked);
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

bool chip_open_om(chip *c, const mona_device *device, const named_model *model, mona_size size,
                  unsigned *scale, pipeline_error *error)
{
    mona_size in = {0}, out = {0};
    if (!open_om(c, device, model, size, &in, &out, error))
        return false;
    if (in.width != size.width || in.height != size.height)
        return pipeline_fail(error,
                             "%s is compiled for %ux%u, and the frames have %ux%u: mona compile "
                             "--target ascend310-om --size %ux%u",
                             model->name, in.width, in.height, size.width, size.height, size.width,
                             size.height);
    *scale = out.width / in.width;
    c->lanes = CHIP_OM_LANES;
    for (unsigned i = 0; i < c->lanes; i++) {
        c->lane[i].values = session_binding_allocate(mona_om_output(c->om, 0).bytes);
        if (!c->lane[i].values)
            return pipeline_fail(error, "out of memory");
    }
    return true;
}

unsigned chip_om_scale(const mona_device *device, const named_model *model, pipeline_error *error)
{
    chip c;
    mona_size in = {0}, out = {0};
    const bool ok = open_om(&c, device, model, (mona_size){0}, &in, &out, error);
    chip_close(&c);
    return ok ? out.width / in.width : 0;
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* A session has one frame in work; a model two, one of even lanes and one of odd ones. */
static struct chip_turns *turns_of(chip *c, unsigned lane)
{
    return &c->turns[c->om ? lane % CHIP_TURNS : 0];
}

static uint64_t draw(chip *c, struct chip_turns *t)
{
    pthread_mutex_lock(&c->lock);
    const uint64_t ticket = t->drawn++;
    pthread_mutex_unlock(&c->lock);
    return ticket;
}

static void enter(chip *c, const struct chip_turns *t, uint64_t ticket)
{
    pthread_mutex_lock(&c->lock);
    while (t->ended != ticket)
        pthread_cond_wait(&c->ended, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

static void leave(chip *c, struct chip_turns *t)
{
    pthread_mutex_lock(&c->lock);
    t->ended++;
    pthread_cond_broadcast(&c->ended);
    pthread_mutex_unlock(&c->lock);
}

/* ---- a frame --------------------------------------------------------------------------------- */

static mona_om_rows rows_of(const mona_buffer *b, const mona_om_tensor *t)
{
    return (mona_om_rows){b->data, b->row_stride, size_of(t).width};
}

/* Real values of 0 to 1 become samples. */
static void round_rows(const mona_buffer *to, const uint16_t *from, mona_size size)
{
    for (uint32_t y = 0; y < size.height; y++)
        for (uint32_t x = 0; x < size.width; x++) {
            const float v = 255 * mona_f32_from_f16(from[(size_t)y * size.width + x]);
            ((uint8_t *)to->data)[(ptrdiff_t)y * to->row_stride + x] =
                (uint8_t)(v > 0 ? v < 255 ? lrintf(v) : 255 : 0); /* NaN becomes 0 */
        }
}

static mona_status run_om(chip *c, unsigned lane, const mona_buffer *input,
                          const mona_buffer *output)
{
    const mona_om_tensor in = mona_om_input(c->om, 0), out = mona_om_output(c->om, 0);
    uint16_t *values = out.type == MONA_F16 ? c->lane[lane].values : NULL;
    const mona_om_rows from = rows_of(input, &in);
    const mona_om_rows to =
        values ? (mona_om_rows){values, (ptrdiff_t)out.bytes, out.bytes} : rows_of(output, &out);
    struct chip_turns *turns = turns_of(c, lane);
    const uint64_t ticket = draw(c, turns);
    mona_status status = mona_om_upload(c->om, lane, &from);
    enter(c, turns, ticket);
    if (!status)
        status = mona_om_run(c->om, lane, &to);
    leave(c, turns);
    if (!status)
        status = mona_om_download(c->om, lane, &to);
    if (!status && values)
        round_rows(output, values, size_of(&out));
    return status;
}

static mona_status run_session(chip *c, unsigned lane, const mona_buffer *inputs,
                               const mona_buffer *outputs)
{
    const chip_lane *l = &c->lane[lane];
    struct chip_turns *turns = turns_of(c, lane);
    const uint64_t ticket = draw(c, turns);
    mona_status status = MONA_OK;
    for (unsigned i = 0; i < c->inputs && !status; i++) {
        const mona_tensor_info t = mona_plan_input(c->bound->plan, i);
        status = mona_device_upload(c->device, &l->in[i], &inputs[i], &t);
    }
    enter(c, turns, ticket);
    if (!status)
        status = mona_session_run(c->bound->session, l->in, l->out);
    leave(c, turns);
    for (unsigned i = 0; i < c->outputs && !status; i++) {
        const mona_tensor_info t = mona_plan_output(c->bound->plan, i);
        if (outputs[i].data)
            status = mona_device_download(c->device, &outputs[i], &l->out[i], &t);
    }
    return status;
}

mona_status chip_run(chip *c, unsigned lane, const mona_buffer *inputs, const mona_buffer *outputs)
{
    return c->om ? run_om(c, lane, inputs, outputs) : run_session(c, lane, inputs, outputs);
}

void chip_close(chip *c)
{
    if (!c->device)
        return;
    for (unsigned i = 0; i < CHIP_OM_LANES; i++) {
        if (c->lane[i].host)
            free(c->lane[i].host);
        else
            mona_device_free(c->device, c->lane[i].memory);
        free(c->lane[i].values);
    }
    pthread_cond_destroy(&c->ended);
    pthread_mutex_destroy(&c->lock);
    session_binding_close(&c->own);
    mona_om_close(c->om);
    free(c->om);
    *c = (chip){0};
}
