/* A fused graph -> a .mona model. */
#ifndef MONA_COMPILER_LOWER_H
#define MONA_COMPILER_LOWER_H

#include "compiler.h"

bool lower_graph(const graph *g, const compiler_options *options, uint8_t **bytes, size_t *size,
                 format_error *error);

#endif
