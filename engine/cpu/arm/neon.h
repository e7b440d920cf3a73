// SPDX-License-Identifier: Apache-2.0
/* Row programs that the NEON instruction sets share. Private to engine/cpu. */
#ifndef AC_NEON_H
#define AC_NEON_H

#include "engine/cpu/cpu.h"

void ac_neon_pack_row(const ac_pack_row *p);
void ac_neon_unpack_row(const ac_unpack_row *u);
void ac_neon_resize_row(const ac_resize_row *r);
void ac_neon_elementwise_row(const ac_elementwise_row *e);
void ac_neon_function_row(const ac_function_row *f);
void ac_neon_normalise_row(const ac_normalise_row *n);
void ac_neon_attention_row(const ac_attention_row *a);
void ac_neon_luma_row(const ac_luma_row *r);
void ac_neon_chroma_row(const ac_chroma_row *r);

#endif
