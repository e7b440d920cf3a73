// SPDX-License-Identifier: Apache-2.0
/* Flags of kernel_sums.h's tiles, an event for each of two buffers:
 *   MTE2 -> MTE1   rows are in L1          MTE1 -> MTE2   they have been used
 *   MTE3 -> MTE1   so are neighbours at both ends of rows
 *   MTE1 -> M      A is there              M -> MTE1      it has been used
 *   M -> V         C is complete           V -> M         it has been used
 *   V -> MTE3      results are complete    MTE3 -> V      they have been stored
 * and event 0, of neighbours: MTE2 -> V they are in UB, MTE3 -> MTE2 they have been copied to L1;
 * event 2 V -> MTE3: they may be; event 3 MTE3 -> MTE1: weights are in L1.
 */
#include "ops/ascend/kernel_sums.h"

#include "engine/array_format.h"
#include "engine/libc.h"
#include "ops/ascend/conv_packing.h"
#include "ops/ascend/ub.h"
#include "ops/ascend/vectors.h"

enum {
    COLUMN = 8, /* bytes: what load3d counts, and how far neighbours reach at most */
    WINDOW = AC_BLOCK,
    MOST_ROWS = 64,
    EDGES_READY = 2,
    WEIGHTS_READY = 3
};

/* ---- what is multiplied --------------------------------------------------------------------- */

static uint32_t result_of(const kernel_sums *k, const mona_kernel_step *s)
{
    /* Rows that need the same ones of the input are often next to each other in this order. */
    const uint32_t rows = k->out->cell_rows, row = (uint32_t)s->row;
    return s->plane * rows + (s->plane % 2 ? rows - 1 - row : row);
}

/* The sample of TERM: these come first. */
static const mona_kernel_step *sample_of(const kernel_sums *k, const mona_kernel_step *term)
{
    return &k->program->steps[term->a.index];
}

static int32_t row_of(const kernel_sums *k, const mona_kernel_step *sample)
{
    return floor_div_small(sample->row, k->image->cell_rows);
}

static uint32_t phase_of(const kernel_sums *k, const mona_kernel_step *sample)
{
    const int32_t rows = k->image->cell_rows;
    return (uint32_t)(sample->plane * rows + sample->row - row_of(k, sample) * rows);
}

static bool is_of(const kernel_sums *k, const kernel_source *source, const mona_kernel_step *s)
{
    return s->operation == MONA_KERNEL_TERM && phase_of(k, sample_of(k, s)) == source->phase &&
           row_of(k, sample_of(k, s)) == source->row;
}

/* What B has in a pass for a sample that counts `times`. Of 16 bits its lower byte counts `times`
 * in the first one, and the upper one 256 times that in all of them together. */
static uint32_t in_pass(const kernel_sums *k, int32_t times, uint32_t pass)
{
    int32_t left = 256 * times, part = 0;
    if (k->size == 1)
        return pass ? 0 : (uint8_t)times;
    for (uint32_t i = 0; i <= pass; i++, left -= part)
        part = left < INT8_MIN ? INT8_MIN : left > INT8_MAX ? INT8_MAX : left;
    return (uint32_t)(uint8_t)part << 8 | (pass ? 0 : (uint8_t)times);
}

/* Whether passes add up to what a sample counts. */
static bool times_ok(const kernel_sums *k, int32_t times)
{
    int32_t sum = 0;
    if (times < INT8_MIN || times > INT8_MAX)
        return false;
    for (uint32_t pass = 0; pass < KERNEL_PASSES; pass++)
        sum += (int8_t)(in_pass(k, times, pass) >> 8);
    return k->size == 1 || sum == 256 * times;
}

static bool same_place(const mona_kernel_step *a, const mona_kernel_step *b)
{
    return a->plane == b->plane && a->row == b->row && a->column == b->column;
}

/* All samples of the output are multiplied once, and of each term there is one. */
static bool terms_ok(const kernel_sums *k)
{
    uint32_t scales = 0;
    for (uint32_t i = 0; i < k->program->count && k->program->count <= KERNEL_STEPS; i++) {
        const mona_kernel_step *s = &k->program->steps[i];
        const bool term = s->operation == MONA_KERNEL_TERM;
        if (!term && s->operation != MONA_KERNEL_SCALE)
            continue;
        scales += !term;
        if (term && !times_ok(k, (int32_t)s->value))
            return false;
        for (const mona_kernel_step *t = k->program->steps; t < s; t++)
            if (s->operation == t->operation && same_place(s, t) &&
                (!term || same_place(sample_of(k, s), sample_of(k, t))))
                return false;
    }
    return scales == k->results * k->out->cell_columns;
}

