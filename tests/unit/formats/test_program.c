// SPDX-License-Identifier: Apache-2.0
/* Recorded programs: the instructions that a program issues are those of a session that plans,
 * whatever the loops that were found; its size does not grow with the frame's height; a session
 * runs the program of its model; and no damage to a program makes it leave its buffers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/model310/modelled.h"
#include "formats/compiler/program/programs.h"
#include "models/embedded.h"
#include "tests/cases.h"
#include "tests/unit/fixture.h"
#include "tests/unit/model_builder.h"
#include "tests/unit/modelled_check.h"
#include "tests/unit/recorded.h"

/* ---- what was recorded ---------------------------------------------------------------------- */

/* A hash of everything that a core was given, in order. */
typedef struct trace {
    uint64_t hash[AC_PROGRAM_CORES], count[AC_PROGRAM_CORES];
} trace;

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * 0x9e3779b97f4a7c15u ^ hash >> 29;
}

static void add(trace *t, uint32_t core, const ac_instruction *i)
{
    const bool turns = ac_turns(i->opcode);
    if (i->opcode >= AC_OPCODES)
        return;
    ac_form f = ac_form_of(i, 0, 0);
    if (i->opcode >= AC_OP_SET_FLAG)
        f.value = ac_flag_of(i);
    const ac_address at[AC_OPERANDS] = {i->dst, i->a, i->b};
    const uint8_t *bytes = (const uint8_t *)&f;
    uint64_t h = t->hash[core];
    for (size_t k = 0; k < sizeof f; k++)
        h = mixed(h, bytes[k]);
    for (uint32_t k = 0; k < ac_operations[i->opcode].operands && !turns; k++)
        h = mixed(h, at[k]);
    for (uint32_t k = 0; k < AC_FRACTAL && turns; k++)
        h = mixed(mixed(h, i->turn.to->at[k]), i->turn.from->at[k]);
    t->hash[core] = h;
    t->count[core]++;
}

static void on_begin(void *context, const ac_segment *places)
{
    (void)context, (void)places;
}

static void on_ring(void *context, ac_ring ring)
{
    (void)context, (void)ring;
}

static void on_take(void *context, uint32_t core, const ac_instruction *i)
{
    add(context, core, i);
}

/* ---- what is played ------------------------------------------------------------------------- */

typedef struct player {
    ac_core core; /* first */
    trace *trace;
    uint32_t index;
} player;

static void played(ac_core *core, const ac_instruction *i)
{
    player *p = (player *)(void *)core;
    add(p->trace, p->index, i);
}

static void play(const void *bytes, size_t size, trace *t)
{
    ac_program p;
    assert_true(ac_program_open(&p, bytes, size));
    for (uint32_t s = 0; s < p.header.segments; s++)
        for (uint32_t i = 0; i < AC_PROGRAM_CORES; i++) {
            player one = {.core = {.target = &ac_target_ascend310, .take = played}, t, i};
            ac_program_run(&one.core, &p, s, i);
        }
}

/* ---- models --------------------------------------------------------------------------------- */

static const embedded_model *find_model(const char *name)
{
    for (size_t i = 0; i < embedded_model_count; i++)
        if (!strcmp(embedded_models[i].name, name))
            return &embedded_models[i];
    fail_msg("no model %s", name);
    return NULL;
}

static mona_model open_embedded(const char *name)
{
    const embedded_model *e = find_model(name);
    mona_model model;
    assert_int_equal(mona_model_open(&model, e->begin, (size_t)(e->end - e->begin)), MONA_OK);
    return model;
}

/* A model on model310, with planes full of noise. */
typedef struct net {
    bound bound;
    unsigned inputs, outputs;
    mona_buffer in[MONA_MAX_IO], out[MONA_MAX_IO];
    size_t in_bytes[MONA_MAX_IO], out_bytes[MONA_MAX_IO];
} net;

