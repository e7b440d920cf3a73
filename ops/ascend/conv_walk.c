// SPDX-License-Identifier: Apache-2.0
/* load3d along K. A filter's positions in a channel block, or one position in many channel blocks,
 * lie at equal steps in L1, so that one instruction brings many fractals of K for 16 pixels. Along
 * pixels an instruction brings many pixels for one fractal of K. The fewer pixels a row has, the
 * more the first one saves.
 *
 * Rows of the picture that load3d sees are what lies between two steps in L1: rows of a ring, or
 * channel blocks of a row. Pixels beyond the tile's last one read what lies behind them, so these
 * must be columns of the same rows of the ring: others may not have been written. Where a ring
 * wraps around, its rows are no picture, and programs of strips would differ; so only maps of few
 * rows are taken as pictures of rows. */
#include "ops/ascend/conv_instructions.h"

enum { MAX_COLUMNS = 32767, MAX_FILTER = 255 };

/* The first run that fractal i of a part's K belongs to, and where the fractal lies for pixel 0 of
 * the row. */
static uint32_t run_of(const program *p, uint32_t part, uint32_t i)
{
    return p->k->first_run[part] + i / p->k->run_fractals;
}

static ac_address fractal_at(const program *p, uint32_t part, uint32_t i)
{
    return p->row->runs[run_of(p, part, i)] + i % p->k->run_fractals * AC_BLOCK;
}

/* Where the row of the ring ends that fractal i lies in. */
static ac_address row_end(const program *p, uint32_t part, uint32_t i)
{
    const mona_conv_source *s = p->source;
    const uint32_t run = run_of(p, part, i);
    return p->row->runs[run] - s->before - run % s->row_runs * s->run_bytes +
           (s->blocks - run / s->block_runs) * s->block_stride;
}

/* Fractals of K from i on that lie side by side, or `dilation` columns apart. */
static uint32_t taps_from(const program *p, uint32_t part, uint32_t i, uint32_t most,
                          uint32_t *dilation)
{
    const uint32_t of_run = p->k->run_fractals - i % p->k->run_fractals;
    const uint32_t runs = p->source->row_runs - run_of(p, part, i) % p->source->row_runs;
    *dilation = 1;
    if (p->k->run_fractals > 1 || runs == 1)
        return min_u32(of_run, most);
    const size_t step = p->source->run_bytes;
    if (step % AC_BLOCK || step / AC_BLOCK > MAX_FILTER)
        return 1;
    *dilation = (uint32_t)(step / AC_BLOCK);
    return min_u32(runs, most);
}

/* Whether fractals [i, i + taps) are all of a kernel row. */
static bool is_whole_row(const program *p, uint32_t part, uint32_t i, uint32_t taps)
{
    return run_of(p, part, i) % p->source->row_runs == 0 && i % p->k->run_fractals == 0 &&
           taps == p->source->row_runs * p->k->run_fractals;
}

/* Rows of `taps` fractals from fractal i on that lie the same number of columns apart. */
static uint32_t rows_from(const program *p, uint32_t part, uint32_t i, uint32_t taps, uint32_t most,
                          uint32_t *columns)
{
    const ac_address first = fractal_at(p, part, i);
    uint32_t rows = 1;
    if (!is_whole_row(p, part, i, taps) || most < 2 * taps || !p->source->rows)
        return 1;
    const ac_address step = fractal_at(p, part, i + taps) - first;
    if (!step || step % AC_BLOCK || step / AC_BLOCK > MAX_COLUMNS)
        return 1;
    *columns = (uint32_t)(step / AC_BLOCK);
    while ((rows + 1) * taps <= most && fractal_at(p, part, i + rows * taps) == first + rows * step)
        rows++;
    return rows;
}

