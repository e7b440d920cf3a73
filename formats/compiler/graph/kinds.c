// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/graph/kinds.h"

#define same_none NULL
#define fuse_none NULL
#define gains_none NULL
#define store_none NULL
#define lower_none NULL
#define at_none NULL

static const kind_row rows[] = {
#define KIND(name, format, rounds, merges, zero, sums, packs, same, fuse, gains, store, lower, at) \
    {                                                                                              \
        FORMAT_##format, ROUNDS_##rounds, MERGES_##merges, ZERO_##zero,                            \
        SUMS_##sums,     PACKS_##packs,   same_##same,     fuse_##fuse,                            \
        gains_##gains,   store_##store,   lower_##lower,   at_##at},
#include "formats/compiler/graph/kinds.inc"
};

const kind_row *kind_of(const graph_node *node)
{
    return &rows[node->kind];
}
