// SPDX-License-Identifier: Apache-2.0
/* Row programs for ARMv8-A with dot products (FEAT_DotProd). */
#include "engine/cpu/arm/neon_vector.h"
#include "engine/cpu/arm/neon_depthwise.h"
#include "engine/cpu/arm/neon_lanes.h"

INLINE void block(const job *j, const mona_type type, const uint32_t pixels, const uint32_t quads,
                  const size_t pixel_bytes, uint32_t x, int32_t *to)
{
    block_by_lanes(j, type, pixels, quads, pixel_bytes, x, to);
}

static void conv_tile(const job *j, uint32_t x, uint32_t count, int32_t *acc)
{
    if (j->conv->source_type == MONA_F16)
        tile_by_lanes(j, MONA_F16, x, count, acc);
    else
        tile_by_lanes(j, MONA_U8, x, count, acc);
}

static void conv_row(const mona_conv_row *row)
{
    static const mona_isa scatter_by = {.unpack_row = mona_neon_unpack_row};
    conv_any(row, &scatter_by);
}

MONA_NAMED(dotprod, conv_row)
MONA_NAMED(dotprod, depthwise_row)

MONA_TABLE(dotprod);
