// SPDX-License-Identifier: Apache-2.0
/* The scalar epilogue, for the C row programs. */
#ifndef MONA_EPILOGUE_H
#define MONA_EPILOGUE_H

#include "engine/model_format.h"
#include "engine/cpu/cpu.h"
#include "engine/cpu/c/f16.h"

static inline float mona_activate(float t, uint8_t activation, const mona_epilogue *e, float slope)
{
    const float positive = t > 0 ? t : 0;
    switch ((mona_activation)activation) {
    case MONA_ACT_RELU:
        return positive;
    case MONA_ACT_PRELU: {
        const float negative = t < 0 ? t : 0;
        return mona_f16_round(positive + mona_f16_round(negative * slope));
    }
    case MONA_ACT_CLIP:
        t = t > e->clip_min ? t : e->clip_min;
        return t < e->clip_max ? t : e->clip_max;
    default: /* functions are applied by function_row() */
        break;
    }
    return t;
}

/* A stored element as a float; exact. */
static inline float mona_element(const uint8_t *p, mona_type type)
{
    uint16_t wide;
    switch (type) {
    case MONA_U8:
        return *p;
    case MONA_S8:
        return (int8_t)*p;
    case MONA_F16:
        memcpy(&wide, p, sizeof wide);
        return mona_f32_from_f16(wide);
    case MONA_U16:
        memcpy(&wide, p, sizeof wide);
        return wide;
    default: /* types that only arrays have */
        break;
    }
    return 0;
}

/* Rounds to the type and stores. Integers saturate to [0, maximum], S8 to its own range. */
static inline void mona_put_element(uint8_t *p, mona_type type, float t, uint32_t maximum)
{
    uint16_t wide;
    switch (type) {
    case MONA_U8:
        *p = (uint8_t)mona_saturate_round(t, 0, (float)maximum);
        break;
    case MONA_S8:
        *p = (uint8_t)mona_saturate_round(t, -128, 127);
        break;
    case MONA_F16:
        wide = mona_f16_from_f32(t);
        memcpy(p, &wide, sizeof wide);
        break;
    case MONA_U16:
        wide = (uint16_t)mona_saturate_round(t, 0, (float)maximum);
        memcpy(p, &wide, sizeof wide);
        break;
    default: /* types that only arrays have */
        break;
    }
}

#endif