static void find_phases(kernel_sums *k)
{
    k->phase_count = k->image->planes * k->image->cell_rows;
    for (uint32_t i = 0; i < k->program->count; i++) {
        const mona_kernel_step *s = &k->program->steps[i];
        if (s->operation != MONA_KERNEL_TERM)
            continue;
        const int32_t row = row_of(k, sample_of(k, s));
        kernel_phase *p = &k->phase[phase_of(k, sample_of(k, s))];
        const int32_t first = p->used && p->first < row ? p->first : row;
        const int32_t last = p->used && p->first + p->more > row ? p->first + p->more : row;
        p->first = (int16_t)first;
        p->more = (uint16_t)(last - first);
        p->used = true;
    }
}

/* Whether a result needs a product with the source in a pass. */
static bool needs(const kernel_sums *k, const kernel_source *source, uint32_t result, uint32_t pass)
{
    bool found = false;
    for (uint32_t i = 0; i < k->program->count; i++) {
        const mona_kernel_step *s = &k->program->steps[i];
        found |=
            is_of(k, source, s) && result_of(k, s) == result && in_pass(k, (int32_t)s->value, pass);
    }
    return found;
}

/* Results beside each other are multiplied together, if all of them or none are new. */
static bool find_products(kernel_sums *k, kernel_source *source, bool made[MONA_KERNEL_ROWS])
{
    source->first_product = (uint8_t)k->product_count;
    for (uint32_t pass = 0; pass < KERNEL_PASSES; pass++) {
        kernel_product *p = NULL;
        for (uint32_t r = 0; r < k->results; r++) {
            if (!needs(k, source, r, pass)) {
                p = NULL;
                continue;
            }
            if (!p || p->from_zero == made[r]) {
                if (k->product_count == KERNEL_PRODUCTS || k->weights > UINT8_MAX)
                    return false;
                p = &k->product[k->product_count++];
                *p = (kernel_product){(uint8_t)r, 0, (uint8_t)pass, (uint8_t)k->weights, !made[r]};
            }
            p->results++;
            k->weights += k->windows;
            made[r] = true;
        }
    }
    source->products = (uint8_t)(k->product_count - source->first_product);
    return true;
}

static bool find_sources(kernel_sums *k)
{
    bool made[MONA_KERNEL_ROWS] = {false}, ok = true;
    for (uint32_t i = 0; i < k->phase_count; i++)
        for (uint32_t more = 0; k->phase[i].used && more <= k->phase[i].more && ok; more++) {
            if (k->source_count == KERNEL_SOURCES)
                return false;
            kernel_source *source = &k->source[k->source_count];
            *source = (kernel_source){.phase = (uint8_t)i,
                                      .row = (int16_t)(k->phase[i].first + (int32_t)more)};
            ok = find_products(k, source, made);
            k->source_count += source->products > 0;
        }
    for (uint32_t r = 0; r < k->results; r++)
        ok = ok && made[r];
    return ok && k->weights <= k->bound->target->l0b_bytes / FRACTAL_BYTES;
}

/* ---- tiles ---------------------------------------------------------------------------------- */

static uint32_t raw_bytes(const kernel_sums *k)
{
    return k->results * k->fractals * AC_FRACTAL * AC_FRACTAL;
}

/* Bytes of one place of C's in a row of the input. */
static uint32_t place_bytes(const kernel_sums *k)
{
    return AC_FRACTAL * k->size;
}

/* Behind a phase's rows: the last fractal, and windows, may reach further. */
static uint32_t beyond_rows(const kernel_sums *k)
{
    return k->fractals * AC_FRACTAL * place_bytes(k) + 2 * AC_BLOCK - k->rows * k->pitch;
}

