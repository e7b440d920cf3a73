/* One output row of a convolution as an AI Core program: tiles and the cube. conv_finish.c has the
 * vector work.
 *
 * A tile is m = 16 * m1 pixels of one group of blocks of 16 outputs (those which are stored
 * together, ac_scatter_group). m1 is as large as half of L0A, half of L0C and UB allow: a load3d
 * takes the scalar unit longer to issue than MTE1 needs for 32 fractals, so it should move many.
 * The tiles of a row are of equal size, but for rounding. K, counted in fractals, is cut into
 * chunks that fill half of L0A, so that MTE1 fills one half while the cube works on the other;
 * every chunk meets the weights of all blocks of the group, which share their A. The weights of a
 * group stay in L0B for all of its tiles if they fit; else they come in chunks as well. L0C has two
 * halves, and a tile's vector work is issued after the next tile's cube work, so that V and M
 * overlap; the residual is fetched before the cube's operands for the same reason.
 *
 * L0A: [half][m1][chunk fractals]. L0B: [block][fractals], or [half][block][chunk fractals]. L0C:
 * [half][block][m1].
 * Flags, event h or slot for half h of what they guard:
 *   MTE1 -> M  h: operands are loaded           M -> MTE1 h: they were used; 2: all of L0B was
 *   V -> M  slot: the bias is in L0C            M -> V slot: the sums are
 *   MTE1 -> V slot: the residual is in UB, 2: constants are     V -> MTE1 slot: the residual was
 * used V -> MTE3 0: a result is in UB              MTE3 -> V 0: it was stored V -> S, S -> V 0: the
 * scalar unit's turn A flag that guards a buffer's reuse is set once beforehand and awaited once at
 * the end, so that every set has its wait. */
#include "conv_instructions.h"

enum { MAX_JUMP = 127, MAX_COLUMNS = 32767 /* of the row a load3d reads */ };

/* ---- sizes ---------------------------------------------------------------------------------- */

static uint32_t k_fractals(const program *p, uint32_t n)
{
    return p->conv->run_count[n] * p->run_fractals;
}

static uint32_t most_fractals(const program *p)
{
    uint32_t most = 0;
    for (uint32_t n = 0; n < p->conv->blocks; n++)
        most = k_fractals(p, n) > most ? k_fractals(p, n) : most;
    return most;
}

/* Pixels are a stride apart; rounding an address down adds at most 31 columns of a byte. */
static uint32_t fractals_in_columns(const ac_conv *c)
{
    const uint32_t taken = c->run_elements[0] / c->c0 + AC_BLOCK;
    const uint32_t pixels = taken < MAX_COLUMNS ? (MAX_COLUMNS - taken) / c->stride : 0;
    return pixels < AC_FRACTAL ? 1 : pixels / AC_FRACTAL;
}

static void choose_tile(program *p)
{
    const ac_target *t = p->core->target;
    const uint32_t l0a = t->l0a_bytes / HALVES / p->fractal_bytes;
    const uint32_t l0b = t->l0b_bytes / p->fractal_bytes, most = most_fractals(p);
    const size_t constants = mona_conv_place_buffers(p, 0);
    const size_t of_fractal = mona_conv_place_buffers(p, 1) - constants;
    const uint32_t fractals = (p->row->pixels + AC_FRACTAL - 1) / AC_FRACTAL;
    p->m1 = at_most(l0a, t->l0c_bytes / HALVES / C_FRACTAL_BYTES / p->group);
    p->m1 = at_most(p->m1, (uint32_t)((t->ub_bytes - constants) / of_fractal));
    p->m1 = at_most(p->m1, fractals_in_columns(p->conv));
    const uint32_t tiles = (fractals + p->m1 - 1) / p->m1;
    p->m1 = (fractals + tiles - 1) / tiles;
    p->weights_stay = p->group * most <= l0b;
    p->chunk = at_most(at_most(l0a / p->m1, most), at_most(MAX_JUMP, AC_MAX_MKN / p->fractal_k));
    if (!p->weights_stay)
        p->chunk = at_most(p->chunk, l0b / HALVES / p->group);
    mona_conv_place_buffers(p, p->m1);
}

/* ---- cube ----------------------------------------------------------------------------------- */

/* Fractal i of the K of block n. The row's address is rounded down to a block of 32 bytes, which
 * makes some more columns precede the first. */
