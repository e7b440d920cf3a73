// SPDX-License-Identifier: Apache-2.0
/* Rows of fp16 that are added up, or of which the largest are kept. Included after a vector type,
 * see vector_rows.h. */
#ifndef MONA_VECTOR_FOLD_H
#define MONA_VECTOR_FOLD_H

#include "engine/cpu/c/vector_rows.h"

static void fold_row(const mona_fold_row *r)
{
    const uint8_t *from = r->source;
    uint8_t *to = r->to;
    if (r->count % LANES) {
        mona_c_fold_row(r);
        return;
    }
    float *sums = r->to;
    for (uint32_t i = 0; i < r->count && r->add; i += LANES, from += 2 * LANES, sums += LANES)
        vf_store(sums, vf_add(vf_load(sums), vf_f16(from)));
    for (uint32_t i = 0; i < r->count && !r->add; i += LANES, from += 2 * LANES, to += 2 * LANES)
        vf_to_f16(to, vf_max(vf_f16(to), vf_f16(from)));
}

#endif
