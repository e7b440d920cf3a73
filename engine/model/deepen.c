// SPDX-License-Identifier: Apache-2.0
/* Turns a model for planes of 8 bits into one for planes of more.
 *
 * Samples of b bits are samples of 8 bits with b - 8 bits after the binary point. Samples that the
 * network only looks at stay u8, rounded to 8 bits. The picture that it corrects becomes fp16 in
 * the same scale of 8 bits. With 11 significant bits fp16 holds every sample of up to 11 bits
 * exactly, so a correction of zero leaves it unchanged.
 *
 * So a u8 tensor becomes fp16 if it is a picture: the source of a STORE and, going backwards up
 * to the LOAD, the residual of the CONV, the operand of the ADD or the source of the RESIZE,
 * DEPTH_TO_SPACE, PAD, CONCAT or SLICE that wrote it. This ends at feature maps. A LOAD whose
 * result is both looked at and corrected becomes two. In fp16 networks only the scales change. */
#include "engine/cpu/c/f16.h"
#include "engine/arith.h"
#include "engine/libc.h"
#include "engine/model/model.h"
#include "engine/op/op.h"

enum { PICTURE = 1, FEATURES = 2 }; /* what the readers of a tensor use it as */

typedef struct deepening {
    const mona_model *from;
    mona_file_header *header;
    mona_file_tensor *tensors;
    mona_file_op *ops;
    uint8_t *uses; /* [tensors of from], for u8 tensors between operators */
    unsigned more; /* bits beyond 8 */
    mona_status status;
} deepening;

static uint16_t scaled_f16(uint16_t scale, float by)
{
    return mona_f16_from_f32(mona_f32_from_f16(scale) * by);
}

/* How many steps of a deeper sample make up one of 8 bits. */
static float ratio(const deepening *d)
{
    return (float)(1u << d->more);
}

/* ---- what is a picture ---------------------------------------------------------------------- */

static const mona_op_class *class_of(const mona_file_op *op)
{
    return mona_ops[op->kind];
}

static bool is_load(const mona_file_op *op)
{
    return class_of(op)->run->reads_planes;
}

/* Feature maps come from arithmetic; resampled planes do not. */
static bool is_plane(const deepening *d, uint32_t tensor)
{
    for (uint32_t o = 0; o < d->from->header->op_count; o++) {
        const mona_op_class *class = class_of(&d->from->ops[o]);
        const bool moves = class->picture == MONA_PICTURE_MOVED && !class->run->joins_channels &&
                           !class->run->cuts_channels;
        if (d->from->ops[o].output == tensor)
            return class->run->reads_planes || moves;
    }
    return false;
}

/* How an operator uses input i, given how its result is used. Models with arrays are refused. */
static uint8_t use_of(const deepening *d, const mona_file_op *op, uint32_t i, uint8_t result)
{
    const mona_op_class *class = class_of(op);
    const bool sums =
        class->picture == MONA_PICTURE_SUMMED || (class->picture == MONA_PICTURE_RESIDUAL && i > 0);
    if (class->run->writes_planes)
        return PICTURE;
    if (class->picture == MONA_PICTURE_MOVED)
        return result;
    return sums && result == PICTURE && is_plane(d, op->inputs[i]) ? PICTURE : FEATURES;
}

/* Readers come after their writer. */
static void find_uses(deepening *d)
{
    const mona_model *m = d->from;
    for (uint32_t o = m->header->op_count; o-- > 0;) {
        const mona_file_op *op = &m->ops[o];
        const bool loses = class_of(op)->picture == MONA_PICTURE_LOST;
        const uint8_t result = d->uses[op->output];
        for (uint32_t i = 0; i < op->input_count; i++)
            if (op->inputs[i] != MONA_NONE)
                d->uses[op->inputs[i]] |= use_of(d, op, i, result);
        if (m->tensors[op->output].type == MONA_U8 && !is_load(op) &&
            ((result & PICTURE && loses) || result == (PICTURE | FEATURES)))
            d->status = MONA_ERR_UNSUPPORTED;
    }
}

/* ---- the new records ------------------------------------------------------------------------ */

static mona_file_tensor *put_tensor(deepening *d)
{
    if (d->header->tensor_count >= MONA_MAX_TENSORS) {
        d->status = MONA_ERR_LIMIT;
        return d->tensors;
    }
    return &d->tensors[d->header->tensor_count++];
}

static mona_file_op *put_op(deepening *d, const mona_file_op *op)
{
    if (d->header->op_count >= MONA_MAX_OPS) {
        d->status = MONA_ERR_LIMIT;
        return d->ops;
    }
    d->ops[d->header->op_count] = *op;
    return &d->ops[d->header->op_count++];
}

static void deepen_tensors(deepening *d)
{
    const uint32_t planes = d->from->header->input_count + d->from->header->output_count;
    memcpy(d->tensors, d->from->tensors, d->from->header->tensor_count * sizeof *d->tensors);
    for (uint32_t t = 0; t < d->from->header->tensor_count; t++) {
        mona_file_tensor *tensor = &d->tensors[t];
        if (tensor->type != MONA_U8)
            continue;
        if (t < planes) {
            tensor->type = MONA_U16;
            tensor->scale /= ratio(d);
        } else if (d->uses[t] == PICTURE) {
            tensor->type = MONA_F16;
            tensor->scale = 1;
        }
    }
}

