// SPDX-License-Identifier: Apache-2.0
/* Finds the polynomials of a table and applies them. polynomials.h explains them.
 *
 * A polynomial serves some entries of a table if it passes within 1/2 of each of them. Whether one
 * of a degree does is decided by exchange (Remez): of degree + 2 of the entries, the polynomial
 * that misses all by the same amount, on alternating sides, misses these by the least possible. If
 * that is 1/2, none serves. Else the entry that it misses by most replaces one of them. */
#include "ops/ascend/polynomials.h"

enum { POINTS = MAX_DEGREE + 2, MAX_EXCHANGES = 64 };

/* ---- one polynomial -------------------------------------------------------------------------- */

/* In Newton's form, through `points` entries, counted from the first that it shall serve. */
typedef struct newton {
    uint32_t points;
    uint32_t at[POINTS];
    double missed; /* by this at at[0], by -missed at at[1], ... */
    double term[POINTS];
} newton;

/* As dense at both ends as extrema of Chebyshev's polynomials. */
static void first_points(newton *n, uint32_t steps, uint32_t degree)
{
    n->points = min_u32(degree + 2, steps + 1);
    for (uint32_t i = 0; i < n->points; i++) {
        const double part = (double)i / (n->points - 1);
        const uint32_t at = (uint32_t)(steps * part * part * (3 - 2 * part) + 0.5);
        n->at[i] = i && at <= n->at[i - 1] ? n->at[i - 1] + 1 : at;
    }
    for (uint32_t i = n->points; i-- > 0;)
        n->at[i] = min_u32(n->at[i], steps - (n->points - 1 - i));
}

/* By divided differences of the values and of alternating ones. All entries are met if there are no
 * more than a polynomial of the degree can meet. */
static void pass(newton *n, const int32_t *values, uint32_t degree)
{
    double side[POINTS] = {0};
    for (uint32_t i = 0; i < n->points; i++) {
        n->term[i] = values[n->at[i]];
        side[i] = i % 2 ? -1 : 1;
    }
    for (uint32_t k = 1; k < n->points; k++)
        for (uint32_t i = n->points; i-- > k;) {
            const double distance = (double)n->at[i] - n->at[i - k];
            n->term[i] = (n->term[i] - n->term[i - 1]) / distance;
            side[i] = (side[i] - side[i - 1]) / distance;
        }
    const uint32_t last = n->points - 1;
    n->missed = last > degree ? n->term[last] / side[last] : 0;
    for (uint32_t i = 0; i <= last; i++)
        n->term[i] -= n->missed * side[i];
}

static double newton_at(const newton *n, uint32_t degree, uint32_t x)
{
    double y = 0;
    for (uint32_t i = min_u32(degree + 1, n->points); i-- > 0;)
        y = y * ((double)x - n->at[i]) + n->term[i];
    return y;
}

/* The entry that is missed by most, and by how much. */
static uint32_t worst(const newton *n, const int32_t *values, uint32_t steps, uint32_t degree,
                      double *missed)
{
    uint32_t at = 0;
    *missed = 0;
    for (uint32_t x = 0; x <= steps; x++) {
        const double by = values[x] - newton_at(n, degree, x);
        if (by * by > *missed * *missed)
            *missed = by, at = x;
    }
    return at;
}

/* Makes x a point in the place of one on the same side, so that sides go on alternating. */
static void exchange(newton *n, uint32_t x, bool above)
{
    uint32_t i = 0;
    while (i < n->points && n->at[i] < x)
        i++;
    const uint32_t last = n->points - 1, before = i ? i - 1 : 0;
    const bool same = ((n->missed > 0) != (before % 2 != 0)) == above;
    if (i == 0 && !same)
        memmove(n->at + 1, n->at, last * sizeof *n->at);
    else if (i > last && !same)
        memmove(n->at, n->at + 1, last * sizeof *n->at);
    else
        i = same ? before : i;
    n->at[i > last ? last : i] = x;
}

static bool serves(newton *n, const int32_t *values, uint32_t steps, uint32_t degree)
{
    const double limit = 0.5 - 0x1p-9; /* for the rounding in fp32 */
    first_points(n, steps, degree);
    for (uint32_t i = 0; i < MAX_EXCHANGES; i++) {
        double missed;
        pass(n, values, degree);
        if (n->missed >= limit || n->missed <= -limit)
            return false;
        const uint32_t x = worst(n, values, steps, degree, &missed);
        if (missed < limit && missed > -limit)
            return true;
        exchange(n, x, missed > 0);
    }
    return false;
}

