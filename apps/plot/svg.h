// SPDX-License-Identifier: Apache-2.0
/* Bits of SVG that pictures share. */
#ifndef MONA_SVG_H
#define MONA_SVG_H

#include <stdio.h>

/* Text between tags or in an attribute: names come from files anybody may have written. */
void svg_text(FILE *f, const char *text);

/* The 1, 2 or 5 times a power of ten that makes about `ticks` of a span. */
double svg_step(double span, double ticks);

#endif
