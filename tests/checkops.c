// SPDX-License-Identifier: Apache-2.0
/* checkops: every row kernel of every instruction set that this CPU has against a reference (for
 * convolutions: the AI Core program), bit for bit, on random and adversarial shapes and values; and
 * the AI Core program on the model of the 310, which must find nothing wrong with it. Outputs are
 * surrounded by guard bytes, which take part in the comparison. TAP on stdout.
 *
 *   checkops             check
 *   checkops --bench     speed of convolutions and planes, against the CPU's own multiply-add peak
 *   checkops --seed N    other random cases
 *   checkops --share N   one of N cases; else MONA_TEST_SHARE says so (tests/cases.h)
 *   checkops --cpu NAME  only this instruction set; arrays: only the operators on arrays
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/cpu/c/f16.h"
#include "engine/run/isas.h"
#include "ops/helpers.h"
#include "tests/cases.h"

enum { GUARD = 64, GUARD_BYTE = 0xa5 };

static uint64_t random_state;

static uint32_t random_bits(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33);
}

/* low .. high, both included */
static int32_t between(int32_t low, int32_t high)
{
    return low + (int32_t)(random_bits() % (uint32_t)(high - low + 1));
}

static bool chance(uint32_t one_in)
{
    return random_bits() % one_in == 0;
}

