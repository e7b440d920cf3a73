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

/* Gives a file's function conv_row, pack_row, ... the name ac_<isa>_conv_row, ..., by which a
 * program may be linked with this function and no other of the table. */
#define AC_NAMED(isa, row)                                                                         \
    void ac_##isa##_##row(const ac_##row *r);                                                      \
    void ac_##isa##_##row(const ac_##row *r)                                                       \
    {                                                                                              \
        row(r);                                                                                    \
    }
/* All of an instruction set, and its table. */
#define AC_NAMED_ISA(isa, ...)                                                                     \
    AC_NAMED(isa, conv_row)                                                                        \
    AC_NAMED(isa, pack_row)                                                                        \
    AC_NAMED(isa, unpack_row)                                                                      \
    AC_NAMED(isa, resize_row)                                                                      \
    AC_NAMED(isa, elementwise_row)                                                                 \
    AC_NAMED(isa, luma_row)                                                                        \
    AC_NAMED(isa, chroma_row)                                                                      \
    const ac_isa ac_isa_##isa = {.name = #isa,                                                     \
                                 .conv_scratch = AC_SCRATCH,                                       \
                                 .conv_row = ac_##isa##_conv_row,                                  \
                                 .pack_row = ac_##isa##_pack_row,                                  \
                                 .unpack_row = ac_##isa##_unpack_row,                              \
                                 .resize_row = ac_##isa##_resize_row,                              \
                                 .elementwise_row = ac_##isa##_elementwise_row,                    \
                                 .luma_row = ac_##isa##_luma_row,                                  \
                                 .chroma_row = ac_##isa##_chroma_row,                              \
                                 __VA_ARGS__}

#endif
