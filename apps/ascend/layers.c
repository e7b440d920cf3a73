// SPDX-License-Identifier: Apache-2.0
/* Networks up to their first layer, up to their second, and so on: the first one that differs from
 * the host's result names the layer that does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/ascend/light.h"
#include "formats/compiler/program/programs.h"
#include "formats/file.h"
#include "formats/mona_writer.h"
#include "models/embedded.h"
#include "engine/op/op.h"

enum { WIDTH = 64, HEIGHT = 48, F16_ONE = 0x3c00 };

/* ---- a network that ends early --------------------------------------------------------------- */

typedef struct shortened {
    const mona_model *of;
    mona_writer writer;
    bool needed[MONA_MAX_TENSORS];
    uint32_t now[MONA_MAX_TENSORS]; /* the index of a tensor that is needed */
} shortened;

/* Marks what the tensor of operator `last` is made of. */
static void mark_needed(shortened *s, uint32_t last)
{
    s->needed[s->of->ops[last].output] = true;
    for (uint32_t o = last + 1; o-- > 0;) {
        const mona_file_op *op = &s->of->ops[o];
        for (uint32_t i = 0; s->needed[op->output] && i < op->input_count; i++)
            s->needed[op->inputs[i]] = true;
    }
}

/* made: what the last operator makes, whose padding nothing reads. */
static uint32_t add_tensor(shortened *s, uint32_t tensor, uint32_t made)
{
    mona_file_tensor t = s->of->tensors[tensor];
    if (tensor == made)
        memset(t.padding, 0, sizeof t.padding);
    t.name = mona_writer_string(&s->writer, s->of->strings + t.name);
    return mona_writer_tensor(&s->writer, &t);
}

/* Inputs, then the output, then the others. Returns the number of inputs. */
static uint32_t add_tensors(shortened *s, uint32_t last)
{
    const mona_file_header *h = s->of->header;
    const uint32_t made = s->of->ops[last].output;
    uint32_t inputs = 0;
    for (uint32_t t = 0; t < h->input_count; t++)
        if (s->needed[t])
            s->now[t] = add_tensor(s, t, made), inputs++;
    add_tensor(s, made, made);
    for (uint32_t t = h->input_count + h->output_count; t < h->tensor_count; t++)
        if (s->needed[t])
            s->now[t] = add_tensor(s, t, made);
    return inputs;
}

static void add_op(shortened *s, const mona_file_op *op)
{
    mona_file_op copy = *op;
    copy.name = mona_writer_string(&s->writer, s->of->strings + op->name);
    for (uint32_t i = 0; i < op->input_count; i++)
        copy.inputs[i] = s->now[op->inputs[i]];
    copy.output = s->now[op->output];
    mona_writer_op(&s->writer, &copy);
}

/* A model whose output is the tensor of operator `last`. The caller frees it. */
static bool shorten(const mona_model *model, uint32_t last, uint8_t **bytes, size_t *size,
                    format_error *error)
{
    shortened s = {.of = model};
    mona_writer_start_from(&s.writer, model->file);
    mark_needed(&s, last);
    const uint32_t inputs = add_tensors(&s, last);
    for (uint32_t o = 0; o <= last; o++)
        if (s.needed[model->ops[o].output])
            add_op(&s, &model->ops[o]);
    const mona_file_op store = {.kind = MONA_OP_STORE,
                                .input_count = 1,
                                .inputs = {s.now[model->ops[last].output]},
                                .output = inputs,
                                .store = {.block = 1, .scale = F16_ONE, .maximum = 255}};
    mona_writer_op(&s.writer, &store);
    const bool ok = mona_writer_finish(&s.writer, "", inputs, 1, bytes, size, error);
    mona_writer_free(&s.writer);
    return ok;
}

/* ---- a frame --------------------------------------------------------------------------------- */

typedef struct frame {
    mona_buffer in[MONA_MAX_IO], out;
    size_t bytes; /* of the output */
} frame;

static bool make_plane(mona_buffer *b, const mona_tensor_info *t, size_t *bytes)
{
    const size_t row = t->width * mona_type_size(t->type);
    uint32_t state = 1;
    *bytes = row * t->height * t->channels;
    *b = (mona_buffer){file_alloc(*bytes), (ptrdiff_t)row, (ptrdiff_t)(row * t->height)};
    for (size_t i = 0; b->data && i < *bytes; i++) {
        state = state * 1664525 + 1013904223;
        ((uint8_t *)b->data)[i] = (uint8_t)(state >> 24 & (t->type == MONA_U8 ? 255 : 59));
    }
    return b->data;
}

static void free_frame(frame *f)
{
    for (unsigned i = 0; i < MONA_MAX_IO; i++)
        free(f->in[i].data);
    free(f->out.data);
}

