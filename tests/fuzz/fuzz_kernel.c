// SPDX-License-Identifier: Apache-2.0
/* Interfaces of kernels (NAME.kernel), with their AI Core programs: what is taken runs on model310,
 * for each output alone, which finds no fault in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/compile/kernel_interface.h"
#include "engine/model310/modelled.h"
#include "ops/ascend/programs.h"
#include "tests/fuzz/kernel_lines.h"
#include "tests/fuzz/run_model.h"
#include "tests/unit/model_builder.h"

enum { MOST_ELEMENTS = 1 << 15, MOST_STEPS = 400, MOST_ENTRIES = 64 };

/* Cells: one, more rows than lanes, several tiles, and rows that are no whole blocks. */
static const mona_size grids[] = {{32, 1}, {32, 20}, {320, 5}, {7, 3}};

static uint32_t elements_of(const mona_kernel_operand *o, mona_size grid)
{
    return o->planes ? o->planes * o->cell_rows * o->cell_columns * grid.width * grid.height
                     : o->elements;
}

/* Whether the model is small, and what a program makes of it. */
static bool is_small(const described *d, uint32_t output, mona_size grid)
{
    const mona_kernel_program *p = &d->programs[output];
    bool small = p->count < MOST_STEPS;
    for (uint32_t i = 0; i < d->kernel.inputs + d->kernel.outputs; i++)
        small = small && elements_of(&d->operands[i], grid) < MOST_ELEMENTS;
    for (uint32_t i = 0; i < p->count; i++)
        small = small && (p->steps[i].operation != MONA_KERNEL_GATHER ||
                          (p->steps[i].value < d->kernel.inputs &&
                           d->operands[p->steps[i].value].elements < MOST_ENTRIES));
    return small;
}

static uint32_t array_of(model_builder *b, uint32_t tensor, const mona_kernel_operand *o,
                         mona_size grid)
{
    b->tensors[tensor].array = 1;
    b->tensors[tensor].channels = 1;
    b->tensors[tensor].height = 1;
    b->tensors[tensor].width = elements_of(o, grid);
    return tensor;
}

/* An output alone. constants: so are tables. */
static uint8_t *make_model(const described *d, uint32_t output, mona_size grid, bool constants,
                           size_t *size)
{
    static const uint8_t zeros[MOST_ELEMENTS * 4];
    model_builder *b = builder_new();
    const mona_kernel_operand *out = &d->operands[d->kernel.inputs + output];
    const size_t name_bytes = strlen(d->name) + 1;
    uint32_t inputs[MONA_KERNEL_OPERANDS];
    for (uint32_t i = 0; i < d->kernel.inputs; i++)
        inputs[i] = !d->operands[i].planes && constants
                        ? MONA_NONE
                        : array_of(b, builder_input(b, "x", d->operands[i].type, 1, 1),
                                   &d->operands[i], grid);
    const uint32_t made = array_of(b, builder_output(b, "y", out->type, 1, 1), out, grid);
    mona_file_op *op = builder_op(b, MONA_OP_ARRAY_KERNEL, made, d->kernel.inputs, inputs);
    for (uint32_t i = 0; i < d->kernel.inputs; i++)
        if (inputs[i] == MONA_NONE) {
            const mona_kernel_operand *o = &d->operands[i];
            op->array.offset[i] = builder_data(b, zeros, o->elements * mona_type_size(o->type));
            op->array.elements[i] = o->elements;
            op->array.type[i] = (uint8_t)o->type;
        }
    const mona_array_kernel record = {.name = builder_data(b, d->name, name_bytes),
                                      .name_bytes = (uint32_t)name_bytes,
                                      .output = output,
                                      .rows = grid.height,
                                      .columns = grid.width};
    op->array.record = builder_data(b, &record, sizeof record);
    return builder_finish(b, size);
}

static void must_find_nothing(const ac_model_report *r)
{
    for (uint64_t i = 0; r && i < r->finding_count && i < AC_MODEL_FINDINGS; i++)
        fprintf(stderr, "%s of %s, %s: found %lld\n", ac_finding_kind_name(r->findings[i].kind),
                r->findings[i].instruction, r->findings[i].operand,
                (long long)r->findings[i].found);
    if (r && r->finding_count)
        abort();
}

/* What is proved for the vector unit keeps to its rules. */
static void run(const mona_model *model)
{
    const mona_config config = {.device = &mona_device_model310};
    const unsigned inputs = mona_model_input_count(model);
    fuzz_buffers in = {0}, out = {0};
    mona_session *session;
    mona_plan *plan;
    void *memory = session_binding_allocate(mona_plan_bytes(model));
    if (!memory || mona_plan_make(&plan, memory, model, &config)) { /* it has no program */
        free(memory);
        return;
    }
    const size_t bytes = mona_plan_arena_bytes(plan);
    void *arena = session_binding_allocate(bytes);
    for (unsigned i = 0; i < inputs; i++)
        in[i] = fuzz_buffer(mona_plan_input(plan, i));
    out[0] = fuzz_buffer(mona_plan_output(plan, 0));
    if (arena && !mona_session_open(&session, plan, arena, bytes)) {
        const mona_status status = mona_session_run(session, in, out);
        for (unsigned core = 0; core < AC_PROGRAM_CORES; core++)
            must_find_nothing(mona_session_modelled(session, core));
        fuzz_must(status);
        mona_session_close(session);
    }
    for (unsigned i = 0; i < inputs; i++)
        free(in[i].data);
    free(out[0].data);
    free(arena);
    free(memory);
}

static void run_outputs(const described *d, uint32_t which)
{
    const mona_size grid = grids[which % 4];
    const mona_kernel *const kernels[] = {&d->kernel, NULL};
    const mona_guard guard = {.kernels = kernels};
    for (uint32_t output = 0; output < d->kernel.outputs; output++) {
        mona_model model;
        size_t size;
        if (!is_small(d, output, grid))
            continue;
        uint8_t *bytes = make_model(d, output, grid, which / 4 % 2, &size);
        if (!mona_model_open_guarded(&model, bytes, size, &guard))
            run(&model);
        free(bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static described d; /* as the command has them */
    char *text = calloc(size + 1, 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    const uint32_t which = mona_crc32(0, data, size);
    kernel_interface_whole(text);
    memset(&d, 0, sizeof d);
    if (kernel_interface_read(&d, text))
        run_outputs(&d, which);
    free(d.steps);
    free(text);
    return 0;
}

/* For every second input, libFuzzer's own changes. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    if (LLVMFuzzerMutate && seed % 2)
        return LLVMFuzzerMutate(data, size, room);
    return change_lines((char *)data, size, room, seed);
}
