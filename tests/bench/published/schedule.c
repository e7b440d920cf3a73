// SPDX-License-Identifier: Apache-2.0
/* The time of a layer as the vendor's compiler runs it: one task on two cores, each of which loads
 * tiles GM -> L1 -> L0, multiplies, drains and stores them, double-buffered. A loop over tiles
 * takes the sum of its longest pipe, a part of what should have been hidden behind it, and the
 * first load and last store. */
#include <math.h>

#include "tests/bench/published/published.h"

enum {
    CORES = 2,              /* block_dim of every task in a real file of the vendor's compiler */
    L0_FRACTALS = 64,       /* half of L0A and of L0B: 32 KiB */
    L0C_FRACTALS = 128,     /* half of L0C in fp32 */
    L1_TILE = 256 * 1024,   /* a quarter of L1: two of input, two of weights */
    LOAD_PIECE = 64 * 1024, /* of one copy into L1: work starts after the first */
    UB_TILE = 32 * 1024,    /* of a pass: two inputs and an output fit UB twice */
    FRACTAL_BYTES = 512,
};

/* Cycles of one core by pipe, for one task. */
typedef struct pipes {
    double busy[AC_PIPE_ALL];
    double ddr;        /* cycles that the shared DDR needs for both cores' bytes */
    double head, tail; /* first load, last store */
} pipes;

typedef struct tiling {
    uint32_t m1, k1, n1;
} tiling;

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

static double map_bytes(uint32_t height, uint32_t width, uint32_t channels)
{
    return 2.0 * height * width * divide_up(channels, 16) * 16;
}

/* Number of pieces in which a load arrives; a double-buffered loop has at least two. */
static double pieces(double bytes, double piece)
{
    return bytes > piece ? ceil(bytes / piece) : 2;
}

/* The part of a map's bytes that L2 still holds if the tasks around it touch this many bytes:
 * everything while they fit, then as in a cache with random replacement. */
static double l2_share(const ac_costs *costs, double touched)
{
    return touched <= costs->l2_bytes ? 1 : costs->l2_bytes / touched;
}

/* Bytes per cycle of one core from DDR and L2, by their shares. cores: how many read different
 * bytes of DDR. */
static double mixed_rate(double ddr, double l2, double total, double in_l2, uint32_t cores)
{
    return 1 / (in_l2 / l2 + (1 - in_l2) / fmin(ddr, total / cores));
}

/* Bytes moved in pieces and bursts of these sizes. */
static double copies(const ac_costs *costs, ac_path path, double bytes, double piece,
                     uint32_t bursts, double in_l2, uint32_t cores)
{
    if (bytes <= 0)
        return 0;
    ac_costs c = *costs;
    double total = c.ddr_total_bytes;
    c.ddr_read_bytes = mixed_rate(c.ddr_read_bytes, c.l2_read_bytes, total, in_l2, cores);
    c.ddr_write_bytes = mixed_rate(c.ddr_write_bytes, c.ddr_write_bytes, total, in_l2, cores);
    c.ddr_total_bytes = INFINITY; /* included in the rates */
    double count = path == AC_GM_L1 ? pieces(bytes, piece) : ceil(bytes / piece);
    bursts = bursts > 4095 ? 4095 : bursts;
    double blocks = ceil(bytes / count / AC_BLOCK / bursts);
    ac_copy copy = {.bursts = (uint16_t)bursts, .blocks = (uint16_t)blocks};
    return count * ac_time_copy(&c, path, copy, 1);
}

static double longest(const pipes *p)
{
    double most =
        p->ddr > p->busy[AC_PIPE_MTE2] - p->head ? p->ddr : p->busy[AC_PIPE_MTE2] - p->head;
    for (int i = 0; i < AC_PIPE_ALL; i++)
        if (i != AC_PIPE_MTE2 && p->busy[i] > most)
            most = p->busy[i];
    return most;
}

/* Loads into L0 are hidden behind mmad, as in the vendor's own double-buffered loops; of the rest,
 * a part is not. */
static double task_cycles(const schedule *s, const pipes *p)
{
    static const ac_pipe outer[] = {AC_PIPE_MTE2, AC_PIPE_V, AC_PIPE_MTE3};
    double cube = fmax(p->busy[AC_PIPE_M], fmax(p->busy[AC_PIPE_MTE1], p->busy[AC_PIPE_S]));
    double all = cube - p->head, most = longest(p);
    for (size_t i = 0; i < sizeof outer / sizeof *outer; i++)
        all += p->busy[outer[i]];
    double exposed = all > most ? s->costs.serial_share * (all - most) : 0;
    return p->head + most + exposed + p->tail;
}

/* ---- convolutions --------------------------------------------------------------------------- */

/* One core's share of a convolution, in fractals. */
typedef struct share {
    uint32_t m1, k1, n1, groups;
} share;

/* load3d fetches once per input row that a fractal of 16 pixels covers. */
static double fetches(const layer *l)
{
    return l->width % 16 ? 1 + 15.0 / l->width : 1;
}

