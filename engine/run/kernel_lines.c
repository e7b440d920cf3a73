// SPDX-License-Identifier: Apache-2.0
/* A kernel of the application's line by line (engine/mona_op.h).
 *
 * Each input has a ring of as many lines as a cell sees, with cells repeated at both ends of its
 * rows, so that a line is made by a single call. */
#include "engine/arith.h"
#include "engine/libc.h"
#include "engine/mona_op.h"

struct mona_kernel_lines {
    const mona_kernel *kernel;
    uint32_t rows, columns; /* of the grid */
    uint32_t around;        /* the most lines above that an input's cells see */
    uint32_t pushed, pulled;
    uint8_t *rings[MONA_KERNEL_OPERANDS];
    const void *tables[MONA_KERNEL_OPERANDS];
    const void *inputs[MONA_KERNEL_ROWS]; /* of the call */
    void *outputs[MONA_KERNEL_ROWS];
};

static uint32_t lines_around(const mona_kernel *k)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < k->inputs; i++)
        most = k->operands[i].around_rows > most ? k->operands[i].around_rows : most;
    return most;
}

/* Of one row in a ring, with the cells at its ends. */
static size_t row_bytes(const mona_kernel_operand *o, uint32_t columns)
{
    return round_up((columns + 2u * o->around_columns) * mona_kernel_cell_bytes(o), 16);
}

static size_t line_bytes(const mona_kernel_operand *o, uint32_t columns)
{
    return (size_t)o->planes * o->cell_rows * row_bytes(o, columns);
}

size_t mona_kernel_lines_bytes(const mona_kernel *k, uint32_t columns)
{
    uint64_t bytes = round_up(sizeof(mona_kernel_lines), MONA_ALIGNMENT);
    if (!k || !columns || columns > MONA_MAX_SIDE || !mona_kernel_sound(k))
        return 0;
    for (uint32_t i = 0; i < k->inputs; i++)
        bytes += (2u * lines_around(k) + 1) * (uint64_t)line_bytes(&k->operands[i], columns);
    return bytes <= SIZE_MAX ? (size_t)bytes : 0;
}

mona_status mona_kernel_lines_open(mona_kernel_lines **lines, const mona_kernel *k, uint32_t rows,
                                   uint32_t columns, void *memory, size_t bytes)
{
    const size_t needed = mona_kernel_lines_bytes(k, columns);
    if (!lines || !needed || !rows || rows > MONA_MAX_SIDE)
        return MONA_ERR_ARGUMENT;
    if (!memory || (uintptr_t)memory % MONA_ALIGNMENT || bytes < needed)
        return MONA_ERR_ARENA;
    mona_kernel_lines *l = memory;
    uint8_t *next = (uint8_t *)memory + round_up(sizeof *l, MONA_ALIGNMENT);
    *l = (mona_kernel_lines){
        .kernel = k, .rows = rows, .columns = columns, .around = lines_around(k)};
    for (uint32_t i = 0; i < k->inputs; i++) {
        l->rings[i] = next;
        next += (2u * l->around + 1) * line_bytes(&k->operands[i], columns);
    }
    *lines = l;
    return MONA_OK;
}

uint32_t mona_kernel_lines_latency(const mona_kernel_lines *l)
{
    return l->around;
}

void mona_kernel_lines_drop(mona_kernel_lines *l)
{
    l->pushed = l->pulled = 0;
}

static bool is_ready(const mona_kernel_lines *l)
{
    return l->pulled < l->pushed && (l->pushed == l->rows || l->pushed - l->pulled > l->around);
}

/* The line of a ring where line y of the frame lies. */
static uint8_t *ring_line(const mona_kernel_lines *l, uint32_t i, uint32_t y)
{
    return l->rings[i] + y % (2 * l->around + 1) * line_bytes(&l->kernel->operands[i], l->columns);
}

static void copy_row(const mona_kernel_operand *o, uint32_t columns, uint8_t *to,
                     const uint8_t *from)
{
    const size_t cell = mona_kernel_cell_bytes(o), row = columns * cell;
    uint8_t *first = to + o->around_columns * cell;
    memcpy(first, from, row);
    for (uint32_t x = 0; x < o->around_columns; x++) {
        memcpy(to + x * cell, from, cell);
        memcpy(first + row + x * cell, from + row - cell, cell);
    }
}

mona_status mona_kernel_lines_push(mona_kernel_lines *l, const mona_buffer *inputs)
{
    for (uint32_t i = 0; l && inputs && i < l->kernel->inputs; i++)
        if (!inputs[i].data)
            return MONA_ERR_ARGUMENT;
    if (!l || !inputs)
        return MONA_ERR_ARGUMENT;
    if (is_ready(l) || l->pushed == l->rows)
        return MONA_ERR_STATE;
    for (uint32_t i = 0; i < l->kernel->inputs; i++) {
        const mona_kernel_operand *o = &l->kernel->operands[i];
        uint8_t *to = ring_line(l, i, l->pushed);
        l->tables[i] = inputs[i].data;
        for (uint32_t p = 0; p < o->planes; p++)
            for (uint32_t row = 0; row < o->cell_rows; row++, to += row_bytes(o, l->columns))
                copy_row(o, l->columns, to,
                         (const uint8_t *)inputs[i].data + (ptrdiff_t)p * inputs[i].channel_stride +
                             (ptrdiff_t)row * inputs[i].row_stride);
    }
    l->pushed++;
    return MONA_OK;
}

/* Points the call at what the cells of line y see. */
static void find_inputs(mona_kernel_lines *l, uint32_t y)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < l->kernel->inputs; i++) {
        const mona_kernel_operand *o = &l->kernel->operands[i];
        const int64_t around = o->around_rows;
        if (!o->planes)
            l->inputs[next++] = l->tables[i];
        for (uint32_t p = 0; p < o->planes; p++)
            for (int64_t line = y - around; line <= y + around; line++)
                for (uint32_t row = 0; row < o->cell_rows; row++)
                    l->inputs[next++] =
                        ring_line(l, i, (uint32_t)clip_to(line, 0, (int64_t)l->rows - 1)) +
                        (p * o->cell_rows + row) * row_bytes(o, l->columns) +
                        o->around_columns * mona_kernel_cell_bytes(o);
    }
}

mona_status mona_kernel_lines_pull(mona_kernel_lines *l, const mona_buffer *outputs, bool *ready)
{
    for (uint32_t i = 0; l && outputs && i < l->kernel->outputs; i++)
        if (!outputs[i].data)
            return MONA_ERR_ARGUMENT;
    if (!l || !outputs || !ready)
        return MONA_ERR_ARGUMENT;
    *ready = is_ready(l);
    if (!*ready)
        return MONA_OK;
    find_inputs(l, l->pulled);
    for (uint32_t i = 0; i < l->kernel->outputs; i++) {
        const mona_kernel_operand *o = &l->kernel->operands[l->kernel->inputs + i];
        for (uint32_t n = 0; n < o->planes * o->cell_rows; n++)
            l->outputs[n] = (uint8_t *)outputs[i].data +
                            (ptrdiff_t)(n / o->cell_rows) * outputs[i].channel_stride +
                            (ptrdiff_t)(n % o->cell_rows) * outputs[i].row_stride;
        l->kernel->row(&(mona_kernel_call){.inputs = l->inputs,
                                           .outputs = l->outputs,
                                           .output = i,
                                           .columns = l->columns,
                                           .y = l->pulled,
                                           .width = l->columns,
                                           .height = l->rows});
    }
    if (++l->pulled == l->rows)
        mona_kernel_lines_drop(l);
    return MONA_OK;
}