static int32_t pick(const int32_t *values, uint32_t count)
{
    return values[random_bits() % count];
}
#define PICK(...)                                                                                  \
    pick((const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

/* ---- memory and values ---------------------------------------------------------------------- */

static void *allocate(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (!p) {
        fputs("checkops: out of memory\n", stderr);
        exit(2);
    }
    memset(p, 0, (bytes + 127) / 64 * 64);
    return p;
}

typedef enum flavour { PLAIN, EXTREME, TINY, FLAVOURS } flavour;

/* Finite. */
static uint16_t random_half(flavour f)
{
    if (f == EXTREME && chance(3))
        return chance(2) ? 0x7bff : 0xfbff;
    if (f == TINY || chance(16))
        return (uint16_t)(random_bits() &
                          0x8fff); /* zeros of both signs, subnormals, up to 2^-11 */
    return mona_f16_from_f32((float)between(-2000, 2000) / (f == EXTREME ? 0.25f : 1000));
}

static void random_values(uint8_t *to, mona_type type, size_t count, flavour f)
{
    for (size_t i = 0; i < count; i++) {
        const uint16_t half = type == MONA_F16 ? random_half(f) : (uint16_t)random_bits();
        if (mona_type_size(type) == 2)
            memcpy(to + 2 * i, &half, 2);
        else
            to[i] = f == EXTREME ? (uint8_t)PICK(0xff, 0xff, 0x80, 0x7f, 0) : (uint8_t)half;
    }
}

/* A tensor row: channel blocks of `columns` columns; the slack kernels may read is part of it. */
typedef struct row_buffer {
    uint8_t *memory;
    size_t bytes;
    mona_row row;
} row_buffer;

static row_buffer new_row(mona_type type, uint32_t c0, uint32_t channels, uint32_t columns)
{
    const uint32_t blocks = (channels + c0 - 1) / c0;
    const size_t block = ((size_t)columns * c0 * mona_type_size(type) + GUARD + 63) / 64 * 64;
    row_buffer b = {.bytes = blocks * block + 2 * GUARD};
    b.memory = allocate(b.bytes);
    memset(b.memory, GUARD_BYTE, b.bytes);
    b.row = (mona_row){b.memory + GUARD, block, c0, type};
    return b;
}

static row_buffer random_row(mona_type type, uint32_t c0, uint32_t channels, uint32_t columns,
                             flavour f)
{
    row_buffer b = new_row(type, c0, channels, columns);
    random_values(b.memory, type, b.bytes / mona_type_size(type), f);
    return b;
}

/* ---- results -------------------------------------------------------------------------------- */

static uint32_t test_number, failures;

static void report(bool ok, const char *isa, const char *what, const char *detail)
{
    test_number++;
    failures += !ok;
    printf("%s %u - checkops %s %s%s%s\n", ok ? "ok" : "not ok", test_number, isa, what,
           ok ? "" : ": ", ok ? "" : detail);
}

static bool same(const uint8_t *a, const uint8_t *b, size_t bytes, char *detail, size_t room)
{
    for (size_t i = 0; i < bytes; i++)
        if (a[i] != b[i]) {
            const size_t used = strlen(detail);
            snprintf(detail + used, room - used, "; byte %zu of %zu: C %u, here %u", i, bytes, a[i],
                     b[i]);
            return false;
        }
    return true;
}

#include "tests/reference_rows.h"

#include "tests/checkops_arrays.h"
#include "tests/checkops_conv.h"

/* ---- pack and unpack ------------------------------------------------------------------------ */

static bool check_pack(const mona_isa *isa, char *detail, size_t room)
{
    enum { MOST = 40 };
    const mona_type to = (mona_type)between(0, 2);
    const mona_type from = to == MONA_F16               ? (mona_type)between(0, 3)
                           : to == MONA_U8 && chance(2) ? MONA_U16
                                                        : to;
    const uint32_t channels = (uint32_t)PICK(1, 1, 3, 4, 6, 7, 8, 13, 16, between(1, MOST));
    const uint32_t pixels = (uint32_t)between(1, 150);
    const ac_target *target = chance(4) ? &ac_target_ascend310 : &ac_target_host;
    const uint32_t c0 = ac_target_c0(target, to, channels), size = (uint32_t)mona_type_size(from);
    uint8_t *planes[MOST];
    const uint8_t *source[MOST];
    uint32_t step[MOST];
    float scale[MOST];
    for (uint32_t c = 0; c < channels; c++) {
        step[c] = size * (uint32_t)(channels == 1 ? PICK(1, 1, 2) : PICK(0, 1, 1, 2, 2, 3, 4));
        if (chance(2) && c)
            step[c] = step[0];
        /* Ends with the last sample, so that a sanitiser sees any read beyond. */
        planes[c] = malloc((size_t)step[c] * (pixels - 1) + size);
        random_values(planes[c], from, ((size_t)step[c] * (pixels - 1) + size) / size, PLAIN);
        if (from == MONA_F16 && chance(2)) /* a NaN, an infinity */
            memcpy(planes[c], (const uint16_t[]){(uint16_t)PICK(0x7e01, 0xfc00, 0x7c00)}, 2);
        source[c] = planes[c];
        scale[c] = mona_f32_from_f16(random_half(PLAIN));
        if (from == MONA_U16 && to == MONA_U8)
            scale[c] = 1 / (float)PICK(1, 2, 4, 64, 256);
    }
    row_buffer out[2];
    for (int i = 0; i < 2; i++) {
        out[i] = new_row(to, c0, channels, pixels);
        const mona_pack_row p = {channels, pixels, source, step, scale, from, out[i].row};
        (i ? isa : &reference_isa)->pack_row(&p);
    }
    snprintf(detail, room, "%u channels %s -> %s c0 %u, %u pixels, step %u", channels,
             mona_type_name(from), mona_type_name(to), c0, pixels, step[0]);
    const bool ok = same(out[0].memory, out[1].memory, out[0].bytes, detail, room);
    for (uint32_t c = 0; c < channels; c++)
        free(planes[c]);
    free(out[0].memory);
    free(out[1].memory);
    return ok;
}

static bool check_unpack(const mona_isa *isa, char *detail, size_t room)
{
    enum { ROWS = 64 };
    const mona_type from = (mona_type)between(0, 2),
                    to = (mona_type)PICK(0, 1, 2, 3, (int32_t)from);
    const uint32_t block = (uint32_t)between(1, 4), pixels = (uint32_t)between(1, 100);
    const uint32_t channels = block * block * (uint32_t)between(1, block == 1 ? 40 : 3);
    const uint32_t first = (uint32_t)PICK(0, 0, 1, 2, 4, 5);
    const uint32_t c0 =
        ac_target_c0(chance(4) ? &ac_target_ascend310 : &ac_target_host, from, first + channels);
    row_buffer source = random_row(from, c0, first + channels, pixels, (flavour)between(0, 1));
    const size_t stride = (size_t)pixels * block * mona_type_size(to) + 4;
    const size_t bytes = stride * channels / block + GUARD;
    const uint32_t maximum =
        to == MONA_U16 ? (uint32_t)PICK(1023, 65535) : (uint32_t)PICK(255, 200);
    const float scale = mona_f32_from_f16(chance(2) ? F16_ONE : random_half(PLAIN));
    uint8_t *out[2], *rows[ROWS];
    for (int i = 0; i < 2; i++) {
        out[i] = allocate(bytes);
        memset(out[i], GUARD_BYTE, bytes);
        for (uint32_t r = 0; r < channels / block; r++)
            rows[r] = out[i] + r * stride;
        const mona_unpack_row u = {
            source.row, first, channels, pixels, {rows, block, to, scale, maximum}};
        (i ? isa : &reference_isa)->unpack_row(&u);
    }
    snprintf(detail, room, "%u channels from %u, %s c0 %u -> %s block %u, %u pixels", channels,
             first, mona_type_name(from), c0, mona_type_name(to), block, pixels);
    const bool ok = same(out[0], out[1], bytes, detail, room);
    free(source.memory);
    free(out[0]);
    free(out[1]);
    return ok;
}

/* ---- resize and elementwise ----------------------------------------------------------------- */

static bool check_resize(const mona_isa *isa, char *detail, size_t room)
{
    const mona_type type = (mona_type)between(0, 2);
    const uint32_t taps = (uint32_t)PICK(1, 2, 4, 4), c0 = (uint32_t)PICK(1, 1, 4, 8, 16, 32);
    const uint32_t in = (uint32_t)between(1, 120);
    const float scale = (float)PICK(200, 200, 200, 150, 50, 130, 400) / 100;
    const uint32_t columns = (uint32_t)((float)in * scale) + 1;
    row_buffer rows[4];
    mona_resize_row r = {.type = type,
                         .taps_y = taps,
                         .taps_x = taps,
                         .in_columns = in,
                         .c0 = c0,
                         .out_columns = columns};
    int32_t *first = allocate(columns * sizeof *first);
    float *weights = allocate(columns * taps * sizeof *weights);
    for (uint32_t x = 0; x < columns; x++) {
        first[x] = (int32_t)(((float)x + 0.5f) / scale - 0.5f + 1000) - 1000 - (int32_t)(taps / 2);
        for (uint32_t t = 0; t < taps; t++)
            weights[x * taps + t] = x >= 2 && !chance(200) ? weights[(x & 1) * taps + t]
                                                           : (float)between(-300, 1000) / 700;
    }
    for (uint32_t t = 0; t < taps; t++) {
        rows[t] = random_row(type, c0, c0, in, (flavour)between(0, 1));
        r.rows[t] = rows[t].row.data;
        r.weight_y[t] = (float)between(-300, 1000) / 900;
    }
    r.first = first;
    r.weight_x = weights;
    r.scratch = allocate(((size_t)in * c0 + 32) * sizeof(float));
    row_buffer out[2];
    for (int i = 0; i < 2; i++) {
        out[i] = new_row(type, c0, c0, columns);
        r.out = out[i].row.data;
        (i ? isa : &reference_isa)->resize_row(&r);
    }
    snprintf(detail, room, "%s c0 %u, %u -> %u columns, %u taps", mona_type_name(type), c0, in,
             columns, taps);
    const bool ok = same(out[0].memory, out[1].memory, out[0].bytes, detail, room);
    for (uint32_t t = 0; t < taps; t++)
        free(rows[t].memory);
    free(out[0].memory);
    free(out[1].memory);
    free(first);
    free(weights);
    free(r.scratch);
    return ok;
}

/* A scale on either side of the limits of tame rows (vector_elementwise.h), and between these. */
static float usual_scale(mona_type type)
{
    const float power = (float)PICK(1, 1 << 2, 1 << 12, 1 << 18, 1 << 24, 1 << 28);
    return type == MONA_F16 ? 1 : (float)PICK(1024, 1025, 2047, between(1024, 2048)) / power;
}

static bool check_elementwise(const mona_isa *isa, char *detail, size_t room)
{
    const ac_target *target = chance(4) ? &ac_target_ascend310 : &ac_target_host;
    const uint32_t channels = (uint32_t)PICK(1, 3, 4, 7, 16, 32, between(1, 70));
    const uint32_t pixels = (uint32_t)between(1, 70);
    const flavour f = (flavour)between(0, FLAVOURS - 1);
    const mona_type types[3] = {(mona_type)between(0, 2), (mona_type)between(0, 2),
                                (mona_type)between(0, 2)};
    _Alignas(64) float slope[96] = {0};
    section s = {0};
    const mona_file_epilogue file = random_epilogue(&s, channels, f);
    for (uint32_t c = 0; c < channels; c++)
        slope[c] = mona_f32_from_f16(random_half(f));
    mona_elementwise_row e = {
        .multiply = chance(2),
        .channels = channels,
        .pixels = pixels,
        .scale_a = mona_f32_from_f16(random_half(f)),
        .scale_b = mona_f32_from_f16(random_half(f)),
        .zero_a = types[0] == MONA_U8 && chance(2) ? (float)between(0, 255) : 0,
        .zero_b = types[1] == MONA_U8 && chance(2) ? (float)between(0, 255) : 0,
        .zero = types[2] == MONA_U8 && chance(2) ? (float)between(0, 255) : 0,
        .broadcast_b = channels > 1 && chance(4),
        .one_pixel_b = chance(4),
        .epilogue =
            {
                .slope = file.activation == MONA_ACT_PRELU ? slope : NULL,
                .activation = file.activation,
                .activation_after_add = file.activation_after_add,
                .clip_min = mona_f32_from_f16(file.clip_min),
                .clip_max = mona_f32_from_f16(file.clip_max),
                .output_scale = mona_f32_from_f16(file.output_scale),
            },
    };
    if (chance(2)) {
        e.scale_a = usual_scale(types[0]);
        e.scale_b = usual_scale(types[1]);
        e.epilogue.output_scale =
            (float)PICK(4, 1 << 2, 1 << 7, 1 << 9, 1 << 21, 1 << 24, between(1 << 7, 1 << 20)) /
            512;
        e.epilogue.output_scale = mona_f16_round(e.epilogue.output_scale);
    }
    const uint32_t b_channels = e.broadcast_b ? 1 : channels;
    row_buffer a =
        random_row(types[0], ac_target_c0(target, types[0], channels), channels, pixels, f);
    row_buffer b =
        random_row(types[1], ac_target_c0(target, types[1], b_channels), b_channels, pixels, f);
    row_buffer out[2];
    e.a = a.row;
    e.b = b.row;
    for (int i = 0; i < 2; i++) {
        out[i] = new_row(types[2], ac_target_c0(target, types[2], channels), channels, pixels);
        e.output = out[i].row;
        (i ? isa : &reference_isa)->elementwise_row(&e);
    }
    snprintf(detail, room, "%s %s, %s -> %s, %u channels, %u pixels, broadcast %d",
             e.multiply ? "mul" : "add", mona_type_name(types[0]), mona_type_name(types[1]),
             mona_type_name(types[2]), channels, pixels, e.broadcast_b);
    const bool ok = same(out[0].memory, out[1].memory, out[0].bytes, detail, room);
    free(a.memory);
    free(b.memory);
    free(out[0].memory);
    free(out[1].memory);
    free(s.bytes);
    return ok;
}

static bool check_activation(const mona_isa *isa, char *detail, size_t room)
{
    const bool table = chance(2);
    const mona_type type = table ? MONA_U8 : MONA_F16;
    const uint32_t channels = (uint32_t)PICK(1, 3, 4, 7, 16, 32, between(1, 70));
    const uint32_t pixels = (uint32_t)between(1, 70), c0 = (uint32_t)PICK(1, 4, 8, 16, 32);
    const flavour f = (flavour)between(0, FLAVOURS - 1);
    uint8_t entries[256];
    for (int i = 0; i < 256; i++)
        entries[i] = (uint8_t)random_bits();
    mona_function_row r = {
        .channels = channels,
        .pixels = pixels,
        .function =
            table ? MONA_ACT_TABLE : (uint8_t)between(MONA_ACT_TABLE + 1, MONA_ACT_COUNT - 1),
        .table = entries,
        .alpha = mona_f32_from_f16(random_half(PLAIN)),
    };
    row_buffer in = random_row(type, c0, channels, pixels, f);
    row_buffer out[2];
    for (int i = 0; i < 2; i++) {
        out[i] = new_row(type, c0, channels, pixels);
        memcpy(out[i].memory, in.memory, in.bytes);
        r.row = out[i].row;
        (i ? isa : &reference_isa)->function_row(&r);
    }
    snprintf(detail, room, "function %u, c0 %u, %u channels, %u pixels", r.function, c0, channels,
             pixels);
    const bool ok = same(out[0].memory, out[1].memory, out[0].bytes, detail, room);
    free(in.memory);
    free(out[0].memory);
    free(out[1].memory);
    return ok;
}

static bool check_normalise(const mona_isa *isa, char *detail, size_t room)
{
    const mona_type types[] = {MONA_U8, MONA_S8, MONA_F16};
    const mona_type from = types[random_bits() % 3], to = types[random_bits() % 3];
    const uint32_t channels = (uint32_t)PICK(1, 3, 8, 16, 17, 32, 48, between(1, 100));
    const uint32_t pixels = (uint32_t)between(1, 40);
    const uint32_t c0 = chance(4) ? (uint32_t)PICK(1, 4, 8, 32) : 16;
    float gain[112] = {0}, shift[112] = {0};
    for (uint32_t c = 0; c < channels; c++) {
        gain[c] = (float)between(-2000, 2000) / 64;
        shift[c] = (float)between(-2000, 2000) / 64;
    }
    row_buffer in = random_row(from, c0, channels, pixels, (flavour)between(0, FLAVOURS - 1));
    row_buffer out[2];
    mona_normalise_row r = {.source = in.row,
                            .channels = channels,
                            .pixels = pixels,
                            .epsilon = chance(2) ? 1e-6f : 0.25f,
                            .gain = gain,
                            .shift = shift};
    for (int i = 0; i < 2; i++) {
        out[i] = new_row(to, c0, channels, pixels);
        r.output = out[i].row;
        (i ? isa : &reference_isa)->normalise_row(&r);
    }
    snprintf(detail, room, "%s -> %s, c0 %u, %u channels, %u pixels", mona_type_name(from),
             mona_type_name(to), c0, channels, pixels);
    const bool ok = same(out[0].memory, out[1].memory, out[0].bytes, detail, room);
    free(in.memory);
    free(out[0].memory);
    free(out[1].memory);
    return ok;
}

static bool check_fold(const mona_isa *isa, char *detail, size_t room)
{
    const uint32_t c0 = (uint32_t)PICK(4, 16, 16, 16), pixels = (uint32_t)between(1, 40);
    const bool add = chance(2);
    const flavour kind = (flavour)between(0, FLAVOURS - 1);
    row_buffer in = random_row(MONA_F16, c0, c0, pixels, kind);
    row_buffer out[2] = {random_row(MONA_F16, c0, c0, 2 * pixels, kind),
                         new_row(MONA_F16, c0, c0, 2 * pixels)};
    memcpy(out[1].memory, out[0].memory, out[0].bytes);
    for (int i = 0; i < 2; i++) {
        const mona_fold_row r = {add, in.row.data, out[i].row.data, c0 * pixels};
        if (add)
            memset(r.to, 0, r.count * sizeof(float));
        (i ? isa : &reference_isa)->fold_row(&r);
        (i ? isa : &reference_isa)->fold_row(&r);
    }
    snprintf(detail, room, "%s, %u elements", add ? "sums" : "largest", c0 * pixels);
    const bool ok = same(out[0].memory, out[1].memory, out[0].bytes, detail, room);
    free(in.memory);
    free(out[0].memory);
    free(out[1].memory);
    return ok;
}

static bool check_attention(const mona_isa *isa, char *detail, size_t room)
{
    enum { MAX_ROWS = 3 };
    const mona_type types[] = {MONA_U8, MONA_S8, MONA_F16};
    const uint32_t heads = (uint32_t)between(1, 3), size = (uint32_t)PICK(1, 5, 16, 32, 80);
    const uint32_t values = (uint32_t)PICK(size, 16, 64, 7), columns = (uint32_t)between(1, 90);
    const uint32_t rows = (uint32_t)between(1, MAX_ROWS), pixels = (uint32_t)between(1, 9);
    const uint32_t c0 = chance(4) ? (uint32_t)PICK(1, 4, 8) : 16;
    const flavour f = (flavour)between(0, FLAVOURS - 1);
    const mona_type to = types[random_bits() % 3];
    row_buffer queries = random_row(types[random_bits() % 3], c0, heads * size, pixels, f);
    row_buffer keys[MAX_ROWS], v[MAX_ROWS], out[2];
    const uint8_t *key_rows[MAX_ROWS], *value_rows[MAX_ROWS];
    for (uint32_t y = 0; y < rows; y++) {
        keys[y] = random_row(y ? keys[0].row.type : types[random_bits() % 3], c0, heads * size,
                             columns, f);
        v[y] = random_row(y ? v[0].row.type : types[random_bits() % 3], c0, heads * values, columns,
                          f);
        key_rows[y] = keys[y].row.data;
        value_rows[y] = v[y].row.data;
    }
    mona_attention_row a = {
        .queries = queries.row,
        .keys = keys[0].row,
        .values = v[0].row,
        .key_rows = key_rows,
        .value_rows = value_rows,
        .rows = rows,
        .columns = columns,
        .pixels = pixels,
        .heads = heads,
        .size = size,
        .value_size = values,
        .scale = (float)between(1, 100) / 4096,
        .value_scale = 0.75f,
        .scratch = allocate(MONA_ATTENTION_SCRATCH(rows * columns, size, values) * sizeof(float)),
    };
    for (int i = 0; i < 2; i++) {
        out[i] = new_row(to, c0, heads * values, pixels);
        a.output = out[i].row;
        (i ? isa : &reference_isa)->attention_row(&a);
    }
    snprintf(detail, room, "%u heads of %u and %u, c0 %u, %u queries, %u rows of %u keys", heads,
             size, values, c0, pixels, rows, columns);
    const bool ok = same(out[0].memory, out[1].memory, out[0].bytes, detail, room);
    for (uint32_t y = 0; y < rows; y++) {
        free(keys[y].memory);
        free(v[y].memory);
    }
    free(queries.memory);
    free(out[0].memory);
    free(out[1].memory);
    free(a.scratch);
    return ok;
}

/* ---- curves --------------------------------------------------------------------------------- */

static mona_curve random_curve(int32_t most)
{
    mona_curve c;
    for (uint32_t i = 0; i < MONA_CURVE_SEGMENTS; i++) {
        c.start[i] = (int16_t)between(-most, most);
        c.rise[i] = (int16_t)between(-most, most);
    }
    return c;
}

static bool check_luma(const mona_isa *isa, char *detail, size_t room)
{
    const uint32_t bits = (uint32_t)PICK(8, 8, 9, 10), pixels = (uint32_t)between(1, 200);
    const mona_type type = bits == 8 ? MONA_U8 : MONA_U16;
    const mona_curve curve = random_curve(chance(2) ? 32767 : 3000);
    const row_buffer in = random_row(type, 1, 1, pixels, PLAIN);
    row_buffer out[2];
    for (int i = 0; i < 2; i++) {
        out[i] = new_row(type, 1, 1, pixels);
        const mona_luma_row r = {in.row.data, out[i].row.data, pixels, bits, &curve};
        (i ? isa : &reference_isa)->luma_row(&r);
    }
    snprintf(detail, room, "%u samples of %u bits", pixels, bits);
    const bool ok = same(out[0].memory, out[1].memory, out[0].bytes, detail, room);
    free(in.memory);
    free(out[0].memory);
    free(out[1].memory);
    return ok;
}

static bool check_chroma(const mona_isa *isa, char *detail, size_t room)
{
    const uint32_t bits = (uint32_t)PICK(8, 8, 9, 10), pixels = (uint32_t)between(1, 200);
    const mona_type type = bits == 8 ? MONA_U8 : MONA_U16;
    const mona_curve gain = random_curve(16383), offset = random_curve(4096);
    const row_buffer in = random_row(type, 1, 1, pixels, PLAIN);
    const row_buffer luma = random_row(MONA_U16, 1, 1, pixels, PLAIN);
    row_buffer out[2];
    for (int i = 0; i < 2; i++) {
        out[i] = new_row(type, 1, 1, pixels);
        const mona_chroma_row r = {.from = in.row.data,
                                   .to = out[i].row.data,
                                   .luma = (const uint16_t *)(const void *)luma.row.data,
                                   .pixels = pixels,
                                   .bits = bits,
                                   .gain = &gain,
                                   .offset = &offset};
        (i ? isa : &reference_isa)->chroma_row(&r);
    }
    snprintf(detail, room, "%u samples of %u bits", pixels, bits);
    const bool ok = same(out[0].memory, out[1].memory, out[0].bytes, detail, room);
    free(in.memory);
    free(luma.memory);
    free(out[0].memory);
    free(out[1].memory);
    return ok;
}

/* ---- check ---------------------------------------------------------------------------------- */

/* isa NULL: the AI Core program, on the model of the 310. */
typedef bool check_function(const mona_isa *isa, char *detail, size_t room);

static uint32_t share = 1;

static void check_many(const mona_isa *isa, const char *what, check_function *check, uint32_t count)
{
    char detail[512] = "";
    bool ok = true;
    for (uint32_t i = 0; i < CASES(count) / share && ok; i++)
        ok = check(isa, detail, sizeof detail);
    report(ok, isa ? isa->name : "model310", what, detail);
}

static void check_isa(const mona_isa *isa)
{
    check_many(isa, "conv_row", check_conv, 5000);
    check_many(isa, "conv_row, zeros", check_zeros, 200);
    check_many(isa, "conv_row, rounding", check_rounding, 60);
    if (isa->spare_ports) /* all else is as without them */
        return;
    check_many(isa, "pack_row", check_pack, 2000);
    check_many(isa, "unpack_row", check_unpack, 2000);
    check_many(isa, "resize_row", check_resize, 2000);
    check_many(isa, "elementwise_row", check_elementwise, 2000);
    check_many(isa, "function_row", check_activation, 2000);
    check_many(isa, "normalise_row", check_normalise, 2000);
    check_many(isa, "fold_row", check_fold, 2000);
    check_many(isa, "attention_row", check_attention, 500);
    check_many(isa, "luma_row", check_luma, 2000);
    check_many(isa, "chroma_row", check_chroma, 2000);
}

#include "tests/checkops_bench.h"

int main(int argc, char **argv)
{
    bool bench = false;
    const char *only = NULL;
    random_state = 1;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--bench")) {
            bench = true;
        } else if (!strcmp(argv[i], "--seed") && i + 1 < argc) {
            random_state = strtoull(argv[++i], NULL, 10);
        } else if (!strcmp(argv[i], "--share") && i + 1 < argc && atoi(argv[i + 1]) > 0) {
            share = (uint32_t)atoi(argv[++i]);
        } else if (!strcmp(argv[i], "--cpu") && i + 1 < argc) {
            only = argv[++i];
        } else {
            fprintf(stderr,
                    "checkops: unknown option '%s'; use --bench, --seed N, --share N, --cpu NAME\n",
                    argv[i]);
            return 2;
        }
    }
    /* Code for spare ports runs without them, too, but is no faster. */
    uint32_t features = mona_port_cpu_features() | (bench ? 0 : MONA_CPU_SPARE_PORTS);
#ifdef MONA_EMULATED_TILES
    if (!(features & MONA_CPU_AVX512)) {
        puts("ok 1 - emulated tiles # SKIP this CPU has no AVX-512\n1..1");
        return 0;
    }
    features |= MONA_CPU_AMX;
    only = "amx";
#endif
    for (size_t i = 0; i < MONA_ISAS; i++) {
        const mona_isa *isa = mona_isas[i].isa;
        const bool wanted = !only || !strcmp(only, isa->name);
        if (!(mona_isas[i].needs & ~features) && wanted)
            (bench ? bench_isa : check_isa)(isa);
        else if (!bench && wanted)
            printf("# skip: this CPU has no %s\n", isa->name);
    }
    if (!bench && (!only || !strcmp(only, "model310"))) {
        check_many(NULL, "conv_row", check_conv, 1500);
        check_many(NULL, "conv_row, zeros", check_zeros, 300);
    }
    if (!bench && (!only || !strcmp(only, "arrays")))
        check_arrays();
    if (!bench)
        printf("1..%u\n", test_number);
    return failures != 0;
}
