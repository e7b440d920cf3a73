// SPDX-License-Identifier: Apache-2.0
/* The model of the 310: a legal program passes, gives its result and takes the time worked out by
 * hand; every planted fault is found, once, at its instruction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/model310/model310.h"

/* ---- a core --------------------------------------------------------------------------------- */

enum { GM_BYTES = 8192, OUT_BYTES = 8192, RESIDENT_BYTES = 4096, MAX_EVENTS = 64 };

typedef struct bench {
    ac_core core;
    uint8_t *l1, *ub, *gm, *out;
    void *model;
    ac_model_event events[MAX_EVENTS];
    uint32_t event_count;
} bench;

/* Round numbers, so that a program's time can be worked out by hand. */
static const ac_costs costs = {
    .clock_mhz = 1000,
    .mmad_head = 10,
    .load2d_fractal = 2,
    .load3d_fractal = 1,
    .drain_fractal = 4,
    .vector_repeat = 1,
    .transpose_block = 2,
    .l1_ub_bytes = 32,
    .ub_l1_bytes = 32,
    .ub_gm_bytes = 32,
    .l2_read_bytes = 32,
    .ddr_read_bytes = 32,
    .ddr_write_bytes = 32,
    .ddr_total_bytes = 64,
    .copy_latency = 20,
    .local_latency = 10,
    .flag = 3,
    .scalar_step = 1,
    .issue = 1,
};

static void record(void *observer, const ac_model_event *event)
{
    bench *b = observer;
    if (b->event_count < MAX_EVENTS)
        b->events[b->event_count++] = *event;
}

static void new_model(bench *b)
{
    const ac_model_config config = {&costs, 0, 1, record, b};
    b->event_count = 0;
    ac_model_init(&b->core, b->model, &config);
    ac_model_kernel(&b->core, "kernel");
}

static uint8_t *new_memory(bench *b, uint32_t space, size_t size, bool writable)
{
    uint8_t *bytes = aligned_alloc(256, size);
    memset(bytes, 0, size);
    b->core.memory[space] = (ac_memory){bytes, size, writable};
    return bytes;
}

static bench *new_bench(void)
{
    const ac_target *t = &ac_target_ascend310;
    bench *b = calloc(1, sizeof *b);
    b->core.target = t;
    b->l1 = new_memory(b, AC_L1, t->l1_bytes, true);
    new_memory(b, AC_L0A, t->l0a_bytes, true);
    new_memory(b, AC_L0B, t->l0b_bytes, true);
    new_memory(b, AC_L0C, t->l0c_bytes, true);
    b->ub = new_memory(b, AC_UB, t->ub_bytes, true);
    new_memory(b, AC_CONSTANTS, RESIDENT_BYTES, false);
    b->gm = new_memory(b, AC_GM, GM_BYTES, false);
    b->out = new_memory(b, AC_GM + 1, OUT_BYTES, true);
    b->model = aligned_alloc(64, (ac_model_bytes(t) + 63) / 64 * 64);
    new_model(b);
    return b;
}

static void free_bench(bench *b)
{
    for (size_t i = 0; i < AC_SPACES; i++)
        free(b->core.memory[i].bytes);
    free(b->model);
    free(b);
}

/* ---- instructions, short -------------------------------------------------------------------- */

#define S AC_PIPE_S
#define V AC_PIPE_V
#define M AC_PIPE_M
#define MTE1 AC_PIPE_MTE1
#define MTE2 AC_PIPE_MTE2
#define MTE3 AC_PIPE_MTE3

#define AT(space) ((ac_address)(space) << AC_OFFSET_BITS)
static const ac_address L1 = AT(AC_L1), L0A = AT(AC_L0A), L0B = AT(AC_L0B), L0C = AT(AC_L0C),
                        UB = AT(AC_UB), CONSTANTS = AT(AC_CONSTANTS), GM = AT(AC_GM),
                        OUT = AT(AC_GM + 1), NO_BUFFER = AT(AC_GM + 2);

static const ac_vector whole = {1, 128, 1, 1, 1, 8, 8, 8};
static const ac_load3d one_fractal = {0, 16, 1, 1, 32, 1, 1, 1, 0};

static void copy(bench *b, ac_path path, ac_address dst, ac_address src, uint16_t blocks)
{
    ac_emit(&b->core,
            (ac_instruction){
                .opcode = AC_OP_COPY + path, .dst = dst, .a = src, .copy = {1, blocks, 0, 0}});
}

static void set(bench *b, ac_pipe src, ac_pipe dst)
{
    ac_emit_set_flag(&b->core, src, dst, AC_EVENT0);
}

static void wait(bench *b, ac_pipe src, ac_pipe dst)
{
    ac_emit_wait_flag(&b->core, src, dst, AC_EVENT0);
}

static void order(bench *b, ac_pipe src, ac_pipe dst)
{
    set(b, src, dst);
    wait(b, src, dst);
}

/* What follows on V may read what is there. */
static void ended(bench *b)
{
    ac_emit_barrier(&b->core, AC_PIPE_V);
}

static void muls(bench *b, uint32_t dst, uint32_t src, ac_vector v)
{
    ac_emit_vecs(&b->core, AC_VMULS, UB + dst, UB + src, 1, v);
}

static void dup(bench *b, uint32_t dst, ac_vector v)
{
    ac_emit_dup(&b->core, UB + dst, 0, v);
}

static void load3d(bench *b, ac_load3d l)
{
    ac_emit_load3d(&b->core, L0A, L1, l);
}

static void mmad(bench *b, uint32_t m, uint32_t k, uint32_t n)
{
    ac_emit_mmad(&b->core, AC_MAD_S32S8S8, L0C, L0A, L0B, (ac_product){m, k, n, true});
}

/* Moves bytes one by one. */
static void move(bench *b, ac_address dst, ac_address src, uint32_t count)
{
    ac_emit_move(&b->core, dst, src, (ac_move){count, 1, 1, 1});
}

static void fill(bench *b, ac_address dst, uint32_t count)
{
    ac_emit_fill(&b->core, dst, (ac_fill){.count = count, .bytes = 1, .step = 1});
}

static uint16_t *half(uint8_t *p)
{
    return (uint16_t *)(void *)p;
}

/* ---- a legal program ------------------------------------------------------------------------ */

/* A 1 x 1 convolution: 16 pixels of 32 channels to 16 channels, INT8. */
static void fill_operands(bench *b)
{
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 32; k++) {
            b->gm[i * 32 + k] = (uint8_t)((i + k) % 3 - 1);
            b->gm[512 + i * 32 + k] = (uint8_t)((i * k) % 5 - 2);
        }
    for (int i = 0; i < 16; i++)
        half(b->gm + 1024)[i] = 0x3c00; /* 1.0 */
}