/* If the samples of a picture are looked at as well, its LOAD is a second one. */
static void deepen_load(deepening *d, const mona_file_op *op)
{
    mona_file_op *load = put_op(d, op);
    for (uint32_t i = 0; i < op->input_count; i++)
        load->load.scale[i] = scaled_f16(op->load.scale[i], 1 / ratio(d));
    if (d->from->tensors[op->output].type != MONA_U8 || d->uses[op->output] != (PICTURE | FEATURES))
        return;
    mona_file_tensor *picture = put_tensor(d);
    *picture = d->from->tensors[op->output];
    picture->type = MONA_F16;
    picture->scale = 1;
    memset(picture->padding, 0, sizeof picture->padding); /* no CONV reads it */
    put_op(d, load)->output = (uint32_t)(picture - d->tensors);
}

static void deepen_store(deepening *d, const mona_file_op *op)
{
    mona_file_store *store = &put_op(d, op)->store;
    store->scale = scaled_f16(store->scale, ratio(d));
    store->maximum = (store->maximum + 1) * (1u << d->more) - 1;
}

/* The tensor that holds t as a picture: the second one if there are two. */
static uint32_t picture_of(const deepening *d, uint32_t t)
{
    if (d->from->tensors[t].type != MONA_U8 || d->uses[t] != (PICTURE | FEATURES))
        return t;
    for (uint32_t o = 1; o < d->header->op_count; o++)
        if (is_load(&d->ops[o - 1]) && d->ops[o - 1].output == t)
            return d->ops[o].output;
    return t;
}

static void deepen_op(deepening *d, const mona_file_op *op)
{
    const mona_file_header *h = d->from->header;
    const bool from_planes = is_load(op), to_planes = class_of(op)->run->writes_planes;
    if (from_planes && d->from->tensors[op->inputs[0]].type == MONA_U8) {
        deepen_load(d, op);
        return;
    }
    if (to_planes && d->from->tensors[op->output].type == MONA_U8) {
        deepen_store(d, op);
        return;
    }
    mona_file_op *new = put_op(d, op);
    for (uint32_t i = 0; i < op->input_count && !from_planes; i++)
        if (op->inputs[i] != MONA_NONE && op->inputs[i] >= h->input_count &&
            use_of(d, op, i, d->uses[op->output]) == PICTURE)
            new->inputs[i] = picture_of(d, op->inputs[i]);
}

/* ---- the call ------------------------------------------------------------------------------- */

static size_t op_room(const mona_model *m)
{
    size_t loads = 0;
    for (uint32_t o = 0; o < m->header->op_count; o++)
        loads += is_load(&m->ops[o]);
    return loads;
}

typedef struct layout {
    size_t tensors, ops, uses, bytes;
} layout;

static layout lay_out(const mona_model *m)
{
    const size_t more = op_room(m);
    layout l = {.tensors = align_up(sizeof(mona_file_header))};
    l.ops = l.tensors + align_up((m->header->tensor_count + more) * sizeof(mona_file_tensor));
    l.uses = l.ops + align_up((m->header->op_count + more) * sizeof(mona_file_op));
    l.bytes = l.uses + align_up(m->header->tensor_count);
    return l;
}

size_t mona_model_deep_bytes(const mona_model *model)
{
    return lay_out(model).bytes;
}

static bool has_arrays(const mona_model *m)
{
    for (uint32_t t = 0; t < m->header->tensor_count; t++)
        if (m->tensors[t].array)
            return true;
    return false;
}

mona_status mona_model_deepen(mona_model *deep, void *memory, size_t bytes, const mona_model *model,
                              unsigned bits)
{
    if (!deep || !model || !memory || (uintptr_t)memory % MONA_ALIGNMENT || bits < 9 ||
        bits > MONA_MAX_DEPTH)
        return MONA_ERR_ARGUMENT;
    const layout l = lay_out(model);
    if (bytes < l.bytes)
        return MONA_ERR_ARENA;
    if (has_arrays(model) || model->header->next)
        return MONA_ERR_UNSUPPORTED;
    uint8_t *base = memory;
    memset(base, 0, l.bytes);
    deepening d = {.from = model,
                   .header = memory,
                   .tensors = (mona_file_tensor *)(void *)(base + l.tensors),
                   .ops = (mona_file_op *)(void *)(base + l.ops),
                   .uses = base + l.uses,
                   .more = bits - 8};
    *d.header = *model->header;
    d.header->op_count = 0;
    d.header->program_count = 0; /* they are for 8 bits */
    find_uses(&d);
    deepen_tensors(&d);
    for (uint32_t o = 0; o < model->header->op_count && !d.status; o++)
        deepen_op(&d, &model->ops[o]);
    const mona_model made = {.header = d.header,
                             .tensors = d.tensors,
                             .ops = d.ops,
                             .strings = model->strings,
                             .data = model->data,
                             .kernels = model->kernels};
    /* No limit needed: the opened model has the same references. */
    mona_data data = {.left = INT64_MAX};
    if (!d.status && mona_model_check(&made, &data))
        d.status = MONA_ERR_UNSUPPORTED;
    if (!d.status)
        *deep = made;
    return d.status;
}