/* gap: bytes behind each row */
static mona_buffer new_plane(mona_tensor_info t, size_t gap, size_t *bytes)
{
    const size_t row = t.width * mona_type_size(t.type) + gap;
    mona_buffer b = {malloc(*bytes = row * t.height * t.channels), (ptrdiff_t)row,
                     (ptrdiff_t)(row * t.height)};
    uint32_t noise = 1;
    assert_non_null(b.data);
    for (size_t i = 0; i < *bytes; i++) {
        noise = noise * 1664525 + 1013904223;
        ((uint8_t *)b.data)[i] = noise >> 24 & 127; /* as fp16: finite */
    }
    return b;
}

static void open_net_on(net *n, const mona_device *device, const mona_model *model, mona_size size,
                        size_t gap)
{
    const mona_config config = {.device = device, .sizes = {size}};
    assert_int_equal(bind(&n->bound, model, &config), MONA_OK);
    n->inputs = mona_model_input_count(model);
    n->outputs = mona_model_output_count(model);
    for (unsigned i = 0; i < n->inputs; i++)
        n->in[i] = new_plane(mona_plan_input(n->bound.plan, i), gap, &n->in_bytes[i]);
    for (unsigned i = 0; i < n->outputs; i++)
        n->out[i] = new_plane(mona_plan_output(n->bound.plan, i), gap, &n->out_bytes[i]);
}

static void open_net(net *n, const mona_model *model, mona_size size, size_t gap)
{
    open_net_on(n, &mona_device_model310, model, size, gap);
}

static void close_net(net *n)
{
    for (unsigned i = 0; i < n->inputs; i++)
        free(n->in[i].data);
    for (unsigned i = 0; i < n->outputs; i++)
        free(n->out[i].data);
    unbind(&n->bound);
}

static void run_traced(const mona_model *model, mona_size size, trace *t)
{
    const mona_program_recorder r = {t, on_begin, on_ring, on_take};
    net n;
    open_net(&n, model, size, 0);
    mona_session_record(n.bound.session, &r);
    assert_int_equal(mona_session_run(n.bound.session, n.in, n.out), MONA_OK);
    close_net(&n);
}

/* ---- tests ---------------------------------------------------------------------------------- */

/* What a core is given by a program, and what a session that plans gives it. */
static size_t check_frame(const char *name, uint32_t width, uint32_t height)
{
    const mona_model model = open_embedded(name);
    trace planned = {0}, issued = {0};
    size_t size;
    uint8_t *bytes = recorded_program(&model, (mona_size){width, height}, &size);
    play(bytes, size, &issued);
    run_traced(&model, (mona_size){width, height}, &planned);
    for (int core = 0; core < AC_PROGRAM_CORES; core++) {
        assert_int_equal(issued.count[core], planned.count[core]);
        assert_int_equal(issued.hash[core], planned.hash[core]);
    }
    print_message("# %s at %ux%u: %u + %u instructions, %u bytes\n", name, width, height,
                  (unsigned)planned.count[0], (unsigned)planned.count[1], (unsigned)size);
    free(bytes);
    return size;
}

static void programs_issue_what_was_recorded(void **state)
{
    (void)state;
    check_frame("sr_x2_fast", 96, 64);
    check_frame("sr_x2_fast", 321, 99);
    check_frame("sr_x3_fast", 64, 40);
    check_frame("denoise_fast", 128, 72);
}

static void size_does_not_grow_with_the_height(void **state)
{
    (void)state;
    const size_t low = check_frame("sr_x2_fast", 96, 360);
    const size_t high = check_frame("sr_x2_fast", 96, 1080);
    assert_in_range(high, 1, low + low / 20);
}

/* Whether a plan has a region of this kind. */
static bool has_region(const mona_plan *plan, const char *kind)
{
    mona_plan_buffer b;
    for (uint64_t i = 0; mona_plan_next_buffer(plan, &i, &b);)
        if (!strcmp(b.kind, kind))
            return true;
    return false;
}

