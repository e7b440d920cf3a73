// SPDX-License-Identifier: Apache-2.0
/* What operators on arrays do of a frame, for emit_measure.c: steps that take as many instructions
 * each, on one CPU, whatever the sizes are. Kinds of steps that an operator's functions differ in
 * are its variants. */
#include "formats/compiler/program/emit_c.h"
#include "ops/arrays/arrays.h"

static uint64_t parts_of(uint64_t count, uint64_t part)
{
    return (count + part - 1) / part;
}

static void reads(emit_c_op *op, const mona_bound_op *b, uint32_t input, uint64_t elements)
{
    op->read[b->input[input].type] += elements;
}

/* Of operand `input`, read in rows of `run` elements `stride` apart: nothing where it is used as it
 * lies there. */
static void views(emit_c_op *op, const mona_bound_op *b, uint32_t input, int32_t stride,
                  uint64_t elements, uint64_t run)
{
    const bool whole = run == elements || run % ARRAY_BLOCK == 0;
    if (!op->half && whole && stride == 1 && b->input[input].type == MONA_F32)
        return;
    reads(op, b, input, elements);
    op->pieces += parts_of(elements, run) + (whole ? 0 : elements / ARRAY_BLOCK);
}

/* Variant: the function. */
static void map(emit_c_op *op, const mona_bound_op *b)
{
    const mona_array_map *m = array_record(b);
    const array_map_layout l = mona_array_map_layout(m, b->op->input_count);
    op->half = m->arithmetic == MONA_INT;
    op->variant = m->function;
    for (uint32_t k = 0; k < b->op->input_count; k++)
        views(op, b, k, l.dims ? l.stride[k][l.dims - 1] : 0, op->elements,
              l.dims ? l.extent[l.dims - 1] : 1);
    op->put[b->output.type] += op->elements;
}

/* Rows whose elements lie side by side are copied. Others are picked one by one, by a table or
 * not, in as many ways as elements have sizes. */
enum { COPIED = 0, PICKED = 4, BY_TABLE = 8 };

/* Variant: this. extra: rows; runs: the same by dims and sources; rows: parts of them that have one
 * source. */
static void pick(emit_c_op *op, const mona_bound_op *b)
{
    const mona_array_pick *p = array_record(b);
    const uint32_t last = p->dims - 1;
    const uint64_t rows = op->elements / p->extent[last];
    const uint8_t *source = p->source_axis == last ? b->data + p->source_table : NULL;
    uint32_t parts = 1;
    for (uint32_t i = 1; source && i < p->extent[last]; i++)
        parts += source[i] != source[i - 1];
    op->variant = p->table[last] != MONA_NONE ? BY_TABLE
                  : p->stride[0][last] != 1   ? PICKED
                                              : COPIED;
    op->extra = rows;
    op->rows = rows * parts;
    op->runs = rows * last * b->op->input_count;
    const size_t size = mona_type_size(b->output.type);
    if (op->variant == COPIED)
        op->elements *= size;
    else
        op->variant += size > 4 ? 3 : (uint8_t)(size / 2);
}

enum { BY_LANES = 16 };

/* Variant: the function, and whether neighbouring results are made together. steps: elements;
 * extra: those of results that are made alone. */
static void reduce(emit_c_op *op, const mona_bound_op *b)
{
    const mona_array_reduce *r = array_record(b);
    const uint32_t dims = (uint32_t)r->kept + r->reduced;
    const bool by_output = r->arithmetic == MONA_INT || reduces_by_output(r);
    const uint32_t end = by_output ? dims : r->kept;
    op->half = r->arithmetic == MONA_INT;
    op->variant = (uint8_t)(r->function + (by_output ? 0 : BY_LANES));
    op->steps = mona_array_product(r->extent, dims);
    const uint64_t all = op->steps / op->elements;
    const uint64_t row = by_output ? all : op->elements;
    op->runs = op->steps / row * parts_of(row, WIDE_BLOCK);
    const bool has_run = by_output ? r->reduced : r->kept;
    views(op, b, 0, has_run ? r->stride[end - 1] : 0, op->steps,
          has_run && r->extent[end - 1] < row ? r->extent[end - 1] : op->steps);
    op->extra = by_output && !op->half ? all * (op->elements % REDUCED_TOGETHER) : 0;
    if (op->half || r->function < MONA_REDUCE_ARG_MAX)
        op->put[b->output.type] += op->elements;
}

/* Products of `count` matrices in panels. steps: as they are computed; extra: sums that begin. */
static void panels(emit_c_op *op, const mona_bound_op *b, uint64_t count, uint64_t m, uint64_t n,
                   uint64_t k)
{
    const uint64_t across = parts_of(n, PANEL_COLUMNS);
    op->steps = count * k *
                (op->half ? m * n
                          : parts_of(m, STRIP_ROWS) * STRIP_ROWS * parts_of(n, STRIP_COLUMNS) *
                                STRIP_COLUMNS);
    op->extra = count * m * (op->half ? n : across * PANEL_COLUMNS);
    op->pieces = count * across * m * parts_of(k, PANEL_DEPTH);
    op->put[b->output.type] += op->elements;
}

