// SPDX-License-Identifier: Apache-2.0
#include "engine/ascend/session.h"

#include "engine/ascend/acl.h"
#include "engine/ascend/words.h"
#include "engine/libc.h"
#include "engine/mona_ascend.h"
#include "engine/model310/session_modelled.h"
#include "engine/op/programs.h"

static size_t core_bytes(const mona_plan *plan)
{
    const chip_session *c = NULL;
    return align_up(sizeof *c + plan->program.header.segments * sizeof c->segment[0]);
}

/* ---- planning -------------------------------------------------------------------------------- */

static mona_status plan_program(mona_plan *plan)
{
    const char *why;
    const mona_status status = mona_program_plan(plan);
    if (status)
        return status;
    if (!mona_plan_has_program(plan))
        return ASCEND_REFUSE(
            "the model has no AI Core program for this size: mona compile MODEL --target "
            "ascend310 --size WxH -o OUT.mona writes one");
    const ac_program *p = &plan->program;
    bool arrays = false;
    for (uint32_t i = 0; i < p->header.segments; i++) {
        arrays |= p->segments[i].array;
        if (!ascend_words_bytes(p, i, &why))
            return ASCEND_REFUSE(why);
    }
    if (!arrays)
        plan->planes_bytes = 0; /* they are on the chip alone */
    return MONA_OK;
}

/* ---- the chip's memory ----------------------------------------------------------------------- */

static size_t place(chip_session *c, size_t bytes)
{
    const size_t at = c->end;
    c->end += ascend_room(bytes);
    return at;
}

/* Whether an operator with a program reads this one's array. */
static bool cores_read(const mona_plan *plan, uint32_t writer)
{
    for (uint32_t o = writer + 1; o < plan->model.header->op_count; o++)
        for (uint32_t i = 0; i < MONA_OP_MAX_INPUTS && !mona_program_on_cpus(plan, o); i++)
            if (plan->ops[o].array_writer[i] == writer)
                return true;
    return false;
}

static void lay_out(chip_session *c, const mona_plan *plan)
{
    const ac_program *p = &plan->program;
    c->constants = place(c, p->header.constants_bytes);
    for (uint32_t b = 0; b < p->header.buffers; b++)
        c->buffers[b] = place(c, p->buffers[b].bytes);
    for (uint32_t t = 0; t < SESSION_TABLES; t++)
        c->tables[t] = place(c, sizeof c->table[t]);
    for (uint32_t i = 0; i < p->header.segments; i++) {
        c->segment[i].sent = p->segments[i].array && cores_read(plan, p->segments[i].array - 1);
        c->segment[i].words = place(c, ascend_words_bytes(p, i, NULL));
        for (uint32_t t = 0; t < SESSION_TABLES; t++)
            c->segment[i].arguments[t] = place(c, 2 * sizeof(uint64_t));
    }
}

static bool small_channels_bit;

void mona_ascend_set_small_channels_bit(bool on)
{
    small_channels_bit = on;
}

static void make_image(const ac_program *p, uint32_t segment, void *image)
{
    ascend_words_make(p, segment, image);
    ((uint64_t *)image)[WORDS_CONTROL] = (uint64_t)small_channels_bit << 63;
}

/* On a card, images are made in memory of the host that AscendCL lends. */
static mona_status send_image(const chip_session *c, const ac_program *p, uint32_t segment)
{
    const size_t bytes = ascend_words_bytes(p, segment, NULL);
    void *image;
    if (ascend_on_chip()) {
        make_image(p, segment, c->memory + c->segment[segment].words);
        return MONA_OK;
    }
    mona_status status =
        ascend_check(ascend.aclrtMallocHost(&image, bytes), "memory cannot be reserved");
    if (status)
        return status;
    make_image(p, segment, image);
    status = chip_session_send(c, c->segment[segment].words, image, bytes);
    ascend.aclrtFreeHost(image);
    return status;
}

static mona_status send_words(const chip_session *c, const ac_program *p, uint32_t segment)
{
    mona_status status = send_image(c, p, segment);
    for (uint32_t t = 0; t < SESSION_TABLES && !status; t++) {
        const uint64_t arguments[] = {chip_session_address(c, c->segment[segment].words),
                                      chip_session_address(c, c->tables[t])};
        status =
            chip_session_send(c, c->segment[segment].arguments[t], arguments, sizeof arguments);
    }
    return status;
}

static void close_session(mona_session *s)
{
    chip_session *c = chip_session_of(s);
    if (ascend_enter(s->plan->device->number))
        ascend_stream_close(&c->stream);
    ascend_free(c->memory);
    c->memory = NULL;
}

static mona_status fill(chip_session *c, const ac_program *p)
{
    mona_status status =
        chip_session_send(c, c->constants, p->constants, p->header.constants_bytes);
    for (uint32_t i = 0; i < p->header.segments && !status; i++)
        status = send_words(c, p, i);
    return status ? status : ascend_stream_open(&c->stream);
}

static mona_status open_session(mona_session *s)
{
    const ac_program *p = &s->plan->program;
    chip_session *c = chip_session_of(s);
    void *memory;
    if (!mona_plan_has_program(s->plan))
        return ASCEND_REFUSE(
            "the chip runs programs as they were compiled: leave strip rows, tile columns "
            "and threads to them");
    memset(c, 0, sizeof *c);
    if (!ascend_enter(s->plan->device->number))
        return MONA_ERR_DEVICE;
    mona_status status = ascend_register_kernel(p, &c->kernel);
    lay_out(c, s->plan);
    if (!status)
        status = ascend_allocate(c->end, &memory);
    if (status)
        return status;
    c->memory = memory;
    status = fill(c, p);
    if (status)
        close_session(s);
    return status;
}

const mona_ai_core ascend_ai_core = {
    .programs = mona_programs,
    .plan = plan_program,
    .core_bytes = core_bytes,
    .open = open_session,
    .close = close_session,
    .run = chip_session_run,
};
