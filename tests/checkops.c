/* checkops: every row program of every instruction set this CPU has, against the C version
 * (convolutions: against the instruction program), bit for bit, on random and adversarial shapes
 * and values. Outputs are surrounded by guard bytes, which take part in the comparison. TAP on
 * stdout.
 *
 *   checkops             check
 *   checkops --bench     speed of convolutions and planes, against the CPU's own multiply-add peak
 *   checkops --seed N    other random cases
 *   checkops --cpu NAME  only this instruction set
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/aicore/f16.h"
#include "engine/port/port.h"
#include "ops/helpers.h"

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
    return ac_f16_from_f32((float)between(-2000, 2000) / (f == EXTREME ? 0.25f : 1000));
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
    ac_row row;
} row_buffer;

static row_buffer new_row(mona_type type, uint32_t c0, uint32_t channels, uint32_t columns)
{
    const uint32_t blocks = (channels + c0 - 1) / c0;
    const size_t block = ((size_t)columns * c0 * mona_type_size(type) + GUARD + 63) / 64 * 64;
    row_buffer b = {.bytes = blocks * block + 2 * GUARD};
    b.memory = allocate(b.bytes);
    memset(b.memory, GUARD_BYTE, b.bytes);
    b.row = (ac_row){b.memory + GUARD, block, c0, type};
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

/* ---- convolution ---------------------------------------------------------------------------- */

typedef struct conv_case {
    mona_file_op op, store_op;
    mona_shape input, residual, output;
    const ac_target *target;
    uint32_t pixels;
    flavour f;
    bool store;
    mona_type plane_type;
} conv_case;

/* A data section that grows. */
typedef struct section {
    uint8_t *bytes;
    size_t used;
} section;

static uint32_t add_data(section *s, const void *data, size_t bytes)
{
    const uint32_t offset = (uint32_t)s->used;
    uint8_t *grown = allocate(s->used + bytes);
    if (s->used)
        memcpy(grown, s->bytes, s->used);
    memcpy(grown + s->used, data, bytes);
    free(s->bytes);
    s->bytes = grown;
    s->used += (bytes + 63) / 64 * 64;
    return offset;
}

static uint32_t add_random(section *s, mona_type type, size_t count, flavour f)
{
    uint8_t *values = allocate(count * mona_type_size(type));
    random_values(values, type, count, f);
    for (size_t i = 0; i < count && type == MONA_S8; i++)
        values[i] = values[i] == 0x80 ? 0x81 : values[i];
    const uint32_t offset = add_data(s, values, count * mona_type_size(type));
    free(values);
    return offset;
}

static uint32_t add_scales(section *s, uint32_t count, const conv_case *k)
{
    uint16_t *values = allocate(count * sizeof *values);
    for (uint32_t i = 0; i < count; i++)
        values[i] = k->f == EXTREME && chance(4)
                        ? 0x7bff
                        : ac_f16_from_f32((float)between(0, 1000) / 200000);
    const uint32_t offset = add_data(s, values, count * sizeof *values);
    free(values);
    return offset;
}

static uint32_t add_bias(section *s, uint32_t count, bool half, flavour f)
{
    uint32_t *values = allocate(count * sizeof *values);
    for (uint32_t i = 0; i < count; i++)
        values[i] =
            half ? ac_bits(chance(4) ? -0.0f
                                     : (float)between(-1000, 1000) / (f == TINY ? 1e12f : 512))
                 : (uint32_t)between(-100000, 100000);
    const uint32_t offset = add_data(s, values, count * sizeof *values);
    free(values);
    return offset;
}

