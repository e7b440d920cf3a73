/* The instructions of the AI Core in portable C, executed at once: flags and barriers do nothing.
 *
 * Operands live in the layouts of the chip: A fractals are [16 rows][K], B fractals [16
 * columns][K], both with K contiguous; C fractals are [16 rows][16 columns]; a tile of A is
 * [m1][k1] fractals, of B [k1][n1] and of C [n1][m1].
 *
 * FP16 accumulation is a fused multiply-add by contract. The product of two fp16 values has at most
 * 22 significant bits and an exponent far inside fp32's range, so it is exact in fp32, and a
 * rounded product followed by a rounded sum is the fused result. No fma is needed here. */
#include "f16.h"
#include "rows.h"

static void c_copy(ac_core *core, ac_path path, void *dst, const void *src, ac_copy c)
{
    (void)core, (void)path;
    const size_t burst = (size_t)c.blocks * AC_BLOCK;
    uint8_t *d = dst;
    const uint8_t *s = src;
    for (uint32_t i = 0; i < c.bursts; i++) {
        memcpy(d, s, burst);
        d += burst + (size_t)c.dst_gap * AC_BLOCK;
        s += burst + (size_t)c.src_gap * AC_BLOCK;
    }
}

/* A fractal has 16 rows of fractal_k elements: the same number of bytes for either type. */
static size_t fractal_bytes(const ac_core *core)
{
    return (size_t)AC_FRACTAL * core->target->fractal_k_8bit;
}

static void c_load2d(ac_core *core, void *dst_l0b, const void *src, uint32_t fractals)
{
    memcpy(dst_l0b, src, fractals * fractal_bytes(core));
}

static void c_load3d(ac_core *core, void *dst_l0a, const void *row, const ac_load3d *l)
{
    const size_t fractal = fractal_bytes(core);
    const uint32_t k = (uint32_t)fractal / AC_FRACTAL / l->element; /* elements of a fractal row */
    const uint32_t column_bytes = (uint32_t)l->c0 * l->element, taps = k / l->c0;
    for (uint32_t m = 0; m < (uint32_t)l->repeat * AC_FRACTAL; m++) {
        uint8_t *dst = (uint8_t *)dst_l0a + m / AC_FRACTAL * l->jump * fractal +
                       m % AC_FRACTAL * (fractal / AC_FRACTAL);
        const uint32_t first = m * l->stride + l->column;
        const uint8_t *src = (const uint8_t *)row + (size_t)first * column_bytes;
        if (l->dilation == 1 && first + taps <= l->columns) {
            memcpy(dst, src, fractal / AC_FRACTAL);
            continue;
        }
        memset(dst, 0, fractal / AC_FRACTAL);
        for (uint32_t i = 0; i < taps && first + i * l->dilation < l->columns; i++)
            memcpy(dst + i * column_bytes, src + (size_t)i * l->dilation * column_bytes,
                   column_bytes);
    }
}

enum { MAX_FRACTAL_K = 32 };

/* One element of A, as a float: exact. */
static float a_element(ac_mad type, const uint8_t *a, uint32_t i)
{
    if (type == AC_MAD_F32F16F16)
        return ac_f32_from_f16(((const uint16_t *)(const void *)a)[i]);
    return type == AC_MAD_S32S8S8 ? (float)(int8_t)a[i] : (float)a[i];
}

/* A B fractal as floats, turned so that its 16 columns lie side by side: one element of A meets 16
 * of B. */
static void turn(float t[MAX_FRACTAL_K][AC_FRACTAL], ac_mad type, const uint8_t *b, uint32_t k)
{
    for (uint32_t n = 0; n < AC_FRACTAL; n++)
        for (uint32_t i = 0; i < k; i++)
            t[i][n] = a_element(type == AC_MAD_S32U8S8 ? AC_MAD_S32S8S8 : type, b, n * k + i);
}

/* One row of a C fractal. Integers too are multiplied as floats, which compilers vectorise better:
 * within a fractal |sum| <= 32 * 255 * 128 < 2^24, so every step is exact; only then the sum joins
 * the accumulator. Floats continue from the accumulator, in the order of K. */
static void multiply_row(void *c, ac_mad type, const uint8_t *a,
                         const float b[MAX_FRACTAL_K][AC_FRACTAL], uint32_t k)
{
    int32_t *integers = c;
    float *floats = c, sum[AC_FRACTAL] = {0};
    const bool half = type == AC_MAD_F32F16F16;
    if (half)
        memcpy(sum, floats, sizeof sum);
    for (uint32_t i = 0; i < k; i++) {
        const float v = a_element(type, a, i);
        for (uint32_t n = 0; n < AC_FRACTAL; n++)
            sum[n] += v * b[i][n];
    }
    if (half)
        memcpy(floats, sum, sizeof sum);
    for (uint32_t n = 0; n < AC_FRACTAL && !half; n++)
        integers[n] += (int32_t)sum[n];
}

static void c_mmad(ac_core *core, ac_mad type, void *c, const void *a, const void *b, uint32_t m,
                   uint32_t k, uint32_t n, bool start_at_zero)
{
    const size_t fractal = fractal_bytes(core), row = fractal / AC_FRACTAL;
    const uint32_t fk = (uint32_t)row / (type == AC_MAD_F32F16F16 ? 2 : 1);
    const uint32_t m1 = (m + 15) / AC_FRACTAL, k1 = (k + fk - 1) / fk, n1 = (n + 15) / AC_FRACTAL;
    const size_t c_row = AC_FRACTAL * sizeof(int32_t);
    float t[MAX_FRACTAL_K][AC_FRACTAL];
    if (start_at_zero)
        memset(c, 0, (size_t)n1 * m1 * AC_FRACTAL * c_row);
    for (uint32_t j = 0; j < n1; j++)
        for (uint32_t i = 0; i < k1; i++) {
            turn(t, type, (const uint8_t *)b + (i * n1 + j) * fractal, fk);
            for (uint32_t r = 0; r < m; r++)
                multiply_row((uint8_t *)c + ((size_t)j * m1 * AC_FRACTAL + r) * c_row, type,
                             (const uint8_t *)a + (r / AC_FRACTAL * k1 + i) * fractal +
                                 r % AC_FRACTAL * row,
                             (const float(*)[AC_FRACTAL])t, fk);
        }
}

