// SPDX-License-Identifier: Apache-2.0
/* Records the steps of functions and emits them. functions.h explains them.
 *
 * While it is recorded, a value is the index of the step that makes it, counted from 1; value 0 is
 * the function's argument. Then each gets a buffer, which is free again after its last use. */
#include "ops/ascend/functions.h"

#include "engine/cpu/c/f16.h"
#include "engine/libc.h"

/* ---- recording ------------------------------------------------------------------------------- */

/* A value of `in`, or, if that is NULL, a constant. */
typedef struct vf {
    mona_function *in;
    uint8_t value;
    float constant;
} vf;

static vf vf_set1(float x)
{
    return (vf){.constant = x};
}

/* A block of 8 equal numbers. */
static uint8_t uniform_of(mona_function *f, uint32_t bits)
{
    uint32_t i = 0;
    while (i < f->uniforms && f->uniform[i] != bits)
        i++;
    f->uniform[i] = bits;
    f->uniforms = i < f->uniforms ? f->uniforms : i + 1;
    return (uint8_t)(FUNCTION_STEPS + i);
}

static uint8_t operand_of(mona_function *f, vf v)
{
    return v.in ? v.value : uniform_of(f, mona_bits(v.constant));
}

static vf record(mona_function *f, uint32_t operation, uint8_t a, uint8_t b, float scalar)
{
    f->step[f->count++] = (mona_function_step){(uint8_t)operation, 0, a, b, scalar};
    return (vf){.in = f, .value = (uint8_t)f->count};
}

static vf with_vector(ac_vec2 op, vf a, vf b)
{
    mona_function *f = a.in ? a.in : b.in;
    return record(f, op, operand_of(f, a), operand_of(f, b), 0);
}

static vf with_scalar(ac_vecs op, vf a, float scalar)
{
    return record(a.in, AC_VEC2_COUNT + op, a.value, 0, scalar);
}

static vf vf_add(vf a, vf b)
{
    return !b.in   ? with_scalar(AC_VADDS_F32, a, b.constant)
           : !a.in ? with_scalar(AC_VADDS_F32, b, a.constant)
                   : with_vector(AC_VADD_F32, a, b);
}

static vf vf_sub(vf a, vf b)
{
    return b.in ? with_vector(AC_VSUB_F32, a, b) : with_scalar(AC_VADDS_F32, a, -b.constant);
}

/* A product with 1 is no step. */
static vf vf_mul(vf a, vf b)
{
    const vf value = a.in ? a : b, other = a.in ? b : a;
    if (other.in)
        return with_vector(AC_VMUL_F32, a, b);
    return other.constant == 1 ? value : with_scalar(AC_VMULS_F32, value, other.constant);
}

static vf vf_max(vf a, vf b)
{
    return with_vector(AC_VMAX_F32, a, b);
}

static vf vf_min(vf a, vf b)
{
    return with_vector(AC_VMIN_F32, a, b);
}

static vf with_bits(ac_vec2 op, vf a, uint32_t bits)
{
    return record(a.in, op, a.value, uniform_of(a.in, bits), 0);
}

/* Of the bits of 1.5 * 2^23 + k, those of k alone are left when 23 more places are gained. */
static vf vf_power2(vf v)
{
    return with_bits(AC_VADD_S32, with_bits(AC_VMUL_S32, v, 1u << 23), 127u << 23);
}

/* a / b for b in 2^-100..2^100. Bits taken from a constant give 1 / b within 6 %; steps of Newton's
 * make e of a relative error e^2, which the first, with more than 2, keeps within 2^-9 and the
 * second within 2^-17.9. Then q is within 2^-17.8. The last step takes from it what it misses: b q,
 * which is rounded, and the result, which is, too, leave 2^-24 each and 2^-35 of the square. So it
 * is within 2^-22.9 of the quotient.
 * A quotient in the middle between two numbers of fp16 can so become the wrong one; SEED and
 * `first` are such that none of any function does. A quotient of -0 stays -0. */
static vf vf_div(vf a, vf b)
{
    enum { SEED = 0x7ef45c00 };
    const float first = 0x1.004p+1f;
    vf r = record(b.in, AC_VSUB_S32, uniform_of(b.in, SEED), b.value, 0);
    r = vf_mul(r, vf_sub(vf_set1(first), vf_mul(b, r)));
    r = vf_mul(r, vf_sub(vf_set1(2), vf_mul(b, r)));
    const vf q = vf_mul(a, r);
    return vf_sub(q, vf_mul(vf_sub(vf_mul(b, q), a), r));
}

#include "engine/cpu/c/functions.h"

