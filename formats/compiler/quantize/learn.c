// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/quantize/observation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/compiler/quantize/weights.h"

enum {
    BLOCK = 512,  /* weights of an output that are considered together */
    PLACES = 256, /* of the filter in a sample */
    SWEEPS = 32,
    REACH = 1, /* how far a weight may move, in steps */
};

#define DAMPING 0.01 /* of the mean square, added to each: samples are few */

/* Of `size` weights of one group, all those of some channels. */
typedef struct block {
    size_t first, size; /* within the filter */
    double *sums, *squares;
} block;

/* Of a CONV: [held out][group][block]. */
struct graph_moments {
    uint32_t blocks; /* of a group */
    double counts[2];
    block *at[2];
};

static bool make(graph *g, graph_node *node)
{
    const size_t filter = weights_filter(g, node), area = graph_window_area(&node->conv.window);
    const size_t most = BLOCK / area * area;
    graph_moments *m = graph_alloc(g, 1, sizeof *m);
    if (!m)
        return false;
    m->blocks = (uint32_t)((filter + most - 1) / most);
    for (int held = 0; held < 2; held++) {
        const size_t count = (size_t)m->blocks * node->conv.groups;
        m->at[held] = graph_alloc(g, count, sizeof *m->at[held]);
        for (size_t i = 0; m->at[held] && i < count; i++) {
            block *b = &m->at[held][i];
            b->first = i % m->blocks * most;
            b->size = filter - b->first < most ? filter - b->first : most;
            b->sums = graph_alloc(g, b->size, sizeof *b->sums);
            b->squares = graph_alloc(g, b->size * b->size, sizeof *b->squares);
            if (!b->sums || !b->squares)
                return false;
        }
        if (!m->at[held])
            return false;
    }
    node->conv.moments = m;
    return true;
}

/* Reads the filter's input of `count` channels for the result at this row and column. padding: of
 * each channel; NULL: 0 */
static void read_place(const graph_window *w, const reference_array *x, const float *padding,
                       uint32_t channel, size_t count, uint32_t row, uint32_t column,
                       double *numbers)
{
    for (uint32_t c = channel; c < channel + count; c++)
        for (uint32_t i = 0; i < w->kernel[0]; i++)
            for (uint32_t k = 0; k < w->kernel[1]; k++) {
                const int64_t y =
                    (int64_t)row * w->stride[0] + i * w->dilation[0] - w->pad_begin[0];
                const int64_t z =
                    (int64_t)column * w->stride[1] + k * w->dilation[1] - w->pad_begin[1];
                const bool inside = y >= 0 && y < x->height && z >= 0 && z < x->width;
                *numbers++ = inside    ? (double)x->data[((size_t)c * x->height + y) * x->width + z]
                             : padding ? (double)padding[c]
                                       : 0;
            }
}

static void add_place(block *b, const double *x)
{
    for (size_t i = 0; i < b->size; i++) {
        b->sums[i] += x[i];
        for (size_t k = 0; k <= i && x[i] != 0; k++)
            b->squares[i * b->size + k] += x[i] * x[k];
    }
}

bool learn_from(graph *g, graph_node *node, const reference_array *x, bool held_out,
                format_error *error)
{
    const graph_window *w = &node->conv.window;
    const size_t area = graph_window_area(&node->conv.window),
                 depth = weights_filter(g, node) / area;
    const uint32_t rows = graph_window_outputs(w, 0, x->height, false);
    const uint32_t columns = graph_window_outputs(w, 1, x->width, false);
    const uint64_t all = (uint64_t)rows * columns, places = all < PLACES ? all : PLACES;
    if (area > BLOCK || node->conv.weight_scales)
        return true;
    double *numbers = malloc(BLOCK * sizeof *numbers);
    if (!numbers || (!node->conv.moments && !make(g, node))) {
        free(numbers);
        return format_fail(error, "out of memory");
    }
    graph_moments *m = node->conv.moments;
    for (uint32_t i = 0; i < m->blocks * node->conv.groups; i++) {
        block *b = &m->at[held_out][i];
        const size_t channel = i / m->blocks * depth + b->first / area;
        for (uint64_t p = 0; p < places; p++) {
            const uint64_t at = (2 * p + 1) * all / (2 * places);
            read_place(w, x, g->values[node->inputs[0]].padding, (uint32_t)channel, b->size / area,
                       (uint32_t)(at / columns), (uint32_t)(at % columns), numbers);
            add_place(b, numbers);
        }
    }
    m->counts[held_out] += (double)places;
    free(numbers);
    return true;
}