/* Cycles at which an instruction ends behind each; the scalar unit issues far ahead. */
static void convolve(bench *b)
{
    copy(b, AC_GM_L1, L1, GM, 16);              /* MTE2 1 + 20 + 16 = 37 */
    copy(b, AC_GM_L1, L1 + 512, GM + 512, 16);  /* MTE2 73 */
    copy(b, AC_GM_UB, UB, GM + 1024, 1);        /* MTE2 94 */
    order(b, MTE2, MTE1);                       /* MTE2 97, MTE1 100 */
    order(b, MTE2, V);                          /* MTE2 100, V 103 */
    load3d(b, one_fractal);                     /* MTE1 101 */
    ac_emit_load2d(&b->core, L0B, L1 + 512, 1); /* MTE1 103 */
    order(b, MTE1, M);                          /* MTE1 106, M 109 */
    mmad(b, 16, 32, 16);                        /* M 109 + 10 + 1 = 120 */
    order(b, M, V);                             /* M 123, V 126 */
    ac_emit_drain(&b->core, AC_DRAIN_S32_F16_DEQ, UB + 1024, L0C,
                  (ac_copy){.bursts = 1, .blocks = 1}, UB, false); /* V 130 */
    ended(b);
    ac_emit_vconv(&b->core, AC_F16_S8, UB + 2048, UB + 1024,
                  (ac_vector){2, 128, 1, 1, 0, 4, 8, 0}); /* V 132 */
    order(b, V, MTE3);                                    /* V 135, MTE3 138 */
    copy(b, AC_UB_L1, L1 + 4096, UB + 2048, 8);           /* MTE3 138 + 10 + 8 = 156 */
    copy(b, AC_UB_GM, OUT, UB + 2048, 8);                 /* MTE3 184 */
}

enum { CONVOLVE_CYCLES = 184, CONVOLVE_INSTRUCTIONS = 21 };

static void check_result(const bench *b, const uint8_t *result)
{
    for (int i = 0; i < 16; i++)
        for (int n = 0; n < 16; n++) {
            int sum = 0;
            for (int k = 0; k < 32; k++)
                sum += (int8_t)b->gm[i * 32 + k] * (int8_t)b->gm[512 + n * 32 + k];
            assert_int_equal((int8_t)result[i * 16 + n], sum);
        }
}

static void check_time(const ac_model_report *r)
{
    assert_true(r->cycles == CONVOLVE_CYCLES);
    assert_int_equal(r->instructions, CONVOLVE_INSTRUCTIONS);
    assert_true(r->busy[S] == 21);
    assert_true(r->busy[MTE2] == 36 + 36 + 21 + 2 * 3);
    assert_true(r->busy[MTE1] == 3 + 1 + 2 + 3);
    assert_true(r->busy[M] == 3 + 11 + 3);
    assert_true(r->busy[V] == 3 + 3 + 4 + 2 + 3);
    assert_true(r->busy[MTE3] == 3 + 18 + 28);
    assert_true(r->cube_useful == 1);
    assert_int_equal(r->gm_read, 512 + 512 + 32);
    assert_int_equal(r->gm_written, 256);
}

static void a_legal_program_passes(void **state)
{
    (void)state;
    bench *b = new_bench();
    ac_model_report report;
    fill_operands(b);
    for (int round = 0; round < 2; round++) {
        convolve(b);
        report = *ac_model_finish(&b->core);
        assert_int_equal(report.finding_count, 0);
        check_time(&report);
        check_result(b, b->out);
        check_result(b, b->l1 + 4096);
        ac_model_reset(&b->core);
    }
    free_bench(b);
}

static void events_tell_when_and_what_for(void **state)
{
    (void)state;
    bench *b = new_bench();
    fill_operands(b);
    convolve(b);
    assert_int_equal(b->event_count, CONVOLVE_INSTRUCTIONS);
    const ac_model_event *wait_for_cube = &b->events[13], *product = &b->events[11];
    assert_string_equal(product->instruction, "mmad");
    assert_string_equal(product->kernel, "kernel");
    assert_int_equal(product->pipe, M);
    assert_true(product->start == 109 && product->end == 120);
    assert_string_equal(wait_for_cube->instruction, "wait_flag");
    assert_int_equal(wait_for_cube->index, 14);
    assert_int_equal(wait_for_cube->flag_from, 13);
    assert_true(wait_for_cube->start == 123 && wait_for_cube->end == 126);
    free_bench(b);
}

static void without_a_model_instructions_are_executed(void **state)
{
    (void)state;
    bench *b = new_bench();
    b->core.model = NULL;
    b->core.take = ac_execute;
    fill_operands(b);
    convolve(b);
    check_result(b, b->out);
    free_bench(b);
}

/* ---- time ----------------------------------------------------------------------------------- */

static double cycles_of(void (*program)(bench *))
{
    bench *b = new_bench();
    program(b);
    const ac_model_report *r = ac_model_so_far(&b->core);
    const double cycles = r->cycles;
    assert_int_equal(r->finding_count, 0);
    free_bench(b);
    return cycles;
}

static void no_conflict(bench *b)
{
    dup(b, 0, (ac_vector){10, 128, 1, 0, 0, 8, 0, 0});
}

static void two_in_a_bank(bench *b)
{
    dup(b, 0, (ac_vector){10, 128, 4, 0, 0, 32, 0, 0});
}

static void all_in_a_bank(bench *b)
{
    dup(b, 0, (ac_vector){10, 128, 16, 0, 0, 1, 0, 0});
}

static void barrier_between(bench *b)
{
    copy(b, AC_GM_L1, L1, GM, 16);          /* MTE2 37 */
    ac_emit_barrier(&b->core, AC_PIPE_ALL); /* 37 */
    dup(b, 0, whole);                       /* issued at 38, V 39 */
}

static void scalar_then_vector(bench *b)
{
    fill(b, UB, 25);     /* S 101 */
    dup(b, 1024, whole); /* issued at 102 */
}

static void time_of_conflicts_barriers_and_scalars(void **state)
{
    (void)state;
    assert_true(cycles_of(no_conflict) == 1 + 10);
    assert_true(cycles_of(two_in_a_bank) == 1 + 20);
    assert_true(cycles_of(all_in_a_bank) == 1 + 80);
    assert_true(cycles_of(barrier_between) == 39);
    assert_true(cycles_of(scalar_then_vector) == 103);
}

/* ---- planted faults ------------------------------------------------------------------------- */

typedef struct expectation {
    ac_finding_kind kind;
    uint64_t index;
    const char *instruction, *operand;
    int64_t found, limit;
    const char *other;
    uint64_t other_index;
} expectation;

typedef struct fault {
    const char *name;
    void (*program)(bench *);
    expectation expected[3]; /* until the first without an index */
} fault;

/* Fills the L0 buffers so that an mmad has something to read. */
static void load_operands(bench *b)
{
    ac_model_written(&b->core, L1, 4096);
    load3d(b, one_fractal);
    ac_emit_load2d(&b->core, L0B, L1, 1);
}

#define PROGRAM(name) static void name(bench *b)

