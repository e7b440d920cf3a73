// SPDX-License-Identifier: Apache-2.0
/* Runs a frame through a session on the chip. */
#include "engine/ascend/session.h"

#include "engine/ascend/acl.h"
#include "engine/libc.h"
#include "engine/model310/session_modelled.h"

static const mona_buffer *plane_of(const mona_session *s, uint32_t tensor)
{
    const uint32_t inputs = s->plan->model.header->input_count;
    return tensor < inputs ? &s->inputs[tensor] : &s->outputs[tensor - inputs];
}

static mona_buffer planes_at(const mona_session *s, uint32_t tensor, void *memory)
{
    const mona_tensor_info info = mona_plan_planes_info(s->plan, tensor);
    return mona_device_planes(memory, NULL, &info);
}

/* Whether planes lie as a program has them. */
static bool lie_right(const mona_session *s, uint32_t tensor)
{
    const mona_buffer *b = plane_of(s, tensor), right = planes_at(s, tensor, b->data);
    return b->row_stride == right.row_stride && (uintptr_t)b->data % AC_BLOCK == 0 &&
           (s->plan->shapes[tensor].channels == 1 || b->channel_stride == right.channel_stride);
}

/* Whether AI Cores read or write a tensor's planes where they are: those in the chip's memory. A
 * module's CPU has that memory too, and may leave gaps in it: then its planes are copied. */
static bool is_in_place(const mona_session *s, uint32_t tensor)
{
    return ascend_owns(plane_of(s, tensor)->data) && (!ascend_on_chip() || lie_right(s, tensor));
}

/* Sends or fetches all channels of a tensor whose planes are not in place. */
static mona_status transfer(const mona_session *s, uint32_t tensor, bool upload)
{
    const chip_session *c = chip_session_of(s);
    const mona_shape *shape = &s->plan->shapes[tensor];
    const mona_buffer *host = plane_of(s, tensor);
    const size_t row = shape->width * mona_type_size(shape->type);
    const mona_buffer planes = planes_at(s, tensor, c->memory + c->buffers[tensor]);
    const size_t pitch = (size_t)planes.row_stride;
    const bool together =
        shape->channels == 1 || host->channel_stride == (ptrdiff_t)shape->height * host->row_stride;
    const uint32_t copies = together ? 1 : shape->channels;
    const size_t rows = (size_t)shape->height * shape->channels / copies;
    mona_status status = MONA_OK;
    for (uint32_t i = 0; i < copies && !status; i++) {
        uint8_t *chip = (uint8_t *)planes.data + i * rows * pitch;
        uint8_t *data = (uint8_t *)host->data + (ptrdiff_t)i * host->channel_stride;
        status = upload ? ascend_upload(chip, pitch, data, host->row_stride, row, rows)
                        : ascend_download(data, host->row_stride, chip, pitch, row, rows);
    }
    return status;
}

/* The table of the addresses of these planes. */
static mona_status find_table(mona_session *s, uint32_t *found)
{
    chip_session *c = chip_session_of(s);
    const ac_program *p = &s->plan->program;
    const mona_file_header *h = s->plan->model.header;
    uint64_t wanted[WORDS_BASES] = {chip_session_address(c, c->constants)};
    for (uint32_t b = 0; b < p->header.buffers; b++) {
        const bool plane = b < h->input_count + h->output_count;
        wanted[1 + b] = plane && is_in_place(s, b) ? (uint64_t)(uintptr_t)plane_of(s, b)->data
                                                   : chip_session_address(c, c->buffers[b]);
    }
    for (uint32_t t = 0; t < SESSION_TABLES; t++)
        if (!memcmp(c->table[t], wanted, sizeof wanted)) {
            *found = t;
            return MONA_OK;
        }
    *found = c->next_table++ % SESSION_TABLES;
    memcpy(c->table[*found], wanted, sizeof wanted);
    return chip_session_send(c, c->tables[*found], wanted, sizeof wanted);
}

/* ---- segments -------------------------------------------------------------------------------- */

static mona_status wait(chip_session *c)
{
    return ascend_step_end(&c->stream, MONA_ASCEND_RUN, "a frame cannot be computed");
}

