// SPDX-License-Identifier: Apache-2.0
/* A device with memory of its own, which the host cannot touch: its runs read what was uploaded,
 * and its streams work together with those of the host. Which instruction set the host's names
 * stand for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/libc.h"
#include "engine/run/device.h"
#include "engine/run/isas.h"
#include "engine/run/session.h"
#include "tests/unit/fixture.h"

/* ---- the device ------------------------------------------------------------------------------ */

enum { FAR_BYTES = 1 << 20 };

/* The same memory twice: as the device sees it, and as the host does, without any access. */
static uint8_t *far_inside, *far_outside;
static size_t far_used;
static int far_opened, far_closed, far_copies;

static mona_status far_open(const mona_device *device, mona_device_properties *p)
{
    (void)device;
    p->cores = 1;
    if (far_inside)
        return MONA_OK;
    const int file = memfd_create("far", 0);
    assert_int_equal(ftruncate(file, FAR_BYTES), 0);
    far_inside = mmap(NULL, FAR_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    far_outside = mmap(NULL, FAR_BYTES, PROT_NONE, MAP_SHARED, file, 0);
    close(file);
    far_opened++;
    return MONA_OK;
}

static void far_close(const mona_device *device)
{
    (void)device;
    munmap(far_inside, FAR_BYTES);
    munmap(far_outside, FAR_BYTES);
    far_inside = far_outside = NULL;
    far_closed++;
}

static mona_status far_telemetry(const mona_device *device, mona_telemetry *t)
{
    (void)device;
    t->celsius = 40;
    return MONA_OK;
}

static mona_status far_allocate(const mona_device *device, size_t bytes, void **memory)
{
    (void)device;
    bytes = (bytes + 63) / 64 * 64;
    if (bytes > FAR_BYTES - far_used)
        return MONA_ERR_ARENA;
    *memory = far_outside + far_used;
    far_used += bytes;
    return MONA_OK;
}

static void far_free(const mona_device *device, void *memory)
{
    (void)device;
    assert_in_range((uintptr_t)memory, (uintptr_t)far_outside,
                    (uintptr_t)far_outside + FAR_BYTES - 1);
}

static const mona_isa *far_isa(const char *highest)
{
    return mona_device_host.isa(highest);
}

static void *inside(const void *outside)
{
    return far_inside + ((const uint8_t *)outside - far_outside);
}

static mona_status far_copy(const mona_device *device, const mona_copy *copy)
{
    uint8_t *to = copy->direction == MONA_UPLOAD ? inside(copy->dst) : copy->dst;
    const uint8_t *from = copy->direction == MONA_UPLOAD ? copy->src : inside(copy->src);
    (void)device;
    for (size_t y = 0; y < copy->rows; y++)
        memcpy(to + (ptrdiff_t)y * copy->dst_stride, from + (ptrdiff_t)y * copy->src_stride,
               copy->row_bytes);
    far_copies++;
    return MONA_OK;
}

/* A run that reads and writes what lies inside. */
static void far_strip(worker *w, const plan_group *g, plan_progress *progress)
{
    mona_session *s = w->session;
    const mona_buffer *const inputs = s->inputs, *const outputs = s->outputs;
    mona_buffer in = *inputs, out = *outputs;
    in.data = inside(in.data);
    out.data = inside(out.data);
    s->inputs = &in;
    s->outputs = &out;
    mona_session_run_strip(w, g, progress);
    s->inputs = inputs;
    s->outputs = outputs;
}

static const mona_device far = {
    .name = "far",
    .description = "memory of its own",
    .target = &ac_target_host,
    .open = far_open,
    .close = far_close,
    .telemetry = far_telemetry,
    .allocate = far_allocate,
    .free = far_free,
    .copy = far_copy,
    .isa = far_isa,
};

/* ---- frames through a device ----------------------------------------------------------------- */

enum { W = 40, H = 24, FRAMES = 5 };

static mona_stream *open_stream(const mona_device *device)
{
    mona_stream *stream = NULL;
    assert_int_equal(
        mona_stream_open(&stream, device, aligned(mona_stream_bytes()), mona_stream_bytes()),
        MONA_OK);
    return stream;
}

/* The caller's way for every device: memory where the device has its own, planes, copies that do
 * nothing where planes are already in place. A stream of the host looks at each result. */
static void send_frames(const mona_device *device, bool own_memory)
{
    net_fixture f = net_open(16, 1, 7);
    bound b;
    const mona_config config = {.device = device, .threads = 1, .sizes = {{W, H}}};
    assert_int_equal(bind(&b, &f.model, &config), MONA_OK);
    if (own_memory)
        b.session->run_strip = far_strip;
    const mona_tensor_info in = mona_plan_input(b.plan, 0), out = mona_plan_output(b.plan, 0);
    void *memory[2];
    assert_int_equal(mona_device_allocate(device, mona_device_planes_bytes(&in), &memory[0]),
                     MONA_OK);
    assert_int_equal(mona_device_allocate(device, mona_device_planes_bytes(&out), &memory[1]),
                     MONA_OK);
    assert_int_equal(memory[0] && memory[1], own_memory);

    static uint8_t frames[FRAMES][H][W + 5], results[FRAMES][4 * W * H], expected[4 * W * H];
    uint8_t packed[W * H];
    uint32_t seed = 3;
    mona_stream *stream = open_stream(device), *host = open_stream(NULL);
    mona_event ready = {0}, done = {0};
    for (int n = 0; n < FRAMES; n++) {
        for (int i = 0; i < W * H; i++)
            frames[n][i / W][i % W] = (uint8_t)test_random(&seed);
        const mona_buffer frame = {frames[n], W + 5, 0}, result = {results[n], 2 * W, 0};
        const mona_buffer input = mona_device_planes(memory[0], &frame, &in),
                          output = mona_device_planes(memory[1], &result, &out);
        assert_int_equal(mona_stream_record(host, &ready), MONA_OK);
        assert_int_equal(mona_stream_wait(stream, &ready), MONA_OK);
        assert_int_equal(mona_stream_upload(stream, &input, &frame, &in), MONA_OK);
        assert_int_equal(mona_stream_run(stream, b.session, &input, &output), MONA_OK);
        assert_int_equal(mona_stream_download(stream, &result, &output, &out), MONA_OK);
        assert_int_equal(mona_stream_record(stream, &done), MONA_OK);
        assert_int_equal(mona_stream_wait(host, &done), MONA_OK);
    }
    assert_int_equal(mona_stream_synchronize(host), MONA_OK);
    for (int n = 0; n < FRAMES; n++) {
        for (int i = 0; i < W * H; i++)
            packed[i] = frames[n][i / W][i % W];
        sr_net_reference(f.net, packed, H, W, expected);
        assert_memory_equal(results[n], expected, sizeof expected);
    }
    mona_stream_close(stream), mona_stream_close(host);
    free(stream), free(host);
    mona_device_free(device, memory[0]), mona_device_free(device, memory[1]);
    unbind(&b);
    net_close(&f);
}

static void memory_of_its_own(void **state)
{
    (void)state;
    send_frames(&far, true);
    assert_int_equal(far_copies, 2 * FRAMES);
    assert_int_equal(far_opened, 1);
    mona_device_close(&far);
    assert_int_equal(far_closed, 1);
}

static void memory_of_the_host(void **state)
{
    (void)state;
    send_frames(&mona_device_host, false);
    mona_device_close(&mona_device_host);
}

static void properties_and_telemetry(void **state)
{
    (void)state;
    const mona_device *const devices[] = {&far, &mona_device_host, NULL};
    mona_device_properties p;
    mona_telemetry t;
    assert_ptr_equal(mona_device_find(devices, "auto"), &far);
    assert_ptr_equal(mona_device_find(devices, "host"), &mona_device_host);
    assert_null(mona_device_find(devices, "near"));
    assert_int_equal(mona_device_query(&far, &p), MONA_OK);
    assert_string_equal(p.name, "far");
    assert_false(p.unified_memory);
    assert_int_equal(mona_device_query(&mona_device_host, &p), MONA_OK);
    assert_true(p.unified_memory && p.cores);
    assert_int_equal(mona_device_telemetry(&far, &t), MONA_OK);
    assert_true(t.celsius == 40 && t.watts < 0 && t.memory_bytes < 0);
    assert_int_equal(mona_device_telemetry(&mona_device_host, &t), MONA_ERR_UNSUPPORTED);
    void *memory;
    assert_int_equal(mona_device_allocate(&far, 2 * (size_t)FAR_BYTES, &memory), MONA_ERR_ARENA);
    assert_null(memory);
    mona_device_close(&far);
}

/* The best of those that this CPU can run and that have the name, or any. */
static const mona_isa *best_isa(const char *name)
{
    const mona_isa *best = NULL;
    for (size_t i = 0; i < MONA_ISAS; i++)
        if (!(mona_isas[i].needs & ~mona_port_cpu_features()) &&
            (!name || mona_names_equal(name, mona_isas[i].isa->name)))
            best = mona_isas[i].isa;
    return best;
}

static void instruction_sets(void **state)
{
    (void)state;
    assert_ptr_equal(mona_device_host.isa(NULL), best_isa(NULL));
    for (size_t i = 0; i < MONA_ISAS; i++)
        assert_ptr_equal(mona_device_host.isa(mona_isas[i].isa->name),
                         best_isa(mona_isas[i].isa->name));
    assert_null(mona_device_host.isa("none"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_its_own),
        cmocka_unit_test(memory_of_the_host),
        cmocka_unit_test(properties_and_telemetry),
        cmocka_unit_test(instruction_sets),
    };
    return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