/* Multiplies out to powers of z, where entry x has z = x - middle. */
static void powers(float *to, const newton *n, uint32_t degree, uint32_t middle)
{
    double c[POINTS] = {0};
    for (uint32_t i = min_u32(degree + 1, n->points); i-- > 0;) {
        const double root = (double)n->at[i] - middle;
        for (uint32_t j = degree; j > 0; j--)
            c[j] = c[j - 1] - root * c[j];
        c[0] = n->term[i] - root * c[0];
    }
    for (uint32_t j = 0; j <= degree; j++)
        to[j] = (float)c[j];
}

/* As the vector unit does it. */
static float rounded_sum(const float *c, uint32_t degree, float z)
{
    float y = z * c[degree];
    for (uint32_t j = degree - 1; j > 0; j--)
        y = (y + c[j]) * z;
    return mona_f16_round(y + c[0]);
}

/* A polynomial for the entries from values[0] on, `steps` steps up. base: what HELD + results are
 * less by. */
static bool find(float *to, const int32_t *values, uint32_t steps, uint32_t degree, int32_t base)
{
    newton n;
    if (!serves(&n, values, steps, degree))
        return false;
    const uint32_t middle = steps / 2;
    powers(to, &n, degree, middle);
    to[0] += (float)(HELD - base);
    for (uint32_t x = 0; x <= steps; x++)
        if (rounded_sum(to, degree, (float)x - (float)middle) != (float)(HELD + values[x] - base))
            return false;
    return true;
}

/* ---- a table --------------------------------------------------------------------------------- */

/* The most steps that one of this degree, which it may lower, serves. One step can always be
 * made. */
static uint32_t longest(float *to, const int32_t *values, uint32_t steps, uint32_t *degree,
                        int32_t base)
{
    uint32_t good = 1, bad = steps + 1;
    if (find(to, values, steps, *degree, base))
        good = steps;
    while (good != steps && bad - good > 1) {
        const uint32_t half = good + (bad - good) / 2;
        if (find(to, values, half, *degree, base))
            good = half;
        else
            bad = half;
    }
    uint32_t low = 1;
    while (low < *degree && !find(to, values, good, low, base))
        low++;
    if (low == *degree)
        find(to, values, good, low, base);
    *degree = low;
    return good;
}

/* Vector instructions of fp16 that take as long; those of fp32 have half as many lanes. */
static uint32_t cost_of(uint32_t degree, bool first)
{
    return 7 + 4 * degree + (first ? 0 : 2);
}

/* All of one degree or less. Returns their cost, or, as soon as it is no less than `most`, that. */
static uint32_t find_all(mona_polynomials *p, const int32_t values[TABLE_ENTRIES], uint32_t degree,
                         uint32_t most)
{
    uint32_t cost = 0, last = TABLE_ENTRIES - 1, used = 0;
    while (last && values[last] == values[last - 1])
        last--;
    p->count = 0;
    for (uint32_t x = 0; cost < most; x = p->at[p->count++].end) {
        while (x < last && values[x] == values[x + 1])
            x++;
        if (x >= last)
            return cost;
        uint32_t d = degree;
        const int32_t base = p->count ? values[x] : 0;
        if (used + d + 1 > MAX_COEFFICIENTS)
            d = 1;
        const uint32_t steps = longest(p->coefficients + used, values + x, last - x, &d, base);
        p->at[p->count] =
            (mona_polynomial){(uint8_t)x, (uint8_t)(x + steps), (uint8_t)(x + steps / 2), d};
        used += d + 1;
        cost += cost_of(d, !p->count);
    }
    return most;
}

void mona_polynomials_find(mona_polynomials *found, const uint8_t table[TABLE_ENTRIES],
                           mona_type type)
{
    int32_t values[TABLE_ENTRIES];
    uint32_t least = UINT32_MAX;
    memset(found, 0, sizeof *found);
    for (uint32_t x = 0; x < TABLE_ENTRIES; x++)
        values[x] = type == MONA_S8 ? (int8_t)table[x] : table[x];
    for (uint32_t degree = 1; degree <= MAX_DEGREE; degree++) {
        mona_polynomials p = {.start = (float)(HELD + values[0])};
        const uint32_t cost = find_all(&p, values, degree, least);
        if (cost < least)
            least = cost, *found = p;
    }
}