/* Flags and races. */
PROGRAM(missing_wait)
{
    copy(b, AC_GM_UB, UB, GM, 8);
    set(b, MTE2, V);
    muls(b, 0, 0, whole);
}
PROGRAM(missing_set)
{
    copy(b, AC_GM_UB, UB, GM, 8);
    wait(b, MTE2, V);
    muls(b, 0, 0, whole);
}
PROGRAM(swapped_flag)
{
    copy(b, AC_GM_UB, UB, GM, 8);
    order(b, V, MTE2);
    muls(b, 0, 0, whole);
}
PROGRAM(double_set)
{
    set(b, V, M);
    set(b, V, M);
    wait(b, V, M);
}
PROGRAM(fifth_event)
{
    ac_emit_set_flag(&b->core, V, M, (ac_event)4);
}
PROGRAM(left_set)
{
    set(b, V, M);
}
PROGRAM(flag_to_itself)
{
    set(b, V, V);
}
PROGRAM(flag_of_all)
{
    wait(b, AC_PIPE_ALL, V);
}
PROGRAM(other_event)
{
    copy(b, AC_GM_UB, UB, GM, 8);
    set(b, MTE2, V);
    ac_emit_wait_flag(&b->core, MTE2, V, AC_EVENT1);
    wait(b, MTE2, V);
}
PROGRAM(read_after_write)
{
    copy(b, AC_GM_UB, UB, GM, 8);
    muls(b, 1024, 0, whole);
}
PROGRAM(write_after_read)
{
    dup(b, 0, whole);
    order(b, V, MTE3);
    copy(b, AC_UB_GM, OUT, UB, 8);
    dup(b, 0, whole);
}
PROGRAM(write_after_write)
{
    dup(b, 0, whole);
    copy(b, AC_GM_UB, UB + 224, GM, 1);
}
PROGRAM(hidden_by_time)
{
    copy(b, AC_GM_UB, UB, GM, 8);
    fill(b, UB + 4096, 100000);
    muls(b, 1024, 0, whole);
}
PROGRAM(set_too_early)
{
    copy(b, AC_GM_UB, UB, GM, 4);
    set(b, MTE2, V);
    copy(b, AC_GM_UB, UB + 128, GM, 4);
    wait(b, MTE2, V);
    muls(b, 0, 0, whole);
}
PROGRAM(barrier_of_one_pipe)
{
    copy(b, AC_GM_UB, UB, GM, 8);
    ac_emit_barrier(&b->core, V);
    muls(b, 0, 0, whole);
}
PROGRAM(overwritten_operand)
{
    load_operands(b);
    order(b, MTE1, M);
    mmad(b, 16, 32, 16);
    load3d(b, one_fractal);
}
PROGRAM(not_ended)
{
    dup(b, 0, whole);
    muls(b, 0, 0, whole);
}
PROGRAM(scalar_races)
{
    dup(b, 0, whole);
    move(b, UB + 1024, UB + 2, 2);
}
PROGRAM(scalar_then_store)
{
    fill(b, UB, 32);
    copy(b, AC_UB_GM, OUT, UB, 1);
}

/* Limits. */
PROGRAM(no_repeat)
{
    dup(b, 0, (ac_vector){0, 128, 1, 1, 1, 8, 8, 8});
}
PROGRAM(no_lanes)
{
    dup(b, 0, (ac_vector){1, 0, 1, 1, 1, 8, 8, 8});
}
PROGRAM(lanes_129)
{
    dup(b, 0, (ac_vector){1, 129, 1, 1, 1, 8, 8, 8});
}
PROGRAM(lanes_65_of_f32)
{
    ac_emit_vecs(&b->core, AC_VADDS_F32, UB, UB, 1, (ac_vector){1, 65, 1, 1, 1, 8, 8, 8});
}
PROGRAM(dst_block_0)
{
    dup(b, 0, (ac_vector){1, 128, 0, 1, 1, 8, 8, 8});
}
PROGRAM(dst_repeat_0)
{
    dup(b, 0, (ac_vector){2, 128, 1, 1, 1, 0, 8, 8});
}
PROGRAM(unaligned_vector)
{
    dup(b, 2, whole);
}
PROGRAM(bursts_4096)
{
    ac_emit_copy(&b->core, L1, GM, (ac_copy){4096, 1, 0, 0});
}
PROGRAM(bursts_0)
{
    ac_emit_copy(&b->core, L1, GM, (ac_copy){0, 1, 0, 0});
}
PROGRAM(blocks_0)
{
    copy(b, AC_GM_L1, L1, GM, 0);
}
PROGRAM(unaligned_copy)
{
    copy(b, AC_GM_UB, UB + 16, GM, 1);
}
PROGRAM(load2d_256)
{
    ac_model_written(&b->core, L1, 256 * 512);
    ac_emit_load2d(&b->core, L0B, L1, 256);
}
PROGRAM(load2d_0)
{
    ac_emit_load2d(&b->core, L0B, L1, 0);
}
PROGRAM(unaligned_fractal)
{
    ac_model_written(&b->core, L1, 512);
    ac_emit_load2d(&b->core, L0B + 32, L1, 1);
}
PROGRAM(unaligned_accumulator)
{
    load_operands(b);
    order(b, MTE1, M);
    ac_emit_mmad(&b->core, AC_MAD_S32S8S8, L0C + 512, L0A, L0B, (ac_product){16, 32, 16, true});
}
PROGRAM(m_0)
{
    mmad(b, 0, 32, 16);
}
PROGRAM(k_4096)
{
    mmad(b, 16, 4096, 16);
}
PROGRAM(n_4096)
{
    mmad(b, 16, 32, 4096);
}
PROGRAM(stride_0)
{
    load3d(b, (ac_load3d){0, 16, 0, 1, 32, 1, 1, 1, 0});
}
PROGRAM(stride_64)
{
    load3d(b, (ac_load3d){0, 16, 64, 1, 32, 1, 1, 1, 0});
}
PROGRAM(dilation_0)
{
    load3d(b, (ac_load3d){0, 16, 1, 0, 32, 1, 1, 1, 0});
}
PROGRAM(c0_16_of_8_bit)
{
    load3d(b, (ac_load3d){0, 16, 1, 1, 16, 1, 1, 1, 0});
}
PROGRAM(c0_8_of_f16)
{
    load3d(b, (ac_load3d){0, 16, 1, 1, 8, 2, 1, 1, 0});
}
PROGRAM(c0_0)
{
    load3d(b, (ac_load3d){0, 16, 1, 1, 0, 1, 1, 1, 0});
}
PROGRAM(element_4)
{
    load3d(b, (ac_load3d){0, 16, 1, 1, 8, 4, 1, 1, 0});
}
PROGRAM(jump_0)
{
    load3d(b, (ac_load3d){0, 16, 1, 1, 32, 1, 1, 0, 0});
}
PROGRAM(jump_128)
{
    load3d(b, (ac_load3d){0, 16, 1, 1, 32, 1, 1, 128, 0});
}
PROGRAM(load3d_0)
{
    load3d(b, (ac_load3d){0, 16, 1, 1, 32, 1, 0, 1, 0});
}
PROGRAM(columns_32768)
{
    load3d(b, (ac_load3d){0, 32768, 1, 1, 32, 1, 1, 1, 0});
}
PROGRAM(small_columns_along_k)
{
    load3d(b, (ac_load3d){0, 16, 1, 1, 8, 1, 2, 1, 2});
}
PROGRAM(rows_cut_off)
{
    load3d(b, (ac_load3d){0, 16, 1, 1, 32, 1, 5, 1, 2});
}
PROGRAM(filter_beyond_the_row)
{
    load3d(b, (ac_load3d){13, 16, 1, 2, 32, 1, 6, 1, 2});
}
PROGRAM(unwritten_picture)
{
    ac_model_written(&b->core, L1, (2 * 20 + 17) * 32);
    load3d(b, (ac_load3d){0, 20, 1, 1, 32, 1, 9, 1, 3});
}
PROGRAM(unaligned_row)
{
    ac_model_written(&b->core, L1, 4096);
    ac_emit_load3d(&b->core, L0A, L1 + 8, (ac_load3d){0, 16, 1, 1, 8, 1, 1, 1, 0});
}
PROGRAM(drain_0)
{
    ac_emit_drain(&b->core, AC_DRAIN_F32_F16, UB, L0C, (ac_copy){.bursts = 1}, AC_NOWHERE, false);
}
PROGRAM(bias_of_256_bursts)
{
    ac_emit(&b->core,
            (ac_instruction){
                .opcode = AC_OP_BIAS_L0C, .dst = L0C, .a = UB, .product = {.m = 16, .n = 4081}});
}
PROGRAM(bias_of_256_rows)
{
    ac_emit(&b->core, (ac_instruction){.opcode = AC_OP_BIAS_L0C,
                                       .dst = L0C,
                                       .a = UB,
                                       .product = {.m = 4081, .k = 255, .n = 16}});
}
PROGRAM(bias_of_no_row)
{
    ac_emit(&b->core,
            (ac_instruction){.opcode = AC_OP_BIAS_L0C, .dst = L0C, .a = UB, .product = {.n = 16}});
}
PROGRAM(barrier_7)
{
    ac_emit_barrier(&b->core, (ac_pipe)7);
}

