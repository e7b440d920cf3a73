// SPDX-License-Identifier: Apache-2.0
/* Writes models of one operator on arrays each, for all that its work differs in, and prints their
 * names and whether their inputs must be positive; tests/boards/networks.py measures them:
 *
 *   array_costs FOLDER */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "ops/arrays/arrays.h"
#include "tests/unit/array_fixture.h"

static const char *folder;
static unsigned count;

/* An operator on arrays that are all inputs. */
static void write_case(array_case c, const char *what)
{
    char path[4096];
    size_t size;
    uint8_t *bytes = array_model(&c, &size);
    mona_model model;
    snprintf(path, sizeof path, "%s/%s_%u.mona", folder, mona_ops[c.kind]->name, count++);
    FILE *f = fopen(path, "wb");
    if (mona_model_open(&model, bytes, size) || !f || fwrite(bytes, 1, size, f) != size ||
        fclose(f)) {
        fprintf(stderr, "array_costs: %s cannot be written\n", path);
        exit(1);
    }
    printf("%s %ux%u %s\n", path, model.tensors->width, model.tensors->height, what);
    free(bytes);
}

#define CASE_OF(op, r, out, made, ...)                                                             \
    (array_case)                                                                                   \
    {                                                                                              \
        .kind = (op), .record = &(r), .record_bytes = sizeof(r), .type = (out),                    \
        .elements = (made), __VA_ARGS__                                                            \
    }

/* ---- MAP ------------------------------------------------------------------------------------ */

static void map(mona_array_map m, mona_type from, mona_type to, const char *what)
{
    const uint32_t made = (uint32_t)mona_array_product(m.extent, m.dims);
    array_case c =
        CASE_OF(MONA_OP_ARRAY_MAP, m, to, made, .operand_count = function_arity(m.function));
    for (uint32_t k = 0; k < c.operand_count; k++)
        c.operands[k] = (array_operand){from, NULL, made, false};
    write_case(c, what);
}

/* Of elements that lie side by side. */
static void map_plain(uint32_t function, mona_arithmetic arithmetic, uint32_t elements,
                      mona_type from, mona_type to)
{
    const bool positive = function == MONA_FN_SQRT || function == MONA_FN_LOG ||
                          function == MONA_FN_ACOSH || function == MONA_FN_POW;
    const bool whole = to != MONA_F32 && to != MONA_F16;
    const mona_array_map m = {.function = (uint8_t)function,
                              .arithmetic = (uint8_t)arithmetic,
                              .conversion = whole && to <= MONA_S8 ? MONA_SATURATE : MONA_WRAP,
                              .dims = 1,
                              .parameter = {1, 1, 1, 1},
                              .extent = {elements},
                              .stride = {{1}, {1}, {1}}};
    map(m, from, to, positive ? "positive" : "any");
}

static void maps(void)
{
    static const mona_array_map shapes[] = {
        {.function = MONA_FN_ADD, .dims = 2, .extent = {40, 16}, .stride = {{16, 1}, {0, 1}}},
        {.function = MONA_FN_ADD, .dims = 2, .extent = {160, 4}, .stride = {{4, 1}, {1, 0}}},
        {.function = MONA_FN_ADD, .dims = 1, .extent = {700}, .stride = {{1}, {0}}},
        {.function = MONA_FN_COPY, .dims = 2, .extent = {40, 16}, .stride = {{1, 40}}},
    };
    for (uint32_t f = 0; f < MONA_FN_COUNT; f++) {
        if (mona_array_has_float(f))
            map_plain(f, MONA_FLOAT, 600, MONA_F32, MONA_F32);
        if (mona_array_has_int(f))
            map_plain(f, MONA_INT, 300, MONA_S64, MONA_S64);
    }
    for (int a = 0; a < MONA_ARITHMETIC_COUNT; a++) {
        const mona_type own = a == MONA_FLOAT ? MONA_F32 : MONA_S64;
        map_plain(MONA_FN_COPY, (mona_arithmetic)a, 8, own, own);
        map_plain(MONA_FN_COPY, (mona_arithmetic)a, 1000, own, own);
        for (int t = 0; t < MONA_TYPE_COUNT; t++) {
            map_plain(MONA_FN_COPY, (mona_arithmetic)a, 500, (mona_type)t, own);
            map_plain(MONA_FN_COPY, (mona_arithmetic)a, 500, own, (mona_type)t);
        }
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            mona_array_map m = shapes[i];
            m.arithmetic = (uint8_t)a;
            map(m, own, own, "any");
        }
    }
}

/* ---- PICK ----------------------------------------------------------------------------------- */