static void cube_pipes(const schedule *s, const layer *l, share c, tiling t, pipes *p)
{
    uint32_t m_tiles = divide_up(c.m1, t.m1), n_tiles = divide_up(c.n1, t.n1);
    uint32_t k_tiles = divide_up(c.k1, t.k1);
    t = (tiling){divide_up(c.m1, m_tiles), divide_up(c.k1, k_tiles), divide_up(c.n1, n_tiles)};
    const ac_costs *costs = &s->costs;
    double outer = (double)c.groups * m_tiles * n_tiles, steps = outer * k_tiles;
    bool weights_stay = c.k1 * t.n1 <= 2 * L0_FRACTALS;
    double weight_loads = weights_stay ? steps / m_tiles : steps;
    uint32_t issues = t.m1 < t.k1 ? t.m1 : t.k1, tile = t.m1 * t.n1;
    p->busy[AC_PIPE_M] = steps * ac_time_mmad(costs, t.m1, t.k1, t.n1);
    p->busy[AC_PIPE_MTE1] = steps * ac_time_load3d(costs, (uint32_t)(t.m1 * t.k1 * fetches(l))) +
                            weight_loads * ac_time_load2d(costs, t.k1 * t.n1);
    p->busy[AC_PIPE_S] = steps * issues * costs->load3d_issue;
    /* The bias is loaded into L0C first, at the rate of the drain: both take 256 bytes per
     * cycle. */
    double vector = 2 * ac_time_drain(costs, tile);
    if (l->vector_ops)
        vector += l->vector_ops * ac_time_vector(costs, 2 * tile, 1);
    p->busy[AC_PIPE_V] = outer * vector;
    p->tail = ac_time_drain(costs, tile);
}

static tiling best_tiling(const schedule *s, const layer *l, share c)
{
    tiling best = {1, 1, 1};
    double least = INFINITY;
    for (uint32_t m1 = 1; m1 <= L0_FRACTALS; m1 *= 2)
        for (uint32_t n1 = 1; n1 <= L0_FRACTALS && m1 * n1 <= L0C_FRACTALS; n1 *= 2) {
            uint32_t k1 = L0_FRACTALS / (m1 > n1 ? m1 : n1);
            tiling t = {m1 < c.m1 ? m1 : c.m1, k1 < c.k1 ? k1 : c.k1, n1 < c.n1 ? n1 : c.n1};
            pipes p = {0};
            cube_pipes(s, l, c, t, &p);
            if (longest(&p) < least) {
                least = longest(&p);
                best = t;
            }
        }
    return best;
}

/* Bytes that a core loads: either input or weights stay in L1, or one is loaded again for each tile
 * of the other. */
static void loads(double *input, double *weights)
{
    double input_tiles = ceil(*input / L1_TILE), weight_tiles = ceil(*weights / L1_TILE);
    if (*weights <= 2 * L1_TILE || *input <= 2 * L1_TILE)
        return;
    if (*input * (weight_tiles - 1) < *weights * (input_tiles - 1))
        *input *= weight_tiles;
    else
        *weights *= input_tiles;
}

/* Bytes that a core loads again because a tile of L1 holds few rows and the rows of the filter
 * around them. If not even L0C's rows fit, channels are split instead. These bytes come from L2,
 * where the neighbour's load left them. */
static double halo(const layer *l, tiling t, double input)
{
    double row = map_bytes(1, l->in_width, l->in_channels), rows = floor(L1_TILE / row);
    double outputs = rows > l->kernel ? floor((rows - l->kernel) / l->stride) + 1 : 1;
    outputs = fmax(outputs, floor(L0C_FRACTALS / t.n1 * 16.0 / l->width));
    double fresh = outputs * l->stride, again = (double)l->kernel - l->stride;
    return input > L1_TILE && again > 0 ? input * again / fresh : 0;
}

static void store_tiles(const ac_costs *costs, double out, tiling t, double in_l2, pipes *p)
{
    double piece = (double)FRACTAL_BYTES * t.m1 * t.n1;
    p->busy[AC_PIPE_MTE3] = copies(costs, AC_UB_GM, out, piece, t.n1, in_l2, CORES);
    p->tail += copies(costs, AC_UB_GM, piece, piece, t.n1, in_l2, CORES);
}