/* What was never written. */
PROGRAM(unwritten_ub)
{
    muls(b, 0, 4096, whole);
}
PROGRAM(unwritten_l1)
{
    ac_emit_load2d(&b->core, L0B, L1, 1);
}
PROGRAM(unwritten_row)
{
    ac_model_written(&b->core, L1, 480);
    load3d(b, one_fractal);
}
PROGRAM(unwritten_l0a)
{
    ac_model_written(&b->core, L1, 512);
    ac_emit_load2d(&b->core, L0B, L1, 1);
    order(b, MTE1, M);
    mmad(b, 16, 32, 16);
}
PROGRAM(unwritten_l0b)
{
    load_operands(b);
    load3d(b, (ac_load3d){0, 16, 1, 1, 32, 1, 2, 1, 0});
    order(b, MTE1, M);
    mmad(b, 16, 64, 16);
}
PROGRAM(unwritten_l0c)
{
    load_operands(b);
    order(b, MTE1, M);
    ac_emit_mmad(&b->core, AC_MAD_S32S8S8, L0C, L0A, L0B, (ac_product){16, 32, 16, false});
}
PROGRAM(unwritten_drain)
{
    ac_emit_drain(&b->core, AC_DRAIN_F32_F16, UB, L0C, (ac_copy){.bursts = 1, .blocks = 1},
                  AC_NOWHERE, false);
}
PROGRAM(masked_lanes)
{
    dup(b, 0, (ac_vector){1, 20, 1, 1, 1, 8, 8, 8});
    ended(b);
    muls(b, 1024, 0, whole);
}
PROGRAM(conversion_of_half_a_repeat)
{
    dup(b, 0, (ac_vector){1, 64, 1, 1, 1, 8, 8, 8});
    ended(b);
    ac_emit_vconv(&b->core, AC_F16_S8, UB + 1024, UB, whole);
}

/* Places. */
PROGRAM(beyond_ub)
{
    dup(b, ac_target_ascend310.ub_bytes - 256, (ac_vector){2, 128, 1, 1, 1, 8, 8, 8});
}
PROGRAM(beyond_l1)
{
    copy(b, AC_GM_L1, L1 + 1024 * 1024 - 32, GM, 2);
}
PROGRAM(beyond_l0a)
{
    ac_model_written(&b->core, L1, 4096);
    load3d(b, (ac_load3d){0, 16, 1, 1, 32, 1, 3, 127, 0});
}
PROGRAM(l0b_into_l0c)
{
    ac_model_written(&b->core, L1, 1024);
    ac_emit_load2d(&b->core, L0B + 65536 - 512, L1, 2);
}
PROGRAM(product_beyond_l0c)
{
    load_operands(b);
    order(b, MTE1, M);
    ac_emit_mmad(&b->core, AC_MAD_S32S8S8, L0C + 262144, L0A, L0B, (ac_product){16, 32, 16, true});
}
PROGRAM(load2d_to_l0a)
{
    ac_model_written(&b->core, L1, 512);
    ac_emit_load2d(&b->core, L0A, L1, 1);
}
PROGRAM(wrong_path)
{
    copy(b, AC_GM_L1, UB, GM, 1);
}
PROGRAM(copy_from_ub_as_gm)
{
    copy(b, AC_GM_L1, L1, UB, 1);
}
PROGRAM(read_only)
{
    dup(b, 0, whole);
    order(b, V, MTE3);
    copy(b, AC_UB_GM, GM, UB, 1);
}
PROGRAM(unknown_gm)
{
    copy(b, AC_GM_L1, L1, NO_BUFFER, 1);
}
PROGRAM(beyond_gm)
{
    copy(b, AC_GM_L1, L1, GM + GM_BYTES - 32, 2);
}
PROGRAM(constant_written)
{
    fill(b, CONSTANTS, 32);
}
static void load_constants(bench *b)
{
    ac_emit_copy_bytes(&b->core, CONSTANTS + 512, CONSTANTS + 512, 1024);
}
PROGRAM(constants_not_awaited)
{
    load_constants(b);
    ac_emit_load2d(&b->core, L0B, CONSTANTS + 512, 2);
}
PROGRAM(constants_not_loaded)
{
    load_constants(b);
    order(b, MTE2, MTE1);
    ac_emit_load2d(&b->core, L0B, CONSTANTS + 1024, 2);
}
PROGRAM(constants_of_the_group_before)
{
    load_constants(b);
    ac_model_wait(&b->core, 1000);
    ac_emit_load2d(&b->core, L0B, CONSTANTS + 512, 2);
}
PROGRAM(others_as_constants)
{
    copy(b, AC_GM_L1, CONSTANTS, GM, 1);
}
PROGRAM(scalar_nowhere)
{
    move(b, UB, UB + ac_target_ascend310.ub_bytes, 1);
}
PROGRAM(scalar_load_of_gm)
{
    move(b, UB, GM, 1);
}
PROGRAM(scalar_store_to_gm)
{
    fill(b, OUT, 1);
}

/* Overlaps. */
PROGRAM(shifted)
{
    dup(b, 0, (ac_vector){2, 128, 1, 1, 1, 8, 8, 8});
    ended(b);
    muls(b, 32, 0, whole);
}
PROGRAM(other_stride)
{
    dup(b, 0, (ac_vector){2, 128, 1, 1, 1, 8, 8, 8});
    ended(b);
    muls(b, 0, 0, (ac_vector){1, 128, 2, 1, 0, 8, 8, 0});
}
PROGRAM(over_a_broadcast)
{
    dup(b, 0, whole);
    ended(b);
    muls(b, 0, 0, (ac_vector){1, 128, 1, 0, 0, 8, 0, 0});
}
PROGRAM(narrowed_in_place)
{
    dup(b, 0, whole);
    ended(b);
    ac_emit_vconv(&b->core, AC_F16_U8, UB, UB, whole);
}

static ac_turned blocks_at(uint32_t ub, uint8_t step, bool high)
{
    ac_turned t = {.repeat = step, .high = high};
    for (uint32_t i = 0; i < 16; i++)
        t.at[i] = UB + ub + i * 32;
    return t;
}

static void transpose(bench *b, uint32_t dst, uint32_t src, uint8_t repeat, uint8_t step)
{
    const ac_turned to = blocks_at(dst, step, false), from = blocks_at(src, step, false);
    ac_emit_transpose(&b->core, AC_OP_TRANSPOSE, &to, &from, repeat);
}

PROGRAM(transposed_0)
{
    transpose(b, 0, 4096, 0, 16);
}
PROGRAM(transposed_unaligned)
{
    dup(b, 4096, (ac_vector){4, 128, 1, 1, 1, 8, 8, 8});
    transpose(b, 8, 4096, 1, 16);
}
PROGRAM(transposed_unwritten)
{
    transpose(b, 0, 4096, 1, 16);
}
PROGRAM(transposed_over_itself)
{
    dup(b, 0, (ac_vector){4, 128, 1, 1, 1, 8, 8, 8});
    ended(b);
    transpose(b, 256, 0, 1, 16);
}

/* Lower halves of src to upper halves of dst, or the other way round. */
static void transpose_b8(bench *b, uint32_t dst, uint32_t src, bool src_high)
{
    const ac_turned to = blocks_at(dst, 16, !src_high), from = blocks_at(src, 16, src_high);
    ac_emit_transpose(&b->core, AC_OP_TRANSPOSE_B8, &to, &from, 1);
}

