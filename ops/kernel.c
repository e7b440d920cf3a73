// SPDX-License-Identifier: Apache-2.0
/* KERNEL: a kernel of the application's (engine/mona_op.h) on maps, row of cells by row of cells.
 *
 * A kernel reads and writes planes. So the rows of a window are taken apart into planes, in the
 * kernel's types, with the nearest cells repeated to the left and right, and kept while calls
 * follow each other; rows above and below the map are those of the nearest cell again. What the
 * kernel makes is put together in channel blocks. */
#include "ops/helpers.h"

#include "engine/libc.h"

/* ---- proof ---------------------------------------------------------------------------------- */

/* Whether a ring of this type holds what the kernel reads or makes. */
static bool holds(mona_type ring, mona_type kernel)
{
    return ring == kernel ? ring <= MONA_F16 : ring == MONA_F16 && kernel == MONA_F32;
}

static bool fits(const mona_file_op *op, const mona_kernel_operand *o, uint32_t i,
                 const mona_shape *s)
{
    const uint8_t *cell = op->kernel.cell[i];
    const bool same = cell[0] == o->cell_rows && cell[1] == o->cell_columns;
    return same &&
           (o->planes
                ? op->inputs[i] != MONA_NONE && s->channels == o->planes && holds(s->type, o->type)
                : op->inputs[i] == MONA_NONE && s->type == o->type && s->width == o->elements);
}

/* Channels of the output. */
static uint32_t samples_of(const mona_kernel_operand *o)
{
    return o->planes * o->cell_rows * o->cell_columns;
}

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    const mona_kernel *k;
    const mona_status status = mona_kernel_check(op, data, &k);
    if (status)
        return status;
    const mona_array_kernel *r = (const void *)(data->bytes + op->array.record);
    const mona_kernel_operand *made = &k->operands[k->inputs + r->output];
    bool ok = !r->rows && !r->columns && output->channels == samples_of(made) &&
              holds(output->type, made->type);
    bool maps = false;
    for (uint32_t i = 0; ok && i < k->inputs; i++) {
        ok = fits(op, &k->operands[i], i, &inputs[i]);
        maps |= k->operands[i].planes > 0;
    }
    return ok && maps ? MONA_OK : MONA_ERR_MODEL;
}

/* The grid, on which all inputs must agree. */
static mona_status infer(const mona_file_op *op, const mona_shape *inputs, mona_shape *output)
{
    output->height = output->width = 0;
    for (uint32_t i = 0; i < op->input_count; i++) {
        const uint8_t *cell = op->kernel.cell[i];
        if (op->inputs[i] == MONA_NONE)
            continue;
        const uint32_t rows = inputs[i].height / cell[0], columns = inputs[i].width / cell[1];
        if (rows * cell[0] != inputs[i].height || columns * cell[1] != inputs[i].width ||
            (output->height && (rows != output->height || columns != output->width)))
            return MONA_ERR_SHAPE;
        output->height = rows;
        output->width = columns;
    }
    return MONA_OK;
}

/* ---- windows -------------------------------------------------------------------------------- */

/* Samples before the map are only requested to pace a warm-up; they need nothing. */
static mona_span span(mona_span out, int64_t around, int64_t cells, int64_t cell)
{
    const int64_t min = out.end > 0 ? 1 : 0;
    return (mona_span){clip_to(out.begin - around, 0, cells - 1) * cell,
                       clip_to(out.end + around, min, cells) * cell};
}

static mona_span rows(const mona_bound_op *b, uint32_t i, mona_span out)
{
    const mona_kernel_operand *o = &b->kernel->operands[i];
    return span(out, o->around_rows, b->output.height, o->cell_rows);
}