static void load_a_fractal(const program *p, const tile *t, uint32_t n, uint8_t *l0a, uint32_t i,
                           uint32_t jump)
{
    const ac_conv *c = p->conv;
    const uint32_t run = i / p->run_fractals, f = i % p->run_fractals, column = c->c0 * p->element;
    const uint8_t *src = p->row->runs[c->first_run[n] + run] + (size_t)t->x * c->pixel_bytes;
    const uint32_t beyond = (uint32_t)((uintptr_t)src % AC_BLOCK);
    const uint32_t before = beyond % column ? 0 : beyond / column;
    const ac_load3d l = {
        .column = (uint16_t)(f * p->fractal_k / c->c0 + before),
        .columns = (uint16_t)((t->pixels - 1) * c->stride + c->run_elements[0] / c->c0 + before),
        .stride = (uint8_t)c->stride,
        .dilation = 1, /* a run's columns are neighbours */
        .c0 = (uint8_t)c->c0,
        .element = (uint8_t)p->element,
        .repeat = (uint8_t)((t->pixels + AC_FRACTAL - 1) / AC_FRACTAL),
        .jump = (uint8_t)jump,
    };
    p->isa->load3d(p->core, l0a, src - (size_t)before * column, &l);
}

static const uint8_t *weights_of(const program *p, uint32_t n)
{
    return p->conv->weights + p->conv->weights_offset[n];
}

/* All weights of the tile's group, once the cube has done with the last group's. */
static void load_group_weights(program *p, const tile *t)
{
    const size_t block = (size_t)most_fractals(p) * p->fractal_bytes;
    if (!p->weights_stay || p->l0b_first == t->first)
        return;
    p->l0b_first = t->first;
    sync(p, AC_PIPE_M, AC_PIPE_MTE1, 2);
    for (uint32_t n = t->first; n < t->end; n++)
        p->isa->load2d(p->core, p->core->l0b + (n - t->first) * block, weights_of(p, n),
                       k_fractals(p, n));
}

/* Where in L0B the weights of block n from K fractal `first` on are, after loading them if need be.
 */
static const uint8_t *chunk_weights(const program *p, const tile *t, uint32_t n, uint32_t first,
                                    uint32_t count)
{
    const size_t fractal = p->fractal_bytes;
    if (p->weights_stay)
        return p->core->l0b + ((size_t)(n - t->first) * most_fractals(p) + first) * fractal;
    uint8_t *b = p->core->l0b + p->half * (p->core->target->l0b_bytes / HALVES) +
                 (n - t->first) * p->chunk * fractal;
    p->isa->load2d(p->core, b, weights_of(p, n) + first * fractal, count);
    return b;
}

static ac_mad mad_type(mona_type source)
{
    return source == MONA_F16  ? AC_MAD_F32F16F16
           : source == MONA_S8 ? AC_MAD_S32S8S8
                               : AC_MAD_S32U8S8;
}

/* K fractals [first, first + count) of blocks [n, end), which read the same runs. */
static void multiply_chunk(program *p, const tile *t, uint32_t n, uint32_t end, uint32_t first,
                           uint32_t count)
{
    const uint32_t h = p->half;
    const uint8_t *b[AC_MAX_GROUP];
    uint8_t *a = p->core->l0a + h * (p->core->target->l0a_bytes / HALVES);
    p->isa->wait_flag(p->core, AC_PIPE_M, AC_PIPE_MTE1, (ac_event)h);
    for (uint32_t i = 0; i < count; i++)
        load_a_fractal(p, t, n, a + i * p->fractal_bytes, first + i, count);
    for (uint32_t o = n; o < end; o++)
        b[o - n] = chunk_weights(p, t, o, first, count);
    sync(p, AC_PIPE_MTE1, AC_PIPE_M, h);
    for (uint32_t o = n; o < end; o++)
        p->isa->mmad(p->core, mad_type(p->conv->source_type), l0c_of(p, t, o), a, b[o - n],
                     t->pixels, count * p->fractal_k, AC_FRACTAL, false);
    p->isa->set_flag(p->core, AC_PIPE_M, AC_PIPE_MTE1, (ac_event)h);
    p->half ^= 1;
}

static bool same_runs(const ac_conv *c, uint32_t n, uint32_t o)
{
    return c->first_run[n] == c->first_run[o] && c->run_count[n] == c->run_count[o];
}

