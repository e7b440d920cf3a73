// SPDX-License-Identifier: Apache-2.0
/* Sessions on the chip: a model's program in the chip's memory, with planes for frames that the host
 * has, and a stream. */
#include "engine/ascend/session.h"

#include "engine/ascend/acl.h"
#include "engine/ascend/launch.h"
#include "engine/ascend/stream.h"
#include "engine/ascend/words.h"
#include "engine/libc.h"
#include "engine/model310/session_modelled.h"
#include "ops/ascend/programs.h"

/* Tables of addresses, each for a frame in other planes of the chip. */
enum { TABLES = 4 };

/* In the first core's region. Offsets count from memory. */
typedef struct chip_session {
    uint8_t *memory;
    ascend_stream stream;
    uint32_t next_table;
    size_t constants, buffers[AC_SPACES - AC_GM], tables[TABLES], end;
    uint64_t table[TABLES][WORDS_BASES]; /* what is there */
    struct {
        size_t words, arguments[TABLES];
    } segment[];
} chip_session;

static chip_session *of(const mona_session *s)
{
    return (chip_session *)(void *)(s->workers[0].region + s->plan->device_offset);
}

static size_t core_bytes(const mona_plan *plan)
{
    const chip_session *c = NULL;
    return align_up(sizeof *c + plan->program.header.segments * sizeof c->segment[0]);
}

/* ---- planning -------------------------------------------------------------------------------- */

static mona_status refuse(const char *why)
{
    ASCEND_REPORT(why);
    return MONA_ERR_UNSUPPORTED;
}

static mona_status plan_program(mona_plan *plan)
{
    const char *why;
    const mona_status status = mona_program_plan(plan);
    if (status)
        return status;
    if (!mona_plan_has_program(plan))
        return refuse("the model has no AI Core program for this size: mona compile MODEL --target "
                      "ascend310 --size WxH -o OUT.mona writes one");
    const ac_program *p = &plan->program;
    for (uint32_t i = 0; i < p->header.segments; i++)
        if (p->segments[i].array)
            return refuse("the model has operators on arrays, which AI Cores do not run");
        else if (!ascend_words_bytes(p, i, &why))
            return refuse(why);
    plan->planes_bytes = 0; /* they are on the chip */
    return MONA_OK;
}

/* ---- the chip's memory ------------------------------------------------------------------------ */

static size_t place(chip_session *c, size_t bytes)
{
    const size_t at = c->end;
    c->end += ascend_room(bytes);
    return at;
}

static void lay_out(chip_session *c, const ac_program *p)
{
    c->constants = place(c, p->header.constants_bytes);
    for (uint32_t b = 0; b < p->header.buffers; b++)
        c->buffers[b] = place(c, p->buffers[b].bytes);
    for (uint32_t t = 0; t < TABLES; t++)
        c->tables[t] = place(c, sizeof c->table[t]);
    for (uint32_t i = 0; i < p->header.segments; i++) {
        c->segment[i].words = place(c, ascend_words_bytes(p, i, NULL));
        for (uint32_t t = 0; t < TABLES; t++)
            c->segment[i].arguments[t] = place(c, 2 * sizeof(uint64_t));
    }
}

static uint64_t address(const chip_session *c, size_t at)
{
    return (uint64_t)(uintptr_t)(c->memory + at);
}

static mona_status send(const chip_session *c, size_t at, const void *bytes, size_t size)
{
    return size ? ascend_upload(c->memory + at, bytes, (ptrdiff_t)size, size, 1) : MONA_OK;
}

/* On a card, images are made in memory of the host that AscendCL lends. */
static mona_status send_image(const chip_session *c, const ac_program *p, uint32_t segment)
{
    const size_t bytes = ascend_words_bytes(p, segment, NULL);
    void *image;
    if (ascend_on_chip()) {
        ascend_words_make(p, segment, c->memory + c->segment[segment].words);
        return MONA_OK;
    }
    mona_status status =
        ascend_check(ascend.aclrtMallocHost(&image, bytes), "memory cannot be reserved");
    if (status)
        return status;
    ascend_words_make(p, segment, image);
    status = send(c, c->segment[segment].words, image, bytes);
    ascend.aclrtFreeHost(image);
    return status;
}

static mona_status send_words(const chip_session *c, const ac_program *p, uint32_t segment)
{
    mona_status status = send_image(c, p, segment);
    for (uint32_t t = 0; t < TABLES && !status; t++) {
        const uint64_t arguments[] = {address(c, c->segment[segment].words),
                                      address(c, c->tables[t])};
        status = send(c, c->segment[segment].arguments[t], arguments, sizeof arguments);
    }
    return status;
}

static void close_session(mona_session *s)
{
    chip_session *c = of(s);
    if (ascend_enter())
        ascend_stream_close(&c->stream);
    ascend_free(c->memory);
    c->memory = NULL;
}

static mona_status fill(chip_session *c, const ac_program *p)
{
    mona_status status = send(c, c->constants, p->constants, p->header.constants_bytes);
    for (uint32_t i = 0; i < p->header.segments && !status; i++)
        status = send_words(c, p, i);
    return status ? status : ascend_stream_open(&c->stream);
}