static mona_span columns(const mona_bound_op *b, uint32_t i, mona_span out)
{
    const mona_kernel_operand *o = &b->kernel->operands[i];
    return span(out, o->around_columns, b->output.width, o->cell_columns);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Bytes of a row of `cells` cells and of those around them. */
static size_t row_bytes(const mona_kernel_operand *o, uint32_t cells)
{
    return align_up((cells + 2u * o->around_columns) * mona_kernel_cell_bytes(o));
}

/* Those of all rows that a call sees. */
static size_t rows_bytes(const mona_kernel_operand *o, uint32_t cells)
{
    return o->planes ? mona_kernel_rows(o) * row_bytes(o, cells) : 0;
}

static const mona_kernel_operand *made_by(const mona_bound_op *b, uint32_t *output)
{
    const mona_array_kernel *r = (const void *)(b->data + b->op->array.record);
    *output = r->output;
    return &b->kernel->operands[b->kernel->inputs + r->output];
}

/* What a call points at, then rows of planes. */
static size_t scratch_bytes(const mona_bound_op *b, uint32_t cells)
{
    uint32_t output;
    size_t bytes = align_up(sizeof(mona_kernel_scratch)) + rows_bytes(made_by(b, &output), cells);
    for (uint32_t i = 0; i < b->kernel->inputs; i++)
        bytes += rows_bytes(&b->kernel->operands[i], cells);
    return bytes;
}

/* ---- channel blocks and planes: samples of a row, `step` apart ------------------------------ */

enum { PIECE = 64 };

static void take8(uint8_t *restrict to, const uint8_t *restrict from, size_t step, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[i * step];
}

static void take16(uint16_t *restrict to, const uint16_t *restrict from, size_t step, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[i * step];
}

static void put8(uint8_t *restrict to, size_t step, const uint8_t *restrict from, size_t from_step,
                 size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i * step] = from[i * from_step];
}

/* Maps have neither NaNs nor infinities: they are 0 and the largest numbers, as of f16(). */
static void put16(uint16_t *restrict to, size_t step, const uint16_t *restrict from,
                  size_t from_step, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint16_t x = from[i * from_step], size = x & 0x7fff;
        to[i * step] = size < 0x7c00 ? x : size > 0x7c00 ? 0 : (uint16_t)(x - 1);
    }
}

/* Takes `count` samples of a channel as the kernel's type has them. */
static void take(mona_type type, uint8_t *to, const uint8_t *from, size_t step, size_t count)
{
    const uint16_t *halves = (const uint16_t *)(const void *)from;
    float *wide = (float *)(void *)to;
    uint16_t piece[PIECE];
    if (mona_type_size(type) == 1)
        take8(to, from, step, count);
    else if (type == MONA_F16)
        take16((uint16_t *)(void *)to, halves, step, count);
    else
        for (size_t x = 0, n; x < count; x += n) {
            n = count - x < PIECE ? count - x : PIECE;
            take16(piece, halves + x * step, step, n);
            for (size_t i = 0; i < n; i++)
                wide[x + i] = mona_f32_from_f16(piece[i]);
        }
}

static void put(mona_type type, uint8_t *to, size_t step, const uint8_t *from, size_t from_step,
                size_t count)
{
    uint16_t *halves = (uint16_t *)(void *)to;
    const float *wide = (const float *)(const void *)from;
    uint16_t piece[PIECE];
    if (mona_type_size(type) == 1)
        put8(to, step, from, from_step, count);
    else if (type == MONA_F16)
        put16(halves, step, (const uint16_t *)(const void *)from, from_step, count);
    else
        for (size_t x = 0, n; x < count; x += n) {
            n = count - x < PIECE ? count - x : PIECE;
            for (size_t i = 0; i < n; i++)
                piece[i] = mona_f16_from_f32(wide[(x + i) * from_step]);
            for (size_t i = 0; i < n; i++)
                halves[(x + i) * step] = piece[i];
        }
}

/* Repeats the cell at `from` in `count` cells at `to`. */
static void repeat(uint8_t *to, const uint8_t *from, size_t cell, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(to + (size_t)i * cell, from, cell);
}

/* ---- a call --------------------------------------------------------------------------------- */

/* Takes a row of input i apart into rows of its planes from `to` on, `plane` bytes from one to the
 * next. */
static void take_apart(const mona_row_call *call, uint32_t i, const uint8_t *row, uint8_t *to,
                       size_t plane)
{
    const mona_bound_op *b = call->bound;
    const mona_kernel_operand *o = &b->kernel->operands[i];
    const size_t cell = mona_kernel_cell_bytes(o), element = mona_type_size(b->input[i].type);
    const uint32_t c0 = b->input_c0[i];
    const mona_span read = columns(b, i, (mona_span){call->x_begin, call->x_end});
    const int64_t first = read.begin / o->cell_columns, end = read.end / o->cell_columns;
    const int64_t left = first - (call->x_begin - o->around_columns);
    const int64_t right = call->x_end + o->around_columns - end;
    const size_t bytes = (size_t)(end - first) * cell;
    row += (size_t)(read.begin - call->input[i].x_begin) * c0 * element;
    for (uint32_t p = 0; p < o->planes; p++, to += plane) {
        uint8_t *inside = to + (size_t)left * cell;
        take(o->type, inside, row + p / c0 * call->input[i].block_stride + p % c0 * element, c0,
             (size_t)(read.end - read.begin));
        repeat(to, inside, cell, left);
        repeat(inside + bytes, inside + bytes - cell, cell, right);
    }
}