static void check_report(const net *planned, const net *programmed)
{
    for (unsigned core = 0; core < AC_PROGRAM_CORES; core++) {
        const ac_model_report *a = mona_session_modelled(planned->bound.session, core),
                              *b = mona_session_modelled(programmed->bound.session, core);
        assert_int_equal(b->finding_count, 0);
        assert_int_equal(a->instructions, b->instructions);
        assert_true(a->cycles <= b->cycles && b->cycles < 1.1 * a->cycles); /* turns of loops */
        mona_op_info info;
        for (unsigned op = 0; mona_plan_op_at(planned->bound.plan, op, &info); op++) {
            const double x = mona_session_modelled_op(planned->bound.session, core, op)->cycles;
            const double y = mona_session_modelled_op(programmed->bound.session, core, op)->cycles;
            assert_true(y >= 0.99 * x && y <= 1.2 * x);
        }
    }
}

/* Planes of any stride serve a program, whose own have rows of whole blocks. */
static void check_session(const char *name, mona_size size, size_t gap)
{
    const mona_model model = open_embedded(name);
    mona_model with;
    size_t bytes, file_bytes;
    uint8_t *program = recorded_program(&model, size, &bytes);
    uint8_t *file = file_with_program(&model, program, bytes, &file_bytes);
    assert_int_equal(mona_model_open(&with, file, file_bytes), MONA_OK);
    net a, b;
    open_net(&a, &model, size, gap);
    open_net(&b, &with, size, gap);
    assert_true(has_region(a.bound.plan, "planes") && has_region(b.bound.plan, "planes"));
    for (int frame = 0; frame < 2; frame++) {
        assert_int_equal(mona_session_run(a.bound.session, a.in, a.out), MONA_OK);
        assert_int_equal(mona_session_run(b.bound.session, b.in, b.out), MONA_OK);
        for (unsigned i = 0; i < a.outputs; i++)
            assert_memory_equal(a.out[i].data, b.out[i].data, a.out_bytes[i]);
        check_report(&a, &b);
    }
    close_net(&a);
    close_net(&b);
    free(file);
    free(program);
}

static void sessions_run_the_program_of_their_model(void **state)
{
    (void)state;
    for (size_t gap = 0; gap <= 48; gap += 48) {
        check_session("sr_x2_fast", (mona_size){96, 64}, gap);
        check_session("sr_x3_fast", (mona_size){64, 40}, gap);
        check_session("denoise_fast", (mona_size){128, 72}, gap);
    }
}

/* Segments that run at the same time as the one before, of what check_cut() has recorded. */
static uint32_t beside;

/* Cut into groups a model fits L1, with maps between them; the bytes are those of the host, with
 * and without the cuts, and model310 finds nothing. */
static void check_cut(const mona_model *whole, mona_size size)
{
    uint8_t *cut, *program, *file;
    size_t bytes, program_bytes;
    format_error error = {0};
    mona_model model, with;
    ac_program p;
    assert_true(model_needs_cut(whole, size));
    assert_true(model_cut(whole, &size, 1, &cut, &bytes, &error));
    assert_int_equal(mona_model_open(&model, cut, bytes), MONA_OK);
    assert_false(model_needs_cut(&model, size));
    program = recorded_program(&model, size, &program_bytes);
    assert_true(ac_program_open(&p, program, program_bytes));
    assert_true(p.header.segments > 1);
    for (uint32_t s = 0; s < p.header.segments; s++)
        beside += ac_runs_beside(p.segments, p.header.segments, s);
    file = file_with_program(&model, program, program_bytes, &bytes);
    assert_int_equal(mona_model_open(&with, file, bytes), MONA_OK);
    net host, others[3];
    open_net_on(&host, &mona_device_host, whole, size, 0);
    open_net_on(&others[0], &mona_device_host, &model, size, 0);
    open_net(&others[1], &model, size, 0);
    open_net(&others[2], &with, size, 0);
    for (int frame = 0; frame < 2; frame++) {
        assert_int_equal(mona_session_run(host.bound.session, host.in, host.out), MONA_OK);
        for (net *n = others; n < others + 3; n++) {
            assert_int_equal(mona_session_run(n->bound.session, n->in, n->out), MONA_OK);
            assert_memory_equal(host.out[0].data, n->out[0].data, host.out_bytes[0]);
        }
        check_report(&others[1], &others[2]);
    }
    close_net(&host);
    for (net *n = others; n < others + 3; n++)
        close_net(n);
    free(file), free(program), free(cut);
}

