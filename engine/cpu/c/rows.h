// SPDX-License-Identifier: Apache-2.0
/* Row kernels in portable C: the table of C. Other instruction sets also use them for shapes that
 * are not worth a special path. Private to engine/cpu. */
#ifndef AC_ROWS_H
#define AC_ROWS_H

#include "engine/cpu/cpu.h"

void ac_c_conv_row(const ac_conv_row *row);
void ac_c_pack_row(const ac_pack_row *p);
void ac_c_unpack_row(const ac_unpack_row *u);
void ac_c_elementwise_row(const ac_elementwise_row *e);
void ac_c_resize_row(const ac_resize_row *r);

void ac_c_luma_row(const ac_luma_row *r);
void ac_c_chroma_row(const ac_chroma_row *r);

#endif
