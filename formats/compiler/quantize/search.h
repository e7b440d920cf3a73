// SPDX-License-Identifier: Apache-2.0
/* Chooses between FP16 and INT8 layer by layer. */
#ifndef MONA_COMPILER_SEARCH_H
#define MONA_COMPILER_SEARCH_H

#include "formats/compiler/lower/layers.h"

/* See compiler_choose. options->int8 must be set. */
bool search_precision(graph *g, layers *l, const compiler_options *options,
                      const cost_target *target, double max_drop, const compiler_judge *judge,
                      compiler_choice *choice, format_error *error);

#endif