static void what_does_not_fit_is_cut(void **state)
{
    (void)state;
    net_fixture f = net_open(48, 42, 3);
    check_cut(&f.model, (mona_size){100, 44});
    net_close(&f);
}

static mona_file_op *add_conv(model_builder *b, uint32_t from, uint32_t to, uint32_t kernel,
                              uint32_t weights, uint32_t scales)
{
    mona_file_op *op = builder_op(b, MONA_OP_CONV, to, 1, &from);
    op->conv = builder_conv_3x3();
    op->conv.kernel_h = op->conv.kernel_w = (uint8_t)kernel;
    op->conv.pad_top = op->conv.pad_left = op->conv.pad_bottom = op->conv.pad_right =
        (uint8_t)(kernel / 2);
    op->conv.bias = MONA_NONE;
    op->conv.weights = weights;
    op->conv.scales = scales;
    return op;
}

/* Convolutions of C channels share weights and scales. */
enum { C = 992 };

typedef struct shared_data {
    uint32_t weights, scales, table;
} shared_data;

static shared_data add_data(model_builder *m)
{
    int8_t *weights = malloc(C * C);
    uint16_t scales[C];
    uint8_t table[256];
    for (uint32_t i = 0; i < C * C; i++)
        weights[i] = (int8_t)((int)(i * 2654435761u >> 24) % 255 - 127);
    for (uint32_t i = 0; i < C; i++)
        scales[i] = (uint16_t)(0x1400 + i % 512);
    for (uint32_t i = 0; i < 256; i++)
        table[i] = (uint8_t)(20 + i * i / 300);
    const shared_data data = {builder_data(m, weights, C * C),
                              builder_data(m, scales, sizeof scales),
                              builder_data(m, table, sizeof table)};
    free(weights);
    return data;
}

/* out: gets the model's output */
static uint32_t add_load(model_builder *m, uint32_t *out)
{
    const uint32_t in = builder_input(m, "in", MONA_U8, 1, 1);
    *out = builder_output(m, "out", MONA_U8, 1, 1);
    const uint32_t loaded = builder_tensor(m, "loaded", MONA_U8, 1, 1);
    mona_file_op *op = builder_op(m, MONA_OP_LOAD, loaded, 1, &in);
    op->load.block[0] = 1;
    op->load.scale[0] = 0x3c00;
    return loaded;
}

static void add_store(model_builder *m, uint32_t made, uint32_t out)
{
    builder_op(m, MONA_OP_STORE, out, 1, &made)->store =
        (mona_file_store){.block = 1, .scale = 0x3c00, .maximum = 255};
}

static void check_cut_of(model_builder *m, uint32_t made, uint32_t out)
{
    add_store(m, made, out);
    size_t size;
    mona_model model;
    uint8_t *bytes = builder_finish(m, &size);
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    check_cut(&model, (mona_size){14, 6});
    free(bytes);
}

/* loaded: what the first operator takes; made: what the last one makes; out: the model's output */
static model_builder *begin_net(uint32_t *loaded, uint32_t *made, uint32_t *out, shared_data *d)
{
    model_builder *m = builder_new();
    *loaded = add_load(m, out);
    *d = add_data(m);
    *made = builder_tensor(m, "made", MONA_U8, 1, 1);
    return m;
}

/* 1x1 convolutions read no rows outside: their widest ring nearly fills L1, and needs no row of
 * zeros as long as its own beside it. */
