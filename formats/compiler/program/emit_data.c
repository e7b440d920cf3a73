// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/program/emitter.h"

#include <stdlib.h>
#include <string.h>

#include "engine/arith.h"
#include "formats/blocks.h"

typedef struct emit_piece {
    size_t offset, size;
} emit_piece;

/* Of the elements of 64 bits; files have 64 bytes, which flash need not. */
enum { PIECE_ALIGNMENT = 8 };

/* Keeps what a record itself refers to. */
typedef bool follow(emit_data *d, const uint8_t *data, void *record);

/* Copies what a record refers to at *offset, unless the same bytes are there, and makes it the
 * offset of the copy. */
static bool keep(emit_data *d, uint32_t *offset, const void *from, uint64_t size)
{
    for (size_t i = 0; i < d->piece_count; i++)
        if (d->pieces[i].size == size && !memcmp(d->bytes + d->pieces[i].offset, from, size)) {
            *offset = (uint32_t)d->pieces[i].offset;
            return true;
        }
    const size_t at = round_up(d->size, PIECE_ALIGNMENT);
    uint8_t *bytes = realloc(d->bytes, at + size);
    if (!bytes)
        return false;
    memset(bytes + d->size, 0, at - d->size);
    memcpy(bytes + at, from, size);
    d->bytes = bytes;
    d->size = at + size;
    if (!list_grow((void **)&d->pieces, &d->piece_room, d->piece_count, sizeof *d->pieces))
        return false;
    d->pieces[d->piece_count++] = (emit_piece){at, size};
    *offset = (uint32_t)at;
    return true;
}

static bool keep_table(emit_data *d, const uint8_t *data, uint32_t *offset, uint64_t size)
{
    return *offset == MONA_NONE || keep(d, offset, data + *offset, size);
}

static bool follow_pick(emit_data *d, const uint8_t *data, void *record)
{
    mona_array_pick *p = record;
    bool ok = p->source_axis == MONA_NONE ||
              keep_table(d, data, &p->source_table, p->extent[p->source_axis]);
    for (uint32_t i = 0; ok && i < p->dims; i++)
        ok = keep_table(d, data, &p->table[i], p->extent[i] * sizeof(uint32_t));
    return ok;
}

static bool follow_resample(emit_data *d, const uint8_t *data, void *record)
{
    mona_array_resample *r = record;
    const uint32_t *first = (const void *)(data + r->first);
    const uint64_t sums = first[r->out];
    return keep_table(d, data, &r->first, (r->out + UINT64_C(1)) * sizeof *first) &&
           keep_table(d, data, &r->index, sums * sizeof(uint32_t)) &&
           keep_table(d, data, &r->weight, sums * sizeof(float));
}

/* Its kernel is found when it is linked. */
static bool follow_kernel(emit_data *d, const uint8_t *data, void *record)
{
    (void)d, (void)data;
    ((mona_array_kernel *)record)->name = 0;
    return true;
}

static const struct {
    size_t size;
    follow *follow; /* NULL: its record refers to nothing */
} records[MONA_OP_COUNT] = {
    [MONA_OP_ARRAY_MAP] = {sizeof(mona_array_map), NULL},
    [MONA_OP_ARRAY_PICK] = {sizeof(mona_array_pick), follow_pick},
    [MONA_OP_ARRAY_REDUCE] = {sizeof(mona_array_reduce), NULL},
    [MONA_OP_ARRAY_MATMUL] = {sizeof(mona_array_matmul), NULL},
    [MONA_OP_ARRAY_WINDOW] = {sizeof(mona_array_window), NULL},
    [MONA_OP_ARRAY_RESAMPLE] = {sizeof(mona_array_resample), follow_resample},
    [MONA_OP_ARRAY_GATHER] = {sizeof(mona_array_gather), NULL},
    [MONA_OP_ARRAY_SORT] = {sizeof(mona_array_sort), NULL},
    [MONA_OP_ARRAY_NORMALISE] = {sizeof(mona_array_normalise), NULL},
    [MONA_OP_ARRAY_KERNEL] = {sizeof(mona_array_kernel), follow_kernel},
    [MONA_OP_KERNEL] = {sizeof(mona_array_kernel), follow_kernel},
};

static bool keep_record(emit_data *d, const uint8_t *data, mona_file_op *op)
{
    union {
        mona_array_pick largest;
        uint64_t aligned;
    } record;
    const size_t size = records[op->kind].size;
    memcpy(&record, data + op->array.record, size);
    return (!records[op->kind].follow || records[op->kind].follow(d, data, &record)) &&
           keep(d, &op->array.record, &record, size);
}

static bool keep_op(emit_data *d, const uint8_t *data, mona_file_op *op)
{
    bool ok = keep_record(d, data, op);
    for (uint32_t i = 0; ok && i < op->input_count; i++)
        if (op->inputs[i] == MONA_NONE)
            ok = keep(d, &op->array.offset[i], data + op->array.offset[i],
                      (uint64_t)op->array.elements[i] *
                          mona_type_size((mona_type)op->array.type[i]));
    return ok;
}

static void *copy_of(const void *from, size_t size)
{
    void *to = malloc(size + !size);
    return to ? memcpy(to, from, size) : NULL;
}

bool emit_data_open(emit_data *d, const mona_model *model)
{
    const mona_file_header *h = model->header;
    const uint32_t planes = h->input_count + h->output_count;
    *d = (emit_data){0};
    d->tensors = copy_of(model->tensors, planes * sizeof *d->tensors);
    d->ops = copy_of(model->ops, h->op_count * sizeof *d->ops);
    bool ok = d->tensors && d->ops;
    for (uint32_t o = 0; ok && o < h->op_count; o++)
        ok = !records[d->ops[o].kind].size || keep_op(d, model->data, &d->ops[o]);
    for (uint32_t t = 0; ok && d->size && t < planes; t++)
        if (d->tensors[t].array && d->tensors[t].shape.rank)
            ok = keep_table(d, model->data, &d->tensors[t].shape.dims,
                            d->tensors[t].shape.rank * sizeof(uint32_t));
    return ok;
}

void emit_data_close(emit_data *d)
{
    free(d->tensors);
    free(d->ops);
    free(d->bytes);
    free(d->pieces);
}
