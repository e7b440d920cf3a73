// SPDX-License-Identifier: Apache-2.0
/* IEEE binary16 as bits. */
#ifndef MONA_FORMAT_HALF_H
#define MONA_FORMAT_HALF_H

#include <stdint.h>

/* Rounds to nearest, halves to even; saturates at 65504, as the engine does; NaN stays NaN. */
uint16_t half_from_double(double value);

/* Exact. */
double half_value(uint16_t bits);

#endif
