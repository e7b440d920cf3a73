/* IEEE binary16 as bits. */
#ifndef MONA_FORMAT_HALF_H
#define MONA_FORMAT_HALF_H

#include <stdint.h>

/* Round to nearest, halves to even; beyond 65504 saturates, as the engine does; a NaN gives a NaN.
 */
uint16_t half_from_double(double value);

/* Exact. */
double half_value(uint16_t bits);

#endif
