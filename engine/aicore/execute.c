// SPDX-License-Identifier: Apache-2.0
/* Executes the instructions of the AI Core: the reference that any other execution must match bit
 * for bit.
 *
 * Operands live in the layouts of the chip: A fractals are [16 rows][K], B fractals [16
 * columns][K], both with K contiguous; C fractals are [16 rows][16 columns]; a tile of A is
 * [m1][k1] fractals, of B [k1][n1] and of C [n1][m1].
 *
 * FP16 accumulation is a fused multiply-add by contract. The product of two fp16 values has at most
 * 22 significant bits and an exponent far inside fp32's range, so it is exact in fp32, and a
 * rounded product followed by a rounded sum is the fused result. No fma is needed here. */
#include "engine/aicore/access.h"

#include "engine/cpu/c/c_vector.h"
#include "engine/cpu/c/epilogue.h"

/* ---- memory --------------------------------------------------------------------------------- */

static uint8_t *bytes_at(const ac_core *core, ac_address at)
{
    return core->memory[ac_space_of(at)].bytes + ac_offset_of(at);
}

/* ---- copies and the cube -------------------------------------------------------------------- */

static void copy(uint8_t *d, const uint8_t *s, ac_copy c)
{
    const size_t burst = (size_t)c.blocks * AC_BLOCK;
    for (uint32_t i = 0; i < c.bursts; i++) {
        memcpy(d, s, burst);
        d += burst + (size_t)c.dst_gap * AC_BLOCK;
        s += burst + (size_t)c.src_gap * AC_BLOCK;
    }
}

static void load3d(uint8_t *dst_l0a, const uint8_t *row, const ac_load3d *l)
{
    const uint32_t column_bytes = (uint32_t)l->c0 * l->element, taps = AC_BLOCK / column_bytes;
    for (uint32_t m = 0; m < (uint32_t)l->repeat * AC_FRACTAL; m++) {
        uint8_t *dst = dst_l0a + (size_t)m / AC_FRACTAL * l->jump * AC_FRACTAL_BYTES +
                       m % AC_FRACTAL * AC_BLOCK;
        const uint32_t first = m * l->stride + l->column;
        const uint8_t *src = row + (size_t)first * column_bytes;
        if (l->dilation == 1 && first + taps <= l->columns) {
            memcpy(dst, src, AC_BLOCK);
            continue;
        }
        memset(dst, 0, AC_BLOCK);
        for (uint32_t i = 0; i < taps && first + i * l->dilation < l->columns; i++)
            memcpy(dst + i * column_bytes, src + (size_t)i * l->dilation * column_bytes,
                   column_bytes);
    }
}

static void load3d_along_k(uint8_t *dst_l0a, const uint8_t *picture, const ac_load3d *l)
{
    const uint32_t taps = ac_load3d_taps(l), span = ac_load3d_span(l);
    uint32_t y = 0, x = l->column;
    for (uint32_t m = 0; m < AC_FRACTAL; m++, x += l->stride) {
        if (x + span > l->columns) {
            x = 0;
            y++;
        }
        for (uint32_t r = 0; r < l->repeat; r++) {
            uint8_t *dst = dst_l0a + (size_t)r * l->jump * AC_FRACTAL_BYTES + m * AC_BLOCK;
            const size_t column =
                (size_t)(y + r / taps) * l->columns + x + (size_t)(r % taps) * l->dilation;
            if (y + r / taps < l->rows)
                memcpy(dst, picture + column * AC_BLOCK, AC_BLOCK);
            else
                memset(dst, 0, AC_BLOCK);
        }
    }
}

enum { MAX_FRACTAL_K = 32 };

/* The type of A. B is always signed. */
static mona_type a_type(ac_mad type)
{
    return type == AC_MAD_F32F16F16 ? MONA_F16 : type == AC_MAD_S32S8S8 ? MONA_S8 : MONA_U8;
}

/* Converts a B fractal to floats with its 16 columns side by side, so that one element of A meets
 * 16 of B. */