static bool lay_out(kernel_sums *k)
{
    const ac_target *target = k->bound->target;
    ac_address at = ac_at(AC_UB, 0);
    k->fractals = ceil_div_u32(k->rows * k->places, AC_FRACTAL);
    k->half_bytes = k->all_rows = 0;
    for (uint32_t i = 0; i < k->phase_count; i++) {
        kernel_phase *p = &k->phase[i];
        p->at = k->half_bytes;
        p->rows = k->all_rows;
        k->all_rows += p->used ? k->rows + p->more : 0;
        k->half_bytes += p->used ? (k->rows + p->more) * k->pitch + beyond_rows(k) : 0;
    }
    k->l1_bytes = 2 * k->half_bytes + k->weights * FRACTAL_BYTES;
    const uint32_t edge_bytes = (uint32_t)round_up(k->all_rows, AC_FRACTAL) * AC_BLOCK;
    k->uniform = take(&at, (size_t)k->program->uniform * AC_BLOCK);
    k->spare = take(&at, AC_BLOCK);
    k->scales = take(&at, (size_t)k->results * AC_BLOCK);
    k->masks = take(&at, (size_t)k->out->cell_columns * AC_BLOCK);
    k->edges[0] = take(&at, edge_bytes);
    k->edges[1] = take(&at, edge_bytes);
    k->halves = take(&at, max_u32(k->most * FRACTAL_BYTES, edge_bytes));
    k->raw[0] = at;
    k->raw[1] = at + raw_bytes(k);
    at += max_u32(2 * raw_bytes(k), k->weights * FRACTAL_BYTES + beyond_rows(k));
    k->ub_bytes = (uint32_t)ac_offset_of(at);
    return ac_offset_of(at) <= ub_room(target) && k->l1_bytes <= target->l1_bytes / 4 * 3;
}

/* As many rows as fit, and all tiles of about as many. */
static bool choose_rows(kernel_sums *k)
{
    const ac_target *target = k->bound->target;
    const uint32_t all = k->end - k->begin;
    k->most = min_u32(target->l0a_bytes / 2 / FRACTAL_BYTES / k->windows,
                      target->l0c_bytes / 2 / C_FRACTAL_BYTES / k->results);
    for (k->rows = min_u32(all, MOST_ROWS); k->rows && !lay_out(k);)
        k->rows--;
    if (!k->rows || !k->most)
        return false;
    k->most_l1_bytes = k->l1_bytes;
    k->rows = ceil_div_u32(all, ceil_div_u32(all, k->rows));
    return lay_out(k);
}

bool mona_kernel_sums(kernel_sums *k, const mona_bound_op *bound, uint32_t begin, uint32_t end)
{
    const mona_array_kernel *record = (const void *)(bound->data + bound->op->array.record);
    const mona_kernel *kernel = bound->kernel;
    *k = (kernel_sums){.bound = bound,
                       .program = &kernel->programs[record->output],
                       .out = &kernel->operands[kernel->inputs + record->output],
                       .grid_rows = record->rows,
                       .grid_columns = record->columns,
                       .begin = begin,
                       .end = end};
    for (uint32_t i = 0; i < kernel->inputs; i++)
        if (kernel->operands[i].planes) {
            if (k->image)
                return false;
            k->image = &kernel->operands[k->input = i];
        }
    if (!k->image)
        return false;
    const mona_kernel_operand *in = k->image, *out = k->out;
    k->size = (uint32_t)mona_type_size(in->type);
    k->windows = k->size;
    k->results = out->planes * out->cell_rows;
    k->row_bytes = k->grid_columns * (uint32_t)mona_kernel_cell_bytes(in);
    k->pitch = k->row_bytes + 2 * AC_BLOCK;
    k->places = k->pitch / place_bytes(k);
    k->out_row = k->grid_columns * out->cell_columns;
    k->out_pitch = k->places * AC_FRACTAL;
    if (mona_conv_column(bound->target) != COLUMN ||
        (in->type != MONA_U8 && in->type != MONA_U16) || mona_type_size(out->type) != 1 ||
        in->cell_columns != out->cell_columns || AC_FRACTAL % in->cell_columns ||
        in->around_columns * mona_kernel_cell_bytes(in) > COLUMN ||
        in->planes * in->cell_rows > KERNEL_SOURCES || k->row_bytes % AC_BLOCK ||
        k->out_row % AC_BLOCK)
        return false;
    if (!terms_ok(k))
        return false;
    find_phases(k);
    return find_sources(k) && choose_rows(k);
}

/* ---- constants ------------------------------------------------------------------------------ */

/* Bytes of `term` in B, of all lanes of a result that it is of. Sample `at` of 16 lies in the first
 * window that has it. */