static void conv_copies(const schedule *s, const layer *l, share c, bool split_rows, tiling t,
                        pipes *p)
{
    const ac_costs *costs = &s->costs;
    double in = l->batch * map_bytes(l->in_height, l->in_width, l->in_channels);
    double out = l->batch * map_bytes(l->height, l->width, l->channels);
    double residual = l->residual ? out : 0;
    double in_l2 = l2_share(costs, in + out + residual);
    double weights = (double)FRACTAL_BYTES * c.k1 * c.n1 * c.groups;
    double input = split_rows || l->groups > 1 ? in / CORES : in, weights_once = weights;
    uint32_t bursts = divide_up(l->in_channels, 16);
    uint32_t readers = split_rows ? 1 : CORES; /* of different weights; the same are read once */
    double again = halo(l, t, input);
    loads(&input, &weights);
    double input_cycles = copies(costs, AC_GM_L1, input, LOAD_PIECE, bursts, in_l2, CORES);
    double weights_cycles =
        copies(costs, AC_GM_L1, weights_once, LOAD_PIECE, 1, 0, readers) +
        copies(costs, AC_GM_L1, weights - weights_once, LOAD_PIECE, 1, 1, CORES);
    p->head =
        input_cycles / pieces(input, LOAD_PIECE) + weights_cycles / pieces(weights, LOAD_PIECE);
    p->busy[AC_PIPE_MTE2] = input_cycles + weights_cycles +
                            copies(costs, AC_GM_L1, again, LOAD_PIECE, bursts, 1, CORES) +
                            copies(costs, AC_GM_UB, residual / CORES, UB_TILE, 1, in_l2, CORES);
    store_tiles(costs, out / CORES, t, in_l2, p);
    double bytes =
        readers * weights_once + (1 - in_l2) * (fmax(in, input * CORES) + residual + out);
    p->ddr = bytes / costs->ddr_total_bytes;
}

static share whole_conv(const layer *l)
{
    bool depthwise = l->groups > 1;
    uint32_t c1 = divide_up(l->in_channels, 16);
    return (share){.m1 = divide_up(l->batch * l->height * l->width, 16),
                   .k1 = l->kernel * l->kernel * (depthwise ? 1 : c1),
                   .n1 = depthwise ? 1 : divide_up(l->channels, 16),
                   .groups = depthwise ? c1 : 1};
}

static pipes conv_split(const schedule *s, const layer *l, bool split_rows)
{
    share c = whole_conv(l);
    if (split_rows)
        c.m1 = divide_up(c.m1, CORES);
    else if (c.groups > 1)
        c.groups = divide_up(c.groups, CORES);
    else
        c.n1 = divide_up(c.n1, CORES);
    pipes p = {0};
    tiling t = best_tiling(s, l, c);
    cube_pipes(s, l, c, t, &p);
    conv_copies(s, l, c, split_rows, t, &p);
    return p;
}

static pipes conv_pipes(const schedule *s, const layer *l)
{
    pipes rows = conv_split(s, l, true), outputs = conv_split(s, l, false);
    return task_cycles(s, &rows) <= task_cycles(s, &outputs) ? rows : outputs;
}

/* ---- passes --------------------------------------------------------------------------------- */

static pipes pass_pipes(const schedule *s, const layer *l)
{
    const ac_costs *costs = &s->costs;
    double in_l2 = l2_share(costs, l->read + l->write);
    double tiles = ceil((l->read > l->write ? l->read : l->write) / CORES / UB_TILE);
    pipes p = {0};
    p.busy[AC_PIPE_MTE2] = copies(costs, AC_GM_UB, l->read / CORES, UB_TILE, 1, in_l2, CORES);
    p.busy[AC_PIPE_MTE3] = copies(costs, AC_UB_GM, l->write / CORES, UB_TILE, 1, in_l2, CORES);
    p.busy[AC_PIPE_V] =
        tiles * ac_time_vector(costs, (uint32_t)ceil(l->repeats / CORES / tiles), 1);
    p.head = p.busy[AC_PIPE_MTE2] / tiles;
    p.tail = p.busy[AC_PIPE_MTE3] / tiles;
    p.ddr = (1 - in_l2) * (l->read + l->write) / costs->ddr_total_bytes;
    return p;
}

static bound longest_pipe(const pipes *p)
{
    double most = longest(p);
    if (p->busy[AC_PIPE_M] == most || p->busy[AC_PIPE_MTE1] == most || p->busy[AC_PIPE_S] == most)
        return BOUND_CUBE;
    return p->busy[AC_PIPE_V] == most ? BOUND_VECTOR : BOUND_COPIES;
}

prediction predict(const schedule *s, const network *n)
{
    prediction sum = {0};
    double per_ms = s->costs.clock_mhz * 1000;
    for (uint32_t i = 0; i < n->layer_count; i++) {
        const layer *l = &n->layers[i];
        pipes p = l->pass ? pass_pipes(s, l) : conv_pipes(s, l);
        double ms = l->count * task_cycles(s, &p) / per_ms;
        sum.bound_ms[longest_pipe(&p)] += ms;
        sum.bound_ms[BOUND_LAUNCH] += l->count * s->costs.task_launch / 1000;
        sum.tasks += l->count;
        if (l->pass && l->repeats == 0)
            sum.concat_ms += ms;
        if (!l->pass) {
            sum.conv_ms += ms;
            share c = whole_conv(l);
            sum.cube_ms += (double)l->count * c.groups * c.m1 * c.k1 * c.n1 / CORES / per_ms;
        }
    }
    for (int b = 0; b < BOUNDS; b++)
        sum.ms += sum.bound_ms[b];
    return sum;
}