static void turn(float t[MAX_FRACTAL_K][AC_FRACTAL], ac_mad type, const uint8_t *b, uint32_t k)
{
    float wide[AC_FRACTAL * MAX_FRACTAL_K];
    mona_to_floats(wide, b, type == AC_MAD_F32F16F16 ? MONA_F16 : MONA_S8, AC_FRACTAL * k);
    for (uint32_t i = 0; i < k; i++)
        for (uint32_t n = 0; n < AC_FRACTAL; n++)
            t[i][n] = wide[n * k + i];
}

/* Computes one row of a C fractal. Integers are multiplied as floats too, as compilers vectorise
 * these better. Within a fractal |sum| <= 32 * 255 * 128 < 2^24, so every step is exact, and the
 * sum is added to the accumulator as an integer. Sums of floats continue from the accumulator, in
 * the order of K. */
static void multiply_row(void *c, ac_mad type, const uint8_t *a,
                         const float b[MAX_FRACTAL_K][AC_FRACTAL], uint32_t k)
{
    int32_t *integers = c;
    float *floats = c, sum[AC_FRACTAL] = {0}, wide[MAX_FRACTAL_K];
    const bool half = type == AC_MAD_F32F16F16;
    if (half)
        memcpy(sum, floats, sizeof sum);
    mona_to_floats(wide, a, a_type(type), k);
    for (uint32_t i = 0; i < k; i += 4) /* four at a time, so that the sums stay in registers */
        for (uint32_t n = 0; n < AC_FRACTAL; n++)
            sum[n] = sum[n] + wide[i] * b[i][n] + wide[i + 1] * b[i + 1][n] +
                     wide[i + 2] * b[i + 2][n] + wide[i + 3] * b[i + 3][n];
    if (half)
        memcpy(floats, sum, sizeof sum);
    for (uint32_t n = 0; n < AC_FRACTAL && !half; n++)
        integers[n] = (int32_t)((uint32_t)integers[n] + (uint32_t)(int32_t)sum[n]);
}

static void multiply(uint8_t *c, const uint8_t *a, const uint8_t *b, const ac_instruction *product)
{
    const ac_mad type = (ac_mad)(product->opcode - AC_OP_MMAD);
    const ac_fractals f = ac_fractals_of(product);
    const uint32_t fk = type == AC_MAD_F32F16F16 ? AC_BLOCK / 2 : AC_BLOCK;
    const size_t c_row = AC_FRACTAL * sizeof(int32_t);
    float t[MAX_FRACTAL_K][AC_FRACTAL];
    if (product->product.from_zero)
        memset(c, 0, (size_t)f.n * f.m * AC_FRACTAL * c_row);
    for (uint32_t j = 0; j < f.n; j++)
        for (uint32_t i = 0; i < f.k; i++) {
            turn(t, type, b + ((size_t)i * f.n + j) * AC_FRACTAL_BYTES, fk);
            for (uint32_t r = 0; r < product->product.m; r++)
                multiply_row(c + ((size_t)j * f.m * AC_FRACTAL + r) * c_row, type,
                             a + ((size_t)r / AC_FRACTAL * f.k + i) * AC_FRACTAL_BYTES +
                                 r % AC_FRACTAL * AC_BLOCK,
                             (const float(*)[AC_FRACTAL])t, fk);
        }
}

static void fill_l0c(uint8_t *c, const uint8_t *bias, const ac_instruction *i)
{
    const ac_fractals f = ac_fractals_of(i);
    const uint32_t filled = 1 + i->product.k;
    const size_t vector = AC_FRACTAL * sizeof(int32_t);
    for (uint32_t j = 0; j < f.n; j++)
        for (uint32_t r = 0; r < filled * AC_FRACTAL; r++)
            memcpy(c + ((size_t)j * f.m * AC_FRACTAL + r) * vector,
                   bias + ((size_t)j * filled + r / AC_FRACTAL) * vector, vector);
}