/* Bias, then every chunk of K, into the tile's half of L0C. */
static void start(program *p, const tile *t)
{
    mona_conv_load_constants(p, t);
    mona_conv_load_residual(p, t);
    for (uint32_t n = t->first; n < t->end; n++)
        p->isa->bias_l0c(p->core, l0c_of(p, t, n),
                         p->ub.bias + (size_t)(n % MAX_BATCH) * 2 * VECTOR, t->pixels, AC_FRACTAL);
    sync(p, AC_PIPE_V, AC_PIPE_M, t->slot);
    load_group_weights(p, t);
    for (uint32_t n = t->first, end; n < t->end; n = end) {
        for (end = n + 1; end < t->end && same_runs(p->conv, n, end);)
            end++;
        const uint32_t total = k_fractals(p, n);
        for (uint32_t first = 0; first < total; first += p->chunk)
            multiply_chunk(p, t, n, end, first, at_most(p->chunk, total - first));
    }
    p->isa->set_flag(p->core, AC_PIPE_M, AC_PIPE_V, (ac_event)t->slot);
}

/* ---- the row -------------------------------------------------------------------------------- */

/* Flags that say "free" before anything has used what they guard; and their last waits. */
static void guard_flags(const program *p, void (*flag)(ac_core *, ac_pipe, ac_pipe, ac_event))
{
    for (uint32_t h = 0; h < HALVES; h++) {
        flag(p->core, AC_PIPE_M, AC_PIPE_MTE1, (ac_event)h);
        if (p->conv->epilogue.add)
            flag(p->core, AC_PIPE_V, AC_PIPE_MTE1, (ac_event)h);
    }
    flag(p->core, AC_PIPE_MTE3, AC_PIPE_V, AC_EVENT0);
}

/* The tile after t: all pixels of all rows of a group before the next group, whose weights then are
 * not loaded again for every row; false: t was the last. */
static bool next_tile(const program *p, tile *t)
{
    t->slot ^= 1;
    t->x += t->pixels;
    if (t->x == p->rows->pixels) {
        t->x = 0;
        t->y++;
    }
    if (t->y == p->row_count) {
        t->y = 0;
        t->first = t->end;
        t->end = at_most(t->first + p->group, p->conv->blocks);
    }
    t->pixels = at_most(p->m1 * AC_FRACTAL, p->rows->pixels - t->x);
    return t->first < p->conv->blocks;
}

/* What start() and mona_conv_finish() work on. */
static const program *at_row_of(program *p, const tile *t)
{
    p->row = &p->rows[t->y];
    return p;
}

void ac_conv_rows_by_instructions(ac_core *core, const ac_conv_row *rows, uint32_t count)
{
    const ac_conv *c = rows->conv;
    program p = {.core = core,
                 .isa = core->isa,
                 .rows = rows,
                 .row_count = count,
                 .row = rows,
                 .conv = c,
                 .batch = MONA_NONE,
                 .l0b_first = MONA_NONE};
    p.element = (uint32_t)mona_type_size(c->source_type);
    p.fractal_k = p.element == 1 ? core->target->fractal_k_8bit : core->target->fractal_k_f16;
    p.fractal_bytes = AC_FRACTAL * p.fractal_k * p.element;
    p.run_fractals = (c->run_elements[0] + p.fractal_k - 1) / p.fractal_k; /* all runs are alike */
    p.group = ac_scatter_group(rows);
    p.joins = !rows->planes && rows->output.c0 == 2 * AC_FRACTAL && rows->output.type != MONA_F16;
    p.pairs = rows->planes && rows->planes->block == 2 && rows->output.type != MONA_F16 &&
              rows->planes->type == rows->output.type && rows->planes->maximum >= UINT8_MAX;
    choose_tile(&p);
    guard_flags(&p, p.isa->set_flag);
    tile current = {.end = at_most(p.group, c->blocks),
                    .pixels = at_most(p.m1 * AC_FRACTAL, rows->pixels)};
    tile next = current;
    start(&p, &current);
    for (bool more = true; more; current = next) {
        more = next_tile(&p, &next);
        if (more) {
            at_row_of(&p, &next);
            start(&p, &next);
        }
        mona_conv_finish(at_row_of(&p, &current), &current);
    }
    guard_flags(&p, p.isa->wait_flag);
}