static mona_file_epilogue random_epilogue(section *s, uint32_t channels, flavour f)
{
    mona_file_epilogue e = {
        .activation = (uint8_t)between(0, 3),
        .activation_after_add = (uint8_t)PICK(0, 0, 1, 3),
        .residual_scale = chance(3) ? F16_ONE : random_half(f),
        .output_scale = chance(2) ? F16_ONE : random_half(f),
        .slopes = MONA_NONE,
    };
    uint16_t a = random_half(f), b = random_half(f);
    if (chance(4)) /* zeros of either sign, which must survive */
        a = (uint16_t)PICK(0, 0x8000, a), b = (uint16_t)PICK(0, 0x8000, b);
    const bool ordered = ac_f32_from_f16(a) <= ac_f32_from_f16(b);
    e.clip_min = ordered ? a : b;
    e.clip_max = ordered ? b : a;
    if (e.activation == MONA_ACT_PRELU)
        e.slopes = add_random(s, MONA_F16, channels, f);
    return e;
}

static void random_conv(conv_case *k, section *s)
{
    memset(k, 0, sizeof *k);
    mona_file_conv *c = &k->op.conv;
    k->f = (flavour)between(0, FLAVOURS - 1);
    k->target = chance(4) ? &ac_target_ascend310 : &ac_target_host;
    k->pixels = (uint32_t)between(1, 70);
    k->input = (mona_shape){(uint32_t)PICK(1, 1, 3, 4, 7, 8, 16, 16, 32, between(1, 70)), 0, 0,
                            (mona_type)between(0, 2)};
    k->output = (mona_shape){(uint32_t)PICK(1, 4, 6, 16, 16, 32, between(1, 70)), 0, 0,
                             (mona_type)between(0, 2)};
    c->groups = 1;
    if (chance(5)) {
        c->groups = (uint32_t)between(2, 20);
        k->input.channels = c->groups * (uint32_t)between(1, 4);
        k->output.channels = c->groups * (uint32_t)between(1, 3);
    }
    c->kernel_h = (uint16_t)PICK(1, 3, 3, 3, 5);
    c->kernel_w = (uint16_t)PICK(1, 3, 3, 3, 5, 11);
    c->stride_h = (uint16_t)PICK(1, 1, 1, 2);
    c->stride_w = (uint16_t)PICK(1, 1, 1, 2, 3, 63);
    c->dilation_h = (uint16_t)PICK(1, 1, 2);
    c->dilation_w = (uint16_t)PICK(1, 1, 1, 2, 5);
    c->pad_left = (uint16_t)between(0, 3);
    const bool half = k->input.type == MONA_F16;
    const size_t weights =
        (size_t)k->output.channels * (k->input.channels / c->groups) * c->kernel_h * c->kernel_w;
    c->weights = add_random(s, half ? MONA_F16 : MONA_S8, weights, k->f);
    c->bias = chance(4) ? MONA_NONE : add_bias(s, k->output.channels, half, k->f);
    c->scales = half ? MONA_NONE : add_scales(s, k->output.channels, k);
    k->op.kind = MONA_OP_CONV;
    k->op.input_count = (uint32_t)between(1, 2);
    k->op.epilogue = random_epilogue(s, k->output.channels, k->f);
    k->residual = (mona_shape){k->output.channels, 0, 0, (mona_type)between(0, 2)};
    if (chance(3))
        k->residual.channels = (uint32_t)PICK(1, (int32_t)k->output.channels + between(0, 9));
}

/* Sometimes the results go to planes: any block whose square divides the channels. */
static void random_store(conv_case *k)
{
    const uint32_t block = (uint32_t)between(1, 4);
    mona_file_store *s = &k->store_op.store;
    k->store = chance(2);
    if (k->output.channels % (block * block))
        k->output.channels = block * block * (uint32_t)between(1, 3);
    s->block = block;
    k->plane_type =
        k->output.type == MONA_F16 ? (mona_type)PICK(MONA_U8, MONA_U16, MONA_F16) : k->output.type;
    s->maximum = k->plane_type == MONA_U16 ? (uint32_t)PICK(1023, 4095, 65535)
                                           : (uint32_t)PICK(255, 255, 235);
    s->scale = k->output.type == MONA_F16 ? random_half(PLAIN) : F16_ONE;
}

/* What one instruction set made of a case. */
typedef struct conv_result {
    uint8_t *bytes;
    size_t size;
} conv_result;