/* Writes the lower halves of 16 blocks. */
static void dup_lower_halves(bench *b, uint32_t dst)
{
    dup(b, dst, (ac_vector){16, 8, 1, 1, 1, 1, 1, 1});
}

PROGRAM(turned_bytes_unwritten)
{
    dup_lower_halves(b, 4096);
    ended(b);
    transpose_b8(b, 0, 4096, true);
}
PROGRAM(turned_bytes_unaligned)
{
    dup_lower_halves(b, 4096);
    transpose_b8(b, 16, 4096, false);
}
PROGRAM(turned_bytes_within_their_blocks)
{
    dup_lower_halves(b, 4096);
    ended(b);
    transpose_b8(b, 4096, 4096, false);
}

static const fault faults[] = {
    {"missing wait",
     missing_wait,
     {{AC_RACE, 3, "vmuls", "a", 0, 0, "copy_gm_ub", 1},
      {AC_FLAG, 2, "set_flag", "left set", 0, 0, NULL, 0}}},
    {"missing set",
     missing_set,
     {{AC_FLAG, 2, "wait_flag", "event", 0, 0, NULL, 0},
      {AC_RACE, 3, "vmuls", "a", 0, 0, "copy_gm_ub", 1}}},
    {"swapped flag", swapped_flag, {{AC_RACE, 4, "vmuls", "a", 0, 0, "copy_gm_ub", 1}}},
    {"double set", double_set, {{AC_FLAG, 2, "set_flag", "event", 0, 0, "set_flag", 1}}},
    {"fifth event", fifth_event, {{AC_FLAG, 1, "set_flag", "event", 4, 3, NULL, 0}}},
    {"left set", left_set, {{AC_FLAG, 1, "set_flag", "left set", 0, 0, NULL, 0}}},
    {"flag to itself", flag_to_itself, {{AC_FLAG, 1, "set_flag", "pipe", V, 5, NULL, 0}}},
    {"flag of all", flag_of_all, {{AC_FLAG, 1, "wait_flag", "pipe", 6, 5, NULL, 0}}},
    {"other event", other_event, {{AC_FLAG, 3, "wait_flag", "event", 1, 0, NULL, 0}}},
    {"read after write", read_after_write, {{AC_RACE, 2, "vmuls", "a", 0, 0, "copy_gm_ub", 1}}},
    {"write after read", write_after_read, {{AC_RACE, 5, "dup", "dst", 0, 0, "copy_ub_gm", 4}}},
    {"write after write", write_after_write, {{AC_RACE, 2, "copy_gm_ub", "dst", 224, 0, "dup", 1}}},
    {"hidden by time", hidden_by_time, {{AC_RACE, 3, "vmuls", "a", 0, 0, "copy_gm_ub", 1}}},
    {"set too early", set_too_early, {{AC_RACE, 5, "vmuls", "a", 128, 0, "copy_gm_ub", 3}}},
    {"barrier of one pipe",
     barrier_of_one_pipe,
     {{AC_RACE, 3, "vmuls", "a", 0, 0, "copy_gm_ub", 1}}},
    {"overwritten operand", overwritten_operand, {{AC_RACE, 6, "load3d", "dst", 0, 0, "mmad", 5}}},
    {"read on V without a barrier", not_ended, {{AC_RACE, 2, "vmuls", "a", 0, 0, "dup", 1}}},
    {"scalar races", scalar_races, {{AC_RACE, 2, "move", "read", 0, 0, "dup", 1}}},
    {"scalar, then store", scalar_then_store, {{AC_RACE, 2, "copy_ub_gm", "src", 0, 0, "fill", 1}}},
    {"no repeat", no_repeat, {{AC_ILLEGAL_OPERAND, 1, "dup", "repeat", 0, 1, NULL, 0}}},
    {"no lanes", no_lanes, {{AC_ILLEGAL_OPERAND, 1, "dup", "lanes", 0, 1, NULL, 0}}},
    {"129 lanes", lanes_129, {{AC_ILLEGAL_OPERAND, 1, "dup", "lanes", 129, 128, NULL, 0}}},
    {"65 lanes of f32",
     lanes_65_of_f32,
     {{AC_ILLEGAL_OPERAND, 1, "vadds_f32", "lanes", 65, 64, NULL, 0}}},
    {"dst block 0", dst_block_0, {{AC_ILLEGAL_OPERAND, 1, "dup", "dst_block", 0, 1, NULL, 0}}},
    {"dst repeat 0", dst_repeat_0, {{AC_ILLEGAL_OPERAND, 1, "dup", "dst_repeat", 0, 1, NULL, 0}}},
    {"unaligned vector", unaligned_vector, {{AC_ILLEGAL_OPERAND, 1, "dup", "dst", 2, 32, NULL, 0}}},
    {"4096 bursts",
     bursts_4096,
     {{AC_ILLEGAL_OPERAND, 1, "copy_gm_l1", "bursts", 4096, 4095, NULL, 0}}},
    {"0 bursts", bursts_0, {{AC_ILLEGAL_OPERAND, 1, "copy_gm_l1", "bursts", 0, 1, NULL, 0}}},
    {"0 blocks", blocks_0, {{AC_ILLEGAL_OPERAND, 1, "copy_gm_l1", "blocks", 0, 1, NULL, 0}}},
    {"unaligned copy",
     unaligned_copy,
     {{AC_ILLEGAL_OPERAND, 1, "copy_gm_ub", "dst", 16, 32, NULL, 0}}},
    {"256 fractals",
     load2d_256,
     {{AC_ILLEGAL_OPERAND, 1, "load2d", "fractals", 256, 255, NULL, 0}}},
    {"0 fractals", load2d_0, {{AC_ILLEGAL_OPERAND, 1, "load2d", "fractals", 0, 1, NULL, 0}}},
    {"unaligned fractal",
     unaligned_fractal,
     {{AC_ILLEGAL_OPERAND, 1, "load2d", "dst", 32, 512, NULL, 0}}},
    {"unaligned accumulator",
     unaligned_accumulator,
     {{AC_ILLEGAL_OPERAND, 5, "mmad", "c", 512, 1024, NULL, 0}}},
    {"m 0", m_0, {{AC_ILLEGAL_OPERAND, 1, "mmad", "m", 0, 1, NULL, 0}}},
    {"k 4096", k_4096, {{AC_ILLEGAL_OPERAND, 1, "mmad", "k", 4096, 4095, NULL, 0}}},
    {"n 4096", n_4096, {{AC_ILLEGAL_OPERAND, 1, "mmad", "n", 4096, 4095, NULL, 0}}},
    {"stride 0", stride_0, {{AC_ILLEGAL_OPERAND, 1, "load3d", "stride", 0, 1, NULL, 0}}},
    {"stride 64", stride_64, {{AC_ILLEGAL_OPERAND, 1, "load3d", "stride", 64, 63, NULL, 0}}},
    {"dilation 0", dilation_0, {{AC_ILLEGAL_OPERAND, 1, "load3d", "dilation", 0, 1, NULL, 0}}},
    {"c0 16 of 8 bit", c0_16_of_8_bit, {{AC_ILLEGAL_OPERAND, 1, "load3d", "c0", 16, 32, NULL, 0}}},
    {"c0 8 of f16", c0_8_of_f16, {{AC_ILLEGAL_OPERAND, 1, "load3d", "c0", 8, 16, NULL, 0}}},
    {"c0 0", c0_0, {{AC_ILLEGAL_OPERAND, 1, "load3d", "c0", 0, 32, NULL, 0}}},
    {"element of 4", element_4, {{AC_ILLEGAL_OPERAND, 1, "load3d", "element", 4, 2, NULL, 0}}},
    {"jump 0", jump_0, {{AC_ILLEGAL_OPERAND, 1, "load3d", "jump", 0, 1, NULL, 0}}},
    {"jump 128", jump_128, {{AC_ILLEGAL_OPERAND, 1, "load3d", "jump", 128, 127, NULL, 0}}},
    {"load3d of nothing", load3d_0, {{AC_ILLEGAL_OPERAND, 1, "load3d", "repeat", 0, 1, NULL, 0}}},
    {"32768 columns",
     columns_32768,
     {{AC_ILLEGAL_OPERAND, 1, "load3d", "columns", 32768, 32767, NULL, 0}}},
    {"small columns along K",
     small_columns_along_k,
     {{AC_ILLEGAL_OPERAND, 1, "load3d", "c0", 8, 32, NULL, 0}}},
    {"a filter of 2 1/2 columns",
     rows_cut_off,
     {{AC_ILLEGAL_OPERAND, 1, "load3d", "repeat", 1, 0, NULL, 0}}},
    {"a filter beyond the row",
     filter_beyond_the_row,
     {{AC_ILLEGAL_OPERAND, 1, "load3d", "column", 18, 16, NULL, 0}}},
    {"unwritten end of a picture",
     unwritten_picture,
     {{AC_UNWRITTEN, 1, "load3d", "row", (2 * 20 + 17) * 32, 0, NULL, 0}}},
    {"unaligned row", unaligned_row, {{AC_ILLEGAL_OPERAND, 1, "load3d", "row", 8, 32, NULL, 0}}},
    {"drain of nothing", drain_0, {{AC_ILLEGAL_OPERAND, 1, "drain", "fractals", 0, 1, NULL, 0}}},
    {"bias of no row", bias_of_no_row, {{AC_ILLEGAL_OPERAND, 1, "bias_l0c", "m", 0, 1, NULL, 0}}},
    {"bias of 256 bursts",
     bias_of_256_bursts,
     {{AC_ILLEGAL_OPERAND, 1, "bias_l0c", "n", 4081, 4080, NULL, 0}}},
    {"bias of 256 rows in a burst",
     bias_of_256_rows,
     {{AC_ILLEGAL_OPERAND, 1, "bias_l0c", "rows", 256, 255, NULL, 0}}},
    {"barrier of pipe 7", barrier_7, {{AC_ILLEGAL_OPERAND, 1, "barrier", "pipe", 7, 6, NULL, 0}}},
    {"unwritten UB", unwritten_ub, {{AC_UNWRITTEN, 1, "vmuls", "a", 4096, 0, NULL, 0}}},
    {"unwritten L1", unwritten_l1, {{AC_UNWRITTEN, 1, "load2d", "src", 0, 0, NULL, 0}}},
    {"unwritten end of a row",
     unwritten_row,
     {{AC_UNWRITTEN, 1, "load3d", "row", 480, 0, NULL, 0}}},
    {"unwritten L0A", unwritten_l0a, {{AC_UNWRITTEN, 4, "mmad", "a", 0, 0, NULL, 0}}},
    {"unwritten L0B", unwritten_l0b, {{AC_UNWRITTEN, 6, "mmad", "b", 512, 0, NULL, 0}}},
    {"unwritten L0C", unwritten_l0c, {{AC_UNWRITTEN, 5, "mmad", "c", 0, 0, NULL, 0}}},
    {"drain of what is not there",
     unwritten_drain,
     {{AC_UNWRITTEN, 1, "drain", "src", 0, 0, NULL, 0}}},
    {"lanes masked away", masked_lanes, {{AC_UNWRITTEN, 3, "vmuls", "a", 40, 0, NULL, 0}}},
    {"half a conversion",
     conversion_of_half_a_repeat,
     {{AC_UNWRITTEN, 3, "vconv", "src", 128, 0, NULL, 0}}},
    {"beyond UB", beyond_ub, {{AC_OUT_OF_BUFFER, 1, "dup", "dst", 512, 256, NULL, 0}}},
    {"beyond L1", beyond_l1, {{AC_OUT_OF_BUFFER, 1, "copy_gm_l1", "dst", 64, 32, NULL, 0}}},
    {"beyond L0A",
     beyond_l0a,
     {{AC_OUT_OF_BUFFER, 1, "load3d", "dst", (2 * 127 + 1) * 512, 65536, NULL, 0}}},
    {"L0B into L0C", l0b_into_l0c, {{AC_OUT_OF_BUFFER, 1, "load2d", "dst", 1024, 512, NULL, 0}}},
    {"beyond L0C", product_beyond_l0c, {{AC_OUT_OF_BUFFER, 5, "mmad", "c", 1024, 0, NULL, 0}}},
    {"load2d to L0A", load2d_to_l0a, {{AC_OUT_OF_BUFFER, 1, "load2d", "dst", 512, 0, NULL, 0}}},
    {"UB on the path to L1",
     wrong_path,
     {{AC_OUT_OF_BUFFER, 1, "copy_gm_l1", "dst", 32, 0, NULL, 0}}},
    {"UB as global memory",
     copy_from_ub_as_gm,
     {{AC_OUT_OF_BUFFER, 1, "copy_gm_l1", "src", 32, 0, NULL, 0}}},
    {"read-only memory", read_only, {{AC_OUT_OF_BUFFER, 4, "copy_ub_gm", "dst", 32, 0, NULL, 0}}},
    {"unknown memory", unknown_gm, {{AC_OUT_OF_BUFFER, 1, "copy_gm_l1", "src", 32, 0, NULL, 0}}},
    {"beyond global memory",
     beyond_gm,
     {{AC_OUT_OF_BUFFER, 1, "copy_gm_l1", "src", 64, 32, NULL, 0}}},
    {"constant written",
     constant_written,
     {{AC_OUT_OF_BUFFER, 1, "fill", "write", 32, 0, NULL, 0}}},
    {"constants are read while they are loaded",
     constants_not_awaited,
     {{AC_RACE, 2, "load2d", "src", 512, 0, "copy_gm_l1", 1}}},
    {"more constants than were loaded",
     constants_not_loaded,
     {{AC_UNWRITTEN, 4, "load2d", "src", 1536, 0, NULL, 0}}},
    {"constants of the group before",
     constants_of_the_group_before,
     {{AC_UNWRITTEN, 2, "load2d", "src", 512, 0, NULL, 0}}},
    {"others as constants",
     others_as_constants,
     {{AC_OUT_OF_BUFFER, 1, "copy_gm_l1", "src", 32, 0, NULL, 0}}},
    {"scalar nowhere", scalar_nowhere, {{AC_OUT_OF_BUFFER, 1, "move", "read", 1, 0, NULL, 0}}},
    {"the scalar unit reads global memory",
     scalar_load_of_gm,
     {{AC_OUT_OF_BUFFER, 1, "move", "read", 1, 0, NULL, 0}}},
    {"the scalar unit writes global memory",
     scalar_store_to_gm,
     {{AC_OUT_OF_BUFFER, 1, "fill", "write", 1, 0, NULL, 0}}},
    {"dst shifted over a", shifted, {{AC_OVERLAP, 3, "vmuls", "dst", 32, 0, NULL, 0}}},
    {"another stride", other_stride, {{AC_OVERLAP, 3, "vmuls", "dst", 0, 0, NULL, 0}}},
    {"over a broadcast", over_a_broadcast, {{AC_OVERLAP, 3, "vmuls", "dst", 0, 0, NULL, 0}}},
    {"narrowed in place", narrowed_in_place, {{AC_OVERLAP, 3, "vconv", "dst", 0, 0, NULL, 0}}},
    {"transpose of nothing",
     transposed_0,
     {{AC_ILLEGAL_OPERAND, 1, "transpose", "repeat", 0, 1, NULL, 0}}},
    {"unaligned transpose",
     transposed_unaligned,
     {{AC_ILLEGAL_OPERAND, 2, "transpose", "dst", 8, 32, NULL, 0}}},
    {"transpose of the unwritten",
     transposed_unwritten,
     {{AC_UNWRITTEN, 1, "transpose", "src", 4096, 0, NULL, 0}}},
    {"transpose of unwritten halves",
     turned_bytes_unwritten,
     {{AC_UNWRITTEN, 3, "transpose_b8", "src", 4112, 0, NULL, 0}}},
    {"unaligned transpose of bytes",
     turned_bytes_unaligned,
     {{AC_ILLEGAL_OPERAND, 2, "transpose_b8", "dst", 16, 32, NULL, 0}}},
    {"transpose of bytes within their blocks",
     turned_bytes_within_their_blocks,
     {{AC_OVERLAP, 3, "transpose_b8", "dst", 4096, 0, NULL, 0}}},
    {"transpose over itself",
     transposed_over_itself,
     {{AC_OVERLAP, 3, "transpose", "dst", 256, 0, NULL, 0}}},
};