static void pick(mona_array_pick p, mona_type type, uint32_t sources)
{
    static uint32_t tables[64];
    static const uint8_t second[64] = {0, 0, 0, 1, 1, 0, 1, 1};
    array_case c =
        CASE_OF(MONA_OP_ARRAY_PICK, p, type, (uint32_t)mona_array_product(p.extent, p.dims),
                .operand_count = sources, .tables = tables, .table_bytes = sizeof tables);
    for (uint32_t i = 0; i < 48; i++)
        tables[i] = i * 5 % 16;
    memcpy(tables + 48, second, sizeof second);
    for (uint32_t i = 0; i < sources; i++)
        c.operands[i] = (array_operand){type, NULL, 1000, false};
    c.offsets[0] = &p.table[p.dims - 1];
    c.offsets[1] = &p.source_table;
    write_case(c, "any");
}

static void picks(void)
{
    static const struct {
        uint32_t dims, extent[3];
        int32_t stride[3];
        uint32_t table, sources, axis; /* table: 1, of the last axis */
    } shapes[] = {
        {1, {900}, {1}, 0, 1, MONA_NONE},
        {2, {30, 20}, {20, 1}, 0, 1, MONA_NONE},
        {2, {120, 5}, {5, 1}, 0, 1, MONA_NONE},
        {3, {5, 12, 10}, {10, 50, 1}, 0, 1, MONA_NONE},
        {2, {40, 16}, {1, 40}, 0, 1, MONA_NONE},
        {3, {6, 12, 10}, {120, 1, 12}, 0, 1, MONA_NONE},
        {2, {120, 5}, {1, 120}, 0, 1, MONA_NONE},
        {2, {40, 16}, {16, 1}, 1, 1, MONA_NONE},
        {2, {8, 48}, {48, 1}, 1, 1, MONA_NONE},
        {2, {8, 60}, {60, 1}, 0, 2, 0},
        {2, {60, 8}, {8, 1}, 0, 2, 1},
    };
    static const mona_type types[] = {MONA_U8, MONA_F16, MONA_F32, MONA_S64};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            mona_array_pick p = {.dims = shapes[i].dims,
                                 .source_axis = shapes[i].axis,
                                 .source_table = shapes[i].axis == MONA_NONE ? MONA_NONE : 192};
            for (uint32_t d = 0; d < MONA_ARRAY_DIMS; d++)
                p.table[d] = MONA_NONE;
            for (uint32_t d = 0; d < p.dims; d++) {
                p.extent[d] = shapes[i].extent[d];
                for (uint32_t s = 0; s < shapes[i].sources; s++)
                    p.stride[s][d] = shapes[i].stride[d];
            }
            if (shapes[i].table)
                p.table[p.dims - 1] = 0;
            pick(p, types[t], shapes[i].sources);
        }
}

/* ---- REDUCE --------------------------------------------------------------------------------- */

static bool reduces_whole(uint32_t function)
{
    return function != MONA_REDUCE_MEAN && function != MONA_REDUCE_L2 &&
           function != MONA_REDUCE_LOG_SUM && function != MONA_REDUCE_LOG_SUM_EXP;
}

static void reduces(void)
{
    static const struct {
        uint32_t kept, reduced;
        int32_t kept_stride, reduced_stride;
    } shapes[] = {{20, 30, 30, 1},  {1, 600, 600, 1}, {200, 4, 4, 1}, {30, 20, 1, 30},
                  {100, 9, 1, 100}, {5, 4, 4, 1},     {6, 4, 1, 6},   {40, 50, 50, 1}};
    for (uint32_t f = 0; f < MONA_REDUCE_COUNT; f++)
        for (int a = 0; a < MONA_ARITHMETIC_COUNT; a++)
            for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
                const mona_array_reduce r = {
                    .function = (uint8_t)f,
                    .arithmetic = (uint8_t)a,
                    .kept = 1,
                    .reduced = 1,
                    .extent = {shapes[i].kept, shapes[i].reduced},
                    .stride = {shapes[i].kept_stride, shapes[i].reduced_stride}};
                const mona_type type = a == MONA_FLOAT ? MONA_F32 : MONA_S64;
                if (a == MONA_FLOAT || reduces_whole(f))
                    write_case(
                        CASE_OF(
                            MONA_OP_ARRAY_REDUCE, r, f >= MONA_REDUCE_ARG_MAX ? MONA_S64 : type,
                            shapes[i].kept, .operand_count = 1,
                            .operands = {{type, NULL, shapes[i].kept * shapes[i].reduced, false}}),
                        "any");
            }
}