/* Makes buffers of values. */
static void place(mona_function *f)
{
    uint8_t last[FUNCTION_STEPS + 1] = {0}, buffer[FUNCTION_STEPS + 1] = {0};
    bool taken[FUNCTION_STEPS] = {true};
    for (uint32_t i = 0; i < f->count; i++) {
        const mona_function_step *s = &f->step[i];
        for (uint32_t k = 0; k < 2; k++) {
            const uint8_t value = k ? s->b : s->a;
            if (value < FUNCTION_STEPS && (!k || s->operation < AC_VEC2_COUNT))
                last[value] = (uint8_t)i;
        }
    }
    f->buffers = 1;
    for (uint32_t i = 0; i < f->count; i++) {
        mona_function_step *s = &f->step[i];
        uint8_t *const operands[] = {&s->a, &s->b};
        for (uint32_t k = 0; k < (s->operation < AC_VEC2_COUNT ? 2 : 1); k++) {
            const uint8_t value = *operands[k];
            if (value >= FUNCTION_STEPS)
                continue;
            *operands[k] = buffer[value];
            taken[buffer[value]] = last[value] > i;
        }
        while (taken[s->to])
            s->to++;
        taken[s->to] = true;
        buffer[i + 1] = s->to;
        f->buffers = s->to + 1u > f->buffers ? s->to + 1u : f->buffers;
    }
    f->result = buffer[f->count];
}

void mona_function_find(mona_function *found, mona_activation function, float alpha)
{
    *found = (mona_function){0};
    function_of(function, (vf){.in = found}, vf_set1(alpha));
    place(found);
}

/* The first guess is SEED less the number's bits, shifted right once. The unit does not shift: the
 * mantissa is halved as a number, behind 2^23, without its last bit; of each bit of the exponent
 * that is set a minimum makes the one below it. */
void mona_function_find_inverse_root(mona_function *found)
{
    enum { SEED = 0x5f3759df, MANTISSA = 0x7ffffe, EXPONENT = 23, STEPS = 4 };
    const uint32_t behind = 0x4b000000; /* the bits of 2^23 */
    *found = (mona_function){0};
    const vf x = {.in = found};
    vf half = with_bits(AC_VADD_S32, with_bits(AC_VAND, x, MANTISSA), behind);
    half = vf_add(vf_mul(half, vf_set1(0.5f)), vf_set1(0x1p22f));
    vf r = record(found, AC_VSUB_S32, uniform_of(found, SEED + behind), half.value, 0);
    for (uint32_t bit = EXPONENT; bit < 31; bit++)
        r = with_vector(AC_VSUB_S32, r,
                        with_bits(AC_VMIN_S32, with_bits(AC_VAND, x, 1u << bit), 1u << (bit - 1)));
    half = vf_mul(x, vf_set1(0.5f));
    for (uint32_t i = 0; i < STEPS; i++)
        r = vf_mul(r, vf_sub(vf_set1(1.5f), vf_mul(vf_mul(half, r), r)));
    place(found);
}

void mona_function_find_exponential(mona_function *found)
{
    *found = (mona_function){0};
    exp_of((vf){.in = found});
    place(found);
}

/* The upper half of a number's bits: a product with another one's is exact. */
static vf upper_half(vf x)
{
    const vf t = vf_mul(x, vf_set1(4097));
    return vf_sub(t, vf_sub(t, x));
}

/* The next number instead of q where that is nearer to a / x. Halves give exactly what is left of a
 * after q x. A number above or below is nearer if that is more than half of its distance from q, of
 * which `unit` is 2^23, times x. */
static vf nearer(vf q, vf a, vf x)
{
    const vf zero = vf_set1(0), one = vf_set1(1);
    const vf p = vf_mul(q, x);
    const vf qh = upper_half(q), ql = vf_sub(q, qh), xh = upper_half(x), xl = vf_sub(x, xh);
    vf rest = vf_sub(vf_mul(qh, xh), p);
    rest = vf_add(vf_add(rest, vf_mul(qh, xl)), vf_mul(ql, xh));
    rest = vf_add(rest, vf_mul(ql, xl));
    const vf left = vf_sub(vf_sub(a, p), rest);
    for (uint32_t below = 0; below < 2; below++) {
        const vf unit =
            with_bits(AC_VAND, below ? with_bits(AC_VADD_S32, q, UINT32_MAX) : q, 0x7f800000);
        const vf half = vf_mul(vf_mul(unit, x), vf_set1(0x1p-24f));
        const vf over = vf_max(vf_sub(below ? vf_sub(zero, left) : left, half), zero);
        const vf more = vf_min(vf_mul(over, vf_set1(0x1p120f)), one);
        q = vf_add(q, vf_mul(more, vf_mul(unit, vf_set1(below ? -0x1p-23f : 0x1p-23f))));
    }
    return q;
}

