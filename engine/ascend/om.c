// SPDX-License-Identifier: Apache-2.0
/* Loads models from the vendor's compiler (.om). */
#include "engine/ascend/om.h"

#include "engine/libc.h"
#include "engine/run/device.h"

size_t mona_om_bytes(void)
{
    return (sizeof(mona_om) + MONA_ALIGNMENT - 1) / MONA_ALIGNMENT * MONA_ALIGNMENT;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static unsigned buffers_of(const mona_om *om, unsigned side)
{
    return om->count[side] + (side == 0 && om->hidden < MAX_TENSORS);
}

/* Objects that AscendCL makes without an error code are NULL if the host is out of memory. */
static mona_status check_made(const void *made)
{
    return made ? MONA_OK
                : ascend_check(ASCEND_NO_HOST_MEMORY, "the model's tensors cannot be placed");
}

static mona_status add_buffer(data_set *d, unsigned side, unsigned i, void *at, size_t bytes)
{
    d->at[side][i] = at;
    d->buffer[side][i] = ascend.aclCreateDataBuffer(at, bytes);
    const mona_status status = check_made(d->buffer[side][i]);
    return status ? status
                  : ascend_check(ascend.aclmdlAddDatasetBuffer(d->set[side], d->buffer[side][i]),
                                 "the model's tensors cannot be placed");
}

/* Adds the buffers of all slots behind *end; memory NULL: only counts. */
static mona_status make_sets(mona_om *om, uint8_t *memory, size_t *end)
{
    mona_status status = MONA_OK;
    for (unsigned slot = 0; slot < MONA_OM_SLOTS; slot++)
        for (unsigned side = 0; side < 2 && !status; side++) {
            data_set *d = &om->slots[slot];
            if (memory)
                status = check_made(d->set[side] = ascend.aclmdlCreateDataset());
            for (unsigned i = 0; i < buffers_of(om, side) && !status; i++) {
                if (memory)
                    status = add_buffer(d, side, i, memory + *end, om->room[side][i]);
                *end += ascend_room(om->room[side][i]);
            }
        }
    return status;
}

static mona_status set_choice(mona_om *om, const model_load *l, const om_choice *c)
{
    mona_status status = MONA_OK;
    for (unsigned slot = 0; slot < MONA_OM_SLOTS && om->hidden < MAX_TENSORS && !status; slot++) {
        struct aclmdlDataset *inputs = om->slots[slot].set[0];
        status = ascend_check(
            c->height
                ? ascend.aclmdlSetDynamicHWSize(l->model, inputs, om->hidden, c->height, c->width)
                : ascend.aclmdlSetDynamicBatchSize(l->model, inputs, om->hidden, c->batch),
            "the model cannot be set to this batch or size");
    }
    return status;
}

/* On a module the file must lie in the chip's memory too, while it is loaded. */
static mona_status load(model_load *l, const void *bytes, size_t size)
{
    size_t work, weights;
    void *file = NULL;
    atomic_flag_clear(&l->busy);
    mona_status status = ascend_check(ascend.aclmdlQuerySizeFromMem(bytes, size, &work, &weights),
                                      "the model cannot be loaded");
    if (!status && ascend_on_chip()) {
        status = ascend_allocate(size, &file);
        if (!status)
            status = ascend_upload(file, size, bytes, (ptrdiff_t)size, size, 1);
    }
    const size_t room = ascend_room(work ? work : 1);
    if (!status)
        status = ascend_allocate(room + ascend_room(weights), &l->memory);
    if (!status)
        status = ascend_check(ascend.aclmdlLoadFromMemWithMem(file ? file : bytes, size, &l->model,
                                                              l->memory, work,
                                                              (uint8_t *)l->memory + room, weights),
                              "the model cannot be loaded");
    l->loaded = !status;
    ascend_free(file);
    return status ? status : ascend_stream_open(&l->stream);
}

static void unload(model_load *l)
{
    ascend_stream_close(&l->stream);
    if (l->loaded)
        ascend.aclmdlUnload(l->model);
    ascend_free(l->memory);
    *l = (model_load){.busy = ATOMIC_FLAG_INIT};
}

/* The second load is for speed alone. */
static void load_again(mona_om *om, const void *bytes, size_t size, const om_choice *c)
{
    model_load *l = &om->loads[om->load_count];
    if (!load(l, bytes, size) && !set_choice(om, l, c)) {
        om->load_count++;
        return;
    }
    unload(l);
    mona_ascend_forget();
}

static mona_status open_model(mona_om *om, const void *bytes, size_t size, uint32_t batch,
                              mona_size frame)
{
    om_choice c;
    size_t end = 0;
    void *memory;
    mona_status status = load(&om->loads[0], bytes, size);
    om->load_count = 1;
    if (status)
        return status;
    status = check_made(om->desc = ascend.aclmdlCreateDesc());
    if (!status)
        status = ascend_check(ascend.aclmdlGetDesc(om->desc, om->loads[0].model),
                              "the model's tensors cannot be read");
    if (!status)
        status = om_read_desc(om);
    if (!status)
        status = om_bind_model(om, batch, frame, &c);
    if (status)
        return status;
    make_sets(om, NULL, &end);
    status = ascend_allocate(end, &memory);
    if (status)
        return status;
    om->memory = memory;
    end = 0;
    status = make_sets(om, om->memory, &end);
    if (!status)
        status = set_choice(om, &om->loads[0], &c);
    if (!status)
        load_again(om, bytes, size, &c);
    return status;
}

mona_status mona_om_open(mona_om *om, const mona_device *chip, const void *bytes, size_t size,
                         uint32_t batch, mona_size frame)
{
    if (!om || !chip || !bytes || !size)
        return MONA_ERR_ARGUMENT;
    memset(om, 0, sizeof *om);
    om->chip = chip->number;
    if (!ascend_open(om->chip) || !ascend_enter(om->chip))
        return MONA_ERR_DEVICE;
    const mona_status status = open_model(om, bytes, size, batch, frame);
    if (status)
        mona_om_close(om);
    return status;
}

static void close_set(data_set *d)
{
    for (unsigned side = 0; side < 2; side++) {
        for (unsigned i = 0; i < MAX_TENSORS; i++)
            if (d->buffer[side][i])
                ascend.aclDestroyDataBuffer(d->buffer[side][i]);
        if (d->set[side])
            ascend.aclmdlDestroyDataset(d->set[side]);
    }
}

/* Descriptions and data sets lie in the host's memory: they go though the chip is lost, which keeps
 * what it has. */
void mona_om_close(mona_om *om)
{
    if (!om)
        return;
    const bool reached = ascend_enter(om->chip);
    for (unsigned i = 0; i < om->load_count && reached; i++)
        unload(&om->loads[i]);
    if (om->desc)
        ascend.aclmdlDestroyDesc(om->desc);
    for (unsigned slot = 0; slot < MONA_OM_SLOTS; slot++)
        close_set(&om->slots[slot]);
    if (reached)
        ascend_free(om->memory);
    memset(om, 0, sizeof *om);
}

unsigned mona_om_input_count(const mona_om *om)
{
    return om->count[0];
}

unsigned mona_om_output_count(const mona_om *om)
{
    return om->count[1];
}

mona_om_tensor mona_om_input(const mona_om *om, unsigned index)
{
    return om->tensor[0][index];
}

mona_om_tensor mona_om_output(const mona_om *om, unsigned index)
{
    return om->tensor[1][index];
}