static void fill_term(const kernel_sums *k, ac_core *core, const kernel_product *p,
                      const mona_kernel_step *term)
{
    const mona_kernel_step *sample = sample_of(k, term);
    const int32_t size = (int32_t)k->size, columns = k->out->cell_columns;
    const uint32_t value = in_pass(k, (int32_t)term->value, p->pass);
    int32_t lane = term->column;
    for (uint32_t w = 0; w < k->windows; w++) {
        uint32_t count = 0;
        const int32_t first = lane;
        const int32_t at =
            (lane - term->column + sample->column) * size + COLUMN - (int32_t)w * WINDOW / 2;
        for (int32_t i = at; lane < AC_FRACTAL && i <= WINDOW - size; i += columns * size) {
            lane += columns;
            count++;
        }
        const ac_address fractal =
            k->raw[0] +
            (p->weights + w * p->results + result_of(k, term) - p->first) * (uint64_t)FRACTAL_BYTES;
        if (count)
            ac_emit_fill(core, fractal + (uint64_t)(first * WINDOW + at),
                         (ac_fill){count, k->size, (uint32_t)(columns * (WINDOW + size)), value});
    }
}

static ac_address l1_of(const kernel_sums *k, uint32_t half, const kernel_phase *p, uint32_t row)
{
    return ac_at(AC_L1, half * k->half_bytes + p->at + row * k->pitch);
}

static void bring_weights(const kernel_sums *k, ac_core *core)
{
    enum { MOST = AC_MAX_REPEAT };
    const ac_address weights = ac_at(AC_L1, 2 * k->half_bytes);
    const ac_address zeros = k->raw[0] + k->weights * FRACTAL_BYTES;
    ac_emit_sync(core, AC_PIPE_S, AC_PIPE_MTE3, AC_EVENT0);
    ac_emit_copy_bytes(core, weights, k->raw[0], k->weights * FRACTAL_BYTES);
    for (uint32_t half = 0; half < 2; half++)
        for (uint32_t i = 0; i < k->phase_count; i++)
            if (k->phase[i].used)
                ac_emit_copy_bytes(core, l1_of(k, half, &k->phase[i], k->rows + k->phase[i].more),
                                   zeros, beyond_rows(k));
    ac_emit_sync(core, AC_PIPE_MTE3, AC_PIPE_MTE1, WEIGHTS_READY);
    for (uint32_t done = 0; done < k->weights; done += MOST)
        ac_emit_load2d(core, ac_at(AC_L0B, done * FRACTAL_BYTES), weights + done * FRACTAL_BYTES,
                       min_u32(k->weights - done, MOST));
}

void mona_kernel_sums_begin(const kernel_sums *k, ac_core *core)
{
    const uint32_t columns = k->out->cell_columns;
    for (uint32_t n = 0; n < k->source_count; n++)
        for (uint32_t m = 0; m < k->source[n].products; m++) {
            const kernel_product *p = &k->product[k->source[n].first_product + m];
            for (uint32_t i = 0; i < k->program->count; i++) {
                const mona_kernel_step *s = &k->program->steps[i];
                if (is_of(k, &k->source[n], s) && result_of(k, s) - p->first < p->results &&
                    in_pass(k, (int32_t)s->value, p->pass))
                    fill_term(k, core, p, s);
            }
        }
    bring_weights(k, core);
    for (uint32_t x = 0; x < columns; x++)
        ac_emit_fill(core, k->masks + (uint64_t)x * (AC_BLOCK + 2),
                     (ac_fill){AC_FRACTAL / columns, 2, 2 * columns, UINT16_MAX});
}

/* 16 numbers of each result, of the sample of a cell that each lane is. */
static void make_scales(const kernel_sums *k, ac_core *core)
{
    for (uint32_t i = 0; i < k->program->count; i++) {
        const mona_kernel_step *s = &k->program->steps[i];
        if (s->operation != MONA_KERNEL_SCALE)
            continue;
        const ac_address scale = k->scales + (uint64_t)result_of(k, s) * AC_BLOCK;
        vec2_done(core, AC_VAND, k->spare, k->uniform + (uint64_t)s->a.index * AC_BLOCK,
                  k->masks + (uint64_t)s->column * AC_BLOCK, AC_FRACTAL, side_by_side);
        vec2_done(core, AC_VOR, scale, scale, k->spare, AC_FRACTAL, side_by_side);
    }
}