/* relu does what MONA_ACT_RELU does: everything that is not above 0, including -0, becomes +0. */
static void drain(uint16_t *dst_ub, const void *src_l0c, const uint16_t *deq16, ac_copy c,
                  ac_drain kind, bool relu)
{
    enum { FRACTAL = AC_FRACTAL * AC_FRACTAL };
    const int32_t *s = src_l0c;
    const float *f = src_l0c;
    const size_t count = (size_t)c.blocks * FRACTAL;
    float scale[AC_FRACTAL] = {0};
    for (uint32_t i = 0; i < AC_FRACTAL && kind == AC_DRAIN_S32_F16_DEQ; i++)
        scale[i] = mona_f32_from_f16(deq16[i]);
    for (uint32_t burst = 0; burst < c.bursts; burst++) {
        for (size_t i = 0; i < count; i++) {
            const uint16_t t = mona_f16_from_f32(
                kind == AC_DRAIN_S32_F16_DEQ ? (float)s[i] * scale[i % AC_FRACTAL] : f[i]);
            dst_ub[i] = relu && t & 0x8000 ? 0 : t;
        }
        s += count + (size_t)c.src_gap * FRACTAL;
        f += count + (size_t)c.src_gap * FRACTAL;
        dst_ub += count + (size_t)c.dst_gap * AC_FRACTAL;
    }
}

/* ---- vectors --------------------------------------------------------------------------------
 * Element i of repeat r of an operand lies in block i / (elements of a block) of that repeat. */

static inline uint8_t *element_at(uint8_t *data, const ac_stream *s, uint32_t r, uint32_t i)
{
    const uint32_t byte = i * s->width;
    return data + ((size_t)r * s->repeat + (size_t)(byte / AC_BLOCK) * s->block) * AC_BLOCK +
           byte % AC_BLOCK;
}

/* An element as a number to compute with, and the rounded or wrapped number as an element. */
#define ELEMENT(T, stored, number, from, to)                                                       \
    static inline number get_##T(const uint8_t *p)                                                 \
    {                                                                                              \
        stored element;                                                                            \
        memcpy(&element, p, sizeof element);                                                       \
        return from(element);                                                                      \
    }                                                                                              \
    static inline void put_##T(uint8_t *p, number value)                                           \
    {                                                                                              \
        const stored element = to(value);                                                          \
        memcpy(p, &element, sizeof element);                                                       \
    }
ELEMENT(half, uint16_t, float, mona_f32_from_f16, mona_f16_from_f32)
ELEMENT(float, float, float, , )
ELEMENT(int32_t, int32_t, int64_t, , (int32_t))
ELEMENT(uint16_t, uint16_t, int64_t, , (uint16_t))
#define get_uint8_t(p) mona_element(p, MONA_U8)
#define get_int8_t(p) mona_element(p, MONA_S8)
#define put_uint8_t(p, value) mona_put_element(p, MONA_U8, value, UINT8_MAX)
#define put_int8_t(p, value) mona_put_element(p, MONA_S8, value, UINT8_MAX)

/* What intrinsics do. */
#define DO_vadd(a, b) (a) + (b)
#define DO_vsub(a, b) (a) - (b)
#define DO_vmul(a, b) (a) * (b)
#define DO_vmax(a, b) (a) > (b) ? (a) : (b)
#define DO_vmin(a, b) (a) < (b) ? (a) : (b)
#define DO_vand(a, b) (a) & (b)
#define DO_vor(a, b) (a) | (b)
#define DO_vadds DO_vadd
#define DO_vmuls DO_vmul
#define SCALAR_half(s) mona_f16_round(s)
#define SCALAR_float(s) s

static inline void compute(const ac_instruction *i, uint8_t *to, const uint8_t *p, const uint8_t *q)
{
#define VEC2(op, name, intrinsic, T)                                                               \
    case AC_OP_VEC2 + op:                                                                          \
        put_##T(to, DO_##intrinsic(get_##T(p), get_##T(q)));                                       \
        break;
#define VECS(op, name, intrinsic, T)                                                               \
    case AC_OP_VECS + op:                                                                          \
        put_##T(to, DO_##intrinsic(get_##T(p), SCALAR_##T(i->scalar)));                            \
        break;
#define VCONV(op, intrinsic, D, S)                                                                 \
    case AC_OP_VCONV + op:                                                                         \
        put_##D(to, get_##S(p));                                                                   \
        break;
    if (i->opcode == AC_OP_DUP)
        memcpy(to, &i->value, sizeof i->value);
    switch ((uint32_t)i->opcode) {
        AC_VEC2_ROWS(VEC2, VEC2)
        AC_VECS_ROWS(VECS)
        AC_VCONV_ROWS(VCONV)
    }
}