static bool same_name(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool as_expected(const ac_finding *f, const expectation *e)
{
    return f->kind == e->kind && f->index == e->index &&
           same_name(f->instruction, e->instruction) && same_name(f->operand, e->operand) &&
           same_name(f->kernel, "kernel") && f->found == e->found && f->limit == e->limit &&
           same_name(f->other, e->other) && f->other_index == e->other_index;
}

static void print_findings(const char *name, const ac_model_report *r)
{
    print_error("%s: %u findings\n", name, (unsigned)r->finding_count);
    for (uint64_t i = 0; i < r->finding_count && i < AC_MODEL_FINDINGS; i++) {
        const ac_finding *f = &r->findings[i];
        print_error("  %s: %s #%u %s, %d against %d, after %s #%u\n", ac_finding_kind_name(f->kind),
                    f->instruction, (unsigned)f->index, f->operand, (int)f->found, (int)f->limit,
                    f->other ? f->other : "nothing", (unsigned)f->other_index);
    }
}

static void every_planted_fault_is_found(void **state)
{
    (void)state;
    bench *b = new_bench();
    bool all = true;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const fault *f = &faults[i];
        ac_model_report report;
        uint64_t expected = 0;
        bool found = true;
        new_model(b);
        f->program(b);
        report = *ac_model_finish(&b->core);
        for (; expected < 3 && f->expected[expected].index; expected++)
            found &= as_expected(&report.findings[expected], &f->expected[expected]);
        found &= report.finding_count == expected;
        if (!found)
            print_findings(f->name, &report);
        all &= found;
    }
    assert_true(all);
    free_bench(b);
}

