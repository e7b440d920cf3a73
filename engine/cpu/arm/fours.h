// SPDX-License-Identifier: Apache-2.0
/* Vectors of 16 floats in four registers: what Advanced SIMD and Helium have in common. */
#ifndef MONA_ARM_FOURS_H
#define MONA_ARM_FOURS_H

typedef struct vf {
    float32x4_t a, b, c, d;
} vf;

#define EACH(x, operation)                                                                         \
    ((vf){operation((x).a), operation((x).b), operation((x).c), operation((x).d)})
#define BOTH(x, y, operation)                                                                      \
    ((vf){operation((x).a, (y).a), operation((x).b, (y).b), operation((x).c, (y).c),               \
          operation((x).d, (y).d)})
#define BOTH_OF_EACH(name, operation)                                                              \
    INLINE vf name(vf x, vf y)                                                                     \
    {                                                                                              \
        return BOTH(x, y, operation);                                                              \
    }

INLINE vf vf_set1(float x)
{
    const float32x4_t v = vdupq_n_f32(x);
    return (vf){v, v, v, v};
}

BOTH_OF_EACH(vf_add, vaddq_f32)
BOTH_OF_EACH(vf_mul, vmulq_f32)

#endif
