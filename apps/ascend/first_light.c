// SPDX-License-Identifier: Apache-2.0
/* The first run of the replay kernel on a chip: every instruction by itself against the reference, the first
 * difference of each; then how long some take, as a file of costs for mona bench --device model310.
 *
 *   first_light COSTS.json
 *
 * Programs travel in a built-in model whose own program they replace, so that they take the way of every
 * other one. A program fills the core's buffers with noise, runs instructions, and copies all buffers out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "apps/ascend/any_instruction.h"
#include "apps/devices/ascend_setup.h"
#include "engine/model/model.h"
#include "engine/mona_ascend.h"
#include "formats/compiler/program/record.h"
#include "formats/file.h"
#include "formats/mona_writer.h"
#include "models/embedded.h"

enum {
    WIDTH = 480,
    HEIGHT = 320,
    IN = WIDTH * HEIGHT,
    OUT = 4 * IN,
    UB = ANY_UB,
    L1 = ANY_L1,
    TRIES = 5, /* programs of each instruction */
    EACH = 8,  /* instructions in one */
};

typedef struct light {
    mona_model model; /* doubles a picture */
    ac_program base;
    const mona_device *device;
    uint8_t *in, *out;
    ac_core core; /* the reference */
} light;

/* What the recorder is given, and whose core it is. */
static recorder *at_work;

static void take(ac_core *core, const ac_instruction *i)
{
    (void)core;
    recorder_take(at_work, 0, i);
}

static ac_core recording = {.target = &ac_target_ascend310, .take = take};

static void all_done(void)
{
    ac_emit_barrier(&recording, AC_PIPE_ALL);
}

static void copy_all(ac_path path, ac_address dst, ac_address src, uint32_t bytes)
{
    ac_emit_copy(&recording, path, dst, src, (ac_copy){1, (uint16_t)(bytes / AC_BLOCK), 0, 0});
    all_done();
}

/* Noise in every buffer. */
static void fill_buffers(void)
{
    const uint32_t from = IN; /* bytes of noise */
    for (uint32_t at = 0; at < UB; at += from)
        copy_all(AC_GM_UB, ac_at(AC_UB, at), ac_at(AC_GM, 0), UB - at < from ? UB - at : from);
    for (uint32_t at = 0; at < L1; at += from)
        copy_all(AC_GM_L1, ac_at(AC_L1, at), ac_at(AC_GM, 0), L1 - at < from ? L1 - at : from);
    ac_emit_load3d(&recording, ac_at(AC_L0A, 0), ac_at(AC_L1, 0),
                   (ac_load3d){.columns = 2048,
                               .stride = 1,
                               .dilation = 1,
                               .c0 = 32,
                               .element = 1,
                               .repeat = 128,
                               .jump = 1});
    ac_emit_load2d(&recording, ac_at(AC_L0B, 0), ac_at(AC_L1, 0), 128);
    all_done();
    ac_emit_bias_l0c(&recording, ac_at(AC_L0C, 0), ac_at(AC_UB, 0), 2048, 16);
    all_done();
    ac_emit_bias_l0c(&recording, ac_at(AC_L0C, 131072), ac_at(AC_UB, 4096), 2048, 16);
    all_done();
}

/* UB, most of L1, and most of L0C as halves. products: L0A times L0B first, as there is no other way out. */
static void copy_buffers_out(bool products)
{
    const ac_address zero = ac_at(AC_UB, 0);
    all_done();
    copy_all(AC_UB_GM, ac_at(AC_GM + 1, 0), zero, UB);
    copy_all(AC_L1_UB, zero, ac_at(AC_L1, 0), UB);
    copy_all(AC_UB_GM, ac_at(AC_GM + 1, UB), zero, UB);
    if (products)
        ac_emit_mmad(&recording, AC_MAD_S32S8S8, ac_at(AC_L0C, 0), ac_at(AC_L0A, 0),
                     ac_at(AC_L0B, 0), (ac_product){64, 1024, 64, true});
    all_done();
    copy_all(AC_GM_UB, ac_at(AC_UB, 240000), ac_at(AC_GM, 0), 32);
    ac_emit_drain(&recording, products ? AC_DRAIN_S32_F16_DEQ : AC_DRAIN_F32_F16, zero,
                  ac_at(AC_L0C, 0), (ac_copy){1, 240, 0, 0},
                  products ? ac_at(AC_UB, 240000) : AC_NOWHERE, false);
    all_done();
    copy_all(AC_UB_GM, ac_at(AC_GM + 1, 2 * UB), zero, OUT - 2 * UB);
}

static bool fail(const char *what)
{
    fprintf(stderr, "first_light: %s\n", what);
    return false;
}

/* Begins to record a program. */
static void begin(void)
{
    const ac_segment places = {.l1_bytes = L1};
    at_work = recorder_new();
    recorder_segment(at_work, &places, NULL);
}

