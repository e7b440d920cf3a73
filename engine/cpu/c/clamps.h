// SPDX-License-Identifier: Apache-2.0
/* Epilogues that consist of clamps only, as nearly all do. */
#ifndef MONA_CLAMPS_H
#define MONA_CLAMPS_H

#include "engine/cpu/cpu.h"
#include "engine/model_format.h"

/* Without a PReLU and an output scale, everything between the roundings to fp16 is a clamp: the
 * activation, the saturation of fp16, and for bytes the saturation of the result. Limits are fp16
 * values. Rounding to fp16 is monotonic and leaves fp16 values as they are, and rounding to
 * integers leaves the limits of bytes as they are. So clamps may be merged, and moved before a
 * rounding. stage[0] applies to the scaled accumulator; with a residual, stage[1] applies to the
 * sum. */
typedef struct clamp {
    float low, high;
} clamp;

typedef struct clamps {
    bool possible, add;
    bool before_scale; /* all but the output scale is clamps, without the saturation for bytes */
    clamp stage[2];
    bool tame;  /* INT8: subnormals of fp16 make no difference, see avx512_epilogue.h */
    bool plain; /* tame, with small sums, and saturating the integers does the same as the clamps,
                   but for stage[0].low where there are two stages */
} clamps;

static void narrow(clamp *c, float low, float high)
{
    c->low = c->low > low ? c->low : low;
    c->low = c->low < high ? c->low : high;
    c->high = c->high > low ? c->high : low;
    c->high = c->high < high ? c->high : high;
}

/* Whether CLIP gives the same zeros before a rounding to fp16 as after it. Its results are max(t,
 * clip_min) and then min(t, clip_max), of two zeros the second. With +0 below, all of what is not
 * positive becomes +0 either way. With -0 below, or a zero above, what rounds to another zero would
 * be one or the other. */
static bool clip_commutes(const mona_epilogue *e)
{
    const float minus = -0.0f;
    return e->clip_max != 0 && memcmp(&e->clip_min, &minus, sizeof minus);
}

static bool same_clamp(clamp a, clamp b)
{
    return a.low == b.low && a.high == b.high;
}

/* Sets tame and plain; clamps_of() has set the rest. */
static void find_tame(clamps *c, const mona_conv_row *row)
{
    const mona_epilogue *e = &row->conv->epilogue;
    const clamp type = row->output.type == MONA_U8 ? (clamp){0, 255} : (clamp){-128, 127};
    c->tame = c->possible && e->scale && row->output.type != MONA_F16 &&
              (!c->add || (row->residual.type != MONA_F16 && e->residual_scale >= -64 &&
                           e->residual_scale <= 64));
    c->plain = c->tame && row->conv->small_sums && same_clamp(c->stage[c->add], type) &&
               (!c->add || c->stage[0].high == 65504);
}

static clamps clamps_of(const mona_conv_row *row)
{
    const mona_epilogue *e = &row->conv->epilogue;
    const uint8_t activations[2] = {e->activation, e->activation_after_add};
    clamps c = {.before_scale = true, .add = e->add, .stage = {{-65504, 65504}, {-65504, 65504}}};
    for (int i = 0; i < 2; i++) {
        clamp *stage = &c.stage[e->add ? i : 0];
        if (activations[i] == MONA_ACT_RELU)
            narrow(stage, 0, 65504);
        else if (activations[i] == MONA_ACT_CLIP)
            narrow(stage, e->clip_min, e->clip_max);
        /* The sign of a zero would show in an fp16 result or summand. */
        if (activations[i] == MONA_ACT_PRELU ||
            (activations[i] == MONA_ACT_CLIP && !clip_commutes(e) &&
             (e->add || row->output.type == MONA_F16)))
            c.before_scale = false;
    }
    c.possible = c.before_scale && e->output_scale == 1;
    if (c.possible && row->output.type == MONA_U8)
        narrow(&c.stage[e->add], 0, 255);
    else if (c.possible && row->output.type == MONA_S8)
        narrow(&c.stage[e->add], -128, 127);
    find_tame(&c, row);
    return c;
}

#endif