/* ---- what is allowed ------------------------------------------------------------------------ */

PROGRAM(in_place)
{
    dup(b, 0, whole);
    ended(b);
    muls(b, 0, 0, whole);
}
PROGRAM(woven)
{
    dup(b, 0, (ac_vector){2, 128, 1, 0, 0, 8, 0, 0});
    ended(b);
    muls(b, 32, 0, (ac_vector){1, 128, 2, 2, 0, 16, 16, 0});
}
PROGRAM(broadcast)
{
    dup(b, 0, (ac_vector){3, 128, 1, 0, 0, 8, 0, 0});
    ended(b);
    ac_emit_vec2(&b->core, AC_VADD, UB, UB, UB + 512, (ac_vector){2, 128, 1, 1, 0, 8, 8, 0});
}
PROGRAM(passed_on)
{
    copy(b, AC_GM_UB, UB, GM, 8);
    order(b, MTE2, MTE1);
    order(b, MTE1, M);
    order(b, M, V);
    muls(b, 0, 0, whole);
}
PROGRAM(barrier_of_all)
{
    copy(b, AC_GM_UB, UB, GM, 8);
    ac_emit_barrier(&b->core, AC_PIPE_ALL);
    muls(b, 0, 0, whole);
    ac_emit_barrier(&b->core, AC_PIPE_ALL);
    copy(b, AC_UB_GM, OUT, UB, 8);
}
PROGRAM(both_only_read)
{
    dup(b, 0, whole);
    order(b, V, MTE3);
    copy(b, AC_UB_L1, L1, UB, 8);
    ended(b);
    muls(b, 1024, 0, whole);
}
PROGRAM(columns_that_are_not_there)
{
    ac_model_written(&b->core, L1, 10 * 32);
    load3d(b, (ac_load3d){0, 10, 1, 1, 32, 1, 1, 1, 0});
}
PROGRAM(columns_jumped_over)
{
    for (uint32_t i = 0; i < 16; i++)
        ac_model_written(&b->core, L1 + 64 * i, 32);
    load3d(b, (ac_load3d){0, 32, 2, 1, 32, 1, 1, 1, 0});
}
PROGRAM(dilated_columns)
{
    for (uint32_t i = 0; i < 8 * 16 + 16; i++)
        if (i % 8 < 2)
            ac_model_written(&b->core, L1 + 8 * i, 8);
    /* 4 columns of 8, 8 apart, from pixels 8 apart, starting at column 1 */
    load3d(b, (ac_load3d){1, 144, 8, 8, 8, 1, 1, 1, 0});
}
PROGRAM(constants)
{
    ac_model_written(&b->core, CONSTANTS + 512, 1024);
    ac_emit_load2d(&b->core, L0B, CONSTANTS + 512, 2);
}
PROGRAM(loaded_constants)
{
    load_constants(b);
    ac_emit_copy_bytes(&b->core, CONSTANTS + 1536, CONSTANTS + 1536, 512);
    order(b, MTE2, MTE1);
    ac_emit_load2d(&b->core, L0B, CONSTANTS + 512, 3);
}
PROGRAM(rows_of_a_rest)
{
    load_operands(b);
    order(b, MTE1, M);
    mmad(b, 5, 32, 16);
    ac_emit_mmad(&b->core, AC_MAD_S32S8S8, L0C, L0A, L0B, (ac_product){5, 32, 16, false});
}
PROGRAM(sums_of_a_rest)
{
    load_operands(b);
    ac_model_written(&b->core, L0C, 5 * 64);
    order(b, MTE1, M);
    ac_emit_mmad(&b->core, AC_MAD_S32S8S8, L0C, L0A, L0B, (ac_product){5, 32, 16, false});
}
PROGRAM(transposed_in_place)
{
    dup(b, 0, (ac_vector){4, 128, 1, 1, 1, 8, 8, 8});
    ended(b);
    transpose(b, 0, 0, 2, 16);
}
PROGRAM(turned_bytes)
{
    dup_lower_halves(b, 4096);
    ended(b);
    transpose_b8(b, 0, 4096, false);
    ended(b);
    transpose_b8(b, 4096, 0, true);
}
PROGRAM(scalar_updates)
{
    copy(b, AC_GM_UB, UB, GM, 1);
    order(b, MTE2, S);
    move(b, UB + 2, UB, 30);
    order(b, S, MTE3);
    copy(b, AC_UB_GM, OUT, UB, 1);
}