uint32_t mona_conv_walk(const program *p, const tile *t, uint32_t part, uint32_t i, uint32_t most,
                        mona_conv_walk_at *w)
{
    const uint32_t window = mona_conv_window_k(p->k, part);
    const size_t step = (size_t)p->k->column * p->k->step,
                 left = (size_t)t->x * p->conv->pixel_bytes;
    if (i >= window || step % AC_BLOCK || left % AC_BLOCK)
        return 0;
    const ac_address at = fractal_at(p, part, i);
    uint32_t dilation, columns = 0;
    most = min_u32(min_u32(most, window - i), AC_MAX_REPEAT);
    const uint32_t taps = taps_from(p, part, i, most, &dilation);
    const uint32_t stride = (uint32_t)(step / AC_BLOCK), column = (uint32_t)(left / AC_BLOCK);
    const uint32_t span = (taps - 1) * dilation + 1;
    /* Columns up to the last pixel, and up to the last of its fractal. */
    const uint32_t needed = column + (ceil_div_u32(t->pixels, p->k->pixels) - 1) * stride + span;
    const uint32_t read = column + (t->row_m1 * AC_FRACTAL - 1) * stride + span;
    uint32_t rows = rows_from(p, part, i, taps, most, &columns);
    for (; rows > 1; rows--) {
        const size_t before = (size_t)(rows - 1) * columns;
        const ac_address last = at + (before + min_u32(columns, read)) * AC_BLOCK;
        if (needed <= columns && last <= row_end(p, part, i + (rows - 1) * taps))
            break;
    }
    /* Where pixels share a filter, its last positions may lie beyond the row. */
    const ac_address end = row_end(p, part, i);
    if (rows == 1)
        columns = end > at ? (uint32_t)((end - at) / AC_BLOCK) : 0;
    columns = min_u32(columns, MAX_COLUMNS);
    if (at % AC_BLOCK || needed > columns || stride > MAX_STEP || column > MAX_COLUMNS)
        return 0;
    *w = (mona_conv_walk_at){at,
                             {.column = (uint16_t)column,
                              .columns = (uint16_t)columns,
                              .rows = (uint8_t)rows,
                              .stride = (uint8_t)stride,
                              .dilation = (uint8_t)dilation,
                              .c0 = (uint8_t)(AC_BLOCK / p->element),
                              .element = (uint8_t)p->element,
                              .repeat = (uint8_t)(taps * rows),
                              .jump = 1}};
    return taps * rows;
}

void mona_conv_load_along_k(const program *p, const tile *t, const mona_conv_walk_at *w,
                            ac_address l0a, size_t next)
{
    ac_load3d l = w->load;
    for (uint32_t m = 0; m < t->row_m1; m++) {
        l.column = (uint16_t)(w->load.column + m * AC_FRACTAL * l.stride);
        ac_emit_load3d(p->core, l0a + m * next, w->at, l);
    }
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* Cycles of MTE1 for the operands of part 0 in chunks of `chunk` fractals. */
static uint64_t cycles_along_k(const program *p, const tile *t, uint32_t chunk)
{
    const uint32_t all = mona_conv_sum_k(p->k, 0);
    mona_conv_walk_at w;
    uint64_t cycles = 0;
    for (uint32_t first = 0; first < all; first += chunk)
        for (uint32_t i = first, n; i < min_u32(first + chunk, all); i += n ? n : 1) {
            n = mona_conv_walk(p, t, 0, i, min_u32(first + chunk, all) - i, &w);
            cycles += n ? (uint64_t)t->row_m1 * (LOAD3D_HEAD + n) : LOAD3D_HEAD + t->row_m1;
        }
    return cycles;
}

bool mona_conv_prefers_k(const program *p, const tile *t, uint32_t *chunk)
{
    const uint32_t block = p->source->block_runs * p->k->run_fractals;
    const uint32_t whole = *chunk > block ? *chunk / block * block : *chunk;
    const uint64_t along_pixels = (uint64_t)mona_conv_sum_k(p->k, 0) * (LOAD3D_HEAD + t->row_m1);
    if (cycles_along_k(p, t, whole) >= along_pixels)
        return false;
    *chunk = whole;
    return true;
}
