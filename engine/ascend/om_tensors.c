// SPDX-License-Identifier: Apache-2.0
#include "engine/ascend/om.h"

#include "engine/libc.h"

/* ---- what the model is ----------------------------------------------------------------------- */

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

/* Sets a tensor's dims; those that the model leaves open are `batch` and `size`, or twice the size
 * and so on, which the size of the output's buffer tells. */
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
        return ASCEND_REFUSE("the model has a tensor of a type that mona does not have: ", t->name);
    if (d->count > MONA_OM_DIMS)
        return ASCEND_REFUSE("the model has a tensor of more than 6 dimensions: ", t->name);
    t->channels_last = !side && ascend.aclmdlGetInputFormat(om->desc, i) == ASCEND_NHWC;
    return MONA_OK;
}

mona_status om_read_desc(mona_om *om)
{
    const size_t inputs = ascend.aclmdlGetNumInputs(om->desc);
    const size_t outputs = ascend.aclmdlGetNumOutputs(om->desc);
    mona_status status = MONA_OK;
    om->hidden = MAX_TENSORS;
    if (!inputs || !outputs || inputs > MAX_TENSORS || outputs > MONA_MAX_IO)
        return ASCEND_REFUSE("the model has more than 8 inputs or outputs, or none", "");
    for (size_t i = 0; i < inputs; i++) {
        const char *name = ascend.aclmdlGetInputNameByIndex(om->desc, i);
        om->room[0][i] = ascend.aclmdlGetInputSizeByIndex(om->desc, i);
        if (name && mona_names_equal(name, "ascend_dynamic_aipp_data"))
            return ASCEND_REFUSE(
                "the model takes its AIPP settings with every frame: compile it with "
                "static AIPP",
                "");
        if (name && mona_names_equal(name, "ascend_mbatch_shape_data"))
            om->hidden = i;
    }
    if (om->hidden < MAX_TENSORS && om->hidden != inputs - 1)
        return ASCEND_REFUSE("the model's batch is not its last input", "");
    om->count[0] = (unsigned)inputs - (om->hidden < MAX_TENSORS);
    om->count[1] = (unsigned)outputs;
    if (om->count[0] > MONA_MAX_IO)
        return ASCEND_REFUSE("the model has more than 8 inputs", "");
    for (size_t i = 0; i < outputs; i++)
        om->room[1][i] = ascend.aclmdlGetOutputSizeByIndex(om->desc, i);
    for (unsigned side = 0; side < 2; side++)
        for (unsigned i = 0; i < om->count[side] && !status; i++)
            status = read_tensor(om, side, i);
    return status;
}

/* ---- batch and size -------------------------------------------------------------------------- */

/* False: the model was not compiled for this. */
static bool choose_batch(mona_om *om, uint32_t asked, om_choice *c)
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

static bool choose_size(mona_om *om, mona_size asked, om_choice *c)
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
static uint64_t growth(const mona_om *om, unsigned i, const om_choice *c)
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

static mona_status bind_dims(mona_om *om, unsigned side, unsigned i, const om_choice *c)
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
            return ASCEND_REFUSE("the model leaves a dimension open that mona cannot find: ",
                                 t->name);
        t->dims[k] = (uint32_t)dim;
        t->bytes *= (size_t)dim;
    }
    return t->bytes <= om->room[side][i]
               ? MONA_OK
               : ASCEND_REFUSE("the model's buffer is smaller than its tensor: ", t->name);
}

mona_status om_bind_model(mona_om *om, uint32_t batch, mona_size size, om_choice *c)
{
    *c = (om_choice){.most_pixels = 1};
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