static void what_is_allowed_passes(void **state)
{
    static void (*const programs[])(bench *) = {
        in_place,
        woven,
        broadcast,
        passed_on,
        barrier_of_all,
        both_only_read,
        constants,
        loaded_constants,
        rows_of_a_rest,
        sums_of_a_rest,
        columns_that_are_not_there,
        columns_jumped_over,
        dilated_columns,
        transposed_in_place,
        turned_bytes,
        scalar_updates,
    };
    (void)state;
    bench *b = new_bench();
    bool all = true;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        ac_model_report report;
        new_model(b);
        memset(b->ub, 0, 4096); /* finite */
        programs[i](b);
        report = *ac_model_finish(&b->core);
        if (report.finding_count)
            print_findings("allowed", &report);
        all &= !report.finding_count;
    }
    assert_true(all);
    free_bench(b);
}

/* Element j of half i is element i of half j; the other halves stay. */
static void bytes_are_turned(void **state)
{
    (void)state;
    bench *b = new_bench();
    uint8_t *ub = b->ub;
    for (uint32_t i = 0; i < 16 * 32; i++)
        ub[4096 + i] = (uint8_t)i;
    memset(ub, 0xee, 512);
    ac_model_written(&b->core, UB + 4096, 512);
    transpose_b8(b, 0, 4096, false);
    for (uint32_t i = 0; i < 16; i++)
        for (uint32_t j = 0; j < 16; j++) {
            assert_int_equal(ub[i * 32 + j], 0xee);
            assert_int_equal(ub[i * 32 + 16 + j], (uint8_t)(j * 32 + i));
        }
    assert_int_equal(ac_model_so_far(&b->core)->finding_count, 0);
    free_bench(b);
}

static void findings_are_counted_and_the_first_kept(void **state)
{
    (void)state;
    bench *b = new_bench();
    ac_model_report report;
    for (int i = 0; i < 3 * AC_MODEL_FINDINGS; i++)
        no_repeat(b);
    report = *ac_model_finish(&b->core);
    assert_int_equal(report.finding_count, 3 * AC_MODEL_FINDINGS);
    assert_int_equal(report.findings[AC_MODEL_FINDINGS - 1].index, AC_MODEL_FINDINGS);
    ac_model_reset(&b->core);
    assert_int_equal(ac_model_so_far(&b->core)->finding_count, 0);
    free_bench(b);
}

/* 2 microseconds at 1000 MHz, then 320 bytes at 32 a cycle and a latency of 20. */
static void launching_takes_time(void **state)
{
    (void)state;
    bench *b = new_bench();
    ac_costs slow = costs;
    slow.task_launch = 2;
    const ac_model_config config = {&slow, 0, 1, record, b};
    ac_model_init(&b->core, b->model, &config);
    ac_model_launch(&b->core, 320);
    muls(b, 0, 0, whole);
    const ac_model_report *r = ac_model_so_far(&b->core);
    assert_int_equal(r->gm_read, 320);
    assert_true(b->events[0].pipe == AC_PIPE_MTE2 && b->events[0].end == 2000 + 1 + 20 + 10);
    assert_true(b->events[1].start >= b->events[0].end);
    free_bench(b);
}

/* Cycles of the scalar unit since *before. */
static uint32_t scalar(const bench *b, double *before)
{
    const double now = ac_model_so_far(&b->core)->busy[S], spent = now - *before;
    *before = now;
    return (uint32_t)spent;
}

static void reading_a_program_takes_time(void **state)
{
    (void)state;
    bench *b = new_bench();
    ac_costs slow = costs;
    slow.operands = 100;
    slow.turn = 7;
    const ac_model_config config = {&slow, 0, 1, NULL, NULL};
    ac_model_init(&b->core, b->model, &config);
    double before = 0;
    dup(b, 0, whole);
    assert_int_equal(scalar(b, &before), 100 + 1);
    ac_emit_barrier(&b->core, AC_PIPE_V);
    assert_int_equal(scalar(b, &before), 1);
    ac_emit(&b->core, (ac_instruction){.opcode = AC_OP_TURN});
    assert_int_equal(scalar(b, &before), 7);
    free_bench(b);
}

/* Fractals along K are those that load3ds along pixels bring one by one. */
static void along_k_as_along_pixels(void **state)
{
    (void)state;
    enum { COLUMNS = 24, TAPS = 3, ROWS = 4, ONE = 512, OTHER = 64 * ONE };
    bench *b = new_bench();
    uint8_t *l1 = b->core.memory[AC_L1].bytes, *l0a = b->core.memory[AC_L0A].bytes;
    ac_model_written(&b->core, L1, ROWS * COLUMNS * 32);
    for (int i = 0; i < ROWS * COLUMNS * 32; i++)
        l1[i] = (uint8_t)(i * 37 >> 3 ^ i);
    load3d(b, (ac_load3d){4, COLUMNS, 1, 2, 32, 1, TAPS * ROWS, 2, ROWS});
    for (uint16_t r = 0; r < TAPS * ROWS; r++) {
        const uint16_t column = (uint16_t)(4 + r % TAPS * 2);
        ac_emit_load3d(&b->core, L0A + OTHER, L1 + r / TAPS * COLUMNS * 32,
                       (ac_load3d){column, COLUMNS, 1, 1, 32, 1, 1, 1, 0});
        assert_memory_equal(l0a + r * 2 * ONE, l0a + OTHER, ONE);
    }
    free_bench(b);
}

/* Pixels that do not fit in a row are those of the next one, and zeros below the picture. */
static void pixels_go_on_in_the_next_row(void **state)
{
    (void)state;
    enum { COLUMNS = 6, ROWS = 4, ROW = 32, ONE = 512 };
    bench *b = new_bench();
    uint8_t *l1 = b->core.memory[AC_L1].bytes, *l0a = b->core.memory[AC_L0A].bytes;
    static const uint8_t zeros[ROW];
    ac_model_written(&b->core, L1, ROWS * COLUMNS * ROW);
    for (int i = 0; i < ROWS * COLUMNS * ROW; i++)
        l1[i] = (uint8_t)(1 + i % 251);
    load3d(b, (ac_load3d){1, COLUMNS, 2, 1, 32, 1, ROWS, 1, ROWS}); /* columns 1, 3, 5, 0, 2, ... */
    for (int r = 0; r < ROWS; r++)
        for (int m = 0; m < 16; m++) {
            const int y = r + m / 3, x = m < 3 ? 1 + 2 * m : m % 3 * 2;
            assert_memory_equal(l0a + r * ONE + m * ROW,
                                y < ROWS ? l1 + (y * COLUMNS + x) * ROW : zeros, ROW);
        }
    free_bench(b);
}

static void what_is_illegal_is_not_executed(void **state)
{
    (void)state;
    bench *b = new_bench();
    memset(b->ub, 1, 512);
    beyond_ub(b);
    unaligned_vector(b);
    for (int i = 0; i < 512; i++)
        assert_int_equal(b->ub[i], 1);
    free_bench(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_legal_program_passes),
        cmocka_unit_test(events_tell_when_and_what_for),
        cmocka_unit_test(without_a_model_instructions_are_executed),
        cmocka_unit_test(time_of_conflicts_barriers_and_scalars),
        cmocka_unit_test(every_planted_fault_is_found),
        cmocka_unit_test(what_is_allowed_passes),
        cmocka_unit_test(bytes_are_turned),
        cmocka_unit_test(findings_are_counted_and_the_first_kept),
        cmocka_unit_test(launching_takes_time),
        cmocka_unit_test(reading_a_program_takes_time),
        cmocka_unit_test(along_k_as_along_pixels),
        cmocka_unit_test(pixels_go_on_in_the_next_row),
        cmocka_unit_test(what_is_illegal_is_not_executed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
