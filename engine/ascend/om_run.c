// SPDX-License-Identifier: Apache-2.0
/* Runs a frame through a model from the vendor's compiler. */
#include "engine/ascend/om.h"

#include "engine/port/library.h"

/* Whether the model uses a tensor where it is. */
static bool is_in_place(const mona_om *om, unsigned side, unsigned i, const mona_om_rows *r)
{
    return ascend_on_chip() && ascend_owns(r->data) && r->stride == (ptrdiff_t)r->row_bytes &&
           (uintptr_t)r->data % MONA_ALIGNMENT == 0 &&
           om->tensor[side][i].bytes == om->room[side][i];
}

/* Lets the model use tensors where they are, and the slot's own memory for the others. */
static mona_status bind(const mona_om *om, unsigned slot, unsigned side, const mona_om_rows *rows)
{
    const data_set *d = &om->slots[slot];
    mona_status status = MONA_OK;
    for (unsigned i = 0; i < om->count[side] && ascend_on_chip() && !status; i++)
        status =
            ascend_check(ascend.aclUpdateDataBuffer(
                             d->buffer[side][i],
                             is_in_place(om, side, i, &rows[i]) ? rows[i].data : d->at[side][i],
                             om->room[side][i]),
                         "the model's tensors cannot be placed");
    return status;
}

mona_status mona_om_upload(mona_om *om, unsigned slot, const mona_om_rows *inputs)
{
    mona_status status = ascend_enter(om->chip) ? bind(om, slot, 0, inputs) : MONA_ERR_DEVICE;
    for (unsigned i = 0; i < om->count[0] && !status; i++)
        if (!is_in_place(om, 0, i, &inputs[i]))
            status = ascend_upload(om->slots[slot].at[0][i], inputs[i].row_bytes, inputs[i].data,
                                   inputs[i].stride, inputs[i].row_bytes,
                                   om->tensor[0][i].bytes / inputs[i].row_bytes);
    return status;
}

/* With one load, the slots take turns. */
mona_status mona_om_run(mona_om *om, unsigned slot, const mona_om_rows *outputs)
{
    data_set *d = &om->slots[slot];
    model_load *l = &om->loads[slot % om->load_count];
    if (!ascend_enter(om->chip))
        return MONA_ERR_DEVICE;
    mona_status status = bind(om, slot, 1, outputs);
    if (status)
        return status;
    while (atomic_flag_test_and_set(&l->busy))
        mona_port_pause(100);
    status = l->stream.failed;
    if (!status) {
        ascend_step_begin(&l->stream);
        status = ascend_check(
            ascend.aclmdlExecuteAsync(l->model, d->set[0], d->set[1], l->stream.handle),
            "the model cannot be run");
    }
    if (!status)
        status = ascend_step_end(&l->stream, MONA_ASCEND_RUN, "a frame cannot be computed");
    atomic_flag_clear(&l->busy);
    return status;
}

mona_status mona_om_download(mona_om *om, unsigned slot, const mona_om_rows *outputs)
{
    mona_status status = ascend_enter(om->chip) ? MONA_OK : MONA_ERR_DEVICE;
    for (unsigned i = 0; i < om->count[1] && !status; i++)
        if (!is_in_place(om, 1, i, &outputs[i]))
            status = ascend_download(outputs[i].data, outputs[i].stride, om->slots[slot].at[1][i],
                                     outputs[i].row_bytes, outputs[i].row_bytes,
                                     om->tensor[1][i].bytes / outputs[i].row_bytes);
    return status;
}
