// SPDX-License-Identifier: Apache-2.0
/* Runs models that the vendor's compiler made (.om). */
#include "engine/ascend/stream.h"

#include <stdatomic.h>

#include "engine/libc.h"
#include "engine/mona_ascend.h"
#include "engine/name.h"
#include "engine/port/library.h"

enum { MAX_TENSORS = MONA_MAX_IO + 1 }; /* a model of several batches or sizes has one more input */

typedef struct data_set {
    struct aclmdlDataset *set[2]; /* of inputs, of outputs */
    struct aclDataBuffer *buffer[2][MAX_TENSORS];
    uint8_t *at[2][MAX_TENSORS];
} data_set;

/* The vendor's models must not run on two streams at a time, so each load has one. */
typedef struct model_load {
    atomic_flag busy;
    uint32_t model;
    bool loaded;
    void *memory;
    ascend_stream stream;
} model_load;

enum { LOADS = 2 };

struct mona_om {
    model_load loads[LOADS];
    unsigned load_count;
    uint8_t *memory;
    struct aclmdlDesc *desc;
    unsigned count[2];
    size_t hidden; /* index of the input that tells batch or size; MAX_TENSORS: none */
    mona_om_tensor tensor[2][MONA_MAX_IO];
    size_t room[2][MAX_TENSORS]; /* of the largest batch or size */
    ascend_dims dims[2][MONA_MAX_IO];
    data_set slots[MONA_OM_SLOTS];
};

size_t mona_om_bytes(void)
{
    return (sizeof(mona_om) + MONA_ALIGNMENT - 1) / MONA_ALIGNMENT * MONA_ALIGNMENT;
}

/* ---- what the model is ------------------------------------------------------------------------ */

static bool type_of(int type, mona_type *found)
{
    static const struct {
        int theirs;
        mona_type ours;
    } types[] = {{ASCEND_FLOAT, MONA_F32},  {ASCEND_FLOAT16, MONA_F16}, {ASCEND_INT8, MONA_S8},
                 {ASCEND_INT32, MONA_S32},  {ASCEND_UINT8, MONA_U8},    {ASCEND_INT16, MONA_S16},
                 {ASCEND_UINT16, MONA_U16}, {ASCEND_UINT32, MONA_U32},  {ASCEND_INT64, MONA_S64},
                 {ASCEND_UINT64, MONA_U64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].theirs == type) {
            *found = types[i].ours;
            return true;
        }
    return false;
}

static mona_status refuse(const char *why, const char *name)
{
    ASCEND_REPORT(why, name);
    return MONA_ERR_UNSUPPORTED;
}

/* Sets a tensor's dims; those that the model leaves open are `batch` and `size`, or twice the size
 * and so on, which the size of the output's buffer tells (fix_outputs). */
static mona_status read_tensor(mona_om *om, unsigned side, unsigned i)
{
    mona_om_tensor *t = &om->tensor[side][i];
    ascend_dims *d = &om->dims[side][i];
    const mona_status status = ascend_check(side ? ascend.aclmdlGetOutputDims(om->desc, i, d)
                                                 : ascend.aclmdlGetInputDims(om->desc, i, d),
                                            "the model's tensors cannot be read");
    if (status)
        return status;
    d->name[sizeof d->name - 1] = 0;
    t->name = side ? d->name : ascend.aclmdlGetInputNameByIndex(om->desc, i);
    t->input = !side;
    t->rank = (unsigned)d->count;
    const int type = side ? ascend.aclmdlGetOutputDataType(om->desc, i)
                          : ascend.aclmdlGetInputDataType(om->desc, i);
    if (!type_of(type, &t->type))
        return refuse("the model has a tensor of a type that mona does not have: ", t->name);
    if (d->count > MONA_OM_DIMS)
        return refuse("the model has a tensor of more than 6 dimensions: ", t->name);
    t->channels_last = !side && ascend.aclmdlGetInputFormat(om->desc, i) == ASCEND_NHWC;
    return MONA_OK;
}