/* ---- products and windows ------------------------------------------------------------------- */

static void matmuls(void)
{
    static const uint32_t shapes[][4] = {/* batch, m, n, k */
                                         {1, 1, 10, 64},  {1, 1, 200, 300}, {1, 16, 64, 32},
                                         {1, 17, 50, 40}, {1, 64, 130, 16}, {4, 20, 20, 16},
                                         {6, 9, 16, 9},   {1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int a = 0; a < MONA_ARITHMETIC_COUNT; a++) {
            const uint32_t batch = shapes[i][0], m = shapes[i][1], n = shapes[i][2],
                           k = shapes[i][3];
            const mona_array_matmul r = {.arithmetic = (uint8_t)a,
                                         .batch_dims = 1,
                                         .m = m,
                                         .n = n,
                                         .k = k,
                                         .extent = {batch},
                                         .batch_stride = {{(int32_t)(m * k)}, {(int32_t)(n * k)}},
                                         .a_m = (int32_t)k,
                                         .a_k = 1,
                                         .b_k = (int32_t)(i % 2 ? 1 : n),
                                         .b_n = (int32_t)(i % 2 ? k : 1)};
            const mona_type type = a == MONA_FLOAT ? MONA_F32 : i % 2 ? MONA_U8 : MONA_S8;
            write_case(CASE_OF(MONA_OP_ARRAY_MATMUL, r, a == MONA_FLOAT ? MONA_F32 : MONA_S32,
                               batch * m * n, .operand_count = 2,
                               .operands = {{type, NULL, batch * m * k, false},
                                            {type, NULL, batch * n * k, false}}),
                       "any");
        }
}

static void window(uint32_t function, mona_arithmetic a, uint32_t axes, uint32_t side,
                   uint32_t kernel, uint32_t stride, const uint32_t channels[3])
{
    const uint32_t pad = function == MONA_WINDOW_CONV ? kernel / 2 : 0;
    const uint32_t out = (side + 2 * pad - kernel) / stride + 1;
    const mona_array_axis axis = {side, out, kernel, stride, 1, (int32_t)pad, (int32_t)pad};
    mona_array_window w = {.function = (uint8_t)function,
                           .arithmetic = (uint8_t)a,
                           .axes = (uint8_t)axes,
                           .batch = 1,
                           .channels = channels[0],
                           .outputs = channels[1],
                           .groups = channels[2],
                           .axis = {axis, axis}};
    const mona_type type = a == MONA_FLOAT ? MONA_F32 : MONA_S8;
    const uint32_t inputs = mona_window_inputs(&w), outputs = mona_window_outputs(&w);
    const bool conv = function == MONA_WINDOW_CONV;
    const mona_type made = function == MONA_WINDOW_MAX_INDEX ? MONA_S64
                           : a == MONA_FLOAT                 ? MONA_F32
                                                             : MONA_S32;
    write_case(
        CASE_OF(MONA_OP_ARRAY_WINDOW, w, made, channels[1] * outputs, .operand_count = conv ? 2 : 1,
                .operands = {{type, NULL, channels[0] * inputs, false},
                             {type, NULL,
                              channels[1] * (channels[0] / channels[2]) * mona_window_taps(&w),
                              false}}),
        "any");
}

static void windows(void)
{
    static const struct {
        uint32_t axes, side, kernel, stride, channels[3];
    } convs[] = {{1, 64, 3, 1, {4, 8, 1}}, {1, 100, 1, 1, {16, 16, 1}}, {2, 12, 3, 1, {4, 8, 1}},
                 {2, 12, 3, 1, {8, 8, 8}}, {2, 16, 3, 2, {3, 16, 1}},   {2, 8, 1, 1, {32, 20, 1}},
                 {2, 30, 5, 1, {2, 2, 2}}};
    for (uint32_t f = 0; f < MONA_WINDOW_COUNT; f++)
        for (int a = 0; a < MONA_ARITHMETIC_COUNT; a++)
            for (size_t i = 0; i < sizeof convs / sizeof *convs; i++) {
                uint32_t channels[3] = {convs[i].channels[0], convs[i].channels[1],
                                        convs[i].channels[2]};
                if (f != MONA_WINDOW_CONV)
                    channels[1] = channels[0], channels[2] = 1;
                if (a == MONA_FLOAT || f != MONA_WINDOW_AVERAGE)
                    window(f, (mona_arithmetic)a, convs[i].axes, convs[i].side, convs[i].kernel,
                           convs[i].stride, channels);
            }
}

/* ---- the others ----------------------------------------------------------------------------- */

static void resamples(void)
{
    static const uint32_t shapes[][3] = {/* outer, inner, entries of each output */
                                         {1, 40, 2},
                                         {10, 1, 2},
                                         {4, 16, 4},
                                         {3, 300, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        enum { IN = 8, OUT = 16 };
        const uint32_t each = shapes[i][2];
        uint32_t tables[OUT + 1 + 15 + 2 * OUT * 4] = {0}; /* from multiples of 64 bytes on */
        for (uint32_t o = 0; o <= OUT; o++)
            tables[o] = o * each;
        for (uint32_t e = 0; e < OUT * each; e++) {
            const float weight = 0.25f + (float)(e % 3);
            tables[32 + e] = e % IN;
            memcpy(&tables[96 + e], &weight, sizeof weight);
        }
        mona_array_resample r = {.outer = shapes[i][0],
                                 .in = IN,
                                 .out = OUT,
                                 .inner = shapes[i][1],
                                 .index = 128,
                                 .weight = 384};
        array_case c = CASE_OF(MONA_OP_ARRAY_RESAMPLE, r, MONA_F32, r.outer * OUT * r.inner,
                               .operand_count = 1,
                               .operands = {{MONA_F32, NULL, r.outer * IN * r.inner, false}},
                               .tables = tables, .table_bytes = sizeof tables);
        c.offsets[0] = &r.first, c.offsets[1] = &r.index, c.offsets[2] = &r.weight;
        write_case(c, "any");
    }
}

static void gathers(void)
{
    static const mona_array_gather shapes[] = {{1, 40, 1, 200}, {1, 40, 64, 20}, {8, 20, 10, 10}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int wide = 0; wide < 2; wide++) {
            const mona_array_gather g = shapes[i];
            write_case(CASE_OF(MONA_OP_ARRAY_GATHER, g, MONA_F32, g.outer * g.count * g.inner,
                               .operand_count = 2,
                               .operands = {{MONA_F32, NULL, g.outer * g.extent * g.inner, false},
                                            {wide ? MONA_S64 : MONA_S32, NULL, g.count, false}}),
                       "any");
        }
}

static void sorts(void)
{
    static const mona_array_sort shapes[] = {{.outer = 1, .extent = 300, .inner = 1, .count = 1},
                                             {.outer = 1, .extent = 300, .inner = 1, .count = 10},
                                             {.outer = 10, .extent = 20, .inner = 1, .count = 20},
                                             {.outer = 1, .extent = 100, .inner = 6, .count = 5}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int a = 0; a < MONA_ARITHMETIC_COUNT; a++)
            for (uint8_t values = 0; values < 2; values++) {
                mona_array_sort s = shapes[i];
                const mona_type type = a == MONA_FLOAT ? MONA_F32 : MONA_S64;
                s.arithmetic = (uint8_t)a;
                s.values = values;
                write_case(CASE_OF(MONA_OP_ARRAY_SORT, s, values ? type : MONA_S64,
                                   s.outer * s.count * s.inner, .operand_count = 1,
                                   .operands = {{type, NULL, s.outer * s.extent * s.inner, false}}),
                           "any");
            }
}

static void normalises(void)
{
    static const uint32_t shapes[][3] = {/* rows, extent, inner */
                                         {30, 10, 1},
                                         {8, 64, 1},
                                         {2, 300, 1},
                                         {2, 32, 10},
                                         {1, 16, 40}};
    for (uint32_t f = 0; f < MONA_NORMALISE_COUNT; f++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            for (uint32_t gains = 0; gains <= (f == MONA_NORMALISE_MOMENTS); gains++) {
                const uint32_t made = shapes[i][0] * shapes[i][1] * shapes[i][2];
                const mona_array_normalise n = {.function = f,
                                                .extent = shapes[i][1],
                                                .inner = shapes[i][2],
                                                .run = 1,
                                                .epsilon = 1e-5f};
                if (f != MONA_NORMALISE_MOMENTS || n.inner == 1)
                    write_case(CASE_OF(MONA_OP_ARRAY_NORMALISE, n, MONA_F32, made,
                                       .operand_count = gains ? 3 : 1,
                                       .operands = {{MONA_F32, NULL, made, false},
                                                    {MONA_F32, NULL, n.extent, false},
                                                    {MONA_F32, NULL, n.extent, false}}),
                               "any");
            }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: array_costs FOLDER\n", stderr);
        return 2;
    }
    folder = argv[1];
    maps(), picks(), reduces(), matmuls(), windows(), resamples(), gathers(), sorts(), normalises();
    return 0;
}
