// SPDX-License-Identifier: Apache-2.0
/* The judge runs an operator on arrays in the engine, as a model of its own. Such operators compute
 * in fp32 or in integers, which suffices for the judge, and ONNX's test suite judges them by a
 * different implementation (reference/). */
#include "formats/compiler/reference_array.h"

#include <stdlib.h>
#include <string.h>

#include "formats/file.h"
#include "formats/half.h"
#include "formats/compiler/lower/lowering.h"

/* ---- elements ----------------------------------------------------------------------------- */

static void store_int(mona_type type, double number, void *to)
{
    const double max = 0x1p63;
    const int64_t integer = number >= max      ? INT64_MAX
                            : number <= -max   ? INT64_MIN
                            : number == number ? (int64_t)number
                                               : 0;
    memcpy(to, &integer, mona_type_size(type));
}

/* Converts between the engine's elements and numbers. */
static void store_elements(const graph_value *v, const float *numbers, void *elements)
{
    const size_t size = mona_type_size(v->type);
    for (size_t i = 0; i < v->count; i++) {
        uint8_t *to = (uint8_t *)elements + i * size;
        const uint16_t half = half_from_double((double)numbers[i]);
        if (v->type == MONA_F32 || v->type == MONA_F16)
            memcpy(to, v->type == MONA_F32 ? (const void *)&numbers[i] : &half, size);
        else
            store_int(v->type, (double)numbers[i], to);
    }
}

static float read_int(mona_type type, const void *from)
{
    uint64_t bits = 0;
    const size_t size = mona_type_size(type);
    memcpy(&bits, from, size);
    const bool is_signed =
        type == MONA_S8 || type == MONA_S16 || type == MONA_S32 || type == MONA_S64;
    const uint64_t sign = UINT64_C(1) << (8 * size - 1);
    return is_signed ? (float)(int64_t)((bits ^ sign) - sign) : (float)bits;
}

static void read_elements(const graph_value *v, const void *elements, float *numbers)
{
    const size_t size = mona_type_size(v->type);
    for (size_t i = 0; i < v->count; i++) {
        const uint8_t *from = (const uint8_t *)elements + i * size;
        uint16_t half;
        memcpy(&half, from, sizeof half > size ? size : sizeof half);
        if (v->type == MONA_F32)
            memcpy(&numbers[i], from, size);
        else
            numbers[i] = v->type == MONA_F16 ? (float)half_value(half) : read_int(v->type, from);
    }
}

/* ---- one operator ------------------------------------------------------------------------- */

/* The model of a single operator and its inputs. */
typedef struct single {
    uint32_t inputs[MONA_OP_MAX_INPUTS]; /* values, each once */
    uint32_t count;
    uint8_t *bytes;
    size_t size;
    mona_buffer in[MONA_OP_MAX_INPUTS], out;
} single;

static bool contains(const single *s, uint32_t value)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->inputs[i] == value)
            return true;
    return false;
}

static bool open_buffer(mona_buffer *b, const graph_value *v, const float *numbers)
{
    const size_t size = mona_type_size(v->type);
    const ptrdiff_t row = (ptrdiff_t)(v->width * size);
    *b = (mona_buffer){calloc(v->count, size), row, row * (ptrdiff_t)v->height};
    if (b->data && numbers)
        store_elements(v, numbers, b->data);
    return b->data;
}

/* Adds value as an input; numbers: NULL if nothing reads them. */
static bool add_input(single *s, mona_writer *w, const graph *g, uint32_t value,
                      const float *numbers, uint32_t *tensors)
{
    tensors[value] = lower_array_tensor(w, g, value);
    s->inputs[s->count] = value;
    return open_buffer(&s->in[s->count++], &g->values[value], numbers);
}

static bool write_model(single *s, const graph *g, const graph_node *node,
                        const reference_array *const *in, format_error *error)
{
    mona_writer w = {0};
    uint32_t *tensors = calloc(g->value_count, sizeof *tensors);
    bool ok = tensors;
    for (uint32_t i = 0; ok && i < node->input_count; i++) {
        const uint32_t value = node->inputs[i];
        if (g->values[value].elements || contains(s, value))
            continue;
        ok = add_input(s, &w, g, value, in[i]->data, tensors);
    }
    if (ok && !s->count) /* all are constants, but a model needs an input */
        ok = add_input(s, &w, g, node->inputs[0], NULL, tensors);
    ok = ok && open_buffer(&s->out, &g->values[node->output], NULL);
    if (ok)
        lower_array(&w, g, node, tensors, lower_array_tensor(&w, g, node->output));
    else
        format_fail(error, "out of memory");
    ok = ok && mona_writer_finish(&w, "", s->count, 1, &s->bytes, &s->size, error);
    mona_writer_free(&w);
    free(tensors);
    return ok;
}

static mona_status run_model(const single *s)
{
    const mona_config config = {.device = &mona_device_host, .threads = 1};
    mona_model model;
    mona_plan *plan;
    mona_session *session = NULL;
    mona_status status = mona_model_open(&model, s->bytes, s->size);
    if (status)
        return status;
    void *memory = file_alloc(mona_plan_bytes(&model)), *arena = NULL;
    if (!memory)
        status = MONA_ERR_ARENA;
    if (!status)
        status = mona_plan_make(&plan, memory, &model, &config);
    if (!status && !(arena = file_alloc(mona_plan_arena_bytes(plan))))
        status = MONA_ERR_ARENA;
    if (!status)
        status = mona_session_open(&session, plan, arena, mona_plan_arena_bytes(plan));
    if (!status)
        status = mona_session_run(session, s->in, &s->out);
    mona_session_close(session);
    free(arena);
    free(memory);
    return status;
}

bool reference_array_node(const graph *g, const graph_node *node, const reference_array *const *in,
                          reference_array *out, format_error *error)
{
    single s = {.count = 0};
    bool ok = write_model(&s, g, node, in, error);
    const mona_status status = ok ? run_model(&s) : MONA_OK;
    if (status)
        ok = graph_fail(node, error, "cannot be run: %s", mona_status_text(status));
    if (ok)
        read_elements(&g->values[node->output], s.out.data, out->data);
    for (uint32_t i = 0; i < s.count; i++)
        free(s.in[i].data);
    free(s.out.data);
    free(s.bytes);
    return ok;
}