static mona_status read_desc(mona_om *om)
{
    const size_t inputs = ascend.aclmdlGetNumInputs(om->desc);
    const size_t outputs = ascend.aclmdlGetNumOutputs(om->desc);
    mona_status status = MONA_OK;
    om->hidden = MAX_TENSORS;
    if (!inputs || !outputs || inputs > MAX_TENSORS || outputs > MONA_MAX_IO)
        return refuse("the model has more than 8 inputs or outputs, or none", "");
    for (size_t i = 0; i < inputs; i++) {
        const char *name = ascend.aclmdlGetInputNameByIndex(om->desc, i);
        om->room[0][i] = ascend.aclmdlGetInputSizeByIndex(om->desc, i);
        if (name && mona_names_equal(name, "ascend_dynamic_aipp_data"))
            return refuse("the model takes its AIPP settings with every frame: compile it with "
                          "static AIPP",
                          "");
        if (name && mona_names_equal(name, "ascend_mbatch_shape_data"))
            om->hidden = i;
    }
    if (om->hidden < MAX_TENSORS && om->hidden != inputs - 1)
        return refuse("the model's batch is not its last input", "");
    om->count[0] = (unsigned)inputs - (om->hidden < MAX_TENSORS);
    om->count[1] = (unsigned)outputs;
    if (om->count[0] > MONA_MAX_IO)
        return refuse("the model has more than 8 inputs", "");
    for (size_t i = 0; i < outputs; i++)
        om->room[1][i] = ascend.aclmdlGetOutputSizeByIndex(om->desc, i);
    for (unsigned side = 0; side < 2; side++)
        for (unsigned i = 0; i < om->count[side] && !status; i++)
            status = read_tensor(om, side, i);
    return status;
}

/* ---- batch and size --------------------------------------------------------------------------- */

typedef struct choice {
    uint64_t batch, most_batch, height, width, most_pixels;
} choice;

/* False: the model was not compiled for this. */
static bool choose_batch(mona_om *om, uint32_t asked, choice *c)
{
    ascend_batches b = {0};
    c->batch = c->most_batch = 1;
    if (om->hidden == MAX_TENSORS || ascend.aclmdlGetDynamicBatch(om->desc, &b) || !b.count)
        return asked <= 1 || om->dims[0][0].dims[0] == (int64_t)asked;
    bool found = !asked;
    c->batch = asked ? asked : b.batches[0];
    for (size_t i = 0; i < b.count && i < ASCEND_MAX_DIMS; i++) {
        found = found || b.batches[i] == asked;
        c->most_batch = b.batches[i] > c->most_batch ? b.batches[i] : c->most_batch;
    }
    return found;
}

static bool choose_size(mona_om *om, mona_size asked, choice *c)
{
    ascend_sizes s = {0};
    if (om->hidden == MAX_TENSORS || ascend.aclmdlGetDynamicHW(om->desc, SIZE_MAX, &s) || !s.count)
        return true;
    bool found = !asked.width;
    c->height = asked.width ? asked.height : s.height_width[0][0];
    c->width = asked.width ? asked.width : s.height_width[0][1];
    for (size_t i = 0; i < s.count && i < ASCEND_MAX_DIMS; i++) {
        const uint64_t *hw = s.height_width[i];
        found = found || (hw[0] == asked.height && hw[1] == asked.width);
        c->most_pixels = hw[0] * hw[1] > c->most_pixels ? hw[0] * hw[1] : c->most_pixels;
    }
    return found;
}

/* How many times larger than the input an output of open size is: its buffer tells, which has room
 * for the largest size. 0: unknown. */
static uint64_t growth(const mona_om *om, unsigned i, const choice *c)
{
    const ascend_dims *d = &om->dims[1][i];
    uint64_t known = mona_type_size(om->tensor[1][i].type) * c->most_batch * c->most_pixels;
    for (unsigned k = 0; k + 2 < d->count; k++)
        known *= d->dims[k] > 0 ? (uint64_t)d->dims[k] : 1;
    const uint64_t area = known ? om->room[1][i] / known : 0;
    for (uint64_t g = 1; g <= 8; g++)
        if (g * g == area)
            return g;
    return 0;
}