static void c_bias_l0c(ac_core *core, void *c, const void *bias, uint32_t m, uint32_t n)
{
    (void)core;
    const uint32_t rows = (m + 15) / AC_FRACTAL * AC_FRACTAL, n1 = (n + 15) / AC_FRACTAL;
    const size_t vector = AC_FRACTAL * sizeof(int32_t);
    for (uint32_t j = 0; j < n1; j++)
        for (uint32_t r = 0; r < rows; r++)
            memcpy((uint8_t *)c + ((size_t)j * rows + r) * vector,
                   (const uint8_t *)bias + j * vector, vector);
}

static void c_drain(ac_core *core, ac_drain kind, uint16_t *dst_ub, const void *src_l0c,
                    uint32_t fractals, const float *deq16)
{
    (void)core;
    const int32_t *s = src_l0c;
    const float *f = src_l0c;
    for (size_t i = 0; i < (size_t)fractals * AC_FRACTAL * AC_FRACTAL; i++)
        dst_ub[i] = ac_f16_from_f32(
            kind == AC_DRAIN_S32_F16_DEQ ? (float)s[i] * deq16[i % AC_FRACTAL] : f[i]);
}

static void c_dup(ac_core *core, uint16_t *dst, uint16_t value, uint32_t count)
{
    (void)core;
    for (uint32_t i = 0; i < count; i++)
        dst[i] = value;
}

static uint16_t vector_op(ac_vec2 op, float a, float b)
{
    switch (op) {
    case AC_VADD:
        return ac_f16_from_f32(a + b);
    case AC_VSUB:
        return ac_f16_from_f32(a - b);
    case AC_VMUL:
        return ac_f16_from_f32(a * b);
    case AC_VMAX:
        return ac_f16_from_f32(a > b ? a : b);
    case AC_VMIN:
        return ac_f16_from_f32(a < b ? a : b);
    }
    return 0;
}

static void c_vec2(ac_core *core, ac_vec2 op, uint16_t *dst, const uint16_t *a, const uint16_t *b,
                   uint32_t count, uint32_t b_period)
{
    (void)core;
    for (uint32_t i = 0; i < count; i++)
        dst[i] =
            vector_op(op, ac_f32_from_f16(a[i]), ac_f32_from_f16(b[b_period ? i % b_period : i]));
}

static void c_vecs(ac_core *core, ac_vecs op, uint16_t *dst, const uint16_t *a, uint16_t s,
                   uint32_t count)
{
    (void)core;
    static const ac_vec2 same[] = {
        [AC_VADDS] = AC_VADD, [AC_VMULS] = AC_VMUL, [AC_VMAXS] = AC_VMAX, [AC_VMINS] = AC_VMIN};
    const float b = ac_f32_from_f16(s);
    for (uint32_t i = 0; i < count; i++)
        dst[i] = vector_op(same[op], ac_f32_from_f16(a[i]), b);
}

static void c_vconv(ac_core *core, ac_vconv kind, void *dst, const void *src, uint32_t count)
{
    (void)core;
    const uint16_t *half = src;
    const uint8_t *bytes = src;
    uint16_t *to_half = dst;
    uint8_t *to_bytes = dst;
    for (uint32_t i = 0; i < count; i++)
        switch (kind) {
        case AC_F16_U8:
            to_bytes[i] = (uint8_t)ac_saturate_round(ac_f32_from_f16(half[i]), 0, 255);
            break;
        case AC_F16_S8:
            to_bytes[i] = (uint8_t)ac_saturate_round(ac_f32_from_f16(half[i]), -128, 127);
            break;
        case AC_U8_F16:
            to_half[i] = ac_f16_from_f32(bytes[i]);
            break;
        case AC_S8_F16:
            to_half[i] = ac_f16_from_f32((int8_t)bytes[i]);
            break;
        }
}

static void c_flag(ac_core *core, ac_pipe src, ac_pipe dst, ac_event event)
{
    (void)core, (void)src, (void)dst, (void)event;
}

static void c_barrier(ac_core *core, ac_pipe pipe)
{
    (void)core, (void)pipe;
}

const ac_isa ac_isa_instructions = {
    .name = "instructions",
    .copy = c_copy,
    .load2d = c_load2d,
    .load3d = c_load3d,
    .mmad = c_mmad,
    .bias_l0c = c_bias_l0c,
    .drain = c_drain,
    .dup = c_dup,
    .vec2 = c_vec2,
    .vecs = c_vecs,
    .vconv = c_vconv,
    .set_flag = c_flag,
    .wait_flag = c_flag,
    .barrier = c_barrier,
    .pack_row = ac_reference_pack_row,
    .unpack_row = ac_reference_unpack_row,
    .resize_row = ac_c_resize_row,
    .elementwise_row = ac_reference_elementwise_row,
};

const ac_isa ac_isa_c = {
    .name = "c",
    .conv_row = ac_c_conv_row,
    .pack_row = ac_c_pack_row,
    .unpack_row = ac_c_unpack_row,
    .resize_row = ac_c_resize_row,
    .elementwise_row = ac_c_elementwise_row,
};
