// SPDX-License-Identifier: Apache-2.0
/* Finds the chords of a table, each as long as possible, and applies them. chords.h explains
 * them. */
#include "ops/ascend/chords.h"

static float half(float x)
{
    return ac_f32_from_f16(ac_f16_from_f32(x));
}

static int32_t value_of(const uint8_t *table, mona_type type, uint32_t x)
{
    return type == MONA_S8 ? (int8_t)table[x] : table[x];
}

/* ---- finding -------------------------------------------------------------------------------- */

/* The sum after the chord is added for u. */
static float added(const mona_chord *l, float sum, uint32_t u)
{
    return half(sum + half(half((float)u + l->shift) * l->slope));
}

/* Whether the chord adds values[u] - values[0] for all u up to its length. At 0, which all lower
 * indices have, it must add nothing to any sum. */
static bool agrees(const mona_chord *l, const int32_t *values)
{
    const float below = half(half(l->shift) * l->slope);
    bool ok = below > -0.5f && below < 0.5f;
    for (uint32_t u = 0; u <= l->length && ok; u++)
        ok = added(l, (float)(HELD + values[0]), u) == (float)(HELD + values[u]);
    return ok;
}

/* The chord from values[0] on for `length` steps with a slope: its shift is the mean of the least
 * and the greatest that round to all values. */
static mona_chord with_slope(const int32_t *values, uint32_t length, float slope)
{
    float low = -0.5f, high = 0.5f;
    for (uint32_t u = 0; u <= length; u++) {
        const float rest = (float)(values[u] - values[0]) - slope * (float)u;
        low = rest - 0.5f > low ? rest - 0.5f : low;
        high = rest + 0.5f < high ? rest + 0.5f : high;
    }
    const float shift = slope != 0 ? (low + high) / 2 / slope : 0;
    return (mona_chord){.length = (uint8_t)length, .shift = half(shift), .slope = slope};
}

/* The slopes [low, high] with which a chord may pass within 1/2 of every value. */
typedef struct slopes {
    float low, high;
} slopes;

static void narrow(slopes *s, const int32_t *values, uint32_t end)
{
    for (uint32_t u = 0; u < end; u++) {
        const float rise = (float)(values[end] - values[u]), run = (float)(end - u);
        s->low = (rise - 1) / run > s->low ? (rise - 1) / run : s->low;
        s->high = (rise + 1) / run < s->high ? (rise + 1) / run : s->high;
    }
}

/* The longest chord from values[0] on, of at most `most` steps. One step always has one: its slope
 * is an integer. */
static mona_chord longest(const int32_t *values, uint32_t most)
{
    mona_chord best = {.length = 1, .slope = (float)(values[1] - values[0])};
    slopes s = {-CHORDS_TABLE, CHORDS_TABLE};
    for (uint32_t end = 1; end <= most; end++) {
        narrow(&s, values, end);
        if (s.low > s.high)
            break;
        const bool level = s.low <= 0 && s.high >= 0;
        const float tried[] = {0, half((s.low + s.high) / 2)};
        for (uint32_t i = level ? 0 : 1; i < 2; i++) {
            const mona_chord l = with_slope(values, end, tried[i]);
            best = agrees(&l, values) && end > best.length ? l : best;
        }
    }
    return best;
}

mona_chords mona_chords_of(const uint8_t table[CHORDS_TABLE], mona_type type)
{
    int32_t values[CHORDS_TABLE];
    mona_chords chords = {.count = 0};
    for (uint32_t x = 0; x < CHORDS_TABLE; x++)
        values[x] = value_of(table, type, x);
    chords.start = (float)(HELD + values[0]);
    for (uint32_t x = 0; x < CHORDS_MOST;) {
        mona_chord l = longest(&values[x], CHORDS_MOST - x);
        l.begin = (uint8_t)x;
        x += l.length;
        if (l.slope != 0)
            chords.chord[chords.count++] = l;
    }
    return chords;
}

/* ---- applying ------------------------------------------------------------------------------- */

/* Blocks of 16 equal numbers: 0, the last index, and the length of each chord. */
size_t mona_chords_block_bytes(const mona_chords *chords)
{
    return (size_t)(CHORDS_BLOCKS + chords->count) * AC_BLOCK;
}

void mona_chords_begin(ac_core *core, const mona_chords *chords, ac_address blocks)
{
    dup_all(core, blocks, 0, AC_FRACTAL, side_by_side);
    dup_all(core, blocks + AC_BLOCK, ac_f16_from_f32(CHORDS_MOST), AC_FRACTAL, side_by_side);
    for (uint32_t k = 0; k < chords->count; k++)
        dup_all(core, blocks + (CHORDS_BLOCKS + k) * AC_BLOCK,
                ac_f16_from_f32(chords->chord[k].length), AC_FRACTAL, side_by_side);
}

static void with_scalar(ac_core *core, ac_vecs op, ac_address to, ac_address from, float s,
                        uint32_t count)
{
    vecs_all(core, op, to, from, s, count, side_by_side);
    ac_emit_barrier(core, AC_PIPE_V);
}

static void with_block(ac_core *core, ac_vec2 op, ac_address at, ac_address block, uint32_t count)
{
    vec2_all(core, op, at, at, block, count, b_again);
    ac_emit_barrier(core, AC_PIPE_V);
}

static void add_chord(ac_core *core, const mona_chord *l, ac_address length,
                      const mona_chords_at *at, uint32_t count)
{
    with_scalar(core, AC_VADDS, at->u, at->x, -(float)l->begin, count);
    with_block(core, AC_VMAX, at->u, at->blocks, count);
    if (l->begin + l->length < CHORDS_MOST)
        with_block(core, AC_VMIN, at->u, length, count);
    if (l->shift != 0)
        with_scalar(core, AC_VADDS, at->u, at->u, l->shift, count);
    with_scalar(core, AC_VMULS, at->u, at->u, l->slope, count);
    vec2_all(core, AC_VADD, at->sum, at->sum, at->u, count, side_by_side);
    ac_emit_barrier(core, AC_PIPE_V);
}

void mona_chords_apply(ac_core *core, const mona_chords *chords, const mona_chords_at *at,
                       uint32_t count)
{
    with_block(core, AC_VMAX, at->x, at->blocks, count);
    with_block(core, AC_VMIN, at->x, at->blocks + AC_BLOCK, count);
    with_scalar(core, AC_VADDS, at->x, at->x, HELD, count);
    with_scalar(core, AC_VADDS, at->x, at->x, -HELD, count);
    dup_all(core, at->sum, ac_f16_from_f32(chords->start), count, side_by_side);
    ac_emit_barrier(core, AC_PIPE_V);
    for (uint32_t k = 0; k < chords->count; k++)
        add_chord(core, &chords->chord[k], at->blocks + (CHORDS_BLOCKS + k) * AC_BLOCK, at, count);
    with_scalar(core, AC_VADDS, at->x, at->sum, -HELD, count);
}
