// SPDX-License-Identifier: Apache-2.0
/* Whole networks through the engine: every instruction set, thread count, strip height and tile
 * width must give the bytes of a plain map-at-a-time reference; and the arena is exactly what the
 * plan says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/fixture.h"
#include "tests/cases.h"

typedef struct frame {
    int h, w, scale;
    uint8_t *in, *expected;
} frame;

static frame frame_new(const sr_net *n, int w, int h)
{
    frame f = {h, w, n->scale, malloc((size_t)(w * h)),
               malloc((size_t)(n->scale * n->scale * w * h))};
    uint32_t seed = 7;
    for (int i = 0; i < w * h; i++)
        f.in[i] = (uint8_t)(test_random(&seed) % 7 ? test_random(&seed) : 255);
    sr_net_reference(n, f.in, h, w, f.expected);
    return f;
}

/* Runs and compares; the output has a margin that must stay untouched. */
static void expect_equal(const mona_model *model, const mona_config *config, const frame *f)
{
    bound b;
    assert_int_equal(bind(&b, model, config), MONA_OK);
    const int w = f->scale * f->w, h = f->scale * f->h;
    const ptrdiff_t stride = w + 16;
    uint8_t *out = malloc((size_t)stride * (size_t)(h + 2));
    memset(out, 0xa5, (size_t)stride * (size_t)(h + 2));
    const mona_buffer input = {f->in, f->w, 0}, output = {out + stride + 8, stride, 0};
    for (int run = 0; run < 2; run++) {
        assert_int_equal(mona_session_run(b.session, &input, &output), MONA_OK);
        for (int y = 0; y < h + 2; y++)
            for (int x = 0; x < stride; x++) {
                const int inside = y >= 1 && y <= h && x >= 8 && x < 8 + w;
                const int want = inside ? f->expected[(y - 1) * w + x - 8] : 0xa5;
                if (out[y * stride + x] != want)
                    fail_msg("%s, %u threads, strip %u, tile %u: row %d column %d is %d, not %d",
                             mona_plan_isa(b.plan), mona_plan_threads(b.plan), config->strip_rows,
                             config->tile_columns, y - 1, x - 8, out[y * stride + x], want);
            }
    }
    free(out);
    unbind(&b);
}

static const char *const levels[] = {"c",   "avx2", "avxvnni", "avx512",
                                     "amx", "neon", "dotprod", "i8mm"};

static bool level_usable(const mona_model *model, const char *cpu)
{
    bound b;
    const mona_config config = {.cpu = cpu, .threads = 1, .sizes = {{16, 16}}};
    const mona_status status = bind(&b, model, &config);
    if (!status)
        unbind(&b);
    return status == MONA_OK;
}

static void same_bytes_scaled(int channels, int body, int scale, int w, int h)
{
    net_fixture n = net_open_scaled(channels, body, scale, 1);
    const frame f = frame_new(n.net, w, h);
    unsigned tried = 0;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (!level_usable(&n.model, levels[i]))
            continue;
        static const unsigned strips[] = {0, 2, 5, 64}, tiles[] = {0, 16, 40};
        for (unsigned k = 0; k < CASES(12); k++) {
            const mona_config config = {.cpu = levels[i],
                                        .threads = k % 3 + 1,
                                        .strip_rows = strips[k % 4],
                                        .tile_columns = tiles[k / 4],
                                        .sizes = {{(uint32_t)w, (uint32_t)h}}};
            expect_equal(&n.model, &config, &f);
        }
        tried++;
    }
    assert_true(tried >= 1);
    free(f.in), free(f.expected);
    net_close(&n);
}

static void same_bytes_everywhere(int channels, int body, int w, int h)
{
    same_bytes_scaled(channels, body, 2, w, h);
}

static void sixteen_channels(void **state)
{
    (void)state;
    same_bytes_everywhere(16, 3, 93, 37);
}

static void uneven_channels(void **state)
{
    (void)state;
    same_bytes_everywhere(20, 2, 50, 21);
    same_bytes_everywhere(5, 1, 33, 9);
    same_bytes_everywhere(33, 1, 41, 8);
}

/* Depth-to-space in the store, by 3 and by 4. */
static void three_and_four_times_as_large(void **state)
{
    (void)state;
    for (int scale = 3; scale <= 4; scale++) {
        same_bytes_scaled(16, 2, scale, 61, 19);
        same_bytes_scaled(32, 1, scale, 17, 9);
        same_bytes_scaled(16, 1, scale, 1, 1);
    }
}

static void deep_nets(void **state)
{
    (void)state;
    same_bytes_scaled(16, 11, 4, 21, 13);
    same_bytes_scaled(32, 12, 2, 23, 11);
}

static void tiny_frames(void **state)
{
    (void)state;
    same_bytes_everywhere(16, 3, 1, 1);
    same_bytes_everywhere(16, 3, 3, 40);
    same_bytes_everywhere(16, 3, 40, 2);
}