/* Runs a model on a device; the frame is the caller's to free. */
static mona_status run_frame(const mona_model *model, mona_size size, const mona_device *device,
                             frame *f)
{
    mona_config config = {.device = device};
    mona_plan *plan;
    mona_session *session;
    size_t ignored;
    *f = (frame){0};
    for (unsigned i = 0; i < mona_model_input_count(model); i++)
        if (!mona_model_input(model, i).width)
            config.sizes[i] = i ? (mona_size){0} : size;
    void *memory = file_alloc(mona_plan_bytes(model)), *arena = NULL;
    mona_status status = memory ? mona_plan_make(&plan, memory, model, &config) : MONA_ERR_ARENA;
    bool made = !status && (arena = file_alloc(mona_plan_arena_bytes(plan)));
    for (unsigned i = 0; i < mona_model_input_count(model) && made; i++) {
        const mona_tensor_info t = mona_plan_input(plan, i);
        made = make_plane(&f->in[i], &t, &ignored);
    }
    if (made) {
        const mona_tensor_info t = mona_plan_output(plan, 0);
        made = make_plane(&f->out, &t, &f->bytes);
    }
    if (!status)
        status = made ? mona_session_open(&session, plan, arena, mona_plan_arena_bytes(plan))
                      : MONA_ERR_ARENA;
    if (!status) {
        status = mona_session_run(session, f->in, &f->out);
        mona_session_close(session);
    }
    free(arena), free(memory);
    return status;
}

/* ---- layers ---------------------------------------------------------------------------------- */

static const char *name_of(const mona_model *model, uint32_t layer)
{
    return model->strings + model->ops[layer].name;
}

/* Whether the network up to this layer has the host's bytes on the chip. */
static bool is_equal(const mona_model *model, const char *network, uint32_t layer)
{
    const mona_tensor_info in = mona_model_input(model, 0);
    const mona_size size = in.width ? (mona_size){in.width, in.height} : (mona_size){WIDTH, HEIGHT};
    const char *why = NULL;
    format_error error = {0};
    uint8_t *bytes = NULL, *program = NULL, *both = NULL;
    size_t count, program_bytes, both_bytes;
    mona_model host, chip;
    frame expected = {0}, found = {0};
    if (!shorten(model, layer, &bytes, &count, &error) || mona_model_open(&host, bytes, count) ||
        !program_record(&host, size, &program, &program_bytes, &error)) {
        why = error.text[0] ? error.text : "the network cannot be shortened";
    } else {
        const mona_writer_program p = {"ascend310", program, program_bytes};
        mona_status status = run_frame(&host, size, &mona_device_host, &expected);
        if (!mona_writer_add_programs(host.file, 0, &p, 1, &both, &both_bytes, &error))
            status = MONA_ERR_ARENA;
        if (!status)
            status = mona_model_open(&chip, both, both_bytes);
        if (!status)
            status = run_frame(&chip, size, &mona_device_ascend, &found);
        if (status)
            why = *mona_ascend_problem() ? mona_ascend_problem() : mona_status_text(status);
    }
    size_t at = 0;
    while (!why && at < expected.bytes &&
           ((uint8_t *)expected.out.data)[at] == ((uint8_t *)found.out.data)[at])
        at++;
    const bool equal = !why && at == expected.bytes;
    if (why)
        printf("differs: %s, layer %u (%s): %s\n", network, layer, name_of(model, layer), why);
    else if (!equal)
        printf("differs: %s, layer %u (%s), byte %zu of %zu: found %02x, expected %02x\n", network,
               layer, name_of(model, layer), at, expected.bytes, ((uint8_t *)found.out.data)[at],
               ((uint8_t *)expected.out.data)[at]);
    free_frame(&expected), free_frame(&found);
    free(bytes), free(program), free(both);
    return equal;
}

/* Layers after the first that differs would differ too. */
static bool check_network(const mona_model *model, const char *name)
{
    uint32_t layers = 0;
    for (uint32_t o = 0; o < model->header->op_count; o++)
        if (!mona_ops[model->ops[o].kind]->run->writes_planes) {
            if (!is_equal(model, name, o))
                return false;
            layers++;
        }
    printf("equal: %s, %u layers\n", name, layers);
    return true;
}

/* Without names: every network but those of video, which are the layers of others with other
 * weights. */
static bool is_wanted(const char *name, char *const *names)
{
    if (!*names)
        return !strstr(name, "_video");
    while (*names && strcmp(*names, name))
        names++;
    return *names;
}

unsigned layers_check(char *const *names)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < embedded_model_count; i++) {
        const embedded_model *e = &embedded_models[i];
        mona_model model;
        if (is_wanted(e->name, names) &&
            !mona_model_open(&model, e->begin, (size_t)(e->end - e->begin)))
            wrong += !check_network(&model, e->name);
    }
    printf("%u networks differ\n", wrong);
    return wrong;
}