static void rows_that_nobody_reads_are_not_there(void **state)
{
    (void)state;
    enum { WIDTH = 120, HEIGHT = 32 };
    uint32_t loaded, made, out;
    shared_data d;
    size_t bytes;
    mona_model model;
    net host, modelled;
    model_builder *m = begin_net(&loaded, &made, &out, &d);
    const uint32_t wide = builder_tensor(m, "wide", MONA_S8, C, 1);
    add_conv(m, loaded, wide, 1, d.weights, d.scales);
    add_conv(m, wide, made, 1, d.weights, d.scales);
    add_store(m, made, out);
    uint8_t *file = builder_finish(m, &bytes);
    assert_int_equal(mona_model_open(&model, file, bytes), MONA_OK);
    assert_false(model_needs_cut(&model, (mona_size){WIDTH, HEIGHT}));
    open_net_on(&host, &mona_device_host, &model, (mona_size){WIDTH, HEIGHT}, 0);
    open_net(&modelled, &model, (mona_size){WIDTH, HEIGHT}, 0);
    assert_int_equal(mona_session_run(host.bound.session, host.in, host.out), MONA_OK);
    assert_int_equal(mona_session_run(modelled.bound.session, modelled.in, modelled.out), MONA_OK);
    assert_memory_equal(host.out[0].data, modelled.out[0].data, host.out_bytes[0]);
    assert_nothing_found(modelled.bound.session);
    close_net(&host);
    close_net(&modelled);
    free(file);
}

/* Convolutions whose weights fill L1: a -> b -> c, c being added to a. */
static void convolutions_too_large_are_cut(void **state)
{
    (void)state;
    uint32_t loaded, made, out, maps[3];
    shared_data d;
    model_builder *m = begin_net(&loaded, &made, &out, &d);
    for (int i = 0; i < 3; i++)
        maps[i] = builder_tensor(m, "map", MONA_S8, C, 1);
    add_conv(m, loaded, maps[0], 3, d.weights, d.scales);
    add_conv(m, maps[0], maps[1], 1, d.weights, d.scales);
    mona_file_op *op = add_conv(m, maps[1], maps[2], 1, d.weights, d.scales);
    op->input_count = 2;
    op->inputs[1] = maps[0];
    add_conv(m, maps[2], made, 3, d.weights, d.scales);
    beside = 0;
    check_cut_of(m, made, out);
    assert_true(beside > 0); /* parts of a convolution on both cores */
}

static void end_with_table(mona_file_op *op, const shared_data *d)
{
    op->epilogue.activation_after_add = MONA_ACT_TABLE;
    op->epilogue.slopes = d->table;
}

/* A map times a gate, which is made of the means of the whole map: rings of one group would hold
 * all of it. The convolutions before are depthwise, of whose weights the cube takes 32 times as
 * many, and end with tables. */
static void gates_are_cut(void **state)
{
    (void)state;
    uint32_t loaded, made, out, maps[5];
    shared_data d;
    model_builder *m = begin_net(&loaded, &made, &out, &d);
    for (int i = 0; i < 5; i++)
        maps[i] = builder_tensor(m, "map", MONA_U8, C, 1);
    end_with_table(add_conv(m, loaded, maps[0], 3, d.weights, d.scales), &d);
    mona_file_op *op = add_conv(m, maps[0], maps[1], 5, d.weights, d.scales);
    op->conv.groups = C;
    end_with_table(op, &d);
    builder_op(m, MONA_OP_AVERAGE_POOL, maps[2], 1, &maps[1])->pool = (mona_file_pool){
        .stride_h = 1, .stride_w = 1, .dilation_h = 1, .dilation_w = 1, .scale = 1};
    end_with_table(add_conv(m, maps[2], maps[3], 1, d.weights, d.scales), &d);
    const uint32_t factors[] = {maps[1], maps[3]};
    op = builder_op(m, MONA_OP_MUL, maps[4], 2, factors);
    op->elementwise.scale[0] = 0x3c00;
    op->elementwise.scale[1] = 0x1c00;
    add_conv(m, maps[4], made, 3, d.weights, d.scales);
    check_cut_of(m, made, out);
}

