// SPDX-License-Identifier: Apache-2.0
/* Row kernels in portable C: the table of C. Other instruction sets also use them for shapes that
 * are not worth a special path. Private to engine/cpu. */
#ifndef MONA_ROWS_H
#define MONA_ROWS_H

#include "engine/cpu/isa_table.h"
#include "engine/libc.h"

MONA_DECLARE_ISA(c)

/* Zeros channels after the last one in the last channel block of a row. */
static inline void mona_fill_up(const mona_row *r, uint32_t channels, uint32_t pixels)
{
    const size_t element = mona_type_size(r->type), used = channels % r->c0 * element;
    uint8_t *p = r->data + channels / r->c0 * r->block_stride;
    for (uint32_t x = 0; x < pixels && used; x++, p += r->c0 * element)
        memset(p + used, 0, r->c0 * element - used);
}

/* Gives a file's function conv_row, pack_row, ... the name ac_<isa>_conv_row, ..., by which a
 * program may be linked with this function and no other of the table. */
#define MONA_NAMED(isa, row)                                                                       \
    void mona_##isa##_##row(const mona_##row *r);                                                  \
    void mona_##isa##_##row(const mona_##row *r)                                                   \
    {                                                                                              \
        row(r);                                                                                    \
    }
#define MONA_FIELD(row, whose) .row = mona_##whose##_##row,
#define MONA_TABLE_OF(table, isa, depthwise, rows, curves, ...)                                    \
    const mona_isa table = {.name = #isa,                                                          \
                            .luma_row = mona_##curves##_luma_row,                                  \
                            .chroma_row = mona_##curves##_chroma_row,                              \
                            MONA_ISA_KERNELS(MONA_FIELD, isa, depthwise, rows) __VA_ARGS__}
/* MONA_TABLE_OF with its list expanded. */
#define MONA_TABLE_FROM(table, isa, ...) MONA_TABLE_OF(table, isa, __VA_ARGS__)
/* The table of an instruction set. */
#define MONA_TABLE(isa) MONA_TABLE_FROM(mona_isa_##isa, isa, MONA_ISA_##isa)
/* All of an instruction set, and its table. */
#define MONA_NAMED_ISA(isa)                                                                        \
    MONA_NAMED(isa, conv_row)                                                                      \
    MONA_NAMED(isa, depthwise_row)                                                                 \
    MONA_NAMED(isa, pack_row)                                                                      \
    MONA_NAMED(isa, unpack_row)                                                                    \
    MONA_NAMED(isa, resize_row)                                                                    \
    MONA_NAMED(isa, elementwise_row)                                                               \
    MONA_NAMED(isa, function_row)                                                                  \
    MONA_NAMED(isa, normalise_row)                                                                 \
    MONA_NAMED(isa, attention_row)                                                                 \
    MONA_NAMED(isa, fold_row)                                                                      \
    MONA_NAMED(isa, luma_row)                                                                      \
    MONA_NAMED(isa, chroma_row)                                                                    \
    MONA_TABLE(isa)

#endif