/* The first quotient is within 2^-22.9: of the two numbers above it and, as a power of 2 has those
 * half as far apart below, of the three below. */
void mona_function_find_quotient(mona_function *found, float a)
{
    *found = (mona_function){0};
    const vf x = {.in = found};
    nearer(nearer(vf_div(vf_set1(a), x), vf_set1(a), x), vf_set1(a), x);
    place(found);
}

/* ---- emitting -------------------------------------------------------------------------------- */

/* Bytes of all buffers, at most: as many numbers are worked on at once, whole repeats. */
enum { WORK_BYTES = 96 << 10 };

static uint32_t piece_of(const mona_function *f)
{
    return WORK_BYTES / (f->buffers * AC_REPEAT) * FLOAT_LANES;
}

size_t mona_function_uniform_bytes(const mona_function *f)
{
    return (size_t)f->uniforms * AC_BLOCK;
}

static size_t buffer_bytes(uint32_t count)
{
    return round_up(count * sizeof(float), AC_BLOCK);
}

size_t mona_function_work_bytes(const mona_function *f, uint32_t count)
{
    return f->count ? f->buffers * buffer_bytes(min_u32(count, piece_of(f))) : 0;
}

void *mona_function_put_uniforms(const mona_function *f, void *to)
{
    uint32_t *at = to;
    for (uint32_t i = 0; i < f->uniforms; i++)
        for (uint32_t k = 0; k < AC_BLOCK / sizeof *at; k++)
            *at++ = f->uniform[i];
    return at;
}

/* As sums of 0 and the number, which its bits are taken for; none is denormal. */
void mona_function_begin(ac_core *core, const mona_function *f, ac_address uniforms)
{
    enum { EQUAL = AC_BLOCK / sizeof(float) };
    if (!f->uniforms)
        return;
    dup_done(core, uniforms, 0, f->uniforms * AC_FRACTAL);
    for (uint32_t i = 0; i < f->uniforms; i++) {
        const ac_address at = uniforms + (uint64_t)i * AC_BLOCK;
        vecs_all(core, AC_VADDS_F32, at, at, mona_float(f->uniform[i]), EQUAL);
    }
    ac_emit_barrier(core, AC_PIPE_V);
}

typedef struct piece {
    ac_core *core;
    ac_address uniforms, work;
    uint32_t count;
} piece;

static ac_address at_of(const piece *p, uint8_t operand)
{
    return operand < FUNCTION_STEPS ? p->work + operand * buffer_bytes(p->count)
                                    : p->uniforms + (uint64_t)(operand - FUNCTION_STEPS) * AC_BLOCK;
}

static void emit(const piece *p, const mona_function_step *s)
{
    ac_vector strides = side_by_side;
    if (s->a >= FUNCTION_STEPS)
        strides.a_block = strides.a_repeat = 0;
    if (s->b >= FUNCTION_STEPS)
        strides.b_block = strides.b_repeat = 0;
    if (s->operation < AC_VEC2_COUNT)
        vec2_all(p->core, (ac_vec2)s->operation, at_of(p, s->to), at_of(p, s->a), at_of(p, s->b),
                 s->operation < AC_VADD_F32 ? 2 * p->count : p->count, strides);
    else
        vecs_all(p->core, (ac_vecs)(s->operation - AC_VEC2_COUNT), at_of(p, s->to), at_of(p, s->a),
                 s->scalar, p->count);
    ac_emit_barrier(p->core, AC_PIPE_V);
}

ac_address mona_function_run(ac_core *core, const mona_function *f, ac_address uniforms,
                             ac_address work, uint32_t count)
{
    const piece p = {core, uniforms, work, count};
    for (uint32_t i = 0; i < f->count; i++)
        emit(&p, &f->step[i]);
    return at_of(&p, (uint8_t)f->result);
}

void mona_function_apply(ac_core *core, const mona_function *f, ac_address uniforms,
                         ac_address work, ac_address x, uint32_t count)
{
    const uint32_t most = piece_of(f);
    for (uint32_t done = 0; done < count; done += most, x += most * sizeof(uint16_t)) {
        const uint32_t piece = min_u32(count - done, most);
        vconv_done(core, AC_F16_F32, work, x, piece);
        vconv_done(core, AC_F32_F16, x, mona_function_run(core, f, uniforms, work, piece), piece);
    }
}