static mona_status open_session(mona_session *s)
{
    const ac_program *p = &s->plan->program;
    chip_session *c = of(s);
    void *memory;
    if (!mona_plan_has_program(s->plan))
        return refuse(
            "the chip runs programs as they were compiled: leave strip rows, tile columns "
            "and threads to them");
    memset(c, 0, sizeof *c);
    if (!ascend_enter())
        return MONA_ERR_DEVICE;
    mona_status status = ascend_register_kernel();
    lay_out(c, p);
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

/* ---- a run ------------------------------------------------------------------------------------ */

static const mona_buffer *plane_of(const mona_session *s, uint32_t tensor)
{
    const uint32_t inputs = s->plan->model.header->input_count;
    return tensor < inputs ? &s->inputs[tensor] : &s->outputs[tensor - inputs];
}

static bool is_dense(const mona_shape *shape, const mona_buffer *b)
{
    const mona_buffer dense = mona_session_dense(shape, b->data);
    return b->row_stride == dense.row_stride &&
           (shape->channels == 1 || b->channel_stride == dense.channel_stride);
}

/* Whether AI Cores read or write a tensor's planes where they are: those in the chip's memory. A
 * module's CPU has that memory too, and may leave gaps in it: then its planes are copied. */
static bool is_in_place(const mona_session *s, uint32_t tensor)
{
    const mona_buffer *b = plane_of(s, tensor);
    return ascend_owns(b->data) && (!ascend_on_chip() || (is_dense(&s->plan->shapes[tensor], b) &&
                                                          (uintptr_t)b->data % AC_BLOCK == 0));
}

/* Sends or fetches all channels of a tensor whose planes are not in place. */
static mona_status transfer(const mona_session *s, uint32_t tensor, bool upload)
{
    const chip_session *c = of(s);
    const mona_shape *shape = &s->plan->shapes[tensor];
    const mona_buffer *host = plane_of(s, tensor);
    const size_t row = shape->width * mona_type_size(shape->type);
    const bool together =
        shape->channels == 1 || host->channel_stride == (ptrdiff_t)shape->height * host->row_stride;
    const uint32_t copies = together ? 1 : shape->channels;
    const size_t rows = (size_t)shape->height * shape->channels / copies;
    mona_status status = MONA_OK;
    for (uint32_t i = 0; i < copies && !status; i++) {
        uint8_t *chip = c->memory + c->buffers[tensor] + i * rows * row;
        uint8_t *data = (uint8_t *)host->data + (ptrdiff_t)i * host->channel_stride;
        status = upload ? ascend_upload(chip, data, host->row_stride, row, rows)
                        : ascend_download(data, host->row_stride, chip, row, rows);
    }
    return status;
}

/* The table of the addresses of these planes. */
static mona_status find_table(mona_session *s, uint32_t *found)
{
    chip_session *c = of(s);
    const ac_program *p = &s->plan->program;
    const mona_file_header *h = s->plan->model.header;
    uint64_t wanted[WORDS_BASES] = {address(c, c->constants)};
    for (uint32_t b = 0; b < p->header.buffers; b++) {
        const bool plane = b < h->input_count + h->output_count;
        wanted[1 + b] = plane && is_in_place(s, b) ? (uint64_t)(uintptr_t)plane_of(s, b)->data
                                                   : address(c, c->buffers[b]);
    }
    for (uint32_t t = 0; t < TABLES; t++)
        if (!memcmp(c->table[t], wanted, sizeof wanted)) {
            *found = t;
            return MONA_OK;
        }
    *found = c->next_table++ % TABLES;
    memcpy(c->table[*found], wanted, sizeof wanted);
    return send(c, c->tables[*found], wanted, sizeof wanted);
}

static mona_status run_segments(const mona_session *s, uint32_t table)
{
    chip_session *c = of(s);
    mona_status status = MONA_OK;
    ascend_step_begin(&c->stream);
    for (uint32_t i = 0; i < s->plan->program.header.segments && !status; i++) {
        const ascend_task task = {address(c, c->segment[i].words), address(c, c->tables[table]),
                                  c->memory + c->segment[i].arguments[table]};
        status = ascend_launch(&task, c->stream.handle);
    }
    return status ? status
                  : ascend_step_end(&c->stream, MONA_ASCEND_RUN, "a frame cannot be computed");
}

static mona_status run_session(mona_session *s)
{
    const mona_file_header *h = s->plan->model.header;
    uint32_t table;
    mona_status status = ascend_enter() ? MONA_OK : MONA_ERR_DEVICE;
    for (uint32_t i = 0; i < h->input_count + h->output_count && !status; i++) {
        if (!is_in_place(s, i))
            status = i < h->input_count ? transfer(s, i, true) : MONA_OK;
        else if (!is_dense(&s->plan->shapes[i], plane_of(s, i)))
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

const mona_ai_core ascend_ai_core = {
    .programs = mona_programs,
    .plan = plan_program,
    .core_bytes = core_bytes,
    .open = open_session,
    .close = close_session,
    .run = run_session,
};
