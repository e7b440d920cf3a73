// SPDX-License-Identifier: Apache-2.0
#include "formats/element.h"

#include <math.h>

#include "engine/cpu/c/f16.h"

uint16_t half_from_double(double value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    if (isnan(value))
        return sign | 0x7e00;
    const double magnitude = fabs(value);
    if (magnitude >= 65504)
        return sign | 0x7bff;
    if (magnitude < 0x1p-14) /* subnormal: a multiple of 2^-24, up to 1024 */
        return sign | (uint16_t)nearbyint(magnitude * 0x1p24);
    int exponent;
    const double fraction = frexp(magnitude, &exponent); /* in [0.5, 1) */
    /* 2^11 * fraction is in [1024, 2048]; 2048 carries into the exponent by plain addition. */
    const int mantissa = (int)nearbyint(fraction * 2048);
    return sign | (uint16_t)(((exponent + 14) << 10) + (mantissa - 1024));
}

double half_value(uint16_t bits)
{
    return (double)mona_f32_from_f16(bits);
}