/* An arena that ends at a page that cannot be touched, and then one that begins behind one. */
static void nothing_outside_the_arena(void **state)
{
    (void)state;
    net_fixture n = net_open(16, 3, 3);
    const frame f = frame_new(n.net, 130, 20);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (unsigned i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (!level_usable(&n.model, levels[i]))
            continue;
        const mona_config config = {.cpu = levels[i], .threads = 2, .sizes = {{130, 20}}};
        void *memory = aligned(mona_plan_bytes(&n.model));
        mona_plan *plan;
        assert_int_equal(mona_plan_make(&plan, memory, &n.model, &config), MONA_OK);
        const size_t need = mona_plan_arena_bytes(plan), span = (need + page - 1) / page * page;
        /* Planes end at a guard page too: input and output share the last pages. */
        const size_t in = 130 * 20, out = 4 * in, planes = (in + out + page - 1) / page * page;
        uint8_t *map =
            mmap(NULL, span + planes + 4 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(map, MAP_FAILED);
        uint8_t *first = map + page, *second = first + span + page;
        assert_int_equal(mprotect(first, span, PROT_READ | PROT_WRITE), 0);
        assert_int_equal(mprotect(second, planes, PROT_READ | PROT_WRITE), 0);
        uint8_t *input_plane = second + planes - in, *output_plane = input_plane - out;
        memcpy(input_plane, f.in, in);
        for (int at_end = 0; at_end < 2; at_end++) {
            uint8_t *arena = at_end ? first + span - (need + 63) / 64 * 64 : first;
            mona_session *session;
            assert_int_equal(mona_session_open(&session, plan, arena, need), MONA_OK);
            const mona_buffer input = {input_plane, 130, 0}, output = {output_plane, 260, 0};
            assert_int_equal(mona_session_run(session, &input, &output), MONA_OK);
            assert_memory_equal(output_plane, f.expected, out);
            mona_session_close(session);
        }
        munmap(map, span + planes + 4 * page);
        free(memory);
    }
    free(f.in), free(f.expected);
    net_close(&n);
}

static void one_byte_less_is_refused(void **state)
{
    (void)state;
    net_fixture n = net_open(16, 3, 3);
    void *memory = aligned(mona_plan_bytes(&n.model));
    mona_plan *plan;
    const mona_config config = {.threads = 1, .sizes = {{64, 64}}};
    assert_int_equal(mona_plan_make(&plan, memory, &n.model, &config), MONA_OK);
    const size_t need = mona_plan_arena_bytes(plan);
    uint8_t *arena = aligned(need + 64);
    mona_session *session = NULL;
    assert_int_equal(mona_session_open(&session, plan, arena, need - 1), MONA_ERR_ARENA);
    assert_int_equal(mona_session_open(&session, plan, arena + 1, need), MONA_ERR_ARENA);
    assert_null(session);
    assert_int_equal(mona_session_open(&session, plan, arena, need), MONA_OK);
    mona_session_close(session);
    free(arena), free(memory);
    net_close(&n);
}

/* The listed regions follow each other without gap or overlap and fill the arena. */
static void buffers_cover_the_arena(void **state)
{
    (void)state;
    net_fixture n = net_open(16, 3, 3);
    void *memory = aligned(mona_plan_bytes(&n.model));
    for (unsigned threads = 1; threads <= 3; threads++) {
        mona_plan *plan;
        const mona_config config = {.threads = threads, .sizes = {{1920, 1080}}};
        assert_int_equal(mona_plan_make(&plan, memory, &n.model, &config), MONA_OK);
        size_t end = 0;
        unsigned rings = 0;
        mona_plan_buffer buffer;
        for (uint64_t i = 0; mona_plan_next_buffer(plan, &i, &buffer);) {
            assert_int_equal(buffer.offset, end);
            assert_true(buffer.bytes > 0);
            end += buffer.bytes;
            rings += !strcmp(buffer.kind, "ring");
        }
        assert_int_equal(end, mona_plan_arena_bytes(plan));
        assert_int_equal(rings, 5 * threads); /* packed luma, head, three body maps */
        assert_true(mona_plan_arena_bytes(plan) < 8u << 20);
        assert_int_equal(mona_plan_macs(plan), 1920ull * 1080 * 9 * (16 + 3 * 256 + 64));
    }
    free(memory);
    net_close(&n);
}

/* Rings, and so the arena, do not grow with the height of a frame. */
static void arena_does_not_depend_on_height(void **state)
{
    (void)state;
    net_fixture n = net_open(16, 3, 3);
    void *memory = aligned(mona_plan_bytes(&n.model));
    size_t arena[2];
    for (int i = 0; i < 2; i++) {
        mona_plan *plan;
        const mona_config config = {.threads = 2, .sizes = {{1280, i ? 8640 : 360}}};
        assert_int_equal(mona_plan_make(&plan, memory, &n.model, &config), MONA_OK);
        arena[i] = mona_plan_arena_bytes(plan);
    }
    assert_int_equal(arena[0], arena[1]);
    free(memory);
    net_close(&n);
}

static void sizes_that_do_not_fit(void **state)
{
    (void)state;
    net_fixture n = net_open(16, 1, 3);
    void *memory = aligned(mona_plan_bytes(&n.model));
    mona_plan *plan;
    static const mona_size bad[] = {{0, 0}, {0, 5}, {5, 0}, {MONA_MAX_SIDE, 16}, {40000, 16}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const mona_config config = {.sizes = {bad[i]}};
        assert_int_equal(mona_plan_make(&plan, memory, &n.model, &config), MONA_ERR_SHAPE);
    }
    const mona_config unknown = {.cpu = "mmx", .sizes = {{16, 16}}};
    assert_int_equal(mona_plan_make(&plan, memory, &n.model, &unknown), MONA_ERR_DEVICE);
    const mona_config crowd = {.threads = 1000, .sizes = {{16, 16}}};
    assert_int_equal(mona_plan_make(&plan, memory, &n.model, &crowd), MONA_ERR_LIMIT);
    free(memory);
    net_close(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sixteen_channels),
        cmocka_unit_test(uneven_channels),
        cmocka_unit_test(three_and_four_times_as_large),
        cmocka_unit_test(deep_nets),
        cmocka_unit_test(tiny_frames),
        cmocka_unit_test(nothing_outside_the_arena),
        cmocka_unit_test(one_byte_less_is_refused),
        cmocka_unit_test(buffers_cover_the_arena),
        cmocka_unit_test(arena_does_not_depend_on_height),
        cmocka_unit_test(sizes_that_do_not_fit),
    };
    return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