/* ---- from global memory --------------------------------------------------------------------- */

typedef kernel_sums_running running;

/* `bytes` of all rows of a phase, which begin `column` bytes further. */
static void bring_rows(const running *r, const kernel_phase *p, uint32_t begin, mona_steps to,
                       uint32_t column, uint32_t bytes)
{
    const kernel_sums *k = r->k;
    const int32_t height = (int32_t)k->grid_rows, first = (int32_t)begin + p->first;
    const uint32_t rows = k->image->cell_rows, phase = (uint32_t)(p - k->phase);
    const uint32_t all = k->rows + p->more;
    for (uint32_t i = 0, count; i < all; i += count) {
        const int32_t y = first + (int32_t)i, clamped = y < 0 ? 0 : y < height ? y : height - 1;
        count = y != clamped ? 1 : min_u32(all - i, (uint32_t)(height - y));
        const uint64_t row =
            ((uint64_t)(phase / rows) * k->grid_rows + (uint32_t)clamped) * rows + phase % rows;
        mona_copy_rows(
            r->core, (mona_steps){to.at + (uint64_t)((ptrdiff_t)i * to.step), to.step},
            (mona_steps){r->image + row * k->row_bytes + column, (ptrdiff_t)(rows * k->row_bytes)},
            count, bytes);
    }
}

/* First and last blocks of rows become those before and behind them, 16 rows at a time: each sample
 * a block of its own, of which those of the first or last cell are turned back, again and again. */
static void make_edges(const running *r)
{
    const kernel_sums *k = r->k;
    const uint32_t columns = k->image->cell_columns,
                   repeats = ceil_div_u32(k->all_rows, AC_FRACTAL);
    for (uint32_t side = 0; side < 2; side++) {
        const bool bytes = k->size == 1, right = side;
        ac_turned rows = {.repeat = AC_FRACTAL, .high = bytes && right},
                  samples = {.repeat = AC_FRACTAL}, again = {.repeat = AC_FRACTAL};
        for (uint32_t i = 0; i < AC_FRACTAL; i++) {
            const uint32_t sample = (right ? AC_FRACTAL - columns : 0) + i % columns;
            rows.at[i] = k->edges[side] + (uint64_t)i * AC_BLOCK;
            samples.at[i] = k->halves + (uint64_t)i * AC_BLOCK;
            again.at[i] = k->halves + (uint64_t)sample * AC_BLOCK;
        }
        turn_done(r->core, k->size, &samples, &rows, repeats);
        rows.high = bytes && !right;
        turn_done(r->core, k->size, &rows, &again, repeats);
    }
}

static void bring(const running *r, uint32_t begin, uint32_t half)
{
    const kernel_sums *k = r->k;
    ac_core *core = r->core;
    ac_emit_wait_flag(core, AC_PIPE_MTE1, AC_PIPE_MTE2, half);
    ac_emit_wait_flag(core, AC_PIPE_MTE3, AC_PIPE_MTE2, AC_EVENT0);
    for (uint32_t side = 0; side < 2; side++)
        for (const kernel_phase *p = k->phase; p < k->phase + k->phase_count; p++)
            if (p->used)
                bring_rows(r, p, begin,
                           (mona_steps){k->edges[side] + (uint64_t)p->rows * AC_BLOCK, AC_BLOCK},
                           side ? k->row_bytes - AC_BLOCK : 0, AC_BLOCK);
    ac_emit_set_flag(core, AC_PIPE_MTE2, AC_PIPE_V, AC_EVENT0);
    for (const kernel_phase *p = k->phase; p < k->phase + k->phase_count; p++)
        if (p->used)
            bring_rows(r, p, begin, (mona_steps){l1_of(k, half, p, 0) + AC_BLOCK, k->pitch}, 0,
                       k->row_bytes);
    ac_emit_set_flag(core, AC_PIPE_MTE2, AC_PIPE_MTE1, half);
}