/* ---- rounding ----------------------------------------------------------------------------- */

/* Makes the sums of x[i] x[k] their mean or covariance, of all i and k, and adds to each square, as
 * samples are few. */
static void finish(block *b, double count, bool centred)
{
    double trace = 0;
    for (size_t i = 0; i < b->size; i++)
        for (size_t k = 0; k <= i; k++) {
            const double means = centred ? b->sums[i] / count * (b->sums[k] / count) : 0;
            const double m = b->squares[i * b->size + k] / count - means;
            b->squares[i * b->size + k] = b->squares[k * b->size + i] = m;
            trace += i == k ? m : 0;
        }
    for (size_t i = 0; i < b->size; i++)
        b->squares[i * b->size + i] += DAMPING * trace / (double)b->size;
}

/* The weights of an output in a block. */
typedef struct learner {
    const block *b;
    const float *w;
    double scale;
    int8_t *q;
    bool pairs;
    double *d, *slopes; /* slopes: M d, half of the derivatives of the loss by d */
} learner;

/* Of rounding; sets d and slopes. */
static double loss(const learner *l)
{
    double sum = 0;
    for (size_t i = 0; i < l->b->size; i++)
        l->d[i] = l->q[i] - (double)l->w[i] / l->scale;
    for (size_t i = 0; i < l->b->size; i++) {
        l->slopes[i] = 0;
        for (size_t k = 0; k < l->b->size; k++)
            l->slopes[i] += l->b->squares[i * l->b->size + k] * l->d[k];
        sum += l->d[i] * l->slopes[i];
    }
    return sum * l->scale * l->scale;
}

/* Whether a weight may move by a step. */
static bool may_move(const learner *l, size_t i, int step)
{
    return abs(l->q[i] + step) <= WEIGHT_MAX && fabs(l->d[i] + step) < REACH;
}

static void move(const learner *l, size_t i, int step)
{
    l->q[i] = (int8_t)(l->q[i] + step);
    l->d[i] += step;
    for (size_t k = 0; k < l->b->size; k++)
        l->slopes[k] += step * l->b->squares[i * l->b->size + k];
}

/* Moves weight i, alone or with the best other one, if that lowers the loss. */
static bool improve(const learner *l, size_t i)
{
    const double *row = l->b->squares + i * l->b->size;
    double best = -1e-9 * row[i];
    int steps[2] = {0};
    size_t other = i;
    for (int step = -1; step <= 1; step += 2) {
        const double alone = 2 * step * l->slopes[i] + row[i];
        if (!may_move(l, i, step))
            continue;
        if (alone < best) {
            best = alone;
            other = i;
            steps[0] = step;
        }
        for (size_t k = 0; k < l->b->size && l->pairs; k++) {
            const int with = l->slopes[k] + step * row[k] > 0 ? -1 : 1;
            const double both = alone + 2 * with * (l->slopes[k] + step * row[k]) +
                                l->b->squares[k * l->b->size + k];
            if (k != i && both < best && may_move(l, k, with)) {
                best = both;
                other = k;
                steps[0] = step;
                steps[1] = with;
            }
        }
        if (other == i)
            steps[1] = 0;
    }
    if (steps[0])
        move(l, i, steps[0]);
    if (steps[0] && other != i)
        move(l, other, steps[1]);
    return steps[0];
}

static double learn(const learner *l)
{
    bool moved = true;
    loss(l);
    for (int sweep = 0; sweep < SWEEPS && moved; sweep++) {
        moved = false;
        for (size_t i = 0; i < l->b->size; i++)
            moved |= improve(l, i);
    }
    return loss(l);
}

/* The blocks of output o, with samples held out or not. */
static const block *blocks_of(const graph *g, const graph_node *node, uint32_t o, bool held_out)
{
    const uint32_t per_group = g->values[node->output].channels / node->conv.groups;
    return node->conv.moments->at[held_out] + o / per_group * node->conv.moments->blocks;
}