static void vector(const ac_core *core, const ac_instruction *i)
{
    const ac_streams s = ac_streams_of(i);
    uint8_t *data[AC_OPERANDS] = {0}, *at[AC_OPERANDS] = {0};
    for (uint32_t k = 0; k < s.count; k++)
        data[k] = bytes_at(core, s.at[k].at);
    for (uint32_t r = 0; r < i->vector.repeat; r++)
        for (uint32_t lane = 0; lane < i->vector.lanes; lane++) {
            for (uint32_t k = 0; k < s.count; k++)
                at[k] = element_at(data[k], &s.at[k], r, lane);
            compute(i, at[0], at[1], at[2]);
        }
}

/* Sides of `size` bytes an element: all sources of a repeat are read before anything is written. */
static void transpose(const ac_core *core, const ac_turned *to, const ac_turned *from,
                      uint32_t repeat, size_t size)
{
    enum { SIDE = AC_FRACTAL };
    uint8_t t[SIDE][SIDE * sizeof(uint16_t)];
    const size_t bytes = SIDE * size;
    for (size_t r = 0; r < repeat; r++) {
        for (uint32_t j = 0; j < SIDE; j++) {
            const uint8_t *s = bytes_at(core, from->at[j]) + r * from->repeat * AC_BLOCK +
                               (from->high ? bytes : 0);
            for (uint32_t i = 0; i < SIDE; i++)
                memcpy(&t[i][j * size], s + i * size, size);
        }
        for (uint32_t i = 0; i < SIDE; i++)
            memcpy(bytes_at(core, to->at[i]) + r * to->repeat * AC_BLOCK + (to->high ? bytes : 0),
                   t[i], bytes);
    }
}

/* ---- the scalar unit ------------------------------------------------------------------------ */

static void move(uint8_t *to, const uint8_t *from, const ac_move *m)
{
    for (size_t i = 0; i < m->count; i++)
        memmove(to + i * m->dst_step, from + i * m->src_step, m->bytes);
}

static void fill(uint8_t *to, const ac_fill *f)
{
    for (size_t i = 0; i < f->count; i++)
        for (uint32_t b = 0; b < f->bytes; b++)
            to[i * f->step + b] = (uint8_t)(f->value >> 8 * b);
}

/* ---- one instruction ------------------------------------------------------------------------ */

void ac_execute(ac_core *core, const ac_instruction *i)
{
    const uint32_t op = i->opcode;
    if (ac_turns(i->opcode)) {
        transpose(core, i->turn.to, i->turn.from, i->turn.repeat, ac_operations[op].width[0]);
        return;
    }
    if (ac_is_vector(op)) {
        vector(core, i);
        return;
    }
    if (op == AC_OP_NONE || op >= AC_OP_WORK || ac_loads_constants(i))
        return;
    uint8_t *dst = bytes_at(core, i->dst);
    const uint8_t *a = op == AC_OP_FILL ? NULL : bytes_at(core, i->a);
    if (ac_is_copy(op))
        copy(dst, a, i->copy);
    else if (op == AC_OP_LOAD2D)
        memcpy(dst, a, (size_t)i->fractals * AC_FRACTAL_BYTES);
    else if (op == AC_OP_LOAD3D)
        (i->load3d.rows ? load3d_along_k : load3d)(dst, a, &i->load3d);
    else if (ac_is_mmad(op))
        multiply(dst, a, bytes_at(core, i->b), i);
    else if (op == AC_OP_BIAS_L0C)
        fill_l0c(dst, a, i);
    else if (ac_is_drain(op))
        drain((uint16_t *)(void *)dst, a,
              i->b == AC_NOWHERE ? NULL : (const uint16_t *)(const void *)bytes_at(core, i->b),
              i->copy, (ac_drain)(op - AC_OP_DRAIN), i->relu);
    else if (op == AC_OP_MOVE)
        move(dst, a, &i->move);
    else
        fill(dst, &i->fill);
}