/* Runs a damaged program if the engine takes it. Returns whether it does. */
static bool runs_in_bounds(const mona_model *model, const uint8_t *damaged, size_t bytes,
                           mona_size size)
{
    size_t file_bytes;
    uint8_t *file = file_with_program(model, damaged, bytes, &file_bytes);
    mona_model with;
    net n;
    assert_int_equal(mona_model_open(&with, file, file_bytes), MONA_OK);
    const mona_config config = {.device = &mona_device_model310, .sizes = {size}};
    void *memory = aligned(mona_plan_bytes(&with));
    mona_plan *plan;
    const mona_status status = mona_plan_make(&plan, memory, &with, &config);
    const bool takes = !status && has_region(plan, "planes");
    free(memory);
    if (takes) {
        open_net(&n, &with, size, 0);
        assert_int_equal(mona_session_run(n.bound.session, n.in, n.out), MONA_OK);
        for (unsigned core = 0; core < AC_PROGRAM_CORES; core++) {
            const ac_model_report *r = mona_session_modelled(n.bound.session, core);
            for (uint64_t f = 0; f < r->finding_count && f < AC_MODEL_FINDINGS; f++) {
                assert_int_not_equal(r->findings[f].kind, AC_OUT_OF_BUFFER);
                assert_int_not_equal(r->findings[f].kind, AC_ILLEGAL_OPERAND);
                assert_int_not_equal(r->findings[f].kind, AC_FLAG);
            }
        }
        close_net(&n);
    }
    free(file);
    return takes;
}

/* The program is part of the file, so what is proved is what was damaged. A program that is
 * accepted may compute anything, or race; it stays in its buffers, and ends. */
static void damaged_programs_stay_in_bounds(void **state)
{
    (void)state;
    const uint32_t damages = CASES(500);
    const mona_model model = open_embedded("sr_x2_fast");
    const mona_size size = {64, 32};
    size_t bytes;
    uint8_t *program = recorded_program(&model, size, &bytes), *damaged = malloc(bytes);
    uint32_t random = 1, accepted = 0;
    for (uint32_t i = 0; i < damages; i++) {
        memcpy(damaged, program, bytes);
        for (uint32_t k = 0; k <= i % 3; k++) {
            random = random * 1664525 + 1013904223;
            const size_t at =
                sizeof(ac_program_header) + (random >> 8) % (bytes - sizeof(ac_program_header));
            random = random * 1664525 + 1013904223;
            damaged[at] = random & 1 << 30 ? (uint8_t)(random >> 16)
                                           : (uint8_t)(damaged[at] ^ 1 << (random >> 16) % 8);
        }
        accepted += runs_in_bounds(&model, damaged, bytes, size);
    }
    print_message("# %u of %u damaged programs are accepted\n", accepted, damages);
    assert_in_range(accepted, damages / 10, damages * 9 / 10);
    free(damaged);
    free(program);
}

static bool is_proved(const ac_program *p)
{
    ac_proof proof;
    return ac_program_prove(p, &ac_target_ascend310, UINT16_MAX, &proof);
}

/* A recorded program, of which the parts can be changed. */
static uint8_t *open_program(ac_program *p, const char *name)
{
    const mona_model model = open_embedded(name);
    size_t bytes;
    uint8_t *program = recorded_program(&model, (mona_size){64, 32}, &bytes);
    assert_true(ac_program_open(p, program, bytes));
    assert_true(is_proved(p));
    return program;
}