/* ---- applying ------------------------------------------------------------------------------- */

enum { PIECE = 8192 }; /* numbers that are worked on at once */

size_t mona_polynomials_bound_bytes(const mona_polynomials *p)
{
    return (size_t)p->count * 2 * AC_BLOCK;
}

/* Two buffers of fp16 and two of fp32, a block or more each. */
size_t mona_polynomials_work_bytes(uint32_t count)
{
    return round_up(min_u32(count, PIECE), AC_FRACTAL) * 2 * (sizeof(uint16_t) + sizeof(float));
}

/* Blocks of 16 equal numbers, for each polynomial HELD + begin and HELD + end. */
void mona_polynomials_begin(ac_core *core, const mona_polynomials *p, ac_address bounds)
{
    for (uint32_t k = 0; k < p->count; k++) {
        const mona_polynomial *l = &p->at[k];
        const ac_address at = bounds + (uint64_t)k * 2 * AC_BLOCK;
        dup_all(core, at, mona_f16_from_f32((float)(HELD + l->begin)), AC_FRACTAL);
        dup_all(core, at + AC_BLOCK, mona_f16_from_f32((float)(HELD + l->end)), AC_FRACTAL);
    }
}

/* Of the numbers at x, to which HELD was added. */
typedef struct piece {
    ac_address x, sum, z, wide, wide_z;
    uint32_t count;
} piece;

static void add_polynomial(ac_core *core, const mona_polynomial *l, const float *c,
                           ac_address bounds, const piece *w, bool first)
{
    vec2_done(core, AC_VMAX, w->z, w->x, bounds, w->count, b_again);
    vec2_done(core, AC_VMIN, w->z, w->z, bounds + AC_BLOCK, w->count, b_again);
    vecs_done(core, AC_VADDS, w->z, w->z, -(float)(HELD + l->middle), w->count);
    vconv_done(core, AC_F16_F32, w->wide_z, w->z, w->count);
    vecs_done(core, AC_VMULS_F32, w->wide, w->wide_z, c[l->degree], w->count);
    for (uint32_t j = l->degree - 1u; j > 0; j--) {
        vecs_done(core, AC_VADDS_F32, w->wide, w->wide, c[j], w->count);
        vec2_done(core, AC_VMUL_F32, w->wide, w->wide, w->wide_z, w->count, side_by_side);
    }
    vecs_done(core, AC_VADDS_F32, w->wide, w->wide, c[0], w->count);
    vconv_done(core, AC_F32_F16, first ? w->sum : w->z, w->wide, w->count);
    if (first)
        return;
    vecs_done(core, AC_VADDS, w->z, w->z, -HELD, w->count);
    vec2_done(core, AC_VADD, w->sum, w->sum, w->z, w->count, side_by_side);
}

static void apply(ac_core *core, const mona_polynomials *p, ac_address bounds, const piece *w)
{
    const float *c = p->coefficients;
    vecs_done(core, AC_VADDS, w->x, w->x, HELD, w->count);
    if (!p->count)
        dup_done(core, w->sum, mona_f16_from_f32(p->start), w->count);
    for (uint32_t k = 0; k < p->count; c += p->at[k++].degree + 1)
        add_polynomial(core, &p->at[k], c, bounds + (uint64_t)k * 2 * AC_BLOCK, w, !k);
    vecs_done(core, AC_VADDS, w->x, w->sum, -HELD, w->count);
}

void mona_polynomials_apply(ac_core *core, const mona_polynomials *p, ac_address bounds,
                            ac_address work, ac_address x, uint32_t count)
{
    const size_t half = round_up(min_u32(count, PIECE), AC_FRACTAL) * sizeof(uint16_t);
    for (uint32_t done = 0; done < count; done += PIECE)
        apply(core, p, bounds,
              &(piece){.x = x + done * sizeof(uint16_t),
                       .sum = work,
                       .z = work + half,
                       .wide = work + 2 * half,
                       .wide_z = work + 4 * half,
                       .count = min_u32(count - done, PIECE)});
}
