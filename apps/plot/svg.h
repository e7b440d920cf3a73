// SPDX-License-Identifier: Apache-2.0
/* Small pieces of SVG that plots share. */
#ifndef MONA_SVG_H
#define MONA_SVG_H

#include <stdio.h>

/* Writes text between tags or in an attribute, escaped: names come from files that anybody may have
 * written. */
void svg_text(FILE *f, const char *text);

/* 1, 2 or 5 times a power of ten, such that a span has about `ticks` of them. */
double svg_step(double span, double ticks);

#endif
