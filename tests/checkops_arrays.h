// SPDX-License-Identifier: Apache-2.0
/* checkops, operators on arrays: what they give must be the same bits for every compiler, level of
 * optimisation and instruction set. The checksums are those of one build; any other must agree.
 * That the numbers are right is shown by tests/unit/ops/test_array_float.c and test_arrays.c. */
#ifndef MONA_CHECKOPS_ARRAYS_H
#define MONA_CHECKOPS_ARRAYS_H

#include "ops/arrays/arrays.h"

enum { ARRAY_COUNT = 1 << 14 };

static uint32_t array_seed;

static uint32_t array_bits(void)
{
    array_seed = array_seed * 1664525 + 1013904223;
    return array_seed ^ array_seed >> 15;
}

/* Any bits at all, and numbers of the size that networks have. */
static void fill_floats(float *x, uint32_t count)
{
    static const float specials[] = {0, -0.0f, 1, -1, 0.5f, 2.5f, 0x1p-149f, 0x1p127f, 88.8f, -104};
    enum { SPECIALS = sizeof specials / sizeof *specials };
    for (uint32_t i = 0; i < count; i++)
        x[i] = i % 16 == 0   ? specials[i / 16 % SPECIALS]
               : i % 16 == 1 ? mona_float((array_bits() & 0x807fffff) | 0x7f800000) /* NaN */
               : i % 2       ? mona_float(array_bits())
                             : (float)(int32_t)array_bits() * (i % 4 ? 0x1p-27f : 0x1p-31f);
}

static uint32_t crc_of_function(uint32_t f, float *const x[4])
{
    static const mona_type types[] = {MONA_F32, MONA_F16, MONA_S8, MONA_U16, MONA_S64};
    const bool narrows = f >= MONA_FN_NARROW && f <= MONA_FN_NARROW_DOWN;
    const float p[4] = {narrows ? 3 : 0.7f, narrows ? -6 : 1.3f, narrows ? 448 : 0.9f, 448};
    uint8_t *stored = allocate(ARRAY_COUNT * 8);
    uint32_t crc = 0;
    mona_array_apply_float(f, p, x[3], (const float *const *)x, ARRAY_COUNT);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        mona_array_put_floats(stored, types[t], t % 2 ? MONA_SATURATE : MONA_WRAP, 0, x[3],
                              ARRAY_COUNT);
        crc = mona_crc32(crc, stored, ARRAY_COUNT * mona_type_size(types[t]));
    }
    free(stored);
    return crc;
}

/* An operator on floats of its own making, with a record of so many bytes. */
static uint32_t crc_of_operator(const mona_op_class *class, const void *record, uint32_t elements,
                                float *const x[4])
{
    mona_file_op op = {.input_count = class->max_inputs > 1 ? 2 : 1};
    mona_bound_op b = {.op = &op, .data = record, .output = {1, 1, elements, MONA_F32, 0, {0}}};
    for (uint32_t i = 0; i < op.input_count; i++)
        b.input[i] = (mona_shape){1, 1, ARRAY_COUNT, MONA_F32, 0, {0}};
    float *y = allocate(elements * sizeof *y);
    mona_array_call call = {.bound = &b, .output = (uint8_t *)y};
    call.scratch = allocate(class->map_scratch_bytes ? class->map_scratch_bytes(&b) : 0);
    call.end = class->run->items ? class->run->items(&b) : elements;
    for (uint32_t i = 0; i < op.input_count; i++)
        call.input[i] = (const uint8_t *)x[i];
    class->run->array(&call);
    const uint32_t crc = mona_crc32(0, y, elements * sizeof *y);
    free(call.scratch), free(y);
    return crc;
}

static void array_result(const char *name, uint32_t crc, uint32_t expected)
{
    test_number++;
    failures += crc != expected;
    printf("%s %u - arrays: %s%s\n", crc == expected ? "ok" : "not ok", test_number, name,
           crc == expected ? "" : " has other bits here");
    if (crc != expected)
        printf("# found %08x\n", crc);
}

static void check_arrays(void)
{
    float *x[4];
    array_seed = 7;
    for (int i = 0; i < 4; i++) {
        x[i] = allocate(ARRAY_COUNT * sizeof *x[i]);
        fill_floats(x[i], ARRAY_COUNT);
    }
    uint32_t crc = 0;
    for (uint32_t f = 0; f < MONA_FN_COUNT; f++) {
        const uint32_t one = mona_array_has_float(f) ? crc_of_function(f, x) : f;
        crc = mona_crc32(crc, &one, sizeof one);
    }
    array_result("functions", crc, 0x5c5763ca);
    const mona_array_matmul m = {
        .m = 60, .n = 100, .k = 100, .a_m = 100, .a_k = 1, .b_k = 1, .b_n = 100};
    array_result("matmul", crc_of_operator(&mona_op_array_matmul, &m, 6000, x), 0xcd030a4d);
    const mona_array_axis axis = {
        .in = 30, .out = 15, .kernel = 3, .stride = 2, .dilation = 1, .pad_before = 1};
    mona_array_window w = {
        .axes = 2, .batch = 1, .channels = 12, .outputs = 20, .groups = 1, .axis = {axis, axis}};
    array_result("window", crc_of_operator(&mona_op_array_window, &w, 4500, x), 0x06813077);
    for (uint32_t i = 0; i < ARRAY_COUNT; i++) /* sums that stay finite */
        x[0][i] = (float)(int32_t)array_bits() * 0x1p-28f;
    crc = 0;
    for (uint32_t f = 0; f < MONA_REDUCE_COUNT; f++) {
        const mona_array_reduce r = {.function = (uint8_t)f,
                                     .kept = 1,
                                     .reduced = 1,
                                     .extent = {100, 160},
                                     .stride = {f % 2 ? 160 : 1, f % 2 ? 1 : 100}};
        const uint32_t one = crc_of_operator(&mona_op_array_reduce, &r, 100, x);
        crc = mona_crc32(crc, &one, sizeof one);
    }
    array_result("reduce", crc, 0xf5eeb71f);
    crc = 0;
    for (uint32_t f = 0; f < MONA_NORMALISE_COUNT; f++) {
        const mona_array_normalise n = {
            .function = f, .extent = 100, .inner = f % 2 ? 32 : 1, .run = 1, .epsilon = 1e-5f};
        const uint32_t one = crc_of_operator(&mona_op_array_normalise, &n, 16000, x);
        crc = mona_crc32(crc, &one, sizeof one);
    }
    array_result("normalise", crc, 0x7b20cca1);
    for (int i = 0; i < 4; i++)
        free(x[i]);
}

#endif