/* Points at the rows of input i, of which the next one of the call is `next`; takes those apart
 * that the call for the row above has not. `memory` is a ring of as many rows as a call sees. */
static uint32_t point_at_rows(const mona_row_call *call, uint32_t i, uint32_t next, uint8_t *memory)
{
    const mona_bound_op *b = call->bound;
    const mona_kernel_operand *o = &b->kernel->operands[i];
    mona_kernel_scratch *s = (mona_kernel_scratch *)(void *)call->scratch;
    const uint32_t cells = (uint32_t)(call->x_end - call->x_begin);
    const size_t plane = row_bytes(o, cells);
    const int64_t depth = (2 * o->around_rows + 1) * o->cell_rows;
    const mona_span window = rows(b, i, (mona_span){call->y, call->y + 1});
    const int64_t had = call->follows ? rows(b, i, (mona_span){call->y - 1, call->y}).end : 0;
    for (int64_t y = window.begin > had ? window.begin : had; y < window.end; y++)
        take_apart(call, i, call->input[i].rows[y - window.begin],
                   memory + (size_t)(y % depth) * o->planes * plane, plane);
    for (uint32_t p = 0; p < o->planes; p++)
        for (int64_t cell = call->y - o->around_rows; cell <= call->y + o->around_rows; cell++)
            for (int64_t dy = 0; dy < o->cell_rows; dy++) {
                const int64_t y =
                    clip_to(cell, 0, (int64_t)b->output.height - 1) * o->cell_rows + dy;
                s->inputs[next++] = memory + ((size_t)(y % depth) * o->planes + p) * plane +
                                    o->around_columns * mona_kernel_cell_bytes(o);
            }
    return next;
}

/* Puts the rows of the output together. */
static void put_together(const mona_row_call *call, const mona_kernel_operand *o)
{
    const mona_kernel_scratch *s = (const mona_kernel_scratch *)(const void *)call->scratch;
    const mona_row out = output_row(call);
    const size_t element = mona_type_size(out.type);
    for (uint32_t c = 0; c < call->bound->output.channels; c++)
        put(o->type, out.data + c / out.c0 * out.block_stride + c % out.c0 * element, out.c0,
            (const uint8_t *)s->outputs[c / o->cell_columns] +
                c % o->cell_columns * mona_type_size(o->type),
            o->cell_columns, (size_t)(call->x_end - call->x_begin));
}

static void row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const mona_kernel *k = b->kernel;
    mona_kernel_scratch *s = (mona_kernel_scratch *)(void *)call->scratch;
    uint8_t *memory = call->scratch + align_up(sizeof(mona_kernel_scratch));
    const uint32_t cells = (uint32_t)(call->x_end - call->x_begin);
    mona_kernel_call own = {
        .inputs = s->inputs,
        .outputs = s->outputs,
        .columns = cells,
        .x = (uint32_t)call->x_begin,
        .y = (uint32_t)call->y,
        .width = b->output.width,
        .height = b->output.height,
    };
    for (uint32_t i = 0, next = 0; i < k->inputs; i++) {
        if (k->operands[i].planes)
            next = point_at_rows(call, i, next, memory);
        else
            s->inputs[next++] = b->data + b->op->array.offset[i];
        memory += rows_bytes(&k->operands[i], cells);
    }
    const mona_kernel_operand *made = made_by(b, &own.output);
    const size_t bytes = row_bytes(made, cells);
    for (uint32_t i = 0; i < mona_kernel_rows(made); i++, memory += bytes)
        s->outputs[i] = memory;
    k->row(&own);
    put_together(call, made);
}

const mona_op_run mona_run_kernel = {
    .windows_vary = true,
    .rows = rows,
    .columns = columns,
    .row = row,
};

const mona_op_class mona_op_kernel = {
    .name = "kernel",
    .run = &mona_run_kernel,
    .min_inputs = 1,
    .max_inputs = MONA_KERNEL_OPERANDS,
    .picture = MONA_PICTURE_LOST,
    .check = check,
    .infer = infer,
    .scratch_bytes = scratch_bytes,
    .kernel = mona_kernel_of,
};