static void matmul(emit_c_op *op, const mona_bound_op *b)
{
    const mona_array_matmul *m = array_record(b);
    const uint64_t count = mona_array_product(m->extent, m->batch_dims);
    const uint64_t across = parts_of(m->n, PANEL_COLUMNS), down = parts_of(m->m, PANEL_ROWS);
    op->half = m->arithmetic == MONA_INT;
    panels(op, b, count, m->m, m->n, m->k);
    reads(op, b, 0, count * across * m->m * m->k);
    reads(op, b, 1, count * down * m->n * m->k);
    op->pieces += count * down * across * m->k;
}

/* Variant: the function. runs: rows of samples that a tap reads. */
static void window(emit_c_op *op, const mona_bound_op *b)
{
    const mona_array_window *w = array_record(b);
    const uint64_t outputs = mona_window_outputs(w), taps = mona_window_taps(w);
    const uint64_t rows = outputs / w->axis[w->axes - 1].out;
    op->half = w->arithmetic == MONA_INT;
    op->variant = w->function;
    if (w->function != MONA_WINDOW_CONV) {
        op->steps = op->elements * taps;
        reads(op, b, 0, w->function == MONA_WINDOW_MAX_INDEX ? 0 : op->steps);
        op->runs = op->elements / outputs * taps * (rows + parts_of(outputs, ARRAY_BLOCK) - 1);
        if (op->half || w->function != MONA_WINDOW_MAX_INDEX)
            op->put[b->output.type] += op->elements;
        return;
    }
    const uint64_t count = (uint64_t)w->batch * w->groups, m = w->outputs / w->groups;
    const uint64_t k = w->channels / w->groups * taps, down = parts_of(m, PANEL_ROWS);
    const uint64_t across = parts_of(outputs, PANEL_COLUMNS);
    panels(op, b, count, m, outputs, k);
    reads(op, b, 0, count * down * outputs * k);
    reads(op, b, 1, count * across * m * k);
    op->runs = count * down * k * (rows + across - 1);
}

/* steps: with weights. runs: rows of them. */
static void resample(emit_c_op *op, const mona_bound_op *b)
{
    const mona_array_resample *r = array_record(b);
    const uint32_t *first = (const void *)(b->data + r->first);
    op->steps = (uint64_t)r->outer * r->inner * first[r->out];
    op->runs = (uint64_t)r->outer * first[r->out] * parts_of(r->inner, ARRAY_BLOCK);
    reads(op, b, 0, op->steps);
    op->put[b->output.type] += op->elements;
}

/* elements: in bytes. */
static void gather(emit_c_op *op, const mona_bound_op *b)
{
    op->elements *= mona_type_size(b->output.type);
    reads(op, b, 1, op->rows);
}

/* steps: elements that are looked at; extra: places that those which are kept pass, if they come in
 * any order. A kept list of c elements takes in c / i of those from the i-th on. */
static void sort(emit_c_op *op, const mona_bound_op *b)
{
    const mona_array_sort *s = array_record(b);
    double kept = s->count;
    for (uint32_t i = s->count; i < s->extent; i++)
        kept += (double)s->count / (i + 1);
    op->half = s->arithmetic == MONA_INT;
    op->steps = op->rows * s->extent;
    op->extra = op->rows * (uint64_t)(kept * s->count / 2);
    op->pieces = op->rows * parts_of(s->extent, ARRAY_BLOCK);
    reads(op, b, 0, op->steps);
}

/* Variant: the function. */
static void normalise(emit_c_op *op, const mona_bound_op *b)
{
    const mona_array_normalise *n = array_record(b);
    op->variant = (uint8_t)n->function;
    op->put[b->output.type] += op->elements;
    if (n->inner > 1 || b->input[0].type != MONA_F32)
        reads(op, b, 0, op->elements);
    for (uint32_t k = 1; k < b->op->input_count; k++) {
        reads(op, b, k, op->elements);
        op->pieces += op->rows + op->elements / n->run * (n->run > 1);
    }
    op->extra = n->inner > 1 ? op->elements : 0;
}

void emit_c_count_array(emit_c_op *op, const mona_bound_op *b)
{
    static void (*const counts[MONA_OP_COUNT])(emit_c_op *, const mona_bound_op *) = {
        [MONA_OP_ARRAY_MAP] = map,
        [MONA_OP_ARRAY_PICK] = pick,
        [MONA_OP_ARRAY_REDUCE] = reduce,
        [MONA_OP_ARRAY_MATMUL] = matmul,
        [MONA_OP_ARRAY_WINDOW] = window,
        [MONA_OP_ARRAY_RESAMPLE] = resample,
        [MONA_OP_ARRAY_GATHER] = gather,
        [MONA_OP_ARRAY_SORT] = sort,
        [MONA_OP_ARRAY_NORMALISE] = normalise};
    op->half = false;
    op->once = 1;
    op->rows = b->run->items ? b->run->items(b) : 1;
    if (counts[b->op->kind])
        counts[b->op->kind](op, b);
}