static mona_bound_op bound_conv(const conv_case *k, const section *s, const ac_isa *isa)
{
    mona_bound_op b = {
        .op = &k->op,
        .data = s->bytes,
        .target = k->target,
        .isa = isa,
        .input = {k->input, k->residual},
        .output = k->output,
        .input_c0 = {ac_target_c0(k->target, k->input.type, k->input.channels),
                     ac_target_c0(k->target, k->residual.type, k->residual.channels)},
        .output_c0 = ac_target_c0(k->target, k->output.type, k->output.channels),
    };
    b.constants = allocate(mona_op_conv.constants_bytes(&b));
    mona_op_conv.bind(&b);
    return b;
}

static ac_core new_core(const ac_target *target, const ac_isa *isa)
{
    return (ac_core){target,
                     isa,
                     allocate(target->l0a_bytes),
                     allocate(target->l0b_bytes),
                     allocate(target->l0c_bytes),
                     allocate(target->ub_bytes)};
}

static void free_core(ac_core *core)
{
    free(core->l0a);
    free(core->l0b);
    free(core->l0c);
    free(core->ub);
}

/* Rows of the window and of the residual, the same for every instruction set. */
typedef struct conv_input {
    row_buffer rows[16], residual;
    uint8_t *pointers[16];
    uint32_t count;
    mona_span columns;
} conv_input;

static void new_conv_input(conv_input *in, const conv_case *k, const section *s)
{
    const mona_bound_op b = {.op = &k->op, .data = s->bytes};
    const mona_span rows = mona_op_conv.rows(&b, 0, (mona_span){0, 1});
    in->columns = mona_op_conv.columns(&b, 0, (mona_span){0, k->pixels});
    in->count = (uint32_t)(rows.end - rows.begin);
    const uint32_t c0 = ac_target_c0(k->target, k->input.type, k->input.channels);
    for (uint32_t i = 0; i < in->count; i++) {
        in->rows[i] = random_row(k->input.type, c0, k->input.channels,
                                 (uint32_t)(in->columns.end - in->columns.begin), k->f);
        in->pointers[i] = in->rows[i].row.data;
    }
    in->residual = random_row(k->residual.type,
                              ac_target_c0(k->target, k->residual.type, k->residual.channels),
                              k->residual.channels, k->pixels, k->f);
}

static void free_conv_input(conv_input *in)
{
    for (uint32_t i = 0; i < in->count; i++)
        free(in->rows[i].memory);
    free(in->residual.memory);
}

static conv_result run_conv(const conv_case *k, const section *s, const conv_input *in,
                            const ac_isa *isa)
{
    mona_bound_op b = bound_conv(k, s, isa);
    ac_core core = new_core(k->target, isa);
    uint8_t *scratch = allocate(mona_op_conv.scratch_bytes(&b, k->pixels));
    uint8_t *residual = in->residual.row.data;
    row_buffer out = new_row(k->output.type, b.output_c0, k->output.channels, k->pixels);
    uint8_t *out_row = out.row.data;
    const uint32_t block = k->store_op.store.block ? k->store_op.store.block : 1;
    const uint32_t planes_channels = k->output.channels / (block * block);
    const size_t stride = (size_t)k->pixels * block * mona_type_size(k->plane_type) + 2;
    const size_t plane_bytes = stride * block * planes_channels + 2 * GUARD;
    uint8_t *planes = allocate(plane_bytes);
    memset(planes, GUARD_BYTE, plane_bytes);
    const mona_buffer buffer = {planes + GUARD, (ptrdiff_t)stride, (ptrdiff_t)(stride * block)};
    const mona_bound_op store = {
        .op = &k->store_op,
        .target = k->target,
        .isa = isa,
        .input = {k->output},
        .output = {planes_channels, 0, 0, k->plane_type},
    };
    const mona_row_call call = {
        .bound = &b,
        .core = &core,
        .scratch = scratch,
        .x_end = k->pixels,
        .input = {{in->pointers, in->rows[0].row.block_stride, in->columns.begin},
                  {&residual, in->residual.row.block_stride, 0}},
        .output = {&out_row, out.row.block_stride, 0},
        .planes = &buffer,
        .store = k->store ? &store : NULL,
    };
    mona_op_conv.row(&call);
    free_core(&core);
    free(scratch);
    free(b.constants);
    if (k->store) {
        free(out.memory);
        return (conv_result){planes, plane_bytes};
    }
    free(planes);
    return (conv_result){out.memory, out.bytes};
}

