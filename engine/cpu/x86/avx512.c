// SPDX-License-Identifier: Apache-2.0
/* Row programs for AVX-512 with VNNI. */
#include "engine/cpu/x86/avx512_vector.h"
#include "engine/cpu/x86/avx512_words.h"
#include "engine/cpu/c/vector_curves.h"
#include "engine/cpu/c/vector_elementwise.h"
#include "engine/cpu/c/vector_fold.h"
#define ATTENTION_QUERIES 4
#include "engine/cpu/c/vector_attention.h"
#include "engine/cpu/c/vector_functions.h"
#include "engine/cpu/c/vector_normalise.h"
#include "engine/cpu/c/vector_planes.h"
#include "engine/cpu/c/vector_resize.h"
#include "engine/cpu/x86/x86_conv.h"

#include "engine/cpu/x86/avx512_epilogue.h"
#include "engine/cpu/x86/avx512_int8.h"
#include "engine/cpu/x86/avx512_f16.h"
#include "engine/cpu/x86/avx512_edges.h"
#include "engine/cpu/x86/avx512_depthwise.h"
#include "engine/cpu/x86/avx512_planar.h"
#include "engine/cpu/x86/avx512_narrow_results.h"
#include "engine/cpu/x86/avx512_narrow.h"
#include "engine/cpu/x86/avx512_spare.h"

/* ---- the table ------------------------------------------------------------------------------ */

static void run_blocks(job *j, uint32_t blocks)
{
    _Alignas(64) int32_t start[2][AC_FRACTAL];
    const bool half = j->conv->source_type == MONA_F16;
    clamps limits;
    if (j->conv->halves) {
        f16_single(j, blocks);
        return;
    }
    if (!half)
        int8_prepare(j, blocks, &limits, start);
    if (edge_run_blocks(j, blocks) || planar_run(j, blocks) || spare_run(j, blocks))
        return;
    if (half && blocks == 2)
        f16_pair(j);
    else if (half)
        f16_one(j);
    else
        int8_run(j, blocks);
}

static const mona_isa scatter_by = {.unpack_row = unpack_row};

static void conv_row(const mona_conv_row *row)
{
    if (!row->edges && narrow_possible(row))
        conv_narrow(row, &scatter_by);
    else if (row->conv->source_type == MONA_S8)
        conv_flipped(row, &scatter_by);
    else
        conv_pixels(row, &scatter_by, 0, row->pixels);
}

static void depthwise_row(const mona_depthwise_row *row)
{
    _Alignas(64) int32_t start[2][AC_FRACTAL];
    const clamps limits = clamps_of(row);
    clamps used;
    for (uint32_t n = 0; n < row->conv->blocks; n++) {
        job j = job_of(row, &limits, n);
        j.out[0] = row->output.data + n * row->output.block_stride;
        j.pixels = row->pixels;
        if (row->conv->source_type != MONA_F16)
            int8_prepare(&j, 1, &used, start);
        depthwise_run(&j);
    }
}

MONA_NAMED_ISA(avx512);
MONA_TABLE_FROM(mona_isa_avx512_spare, avx512, MONA_ISA_avx512, .spare_ports = true);