static uint8_t *finish(const light *l, size_t *bytes)
{
    const char *why;
    ac_program places = l->base;
    places.header.l1_bytes = L1;
    uint8_t *made = recorder_finish(at_work, &places, bytes, &why);
    recorder_free(at_work);
    if (!made)
        fail(why);
    return made;
}

/* Runs a program on the device. seconds: of the fastest of `runs`. */
static bool run_on_device(const light *l, const uint8_t *program, size_t bytes, int runs,
                          double *seconds)
{
    const mona_writer_program p = {"ascend310", program, bytes};
    const mona_config config = {.device = l->device, .sizes = {{WIDTH, HEIGHT}}};
    mona_buffer in = {l->in, WIDTH, IN}, out = {l->out, 2 * WIDTH, OUT};
    uint8_t *file = NULL;
    size_t size;
    format_error error = {0};
    mona_model model;
    mona_plan *plan;
    mona_session *session = NULL;
    if (!mona_writer_add_programs(l->model.file, 0, &p, 1, &file, &size, &error))
        return fail(error.text);
    void *memory = NULL, *arena = NULL;
    mona_status status = mona_model_open(&model, file, size);
    if (!status)
        memory = file_alloc(mona_plan_bytes(&model));
    if (!status)
        status = mona_plan_make(&plan, memory, &model, &config);
    if (!status) {
        arena = file_alloc(mona_plan_arena_bytes(plan));
        status = mona_session_open(&session, plan, arena, mona_plan_arena_bytes(plan));
    }
    *seconds = 1e9;
    for (int k = 0; k < runs && !status; k++) {
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        status = mona_session_run(session, &in, &out);
        clock_gettime(CLOCK_MONOTONIC, &b);
        const double t = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
        *seconds = t < *seconds ? t : *seconds;
    }
    if (session)
        mona_session_close(session);
    free(arena), free(memory), free(file);
    return !status || fail(mona_status_text(status));
}

/* What the reference leaves in the output. */
static void run_reference(light *l, const uint8_t *program, size_t bytes, uint8_t *out)
{
    ac_program p;
    if (!ac_program_open(&p, program, bytes))
        return;
    l->core.memory[AC_GM] = (ac_memory){l->in, IN, false};
    l->core.memory[AC_GM + 1] = (ac_memory){out, OUT, true};
    for (uint32_t s = 0; s < p.header.segments; s++)
        ac_program_run(&l->core, &p, s, 0, NULL);
}

static const char *place_of(size_t byte)
{
    return byte < UB ? "UB" : byte < 2 * (size_t)UB ? "L1" : "L0C, drained";
}

/* ---- instructions --------------------------------------------------------------------------- */

/* Whether all that an instruction reads is the same on every run, and what it writes is copied out. */
static bool is_visible(const ac_instruction *i, bool written_out)
{
    const uint32_t operands = ac_turns(i->opcode) ? 0 : ac_operands(i->opcode);
    return (operands < 2 || ac_space_of(i->a) <= AC_GM) &&
           (!operands || written_out || ac_space_of(i->dst) < AC_GM);
}

static bool check_one(light *l, ac_opcode op, uint8_t *expected)
{
    size_t bytes;
    double seconds;
    const bool products = op == AC_OP_LOAD2D || op == AC_OP_LOAD3D;
    const bool written_out = op == AC_OP_COPY + AC_UB_GM;
    ac_turned turned[EACH][2];
    begin();
    fill_buffers();
    if (written_out) /* into what is copied out already */
        copy_buffers_out(false);
    for (int k = 0; k < EACH; k++) {
        ac_instruction i;
        do
            i = any_instruction(op, turned[k]);
        while (!is_visible(&i, written_out));
        recorder_take(at_work, 0, &i);
        all_done();
    }
    if (!written_out)
        copy_buffers_out(products);
    uint8_t *program = finish(l, &bytes);
    if (!program)
        return false;
    memset(expected, 0, OUT), memset(l->out, 0, OUT);
    run_reference(l, program, bytes, expected);
    bool ok = run_on_device(l, program, bytes, 1, &seconds);
    for (size_t i = 0; i < OUT && ok; i++)
        if (expected[i] != l->out[i]) {
            printf("differs: %s: %s, byte %zu of the output: found %02x, expected %02x\n",
                   ac_opcode_names[op], place_of(i), i, l->out[i], expected[i]);
            ok = false;
        }
    free(program);
    return ok;
}

static unsigned check_instructions(light *l)
{
    uint8_t *expected = malloc(OUT);
    unsigned wrong = 0;
    for (uint32_t op = AC_OP_COPY; op < AC_OP_WORK && expected; op++) {
        bool ok = true;
        for (int k = 0; k < TRIES && ok; k++)
            ok = check_one(l, (ac_opcode)op, expected);
        if (ok)
            printf("equal: %s\n", ac_opcode_names[op]);
        wrong += !ok;
    }
    free(expected);
    return wrong;
}

/* ---- costs ---------------------------------------------------------------------------------- */

