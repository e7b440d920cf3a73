// SPDX-License-Identifier: Apache-2.0
/* The instructions of AMX that amx.c uses. A tile is up to 16 rows of up to 64 bytes. `t`, `a` and
 * `b` are numbers of tiles, 0 to 7, written as such.
 *
 * The compilers' own functions do not say which memory they read. */
#ifndef MONA_AMX_TILES_H
#define MONA_AMX_TILES_H

#include <stddef.h>
#include <stdint.h>

/* Rows of each tile, and bytes of a row. As the instruction reads it. */
typedef struct tile_shapes {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_shapes;

_Static_assert(sizeof(tile_shapes) == 64, "the configuration of tiles");

#ifdef MONA_EMULATED_TILES
#include MONA_EMULATED_TILES /* a header with the macros below */
#else
#define TILES_STORE_SHAPES(shapes) __asm__ volatile("sttilecfg %0" : "=m"(*(shapes)))
#define TILES_LOAD_SHAPES(shapes) __asm__ volatile("ldtilecfg %0" : : "m"(*(shapes)))
/* Row i lies at p + i * stride. */
#define TILE_LOAD(t, p, stride)                                                                    \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #t : : "r"(p), "r"((size_t)(stride)) : "memory")
#define TILE_STORE(t, p, stride)                                                                   \
    __asm__ volatile("tilestored %%tmm" #t ", (%0,%1,1)"                                           \
                     :                                                                             \
                     : "r"(p), "r"((size_t)(stride))                                               \
                     : "memory")
/* Adds to each s32 of t the products of rows of a with columns of b, four bytes at a time; bytes of
 * a are unsigned or signed, those of b signed. */
#define TILE_DOT_U8(t, a, b) __asm__ volatile("tdpbusd %tmm" #b ", %tmm" #a ", %tmm" #t)
#define TILE_DOT_S8(t, a, b) __asm__ volatile("tdpbssd %tmm" #b ", %tmm" #a ", %tmm" #t)
#endif

#endif
