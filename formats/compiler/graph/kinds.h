// SPDX-License-Identifier: Apache-2.0
/* What the compiler asks about a kind of node: its row of kinds.inc, which describes the
 * columns. */
#ifndef MONA_COMPILER_KINDS_H
#define MONA_COMPILER_KINDS_H

#include "formats/compiler/graph/graph.h"

typedef enum kind_format {
    FORMAT_OWN,
    FORMAT_SOURCE,
    FORMAT_JOINED,
    FORMAT_ARRAY,
    FORMAT_CONVERTED,
    FORMAT_TYPED,
} kind_format;

typedef enum kind_rounds {
    ROUNDS_STORES,
    ROUNDS_LIFTS,
    ROUNDS_PASS,
    ROUNDS_KEEPS,
} kind_rounds;

typedef enum kind_merges {
    MERGES_NOTHING,
    MERGES_EPILOGUE,
    MERGES_FILTER,
} kind_merges;

typedef enum kind_zero {
    ZERO_BIAS,
    ZERO_ANY,
    ZERO_SAME,
} kind_zero;

typedef enum kind_sums {
    SUMS_STORED,
    SUMS_REAL,
} kind_sums;

typedef enum kind_packs {
    PACKS_NOTHING,
    PACKS_PARTS,
    PACKS_BLOCKS,
} kind_packs;

struct lowering;

/* The part of a tensor that a STORE reads. On the way back from an output, depth-to-space may occur
 * once; slices before it select planes, slices after it channels. */
typedef struct stored {
    uint32_t value, first, block;
} stored;

/* Whether two nodes of the kind with the same inputs have the same parameters. Parameters that are
 * not known to be equal count as different. */
typedef bool kind_same(const graph *g, const graph_node *a, const graph_node *b);
/* NULL: node i was merged; else the reason why not. *rule: the rule for what was tried. */
typedef const char *kind_fuse(graph *g, uint32_t i, fusion_rule *rule);
/* [0] factors and [1] shifts of each channel. */
typedef void kind_gains(graph_node *node, float **gains[2]);
/* NULL: the STORE of *s reads what the node does; else the reason why not. *rule as above. */
typedef const char *kind_store(const graph *g, const graph_node *node, stored *s,
                               fusion_rule *rule);
typedef bool kind_lower(struct lowering *l, const graph_node *node);
/* The result where the inputs are x; NAN: channels differ. */
typedef double kind_at(const graph *g, const graph_node *node, const double *x);

typedef struct kind_row {
    kind_format format;
    kind_rounds rounds;
    kind_merges merges;
    kind_zero zero;
    kind_sums sums;
    kind_packs packs;
    kind_same *same;   /* NULL: never known to be */
    kind_fuse *fuse;   /* NULL: stays by itself */
    kind_gains *gains; /* NULL: nothing folds into it */
    kind_store *store; /* NULL: a STORE reads its result */
    kind_lower *lower; /* NULL: the passes remove it */
    kind_at *at;       /* NULL: depends on more than a sample of each input */
} kind_row;

const kind_row *kind_of(const graph_node *node);

/* Whether the node is a convolution: `conv` holds its filter. */
static inline bool kind_has_filter(const graph_node *node)
{
    return kind_of(node)->merges == MERGES_FILTER;
}

/* The functions of all kinds. There is no same_none, and so on. */
#define KIND(name, format, rounds, merges, zero, sums, packs, same, fuse, gains, store, lower, at) \
    kind_same same_##same;                                                                         \
    kind_fuse fuse_##fuse;                                                                         \
    kind_gains gains_##gains;                                                                      \
    kind_store store_##store;                                                                      \
    kind_lower lower_##lower;                                                                      \
    kind_at at_##at;
#include "formats/compiler/graph/kinds.inc"
#undef KIND

#endif