static void describe_conv(char *to, size_t room, const conv_case *k)
{
    const mona_file_conv *c = &k->op.conv;
    snprintf(to, room,
             "%s %u %s -> %u %s, kernel %ux%u stride %u dilation %u groups %u pixels %u activation "
             "%u,%u residual %u %s store %u block %u type %s flavour %d",
             k->target->name, k->input.channels, mona_type_name(k->input.type), k->output.channels,
             mona_type_name(k->output.type), c->kernel_h, c->kernel_w, c->stride_w, c->dilation_w,
             c->groups, k->pixels, k->op.epilogue.activation, k->op.epilogue.activation_after_add,
             k->op.input_count > 1 ? k->residual.channels : 0, mona_type_name(k->residual.type),
             k->store, k->store_op.store.block, mona_type_name(k->plane_type), k->f);
}

static bool check_conv(const ac_isa *isa, char *detail, size_t room)
{
    conv_case k;
    conv_input in;
    section s = {0};
    do {
        free(s.bytes);
        s = (section){0};
        random_conv(&k, &s);
        const uint32_t channels = k.output.channels;
        if (k.op.conv.groups == 1)
            random_store(&k);
        if (k.output.channels > channels) /* data was made for fewer */
            k.output.channels = channels, k.store = false;
        const mona_shape inputs[] = {k.input, k.residual};
        if (mona_op_conv.check(&k.op, inputs, &k.output, s.bytes, s.used) == MONA_OK)
            break;
    } while (true);
    new_conv_input(&in, &k, &s);
    describe_conv(detail, room, &k);
    const conv_result expected = run_conv(&k, &s, &in, &ac_isa_c);
    const conv_result got = run_conv(&k, &s, &in, isa);
    const bool ok = same(expected.bytes, got.bytes, got.size, detail, room);
    free(expected.bytes);
    free(got.bytes);
    free_conv_input(&in);
    free(s.bytes);
    return ok;
}

/* ---- pack and unpack ------------------------------------------------------------------------ */

