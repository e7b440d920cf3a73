// SPDX-License-Identifier: Apache-2.0
/* ATTENTION: for each pixel of the queries, values of all pixels weighted by how well their keys
 * fit it, head by head. model_format.h defines the arithmetic. */
#include "engine/cpu/isa_table.h"
#include "ops/helpers.h"

static mona_status check(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data)
{
    (void)data;
    const mona_file_attention *a = &op->attention;
    const bool heads =
        a->heads && inputs[0].channels % a->heads == 0 && inputs[2].channels % a->heads == 0;
    return heads && inputs[0].channels == inputs[1].channels &&
                   inputs[2].channels == output->channels && f32_finite(a->scale) &&
                   f32_finite(a->value_scale)
               ? MONA_OK
               : MONA_ERR_MODEL;
}

static mona_status infer(const mona_file_op *op, const mona_shape *inputs, mona_shape *output)
{
    return have_same_pixels(&inputs[1], &inputs[2]) ? same_pixels(op, inputs, output)
                                                    : MONA_ERR_SHAPE;
}

/* All rows of keys and values; rows before the first are only requested to pace a warm-up. */
static mona_span rows(const mona_bound_op *b, uint32_t i, mona_span out)
{
    return i ? (mona_span){0, out.end > 0 ? b->input[i].height : 0} : out;
}

static mona_span columns(const mona_bound_op *b, uint32_t i, mona_span out)
{
    return i ? (mona_span){0, b->input[i].width} : out;
}

/* Pointers to rows, then what the kernel needs. */
static size_t pointers_bytes(const mona_bound_op *b)
{
    return align_up(2 * b->input[1].height * sizeof(uint8_t *));
}

static size_t scratch_bytes(const mona_bound_op *b, uint32_t width)
{
    (void)width;
    const uint32_t heads = b->op->attention.heads;
    const size_t pixels = (size_t)b->input[1].height * b->input[1].width;
    return pointers_bytes(b) + MONA_ATTENTION_SCRATCH(pixels, b->input[1].channels / heads,
                                                      b->output.channels / heads) *
                                   sizeof(float);
}

/* All but the queries, the output and where keys and values lie. */
static mona_attention_row attention_of(const mona_bound_op *b, uint8_t *scratch)
{
    const mona_file_attention *file = &b->op->attention;
    const uint8_t **pointers = (const uint8_t **)(void *)scratch;
    return (mona_attention_row){
        .key_rows = pointers,
        .value_rows = pointers + b->input[1].height,
        .rows = b->input[1].height,
        .columns = b->input[1].width,
        .heads = file->heads,
        .size = b->input[0].channels / file->heads,
        .value_size = b->output.channels / file->heads,
        .scale = file->scale,
        .value_scale = file->value_scale,
        .scratch = (float *)(void *)(scratch + pointers_bytes(b)),
    };
}

static void row(const mona_row_call *call)
{
    const mona_bound_op *b = call->bound;
    const uint8_t **pointers = (const uint8_t **)(void *)call->scratch;
    const uint32_t height = b->input[1].height;
    const mona_row first[2] = {input_row_from(call, 1, 0), input_row_from(call, 2, 0)};
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t y = 0; y < height; y++)
            pointers[i * height + y] =
                call->input[i + 1].rows[y] + (first[i].data - call->input[i + 1].rows[0]);
    mona_attention_row a = attention_of(b, call->scratch);
    a.queries = input_row(call, 0);
    a.output = output_row(call);
    a.keys = first[0];
    a.values = first[1];
    a.pixels = (uint32_t)(call->x_end - call->x_begin);
    b->isa->attention_row(&a);
}

/* ---- whole maps ------------------------------------------------------------------------------ */

static mona_row row_at(const mona_map *map, const mona_shape *s, uint32_t c0, uint32_t y,
                       uint32_t x)
{
    const size_t column = c0 * mona_type_size(s->type);
    return (mona_row){map->data + y * map->row_stride + x * column, map->block_stride, c0, s->type};
}

/* Queries of a row that belong to the first `blocks` channel blocks. */
static uint32_t queries_of(const mona_bound_op *b, uint32_t blocks)
{
    const uint32_t all = (b->output.channels + b->output_c0 - 1) / b->output_c0;
    const uint64_t queries = (uint64_t)b->output.width * blocks / all;
    return blocks == all ? b->output.width
                         : (uint32_t)queries / MONA_ATTENTION_QUERIES * MONA_ATTENTION_QUERIES;
}

/* A share of the channel blocks stands for as large a share of each row's queries, for all heads:
 * heads may be fewer than cores, and those that two share would have their scores twice. */
static void map(const mona_map_call *call)
{
    const mona_bound_op *b = call->bound;
    const uint8_t **pointers = (const uint8_t **)(void *)call->scratch;
    const uint32_t begin = queries_of(b, call->block_begin), height = b->input[1].height;
    mona_attention_row a = attention_of(b, call->scratch);
    a.keys = row_at(&call->input[1], &b->input[1], b->input_c0[1], 0, 0);
    a.values = row_at(&call->input[2], &b->input[2], b->input_c0[2], 0, 0);
    a.pixels = queries_of(b, call->block_end) - begin;
    for (uint32_t i = 0; i < 2 * height; i++)
        pointers[i] =
            call->input[1 + i / height].data + i % height * call->input[1 + i / height].row_stride;
    for (uint32_t y = call->y_begin; y < call->y_end && a.pixels; y++) {
        a.queries = row_at(&call->input[0], &b->input[0], b->input_c0[0], y, begin);
        a.output = row_at(&call->output, &b->output, b->output_c0, y, begin);
        b->isa->attention_row(&a);
    }
}

static bool map_possible(const mona_bound_op *b)
{
    return !b->on_ai_core && b->output_c0 == AC_FRACTAL;
}

static size_t map_scratch_bytes(const mona_bound_op *b)
{
    return scratch_bytes(b, 0);
}

static uint64_t macs(const mona_bound_op *b)
{
    const uint64_t keys = (uint64_t)b->input[1].height * b->input[1].width;
    return (uint64_t)b->output.height * b->output.width * keys *
           (b->input[0].channels + b->output.channels);
}

const mona_op_run mona_run_attention = {
    .rows = rows,
    .columns = columns,
    .row = row,
};

const mona_op_run mona_run_attention_map = {
    .rows = rows,
    .columns = columns,
    .map = map,
};

const mona_op_class mona_op_attention = {
    .name = "attention",
    .run = &mona_run_attention,
    .run_map = &mona_run_attention_map,
    .kernels = MONA_KERNEL(attention_row),
    .min_inputs = 3,
    .max_inputs = 3,
    .check = check,
    .infer = infer,
    .scratch_bytes = scratch_bytes,
    .map_possible = map_possible,
    .map_scratch_bytes = map_scratch_bytes,
    .macs = macs,
};
