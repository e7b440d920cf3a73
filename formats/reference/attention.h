// SPDX-License-Identifier: Apache-2.0
/* What an Attention asks for. */
#ifndef MONA_REFERENCE_ATTENTION_H
#define MONA_REFERENCE_ATTENTION_H

#include "formats/reference/call.h"

/* Queries, keys and values. */
typedef struct op_heads {
    int64_t batch, heads, rows, size; /* rows may be open, -1 */
} op_heads;

typedef struct op_attending {
    op_heads part[3];
    double scale; /* of the products of queries and keys */
} op_attending;

/* Fails if it is more than attention alone: with a mask, earlier keys, or limits. */
bool op_attention_read(op_call *c, op_attending *a);

#endif