static void bring_edges(const running *r, uint32_t half)
{
    const kernel_sums *k = r->k;
    ac_core *core = r->core;
    ac_emit_wait_flag(core, AC_PIPE_MTE2, AC_PIPE_V, AC_EVENT0);
    make_edges(r);
    ac_emit_sync(core, AC_PIPE_V, AC_PIPE_MTE3, EDGES_READY);
    for (uint32_t side = 0; side < 2; side++)
        for (const kernel_phase *p = k->phase; p < k->phase + k->phase_count; p++)
            if (p->used)
                mona_copy_rows(
                    core,
                    (mona_steps){l1_of(k, half, p, 0) + (side ? k->pitch - AC_BLOCK : 0), k->pitch},
                    (mona_steps){k->edges[side] + (uint64_t)p->rows * AC_BLOCK, AC_BLOCK},
                    k->rows + p->more, AC_BLOCK);
    ac_emit_set_flag(core, AC_PIPE_MTE3, AC_PIPE_MTE2, AC_EVENT0);
    ac_emit_set_flag(core, AC_PIPE_MTE3, AC_PIPE_MTE1, half);
}

/* ---- tiles of results ----------------------------------------------------------------------- */

/* `count` fractals of A from `first` on. */
static ac_address load(running *r, const kernel_source *source, uint32_t half, uint32_t first,
                       uint32_t count)
{
    const kernel_sums *k = r->k;
    const kernel_phase *p = &k->phase[source->phase];
    const ac_address a = ac_at(AC_L0A, r->a * k->bound->target->l0a_bytes / 2);
    const ac_address rows = l1_of(k, half, p, (uint32_t)(source->row - p->first)) +
                            (uint64_t)first * AC_FRACTAL * place_bytes(k);
    const uint32_t stride = place_bytes(k) / COLUMN, taps = WINDOW / COLUMN;
    ac_emit_wait_flag(r->core, AC_PIPE_M, AC_PIPE_MTE1, r->a);
    for (uint32_t w = 0; w < k->windows; w++) {
        const uint32_t column = (AC_BLOCK - COLUMN + w * WINDOW / 2) / COLUMN;
        ac_emit_load3d(
            r->core, a + (uint64_t)w * FRACTAL_BYTES, rows,
            (ac_load3d){.column = (uint16_t)column,
                        .columns = (uint16_t)(column + (count * AC_FRACTAL - 1) * stride + taps),
                        .stride = (uint8_t)stride,
                        .dilation = 1,
                        .c0 = COLUMN,
                        .element = 1,
                        .repeat = (uint8_t)count,
                        .jump = (uint8_t)k->windows});
    }
    ac_emit_sync(r->core, AC_PIPE_MTE1, AC_PIPE_M, r->a);
    return a;
}

static void multiply(const running *r, const kernel_product *p, ac_address a, ac_address c,
                     uint32_t count)
{
    ac_emit_mmad(r->core, AC_MAD_S32U8S8, c + (uint64_t)p->first * count * C_FRACTAL_BYTES, a,
                 ac_at(AC_L0B, p->weights * FRACTAL_BYTES),
                 (ac_product){.m = count * AC_FRACTAL,
                              .k = r->k->windows * WINDOW,
                              .n = p->results * AC_FRACTAL,
                              .from_zero = p->from_zero});
}

static void finish(const running *r, ac_address raw, ac_address c, uint32_t first, uint32_t count)
{
    const kernel_sums *k = r->k;
    for (uint32_t i = 0; i < k->results; i++) {
        ac_emit_drain(r->core, AC_DRAIN_S32_F16_DEQ, k->halves,
                      c + (uint64_t)i * count * C_FRACTAL_BYTES,
                      (ac_copy){.bursts = 1, .blocks = (uint16_t)count},
                      k->scales + (uint64_t)i * AC_BLOCK, false);
        ac_emit_barrier(r->core, AC_PIPE_V);
        narrow_all(r->core, k->out->type,
                   raw + ((uint64_t)i * k->fractals + first) * AC_FRACTAL * AC_FRACTAL, k->halves,
                   count * AC_FRACTAL * AC_FRACTAL);
        ac_emit_barrier(r->core, AC_PIPE_V);
    }
}

static void store(const running *r, ac_address raw, uint32_t begin)
{
    const kernel_sums *k = r->k;
    const uint32_t rows = k->out->cell_rows;
    for (uint32_t plane = 0; plane < k->out->planes; plane++)
        for (uint32_t y = 0; y < rows; y++) {
            const mona_kernel_step at = {.plane = (uint8_t)plane, .row = (int8_t)y};
            const uint64_t row = ((uint64_t)plane * k->grid_rows + begin) * rows + y;
            mona_copy_rows(r->core,
                           (mona_steps){r->out + row * k->out_row, (ptrdiff_t)(rows * k->out_row)},
                           (mona_steps){raw + (uint64_t)result_of(k, &at) * k->fractals *
                                                  AC_FRACTAL * AC_FRACTAL,
                                        k->out_pitch},
                           k->rows, k->out_row);
        }
}

