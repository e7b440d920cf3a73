// SPDX-License-Identifier: Apache-2.0
/* An Atlas 200, of which mona's host is a part: planes in the chip's memory are used where they
 * lie, others are copied by the CPU. On the stand-in for the vendor's libraries, which its
 * environment loads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/mona_ascend.h"
#include "tests/unit/fixture.h"
#include "tests/unit/recorded.h"

enum { W = 128, H = 64, IN = W * H, OUT = 4 * IN, GAP = 64 };

/* An object without code: the stand-in runs its own kernel. */
static const uint8_t kernel[128] = "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\1\0\x29\x10\1\0\0\0"
                                   "mona_replay3__kernel0";

typedef struct module {
    net_fixture net;
    uint8_t *file;
    bound bound;
    uint8_t *in, *out; /* of the chip */
    uint8_t *expected;
} module;

static void open_module(module *m)
{
    size_t bytes;
    mona_model model;
    const mona_config config = {.device = &mona_device_ascend, .sizes = {{W, H}}};
    mona_ascend_add_kernel(kernel, sizeof kernel);
    *m = (module){.net = net_open(16, 1, 7), .expected = malloc(OUT)};
    m->file = recorded_file(&m->net.model, config.sizes[0], &bytes);
    assert_int_equal(mona_model_open(&model, m->file, bytes), MONA_OK);
    assert_int_equal(bind(&m->bound, &model, &config), MONA_OK);
    void *memory[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(mona_device_allocate(config.device, 2 * OUT, &memory[i]), MONA_OK);
    m->in = memory[0], m->out = memory[1];
}

static void close_module(module *m)
{
    unbind(&m->bound);
    mona_device_free(&mona_device_ascend, m->in), mona_device_free(&mona_device_ascend, m->out);
    mona_device_close(&mona_device_ascend);
    net_close(&m->net);
    free(m->file), free(m->expected);
}

static void make_frame(module *m, uint8_t *in, size_t stride, uint32_t seed)
{
    uint8_t packed[IN];
    for (size_t y = 0; y < H; y++)
        for (size_t x = 0; x < W; x++)
            in[y * stride + x] = packed[y * W + x] = (uint8_t)test_random(&seed);
    sr_net_reference(m->net.net, packed, H, W, m->expected);
}

static void check_rows(const module *m, const uint8_t *out, size_t stride)
{
    for (size_t y = 0; y < 2 * (size_t)H; y++)
        assert_memory_equal(out + y * stride, m->expected + y * 2 * W, 2 * W);
}

/* What the CPU may do with the whole pages of a plane. */
static void allow(uint8_t *plane, size_t bytes, int what)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)plane + page - 1) / page * page;
    const uintptr_t end = ((uintptr_t)plane + bytes) / page * page;
    assert_true(end > begin);
    assert_int_equal(mprotect((void *)begin, end - begin, what), 0);
}

static void host_and_chip_use_one_memory(void **state)
{
    mona_device_properties p;
    mona_ascend_info info;
    (void)state;
    assert_int_equal(mona_device_query(&mona_device_ascend, &p), MONA_OK);
    assert_int_equal(mona_ascend_query(&mona_device_ascend, &info), MONA_OK);
    assert_true(p.unified_memory && info.on_chip);
    mona_device_close(&mona_device_ascend);
}

static void planes_of_the_chip_are_not_copied(void **state)
{
    module m;
    (void)state;
    open_module(&m);
    for (uint32_t n = 0; n < 6; n++) { /* more than the session remembers */
        uint8_t *in = m.in + n * IN, *out = m.out + n % 2 * OUT;
        const mona_buffer from = {in, W, 0}, to = {out, 2 * W, 0};
        make_frame(&m, in, W, n);
        allow(in, IN, PROT_NONE);
        allow(out, OUT, PROT_NONE);
        assert_int_equal(mona_session_run(m.bound.session, &from, &to), MONA_OK);
        allow(in, IN, PROT_READ | PROT_WRITE);
        allow(out, OUT, PROT_READ | PROT_WRITE);
        check_rows(&m, out, 2 * W);
    }
    close_module(&m);
}

/* Of the chip with gaps between rows, of the chip between two blocks of 32 bytes, and of the
 * host. */
static void other_planes_are_copied(void **state)
{
    module m;
    (void)state;
    open_module(&m);
    uint8_t *host_in = malloc(IN), *host_out = malloc(OUT);
    const mona_buffer from[] = {{m.in, W + GAP, 0}, {m.in + 8, W, 0}, {host_in, W, 0}};
    const mona_buffer to[] = {{m.out, 2 * W + GAP, 0}, {m.out + 8, 2 * W, 0}, {host_out, 2 * W, 0}};
    for (uint32_t i = 0; i < 3; i++) {
        make_frame(&m, from[i].data, (size_t)from[i].row_stride, 50 + i);
        assert_int_equal(mona_session_run(m.bound.session, &from[i], &to[i]), MONA_OK);
        check_rows(&m, to[i].data, (size_t)to[i].row_stride);
    }
    free(host_in), free(host_out);
    close_module(&m);
}

/* The dynamic linker reads the environment when a program begins. */
static int begin_again(char **argv)
{
    char libraries[512];
    const char *build = getenv("BUILD");
    snprintf(libraries, sizeof libraries, "%s/ascend/full", build ? build : "build");
    setenv("LD_LIBRARY_PATH", libraries, 1);
    setenv("FAKE_ASCEND", "mode=0", 1);
    execv("/proc/self/exe", argv);
    perror("/proc/self/exe");
    return 1;
}

int main(int count, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_and_chip_use_one_memory),
        cmocka_unit_test(planes_of_the_chip_are_not_copied),
        cmocka_unit_test(other_planes_are_copied),
    };
    (void)count;
    if (!getenv("FAKE_ASCEND"))
        return begin_again(argv);
    return cmocka_run_group_tests_name("module", tests, NULL, NULL);
}