static mona_status bind_dims(mona_om *om, unsigned side, unsigned i, const choice *c)
{
    mona_om_tensor *t = &om->tensor[side][i];
    const ascend_dims *d = &om->dims[side][i];
    t->bytes = mona_type_size(t->type);
    for (unsigned k = 0; k < t->rank; k++) {
        int64_t dim = d->dims[k];
        const unsigned from_end = t->rank - k - (t->channels_last && t->rank == 4 && k ? 1 : 0);
        if (dim < 0 && k == 0)
            dim = (int64_t)c->batch;
        else if (dim < 0 && (from_end == 1 || from_end == 2))
            dim = (int64_t)((from_end == 1 ? c->width : c->height) * (side ? growth(om, i, c) : 1));
        if (dim <= 0 || dim > INT32_MAX || t->bytes > SIZE_MAX / (uint64_t)dim)
            return refuse("the model leaves a dimension open that mona cannot find: ", t->name);
        t->dims[k] = (uint32_t)dim;
        t->bytes *= (size_t)dim;
    }
    return t->bytes <= om->room[side][i]
               ? MONA_OK
               : refuse("the model's buffer is smaller than its tensor: ", t->name);
}

static mona_status bind_model(mona_om *om, uint32_t batch, mona_size size, choice *c)
{
    *c = (choice){.most_pixels = 1};
    if (!choose_batch(om, batch, c) || !choose_size(om, size, c)) {
        ASCEND_REPORT("the model was not compiled for this batch or size");
        return MONA_ERR_SHAPE;
    }
    mona_status status = MONA_OK;
    for (unsigned side = 0; side < 2; side++)
        for (unsigned i = 0; i < om->count[side] && !status; i++)
            status = bind_dims(om, side, i, c);
    return status;
}

/* ---- memory ----------------------------------------------------------------------------------- */

static unsigned buffers_of(const mona_om *om, unsigned side)
{
    return om->count[side] + (side == 0 && om->hidden < MAX_TENSORS);
}

/* What AscendCL makes without a code is NULL if the host has no memory left. */
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

static mona_status set_choice(mona_om *om, const model_load *l, const choice *c)
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
            status = ascend_upload(file, bytes, (ptrdiff_t)size, size, 1);
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
static void load_again(mona_om *om, const void *bytes, size_t size, const choice *c)
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
    choice c;
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
        status = read_desc(om);
    if (!status)
        status = bind_model(om, batch, frame, &c);
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

mona_status mona_om_open(mona_om *om, const void *bytes, size_t size, uint32_t batch,
                         mona_size frame)
{
    if (!om || !bytes || !size)
        return MONA_ERR_ARGUMENT;
    memset(om, 0, sizeof *om);
    if (!ascend_open() || !ascend_enter())
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

void mona_om_close(mona_om *om)
{
    if (!om || !ascend_enter())
        return;
    for (unsigned i = 0; i < om->load_count; i++)
        unload(&om->loads[i]);
    if (om->desc)
        ascend.aclmdlDestroyDesc(om->desc);
    for (unsigned slot = 0; slot < MONA_OM_SLOTS; slot++)
        close_set(&om->slots[slot]);
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

/* ---- a frame ---------------------------------------------------------------------------------- */

mona_status mona_om_upload(mona_om *om, unsigned slot, const mona_om_rows *inputs)
{
    mona_status status = MONA_OK;
    for (unsigned i = 0; i < om->count[0] && !status; i++)
        status = ascend_upload(om->slots[slot].at[0][i], inputs[i].data, inputs[i].stride,
                               inputs[i].row_bytes, om->tensor[0][i].bytes / inputs[i].row_bytes);
    return status;
}

/* With one load, the slots take turns. */
mona_status mona_om_run(mona_om *om, unsigned slot)
{
    data_set *d = &om->slots[slot];
    model_load *l = &om->loads[slot % om->load_count];
    if (!ascend_enter())
        return MONA_ERR_DEVICE;
    while (atomic_flag_test_and_set(&l->busy))
        mona_port_pause(100);
    ascend_step_begin(&l->stream);
    mona_status status =
        ascend_check(ascend.aclmdlExecuteAsync(l->model, d->set[0], d->set[1], l->stream.handle),
                     "the model cannot be run");
    if (!status)
        status = ascend_step_end(&l->stream, MONA_ASCEND_RUN, "a frame cannot be computed");
    atomic_flag_clear(&l->busy);
    return status;
}

mona_status mona_om_download(mona_om *om, unsigned slot, const mona_om_rows *outputs)
{
    mona_status status = MONA_OK;
    for (unsigned i = 0; i < om->count[1] && !status; i++)
        status =
            ascend_download(outputs[i].data, outputs[i].stride, om->slots[slot].at[1][i],
                            outputs[i].row_bytes, om->tensor[1][i].bytes / outputs[i].row_bytes);
    return status;
}