/* Sends or fetches bytes that lie alike on the chip and in the arena. */
static mona_status exchange(uint64_t at, void *host, size_t bytes, bool upload)
{
    uint8_t *chip = (uint8_t *)(uintptr_t)at;
    return upload ? ascend_upload(chip, bytes, host, (ptrdiff_t)bytes, bytes, 1)
                  : ascend_download(host, (ptrdiff_t)bytes, chip, bytes, bytes, 1);
}

static mona_status exchange_planes(const mona_session *s, uint32_t table, uint32_t tensor,
                                   bool upload)
{
    return exchange(chip_session_of(s)->table[table][1 + tensor],
                    mona_program_planes(s, tensor).data, s->plan->program.buffers[tensor].bytes,
                    upload);
}

/* writer: the operator that computes the array. */
static mona_status exchange_array(const mona_session *s, uint32_t table, uint32_t writer,
                                  bool upload)
{
    const plan_op *op = &s->plan->ops[writer];
    const uint64_t maps = chip_session_of(s)->table[table][s->plan->program.header.buffers];
    return exchange(maps + op->ring_offset, mona_session_array(s, writer).data, op->map_bytes,
                    upload);
}

/* Runs an operator on arrays on the CPU: AI Cores have no program for it. Only arrays that they
 * write or read pass between the two memories. */
static mona_status run_array(mona_session *s, uint32_t table, uint32_t segment)
{
    const uint32_t index = s->plan->program.segments[segment].array - 1;
    const plan_op *op = &s->plan->ops[index];
    const mona_file_op *file = op->bound.op;
    mona_buffer planes[2 * MONA_MAX_IO];
    mona_status status = MONA_OK;
    for (uint32_t i = 0; i < file->input_count && !status; i++)
        if (op->array_writer[i] != MONA_NONE)
            status = mona_program_on_cpus(s->plan, op->array_writer[i])
                         ? MONA_OK
                         : exchange_array(s, table, op->array_writer[i], false);
        else if (file->inputs[i] != MONA_NONE)
            status = exchange_planes(s, table, file->inputs[i], false);
    if (status)
        return status;
    const mona_buffer *inputs = s->inputs, *outputs = s->outputs;
    mona_program_see_planes(s, planes);
    for (uint32_t part = 0; part < op->group.parts; part++)
        mona_session_run_map(&s->workers[part], &op->group, part);
    s->inputs = inputs, s->outputs = outputs;
    if (!op->array)
        return exchange_planes(s, table, file->output, true);
    return chip_session_of(s)->segment[segment].sent ? exchange_array(s, table, index, true)
                                                     : MONA_OK;
}

static mona_status run_segments(mona_session *s, uint32_t table)
{
    chip_session *c = chip_session_of(s);
    const ac_program *p = &s->plan->program;
    mona_status status = c->stream.failed;
    ascend_step_begin(&c->stream);
    for (uint32_t i = 0; i < p->header.segments && !status; i++) {
        if (p->segments[i].array) {
            status = wait(c);
            if (!status)
                status = run_array(s, table, i);
            ascend_step_begin(&c->stream);
            continue;
        }
        if (ac_runs_beside(p->segments, p->header.segments, i))
            continue; /* it is part of the image of the one before */
        const ascend_task task = {chip_session_address(c, c->segment[i].words),
                                  chip_session_address(c, c->tables[table]),
                                  c->memory + c->segment[i].arguments[table]};
        status = ascend_launch(c->kernel, &task, c->stream.handle);
    }
    return status ? status : wait(c);
}

mona_status chip_session_run(mona_session *s)
{
    const mona_file_header *h = s->plan->model.header;
    uint32_t table;
    mona_status status = ascend_enter(s->plan->device->number) ? MONA_OK : MONA_ERR_DEVICE;
    for (uint32_t i = 0; i < h->input_count + h->output_count && !status; i++) {
        if (!is_in_place(s, i))
            status = i < h->input_count ? transfer(s, i, true) : MONA_OK;
        else if (!lie_right(s, i))
            status = MONA_ERR_ARGUMENT;
    }
    if (!status)
        status = find_table(s, &table);
    if (!status)
        status = run_segments(s, table);
    for (uint32_t i = h->input_count; i < h->input_count + h->output_count && !status; i++)
        if (!is_in_place(s, i))
            status = transfer(s, i, false);
    return status;
}