static void make(running *r, uint32_t begin, uint32_t half)
{
    const kernel_sums *k = r->k;
    ac_core *core = r->core;
    const uint32_t parts = ceil_div_u32(k->fractals, k->most),
                   part = ceil_div_u32(k->fractals, parts);
    ac_emit_wait_flag(core, AC_PIPE_MTE2, AC_PIPE_MTE1, half);
    ac_emit_wait_flag(core, AC_PIPE_MTE3, AC_PIPE_MTE1, half);
    ac_emit_wait_flag(core, AC_PIPE_MTE3, AC_PIPE_V, half);
    for (uint32_t first = 0; first < k->fractals; first += part, r->c = !r->c) {
        const uint32_t count = min_u32(part, k->fractals - first);
        const ac_address c = ac_at(AC_L0C, r->c * k->bound->target->l0c_bytes / 2);
        ac_emit_wait_flag(core, AC_PIPE_V, AC_PIPE_M, r->c);
        for (uint32_t n = 0; n < k->source_count; n++, r->a = !r->a) {
            const kernel_source *source = &k->source[n];
            const ac_address a = load(r, source, half, first, count);
            for (uint32_t i = 0; i < source->products; i++)
                multiply(r, &k->product[source->first_product + i], a, c, count);
            ac_emit_set_flag(core, AC_PIPE_M, AC_PIPE_MTE1, r->a);
        }
        ac_emit_sync(core, AC_PIPE_M, AC_PIPE_V, r->c);
        finish(r, k->raw[half], c, first, count);
        ac_emit_set_flag(core, AC_PIPE_V, AC_PIPE_M, r->c);
    }
    ac_emit_set_flag(core, AC_PIPE_MTE1, AC_PIPE_MTE2, half);
    ac_emit_sync(core, AC_PIPE_V, AC_PIPE_MTE3, half);
    store(r, k->raw[half], begin);
    ac_emit_set_flag(core, AC_PIPE_MTE3, AC_PIPE_V, half);
}

/* A last tile that would reach beyond the end begins earlier. */
static uint32_t row_of_tile(const kernel_sums *k, uint32_t i)
{
    return min_u32(k->begin + i * k->rows, k->end - k->rows);
}

/* Sets or awaits what says that buffers are free. */
static void flag_free(const running *r, void (*flag)(ac_core *, ac_pipe, ac_pipe, uint32_t))
{
    for (uint32_t half = 0; half < 2; half++) {
        flag(r->core, AC_PIPE_M, AC_PIPE_MTE1, half);
        flag(r->core, AC_PIPE_V, AC_PIPE_M, half);
        flag(r->core, AC_PIPE_MTE3, AC_PIPE_V, half);
    }
}

static void flag_brought(const running *r, void (*flag)(ac_core *, ac_pipe, ac_pipe, uint32_t))
{
    for (uint32_t half = 0; half < 2; half++)
        flag(r->core, AC_PIPE_MTE1, AC_PIPE_MTE2, half);
    flag(r->core, AC_PIPE_MTE3, AC_PIPE_MTE2, AC_EVENT0);
}

void mona_kernel_sums_bring(const running *r)
{
    ac_emit_sync(r->core, AC_PIPE_V, AC_PIPE_MTE2, AC_EVENT0);
    flag_brought(r, ac_emit_set_flag);
    bring(r, row_of_tile(r->k, 0), 0);
    bring_edges(r, 0);
}

void mona_kernel_sums_run(running *r)
{
    const kernel_sums *k = r->k;
    const uint32_t tiles = ceil_div_u32(k->end - k->begin, k->rows);
    make_scales(k, r->core);
    flag_free(r, ac_emit_set_flag);
    for (uint32_t i = 0; i < tiles; i++) {
        const uint32_t next = (i + 1) % 2;
        if (i + 1 < tiles) {
            bring(r, row_of_tile(k, i + 1), next);
            bring_edges(r, next);
        }
        make(r, row_of_tile(k, i), i % 2);
    }
    flag_free(r, ac_emit_wait_flag);
    flag_brought(r, ac_emit_wait_flag);
}
