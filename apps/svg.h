/* Bits of SVG that pictures share. */
#ifndef MONA_SVG_H
#define MONA_SVG_H

#include <stdio.h>

/* Text between tags or in an attribute: names come from files anybody may have written. */
void svg_text(FILE *f, const char *text);

#endif