/* Sum of `what` over the blocks of an output. */
static double sum_of(const graph *g, const graph_node *node, uint32_t o, bool held_out,
                     double (*what)(const learner *), learner l)
{
    const block *blocks = blocks_of(g, node, o, held_out);
    const learner whole = l;
    double sum = 0;
    for (uint32_t i = 0; i < node->conv.moments->blocks; i++) {
        l.b = &blocks[i];
        l.w = whole.w + l.b->first;
        l.q = whole.q + l.b->first;
        sum += what(&l);
    }
    return sum;
}

/* Multiples of the scale at which the largest weight becomes WEIGHT_MAX. Smaller scales clip it; of
 * larger ones, one may happen to suit the few weights of a small filter. */
static const double factors[] = {1,    0.9,  0.95, 0.98, 1.01, 1.02, 1.03, 1.04,
                                 1.05, 1.06, 1.08, 1.1,  1.13, 1.16, 1.2};

/* The best of the scales; l.q becomes the weights that are rounded with it, without pairs. */
static double best_scale(const graph *g, const graph_node *node, uint32_t o, learner l,
                         double largest, int8_t *room)
{
    const size_t filter = weights_filter(g, node);
    int8_t *best = l.q;
    double least = INFINITY, scale = 0;
    l.q = room;
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        l.scale = largest / WEIGHT_MAX * factors[i];
        weights_round(l.w, l.scale, filter, graph_window_area(&node->conv.window), l.q);
        const double left = sum_of(g, node, o, false, learn, l);
        if (left < least) {
            least = left;
            scale = l.scale;
            memcpy(best, l.q, filter);
        }
    }
    return scale;
}

/* Rounds output o to l.q. Returns the scale; 0: that is no better on the samples that were held
 * out. */
static double learn_output(const graph *g, const graph_node *node, uint32_t o, learner l,
                           int8_t *room)
{
    const size_t filter = weights_filter(g, node);
    const double largest = weights_largest(l.w, filter);
    if (!(largest > 0))
        return 0;
    l.scale = largest / WEIGHT_MAX;
    weights_round(l.w, l.scale, filter, graph_window_area(&node->conv.window), l.q);
    const double before = sum_of(g, node, o, true, loss, l);
    l.scale = best_scale(g, node, o, l, largest, room);
    l.pairs = true;
    sum_of(g, node, o, false, learn, l);
    return sum_of(g, node, o, true, loss, l) < before ? l.scale : 0;
}

static graph_rounding *make_rounding(graph *g, uint32_t outputs, size_t filter)
{
    graph_rounding *r = graph_alloc(g, 1, sizeof *r);
    if (r) {
        r->weights = graph_alloc(g, outputs, filter);
        r->scales = graph_alloc(g, outputs, sizeof *r->scales);
    }
    return r && r->weights && r->scales ? r : NULL;
}

bool learn_rounding(graph *g, graph_node *node, bool centred, format_error *error)
{
    const graph_moments *m = node->conv.moments;
    const uint32_t outputs = g->values[node->output].channels;
    const size_t filter = weights_filter(g, node);
    if (!m || !(m->counts[0] > 0) || !(m->counts[1] > 0))
        return true;
    graph_rounding *r = make_rounding(g, outputs, filter);
    double *room = malloc(2 * m->at[0]->size * sizeof *room);
    int8_t *tried = malloc(filter);
    const bool ok = r && room && tried;
    for (uint32_t i = 0; ok && i < m->blocks * node->conv.groups; i++)
        for (int held_out = 0; held_out < 2; held_out++)
            finish(&m->at[held_out][i], m->counts[held_out], centred);
    for (uint32_t o = 0; ok && o < outputs; o++) {
        const learner l = {.w = node->conv.weights + o * filter,
                           .q = r->weights + o * filter,
                           .d = room,
                           .slopes = room + m->at[0]->size};
        r->scales[o] = learn_output(g, node, o, l, tried);
    }
    free(tried);
    free(room);
    if (ok)
        node->conv.learnt = r;
    node->conv.moments = NULL;
    return ok || format_fail(error, "out of memory");
}
