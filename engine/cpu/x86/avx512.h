// SPDX-License-Identifier: Apache-2.0
/* Row programs that AMX shares with AVX-512. Private to engine/cpu. */
#ifndef AC_AVX512_H
#define AC_AVX512_H

#include "engine/cpu/cpu.h"

void ac_avx512_conv_row(const ac_conv_row *r);
void ac_avx512_depthwise_row(const ac_depthwise_row *r);
void ac_avx512_pack_row(const ac_pack_row *p);
void ac_avx512_unpack_row(const ac_unpack_row *u);
void ac_avx512_resize_row(const ac_resize_row *r);
void ac_avx512_elementwise_row(const ac_elementwise_row *e);
void ac_avx512_function_row(const ac_function_row *f);
void ac_avx512_normalise_row(const ac_normalise_row *n);
void ac_avx512_attention_row(const ac_attention_row *a);
void ac_avx512_luma_row(const ac_luma_row *r);
void ac_avx512_chroma_row(const ac_chroma_row *r);

#endif