/* Without it, its opposite comes twice. */
static void each_flag_is_needed(void **state)
{
    (void)state;
    ac_program p;
    uint8_t *program = open_program(&p, "sr_x2_fast");
    uint32_t flags = 0;
    for (uint32_t f = 0; f < p.header.forms; f++)
        for (uint32_t k = 0; k < p.forms[f].flag_count; k++) {
            uint16_t *flag = (uint16_t *)&p.forms[f].flags[k];
            const uint16_t before = *flag;
            if (ac_flag_instruction(before).opcode == AC_OP_BARRIER)
                continue;
            for (uint16_t bit = 64; bit <= 256; bit *= 2) { /* of the event; waits and settings */
                *flag = before ^ bit;
                assert_false(is_proved(&p));
            }
            *flag = before;
            flags++;
        }
    assert_in_range(flags, 20, 100000);
    assert_true(is_proved(&p));
    free(program);
}

static void work_has_a_budget(void **state)
{
    (void)state;
    ac_program p;
    uint8_t *program = open_program(&p, "sr_x2_fast");
    memset((ac_motion *)p.motions, 0, p.header.motions * sizeof *p.motions);
    assert_true(is_proved(&p)); /* all turns work on one place */
    for (uint32_t i = 0; i < p.header.records; i++)
        if (p.records[i].form == AC_RECORD_LOOP) {
            uint32_t *turns = (uint32_t *)&p.records[i].at[0];
            const uint32_t before = *turns;
            *turns = 1 << 20;
            assert_false(is_proved(&p));
            *turns = before;
        }
    assert_true(is_proved(&p));
    free(program);
}

static void patterns_fit_the_chip(void **state)
{
    (void)state;
    ac_program p;
    uint8_t *program = open_program(&p, "denoise_fast");
    assert_in_range(p.header.patterns, 1, 1000);
    for (uint32_t i = 0; i < p.header.patterns; i++) {
        int32_t *at = (int32_t *)&p.patterns[i].at[AC_FRACTAL - 1];
        const int32_t before = *at;
        *at = before - AC_BLOCK / 2;
        assert_false(is_proved(&p));
        *at = before;
    }
    assert_true(is_proved(&p));
    free(program);
}

/* A chip gets all bits of a form, not only those that fields are read from. */
static void every_bit_of_a_form_is_proved(void **state)
{
    static const char *names[] = {"sr_x2_fast", "denoise_fast"};
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        ac_program p;
        uint8_t *program = open_program(&p, names[n]);
        for (uint32_t i = 0; i < p.header.forms; i++) {
            ac_form *f = (ac_form *)&p.forms[i];
            if (f->opcode == AC_OP_NONE)
                continue;
            const ac_address at[AC_OPERANDS] = {0};
            ac_turned turned[2];
            const ac_instruction before = ac_form_instruction(&p, f, at, turned);
            for (uint32_t bit = 0; bit < 64 * AC_CONFIGS; bit++) {
                uint64_t *word = &f->config[bit / 64];
                *word ^= UINT64_C(1) << bit % 64;
                if (!ac_turns(f->opcode)) {
                    const ac_instruction after = ac_form_instruction(&p, f, at, turned);
                    if (!memcmp(&before, &after, sizeof before) && is_proved(&p))
                        fail_msg("%s, form %u, %s: bit %u", names[n], i,
                                 ac_operations[f->opcode].name, bit);
                }
                *word ^= UINT64_C(1) << bit % 64;
            }
            f->relu ^= 2;
            assert_false(is_proved(&p));
            f->relu ^= 2;
        }
        assert_true(is_proved(&p));
        free(program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_issue_what_was_recorded),
        cmocka_unit_test(size_does_not_grow_with_the_height),
        cmocka_unit_test(sessions_run_the_program_of_their_model),
        cmocka_unit_test(what_does_not_fit_is_cut),
        cmocka_unit_test(rows_that_nobody_reads_are_not_there),
        cmocka_unit_test(convolutions_too_large_are_cut),
        cmocka_unit_test(gates_are_cut),
        cmocka_unit_test(damaged_programs_stay_in_bounds),
        cmocka_unit_test(each_flag_is_needed),
        cmocka_unit_test(work_has_a_budget),
        cmocka_unit_test(patterns_fit_the_chip),
        cmocka_unit_test(every_bit_of_a_form_is_proved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
