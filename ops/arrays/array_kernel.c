// SPDX-License-Identifier: Apache-2.0
/* ARRAY_KERNEL: a kernel of the application's (engine/mona_op.h). What is proved here, from the
 * kernel's own table, is all that its rows rely on. Items are rows of its grid.
 *
 * Where a row of cells reads beyond the left or right end of the grid, the first and last cells are
 * made in calls of their own, from copies of the rows with repeated cells. */
#include "engine/libc.h"
#include "ops/arrays/arrays.h"

/* ---- proof ---------------------------------------------------------------------------------- */

/* At most 2^7 planes of 2^17 x 2^17 samples. */
static bool fits(const mona_kernel_operand *o, const mona_array_kernel *r, const mona_shape *s)
{
    const uint64_t rows = (uint64_t)r->rows * o->cell_rows;
    const uint64_t columns = (uint64_t)r->columns * o->cell_columns;
    return s->type == o->type &&
           mona_shape_elements(s) == (o->planes ? o->planes * rows * columns : o->elements);
}

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    const mona_kernel *k;
    const mona_status status = mona_kernel_check(op, data, &k);
    if (status)
        return status;
    const mona_array_kernel *r = (const void *)(data->bytes + op->array.record);
    bool ok = r->rows && r->rows <= MONA_MAX_SIDE && r->columns && r->columns <= MONA_MAX_SIDE &&
              fits(&k->operands[k->inputs + r->output], r, output);
    for (uint32_t i = 0; ok && i < k->inputs; i++)
        ok = fits(&k->operands[i], r, &inputs[i]);
    return ok ? MONA_OK : MONA_ERR_MODEL;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static uint64_t items(const mona_bound_op *b)
{
    return ((const mona_array_kernel *)array_record(b))->rows;
}

static uint32_t columns_around(const mona_kernel *k)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < k->inputs; i++)
        most = k->operands[i].around_columns > most ? k->operands[i].around_columns : most;
    return most;
}

static size_t copy_bytes(const mona_kernel_operand *o, uint32_t around)
{
    return (4 * around * mona_kernel_cell_bytes(o) + 7) / 8 * 8;
}

/* What a call points at, then copies of rows. Calls for the ends make up to 2 * around cells, with
 * as many on both sides. */
static size_t scratch_bytes(const mona_bound_op *b)
{
    const mona_kernel *k = b->kernel;
    const uint32_t around = columns_around(k);
    size_t bytes = sizeof(mona_kernel_scratch);
    for (uint32_t i = 0; i < k->inputs; i++)
        if (k->operands[i].planes)
            bytes += mona_kernel_rows(&k->operands[i]) * copy_bytes(&k->operands[i], around);
    return bytes;
}

/* A row of the grid that is being made. */
typedef struct kernel_row {
    const mona_array_call *call;
    const mona_array_kernel *record;
    const mona_kernel *kernel;
    uint32_t y, around;
} kernel_row;

/* Row `row` of plane `plane`, counted from the first of the cells in grid row y, column 0. Outside
 * of the grid the nearest cell is repeated. */
static size_t place_of(const kernel_row *r, const mona_kernel_operand *o, uint32_t plane,
                       int64_t row)
{
    const int64_t cells = floor_div_small((int32_t)row, o->cell_rows);
    const int64_t cell = clip_to((int64_t)r->y + cells, 0, (int64_t)r->record->rows - 1);
    const int64_t inside = row - cells * o->cell_rows;
    return ((size_t)plane * r->record->rows * o->cell_rows +
            (size_t)(cell * o->cell_rows + inside)) *
           r->record->columns * mona_kernel_cell_bytes(o);
}

/* Copies cells [x - around, x + count + around) of a row. */
static void copy_cells(const kernel_row *r, uint8_t *to, const uint8_t *from, size_t cell,
                       int64_t x, uint32_t count)
{
    for (int64_t i = x - r->around; i < x + count + r->around; i++, to += cell)
        memcpy(to, from + (size_t)clip_to(i, 0, (int64_t)r->record->columns - 1) * cell, cell);
}

/* Makes cells [x, x + count). copies: memory for copies of the rows; NULL: none are needed. */
static void make(const kernel_row *r, uint32_t x, uint32_t count, uint8_t *copies)
{
    const mona_kernel *k = r->kernel;
    const mona_kernel_operand *made = &k->operands[k->inputs + r->record->output];
    mona_kernel_scratch *s = (mona_kernel_scratch *)(void *)r->call->scratch;
    uint32_t next = 0;
    for (uint32_t i = 0; i < k->inputs; i++) {
        const mona_kernel_operand *o = &k->operands[i];
        const int64_t above = (int64_t)o->around_rows * o->cell_rows;
        if (!o->planes)
            s->inputs[next++] = r->call->input[i];
        for (uint32_t p = 0; p < o->planes; p++)
            for (int64_t row = -above; row < above + o->cell_rows; row++) {
                const uint8_t *from = r->call->input[i] + place_of(r, o, p, row);
                s->inputs[next] = from + x * mona_kernel_cell_bytes(o);
                if (copies) {
                    copy_cells(r, copies, from, mona_kernel_cell_bytes(o), x, count);
                    s->inputs[next] = copies + r->around * mona_kernel_cell_bytes(o);
                    copies += copy_bytes(o, r->around);
                }
                next++;
            }
    }
    for (uint32_t p = 0; p < made->planes; p++)
        for (uint32_t row = 0; row < made->cell_rows; row++)
            s->outputs[p * made->cell_rows + row] =
                r->call->output + place_of(r, made, p, row) + x * mona_kernel_cell_bytes(made);
    const mona_kernel_call call = {
        .inputs = s->inputs,
        .outputs = s->outputs,
        .output = r->record->output,
        .columns = count,
        .x = x,
        .y = r->y,
        .width = r->record->columns,
        .height = r->record->rows,
    };
    k->row(&call);
}

static void array(const mona_array_call *call)
{
    kernel_row r = {call, array_record(call->bound), call->bound->kernel, 0, 0};
    uint8_t *copies = call->scratch + sizeof(mona_kernel_scratch);
    const uint32_t all = r.record->columns;
    r.around = columns_around(r.kernel);
    for (uint64_t y = call->begin; y < call->end; y++) {
        r.y = (uint32_t)y;
        if (all <= 2 * r.around)
            make(&r, 0, all, copies);
        else {
            if (r.around)
                make(&r, 0, r.around, copies);
            make(&r, r.around, all - 2 * r.around, NULL);
            if (r.around)
                make(&r, all - r.around, r.around, copies);
        }
    }
}

const mona_op_run mona_run_array_kernel = {
    .array = array,
    .items = items,
};

const mona_op_class mona_op_array_kernel = {
    .name = "array_kernel",
    .run = &mona_run_array_kernel,
    .min_inputs = 1,
    .max_inputs = MONA_KERNEL_OPERANDS,
    .check = check,
    .map_scratch_bytes = scratch_bytes,
    .kernel = mona_kernel_of,
};