/* Seconds that one more instruction takes, where each waits for the one before. */
static bool time_of(const light *l, const ac_instruction *i, double *seconds)
{
    enum { FEW = 200, MANY = 20200 };
    double t[2];
    for (int many = 0; many < 2; many++) {
        size_t bytes;
        begin();
        for (int k = 0; k < (many ? MANY : FEW); k++) {
            recorder_take(at_work, 0, i);
            all_done();
        }
        uint8_t *program = finish(l, &bytes);
        const bool ok = program && run_on_device(l, program, bytes, 5, &t[many]);
        free(program);
        if (!ok)
            return false;
    }
    *seconds = t[1] > t[0] ? (t[1] - t[0]) / (MANY - FEW) : 0;
    return true;
}

static bool measure(const light *l, FILE *f)
{
    const ac_vector one = {1, 128, 1, 1, 1, 8, 8, 8};
    const ac_copy block = {1, 1, 0, 0};
    const struct {
        const char *cost;
        ac_instruction i;
        double cycles; /* of its work, which a latency excludes */
    } rows[] = {
        {"vector_latency",
         {.opcode = AC_OP_VEC2 + AC_VADD,
          .dst = ac_at(AC_UB, 0),
          .a = ac_at(AC_UB, 0),
          .b = ac_at(AC_UB, 256),
          .vector = one},
         1},
        {"copy_latency",
         {.opcode = AC_OP_COPY + AC_GM_UB,
          .dst = ac_at(AC_UB, 0),
          .a = ac_at(AC_GM, 0),
          .copy = block},
         4},
        {"local_latency",
         {.opcode = AC_OP_COPY + AC_UB_L1,
          .dst = ac_at(AC_L1, 0),
          .a = ac_at(AC_UB, 0),
          .copy = block},
         4},
        {"drain_latency",
         {.opcode = AC_OP_DRAIN + AC_DRAIN_F32_F16,
          .dst = ac_at(AC_UB, 0),
          .a = ac_at(AC_L0C, 0),
          .b = AC_NOWHERE,
          .copy = block},
         4},
    };
    double empty, mhz = 680;
    size_t bytes;
    begin();
    all_done();
    uint8_t *program = finish(l, &bytes);
    bool ok = program && run_on_device(l, program, bytes, 20, &empty);
    free(program);
    fprintf(f, "{\n  \"task_launch\": %.3f", ok ? 1e6 * empty : 0);
    for (size_t k = 0; k < sizeof rows / sizeof *rows && ok; k++) {
        double seconds = 0;
        ok = time_of(l, &rows[k].i, &seconds);
        const double cycles = 1e6 * seconds * mhz - rows[k].cycles;
        fprintf(f, ",\n  \"%s\": %.1f", rows[k].cost, cycles > 0 ? cycles : 0);
    }
    fprintf(f, "\n}\n");
    return ok;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static const embedded_model *doubler(void)
{
    for (size_t i = 0; i < embedded_model_count; i++)
        if (!strcmp(embedded_models[i].name, "bicubic_x2"))
            return &embedded_models[i];
    return NULL;
}

/* Bytes that are finite, as halves and as floats. */
static void make_noise(light *l)
{
    for (size_t i = 0; i < IN; i++)
        l->in[i] = (uint8_t)(any_below(256) & (i % 2 ? 0xbb : 0xff));
}

static bool open_light(light *l)
{
    const embedded_model *e = doubler();
    uint8_t *program;
    size_t bytes;
    format_error error = {0};
    *l = (light){.core = {.target = &ac_target_ascend310, .take = ac_execute}};
    if (!ascend_setup(&error))
        return fail(error.text);
    any_buffers = 2;
    any_constants = false;
    l->device = &mona_device_ascend;
    if (mona_device_query(l->device, &(mona_device_properties){0}))
        return fail(mona_ascend_problem());
    if (mona_model_open(&l->model, e->begin, (size_t)(e->end - e->begin)) ||
        !program_record(&l->model, (mona_size){WIDTH, HEIGHT}, &program, &bytes, &error) ||
        !ac_program_open(&l->base, program, bytes))
        return fail(error.text);
    l->in = file_alloc(IN), l->out = file_alloc(OUT);
    for (int s = 0; s < AC_BUFFERS; s++)
        l->core.memory[s] = (ac_memory){file_alloc(any_sizes[s]), any_sizes[s], true};
    l->core.memory[AC_CONSTANTS] =
        (ac_memory){(uint8_t *)(uintptr_t)l->base.constants, l->base.header.constants_bytes, false};
    make_noise(l);
    return true;
}

int main(int count, char **argv)
{
    light l;
    if (count != 2) {
        fprintf(stderr, "first_light COSTS.json\n");
        return 2;
    }
    if (!open_light(&l))
        return 1;
    const unsigned wrong = check_instructions(&l);
    FILE *f = fopen(argv[1], "w");
    const bool ok = f && measure(&l, f) && !fclose(f);
    printf("%u of %u instructions differ\n", wrong, AC_OP_WORK - AC_OP_COPY);
    mona_device_close(l.device);
    return wrong || !ok;
}
