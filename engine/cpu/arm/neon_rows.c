// SPDX-License-Identifier: Apache-2.0
/* Row programs for ARMv8-A other than convolution. No later extension would make them faster. */
#include "engine/cpu/arm/neon_vector.h"
#include "engine/cpu/arm/neon_words.h"
#include "engine/cpu/arm/neon.h"
#include "engine/cpu/c/vector_curves.h"
#include "engine/cpu/c/vector_elementwise.h"
#include "engine/cpu/c/vector_functions.h"
#include "engine/cpu/c/vector_planes.h"
#include "engine/cpu/c/vector_resize.h"

void ac_neon_pack_row(const ac_pack_row *p)
{
    pack_row(p);
}

void ac_neon_unpack_row(const ac_unpack_row *u)
{
    unpack_row(u);
}

void ac_neon_resize_row(const ac_resize_row *r)
{
    resize_row(r);
}

void ac_neon_elementwise_row(const ac_elementwise_row *e)
{
    elementwise_row(e);
}

void ac_neon_function_row(const ac_function_row *f)
{
    function_row(f);
}

void ac_neon_luma_row(const ac_luma_row *r)
{
    luma_row(r);
}

void ac_neon_chroma_row(const ac_chroma_row *r)
{
    chroma_row(r);
}