static bool check_pack(const ac_isa *isa, char *detail, size_t room)
{
    enum { MOST = 40 };
    const mona_type to = (mona_type)between(0, 2);
    const mona_type from = to == MONA_F16 ? (mona_type)between(0, 3) : to;
    const uint32_t channels = (uint32_t)PICK(1, 1, 3, 4, 6, 7, 8, 16, between(1, MOST));
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
        scale[c] = ac_f32_from_f16(random_half(PLAIN));
    }
    row_buffer out[2];
    for (int i = 0; i < 2; i++) {
        out[i] = new_row(to, c0, channels, pixels);
        const ac_pack_row p = {channels, pixels, source, step, scale, from, out[i].row};
        (i ? isa : &ac_isa_c)->pack_row(&p);
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

static bool check_unpack(const ac_isa *isa, char *detail, size_t room)
{
    enum { ROWS = 64 };
    const mona_type from = (mona_type)between(0, 2),
                    to = (mona_type)PICK(0, 1, 2, 3, (int32_t)from);
    const uint32_t block = (uint32_t)between(1, 4), pixels = (uint32_t)between(1, 100);
    const uint32_t channels = block * block * (uint32_t)between(1, 3);
    const uint32_t first = (uint32_t)PICK(0, 0, 1, 2, 4, 5);
    const uint32_t c0 =
        ac_target_c0(chance(4) ? &ac_target_ascend310 : &ac_target_host, from, first + channels);
    row_buffer source = random_row(from, c0, first + channels, pixels, (flavour)between(0, 1));
    const size_t stride = (size_t)pixels * block * mona_type_size(to) + 4;
    const size_t bytes = stride * channels / block + GUARD;
    const uint32_t maximum =
        to == MONA_U16 ? (uint32_t)PICK(1023, 65535) : (uint32_t)PICK(255, 200);
    const float scale = ac_f32_from_f16(chance(2) ? F16_ONE : random_half(PLAIN));
    uint8_t *out[2], *rows[ROWS];
    for (int i = 0; i < 2; i++) {
        out[i] = allocate(bytes);
        memset(out[i], GUARD_BYTE, bytes);
        for (uint32_t r = 0; r < channels / block; r++)
            rows[r] = out[i] + r * stride;
        const ac_unpack_row u = {
            source.row, first, channels, pixels, {rows, block, to, scale, maximum}};
        (i ? isa : &ac_isa_c)->unpack_row(&u);
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

static bool check_resize(const ac_isa *isa, char *detail, size_t room)
{
    const mona_type type = (mona_type)between(0, 2);
    const uint32_t taps = (uint32_t)PICK(1, 2, 4, 4), c0 = (uint32_t)PICK(1, 1, 4, 8, 16, 32);
    const uint32_t in = (uint32_t)between(1, 120);
    const float scale = (float)PICK(200, 200, 200, 150, 50, 130, 400) / 100;
    const uint32_t columns = (uint32_t)((float)in * scale) + 1;
    row_buffer rows[4];
    ac_resize_row r = {.type = type,
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
        (i ? isa : &ac_isa_c)->resize_row(&r);
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

static bool check_elementwise(const ac_isa *isa, char *detail, size_t room)
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
        slope[c] = ac_f32_from_f16(random_half(f));
    ac_elementwise_row e = {
        .multiply = chance(2),
        .channels = channels,
        .pixels = pixels,
        .scale_a = ac_f32_from_f16(random_half(f)),
        .scale_b = ac_f32_from_f16(random_half(f)),
        .broadcast_b = channels > 1 && chance(4),
        .epilogue =
            {
                .slope = file.activation == MONA_ACT_PRELU ? slope : NULL,
                .activation = file.activation,
                .activation_after_add = file.activation_after_add,
                .clip_min = ac_f32_from_f16(file.clip_min),
                .clip_max = ac_f32_from_f16(file.clip_max),
                .output_scale = ac_f32_from_f16(file.output_scale),
            },
    };
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
        (i ? isa : &ac_isa_c)->elementwise_row(&e);
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

/* ---- check ---------------------------------------------------------------------------------- */

typedef bool check_function(const ac_isa *isa, char *detail, size_t room);

static void check_many(const ac_isa *isa, const char *what, check_function *check, uint32_t count)
{
    char detail[512] = "";
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; i++)
        ok = check(isa, detail, sizeof detail);
    report(ok, isa->name, what, detail);
}

static void check_isa(const ac_isa *isa)
{
    check_many(isa, "conv_row", check_conv, 5000);
    check_many(isa, "pack_row", check_pack, 2000);
    check_many(isa, "unpack_row", check_unpack, 2000);
    check_many(isa, "resize_row", check_resize, 2000);
    check_many(isa, "elementwise_row", check_elementwise, 2000);
}

static const struct {
    const ac_isa *isa;
    uint32_t feature;
} isas[] = {
#if defined(__x86_64__)
    {&ac_isa_avx2, MONA_CPU_AVX2},
    {&ac_isa_avx512, MONA_CPU_AVX512},
#endif
};

/* ---- bench ---------------------------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Multiply-adds of registers alone: 12 independent chains, enough to hide the latency. */
#define TWELVE(op) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11) op(12)
#define DOT512(n) "vpdpbusd %%zmm0, %%zmm0, %%zmm" #n "\n"
#define FMA512(n) "vfmadd231ps %%zmm0, %%zmm0, %%zmm" #n "\n"
#define DOT256(n) "vpmaddwd %%ymm0, %%ymm0, %%ymm13\nvpaddd %%ymm13, %%ymm" #n ", %%ymm" #n "\n"
#define FMA256(n) "vfmadd231ps %%ymm0, %%ymm0, %%ymm" #n "\n"
#define REGISTERS                                                                                  \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",       \
        "xmm11", "xmm12", "xmm13"
#define PEAK_LOOP(name, isa, op)                                                                   \
    __attribute__((target(isa))) static void name(uint32_t rounds)                                 \
    {                                                                                              \
        __asm__ volatile("vzeroall" ::: REGISTERS);                                                \
        for (uint32_t i = 0; i < rounds; i++)                                                      \
            __asm__ volatile(TWELVE(op)::: REGISTERS);                                             \
        __asm__ volatile("vzeroupper");                                                            \
    }

#if defined(__x86_64__)
PEAK_LOOP(dot512, "avx512f,avx512vnni", DOT512)
PEAK_LOOP(fma512, "avx512f", FMA512)
PEAK_LOOP(dot256, "avx2", DOT256)
PEAK_LOOP(fma256, "avx2,fma", FMA256)

typedef struct peak_loop {
    void (*run)(uint32_t rounds);
    uint32_t macs; /* of one instruction */
} peak_loop;

static peak_loop peak_of(const ac_isa *isa, bool half)
{
    if (isa == &ac_isa_avx512)
        return half ? (peak_loop){fma512, 16} : (peak_loop){dot512, 64};
    return half ? (peak_loop){fma256, 8} : (peak_loop){dot256, 16};
}

static double giga_macs_peak(const ac_isa *isa, bool half)
{
    enum { ROUNDS = 20000 };
    if (isa == &ac_isa_c)
        return 0;
    const peak_loop loop = peak_of(isa, half);
    double best = 1e9;
    for (int i = 0; i < 40; i++) {
        const double start = seconds();
        loop.run(ROUNDS);
        const double time = seconds() - start;
        best = time < best ? time : best;
    }
    return 12.0 * ROUNDS * loop.macs / best / 1e9;
}
#else
static double giga_macs_peak(const ac_isa *isa, bool half)
{
    (void)isa, (void)half;
    return 0;
}
#endif

/* Best time of one call. */
static double best_time(void (*call)(void *), void *argument)
{
    double best = 1e9, start = seconds();
    for (int i = 0; i < 1000 && (i < 5 || seconds() - start < 0.2); i++) {
        const double before = seconds();
        call(argument);
        const double time = seconds() - before;
        best = time < best ? time : best;
    }
    return best;
}

static void bench_line(const ac_isa *isa, const char *what, double gigas, const char *unit,
                       double peak)
{
    printf("%-7s %-36s %8.2f %s", isa->name, what, gigas, unit);
    if (peak > 0)
        printf("  %5.1f %% of %.0f", 100 * gigas / peak, peak);
    putchar('\n');
}

static void call_conv(void *argument)
{
    mona_op_conv.row(argument);
}

enum { BENCH_PIXELS = 1280 };

typedef struct bench_layer {
    const char *what;
    uint32_t in, out, kernel, store_block;
    mona_type source, result;
    uint32_t residual; /* channels, 0: none */
} bench_layer;

static void bench_conv(const ac_isa *isa, const bench_layer *layer)
{
    section s = {0};
    conv_case k = {
        .op = {.kind = MONA_OP_CONV, .input_count = layer->residual ? 2 : 1},
        .input = {layer->in, 0, 0, layer->source},
        .output = {layer->out, 0, 0, layer->result},
        .residual = {layer->residual ? layer->residual : 1, 0, 0, MONA_U8},
        .target = &ac_target_host,
        .pixels = BENCH_PIXELS,
        .plane_type = MONA_U8,
        .store = layer->store_block > 0,
        .store_op.store = {.block = layer->store_block, .scale = F16_ONE, .maximum = 255},
    };
    const bool half = layer->source == MONA_F16;
    const size_t taps = (size_t)layer->kernel * layer->kernel;
    k.op.conv = (mona_file_conv){
        .kernel_h = (uint16_t)layer->kernel,
        .kernel_w = (uint16_t)layer->kernel,
        .stride_h = 1,
        .stride_w = 1,
        .dilation_h = 1,
        .dilation_w = 1,
        .groups = 1,
        .bias = MONA_NONE,
        .weights = add_random(&s, half ? MONA_F16 : MONA_S8, layer->out * layer->in * taps, PLAIN),
        .scales = half ? MONA_NONE : add_scales(&s, layer->out, &k),
    };
    k.op.epilogue = (mona_file_epilogue){.activation = MONA_ACT_RELU,
                                         .residual_scale = F16_ONE,
                                         .output_scale = F16_ONE,
                                         .slopes = MONA_NONE};
    conv_input in;
    new_conv_input(&in, &k, &s);
    mona_bound_op b = bound_conv(&k, &s, isa);
    ac_core core = new_core(k.target, isa);
    const uint32_t block = layer->store_block ? layer->store_block : 1;
    uint8_t *planes = allocate((size_t)BENCH_PIXELS * layer->out);
    const mona_bound_op store = {.op = &k.store_op,
                                 .output = {layer->out / (block * block), 0, 0, MONA_U8}};
    const mona_buffer buffer = {planes, BENCH_PIXELS * (ptrdiff_t)block,
                                (ptrdiff_t)BENCH_PIXELS * block * block};
    row_buffer out = new_row(layer->result, b.output_c0, layer->out, BENCH_PIXELS);
    uint8_t *out_row = out.row.data, *residual = in.residual.row.data;
    mona_row_call call = {
        .bound = &b,
        .core = &core,
        .scratch = allocate(mona_op_conv.scratch_bytes(&b, 0)),
        .x_end = BENCH_PIXELS,
        .input = {{in.pointers, in.rows[0].row.block_stride, in.columns.begin},
                  {&residual, in.residual.row.block_stride, 0}},
        .output = {&out_row, out.row.block_stride, 0},
        .planes = &buffer,
        .store = k.store ? &store : NULL,
    };
    const double macs = (double)BENCH_PIXELS * layer->out * layer->in * (double)taps;
    const double peak = giga_macs_peak(isa, half);
    bench_line(isa, layer->what, macs / best_time(call_conv, &call) / 1e9, "GMAC/s", peak);
    free(call.scratch);
    free(out.memory);
    free(planes);
    free_core(&core);
    free(b.constants);
    free_conv_input(&in);
    free(s.bytes);
}

typedef struct row_call {
    const ac_isa *isa;
    ac_pack_row pack;
    ac_unpack_row unpack;
    ac_resize_row resize;
} row_call;

static void call_pack(void *argument)
{
    const row_call *c = argument;
    c->isa->pack_row(&c->pack);
}

static void call_unpack(void *argument)
{
    const row_call *c = argument;
    c->isa->unpack_row(&c->unpack);
}

static void call_resize(void *argument)
{
    const row_call *c = argument;
    c->isa->resize_row(&c->resize);
}

/* Planes of 8 bits: the loads and stores of the shipped networks, and chroma doubled by bicubic. */
static void bench_rows(const ac_isa *isa)
{
    enum { N = BENCH_PIXELS };
    static uint8_t samples[8][2 * N + GUARD], planes[8][2 * N + GUARD];
    static const uint32_t steps[7] = {2, 2, 2, 2, 1, 1, 0};
    static float scale[8], weights[2 * N][4], scratch[N + 32];
    static int32_t first[2 * N];
    const uint8_t *source[8];
    uint8_t *rows[8];
    for (uint32_t i = 0; i < 8; i++)
        source[i] = samples[i], rows[i] = planes[i];
    row_buffer packed = random_row(MONA_U8, 8, 8, N, PLAIN);
    for (int32_t x = 0; x < 2 * N; x++) {
        first[x] = (x + 1) / 2 - 2;
        for (int t = 0; t < 4; t++)
            weights[x][t] = (float)((x & 1 ? t : 3 - t) * 8 - 4) / 32;
    }
    row_call c = {
        .isa = isa,
        .pack = {7, N, source, steps, scale, MONA_U8, packed.row},
        .unpack = {packed.row, 0, 4, N, {rows, 2, MONA_U8, 1, 255}},
        .resize = {.type = MONA_U8,
                   .taps_y = 4,
                   .taps_x = 4,
                   .in_columns = N,
                   .c0 = 1,
                   .rows = {samples[0], samples[1], samples[2], samples[3]},
                   .weight_y = {-0.1f, 0.6f, 0.6f, -0.1f},
                   .first = first,
                   .weight_x = &weights[0][0],
                   .out_columns = 2 * N,
                   .out = planes[0],
                   .scratch = scratch},
    };
    bench_line(isa, "pack 7 planes to c0 8", 7e-9 * N / best_time(call_pack, &c), "Gsample/s", 0);
    bench_line(isa, "unpack 4 channels, block 2", 4e-9 * N / best_time(call_unpack, &c),
               "Gsample/s", 0);
    static float halves[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    row_buffer wide = random_row(MONA_F16, 8, 8, N, PLAIN);
    c.pack.scale = halves;
    c.pack.output = c.unpack.source = wide.row;
    bench_line(isa, "pack 7 planes to c0 8 f16", 7e-9 * N / best_time(call_pack, &c), "Gsample/s",
               0);
    bench_line(isa, "unpack 4 channels f16, block 2", 4e-9 * N / best_time(call_unpack, &c),
               "Gsample/s", 0);
    free(wide.memory);
    bench_line(isa, "resize a plane x2, bicubic", 2e-9 * N / best_time(call_resize, &c),
               "Gsample/s", 0);
    free(packed.memory);
}

static void bench_isa(const ac_isa *isa)
{
    static const bench_layer layers[] = {
        {"conv 3x3 u8 1 -> 16 u8", 1, 16, 3, 0, MONA_U8, MONA_U8, 0},
        {"conv 3x3 u8 7 -> 16 u8", 7, 16, 3, 0, MONA_U8, MONA_U8, 0},
        {"conv 3x3 u8 16 -> 16 u8", 16, 16, 3, 0, MONA_U8, MONA_U8, 0},
        {"conv 3x3 u8 16 -> 16 u8 + residual", 16, 16, 3, 0, MONA_U8, MONA_U8, 16},
        {"conv 3x3 u8 16 -> 4 planes + residual", 16, 4, 3, 2, MONA_U8, MONA_U8, 1},
        {"conv 3x3 u8 32 -> 32 u8", 32, 32, 3, 0, MONA_U8, MONA_U8, 0},
        {"conv 3x3 u8 64 -> 64 u8", 64, 64, 3, 0, MONA_U8, MONA_U8, 0},
        {"conv 1x1 u8 16 -> 16 u8", 16, 16, 1, 0, MONA_U8, MONA_U8, 0},
        {"conv 3x3 s8 16 -> 16 s8", 16, 16, 3, 0, MONA_S8, MONA_S8, 0},
        {"conv 3x3 f16 1 -> 16 f16", 1, 16, 3, 0, MONA_F16, MONA_F16, 0},
        {"conv 3x3 f16 16 -> 16 f16", 16, 16, 3, 0, MONA_F16, MONA_F16, 0},
        {"conv 3x3 f16 32 -> 32 f16", 32, 32, 3, 0, MONA_F16, MONA_F16, 0},
    };
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++)
        bench_conv(isa, &layers[i]);
    bench_rows(isa);
}

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
        } else if (!strcmp(argv[i], "--cpu") && i + 1 < argc) {
            only = argv[++i];
        } else {
            fprintf(stderr, "checkops: unknown option '%s'; use --bench, --seed N, --cpu NAME\n",
                    argv[i]);
            return 2;
        }
    }
    const uint32_t features = mona_port_cpu_features();
    for (size_t i = 0; i < sizeof isas / sizeof isas[0]; i++) {
        const bool wanted = !only || !strcmp(only, isas[i].isa->name);
        if ((isas[i].feature & ~features) == 0 && wanted)
            (bench ? bench_isa : check_isa)(isas[i].isa);
    }
    if (!bench)
        printf("1..%u\n", test_number);
    return failures != 0;
}
