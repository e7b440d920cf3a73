// SPDX-License-Identifier: Apache-2.0
/* Operators on arrays in the judge. */
#ifndef MONA_COMPILER_REFERENCE_ARRAY_H
#define MONA_COMPILER_REFERENCE_ARRAY_H

#include "formats/compiler/reference.h"

/* Runs one operator. in: constant inputs are not read from it. out->data has room. */
bool reference_array_node(const graph *g, const graph_node *node, const reference_array *const *in,
                          reference_array *out, format_error *error);

#endif
