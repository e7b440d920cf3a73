// SPDX-License-Identifier: Apache-2.0
/* Row kernels in portable C: the table of C. Other instruction sets also use them for shapes that
 * are not worth a special path. Private to engine/cpu. */
#ifndef AC_ROWS_H
#define AC_ROWS_H

#include "engine/cpu/isa_table.h"
#include "engine/libc.h"

AC_DECLARE_ISA(c)

/* Zeros channels after the last one in the last channel block of a row. */
static inline void ac_fill_up(const ac_row *r, uint32_t channels, uint32_t pixels)
{
    const size_t element = mona_type_size(r->type), used = channels % r->c0 * element;
    uint8_t *p = r->data + channels / r->c0 * r->block_stride;
    for (uint32_t x = 0; x < pixels && used; x++, p += r->c0 * element)
        memset(p + used, 0, r->c0 * element - used);
}

/* Gives a file's function conv_row, pack_row, ... the name ac_<isa>_conv_row, ..., by which a
 * program may be linked with this function and no other of the table. */
#define AC_NAMED(isa, row)                                                                         \
    void ac_##isa##_##row(const ac_##row *r);                                                      \
    void ac_##isa##_##row(const ac_##row *r)                                                       \
    {                                                                                              \
        row(r);                                                                                    \
    }
#define AC_FIELD(row, whose) .row = ac_##whose##_##row,
#define AC_TABLE_OF(table, isa, depthwise, rows, curves, ...)                                      \
    const ac_isa table = {.name = #isa,                                                            \
                          .luma_row = ac_##curves##_luma_row,                                      \
                          .chroma_row = ac_##curves##_chroma_row,                                  \
                          AC_ISA_KERNELS(AC_FIELD, isa, depthwise, rows) __VA_ARGS__}
/* AC_TABLE_OF with its list expanded. */
#define AC_TABLE_FROM(table, isa, ...) AC_TABLE_OF(table, isa, __VA_ARGS__)
/* The table of an instruction set. */
#define AC_TABLE(isa) AC_TABLE_FROM(ac_isa_##isa, isa, AC_ISA_##isa)
/* All of an instruction set, and its table. */
#define AC_NAMED_ISA(isa)                                                                          \
    AC_NAMED(isa, conv_row)                                                                        \
    AC_NAMED(isa, depthwise_row)                                                                   \
    AC_NAMED(isa, pack_row)                                                                        \
    AC_NAMED(isa, unpack_row)                                                                      \
    AC_NAMED(isa, resize_row)                                                                      \
    AC_NAMED(isa, elementwise_row)                                                                 \
    AC_NAMED(isa, function_row)                                                                    \
    AC_NAMED(isa, normalise_row)                                                                   \
    AC_NAMED(isa, attention_row)                                                                   \
    AC_NAMED(isa, fold_row)                                                                        \
    AC_NAMED(isa, luma_row)                                                                        \
    AC_NAMED(isa, chroma_row)                                                                      \
    AC_TABLE(isa)

#endif
