// SPDX-License-Identifier: Apache-2.0
/* GridSample of images: samples at given places, -1 and 1 being the edges. */
#include <math.h>

#include "formats/reference/operators.h"

typedef enum grid_mode { GRID_LINEAR, GRID_CUBIC, GRID_NEAREST } grid_mode;
typedef enum grid_padding { GRID_ZEROS, GRID_BORDER, GRID_REFLECTION } grid_padding;

typedef struct grid {
    grid_mode mode;
    grid_padding padding;
    bool corners; /* -1 and 1 are the middles of the outermost samples */
} grid;

/* The reflection of a place at the edges, until it is between them. */
static double reflect(const grid *g, double at, int64_t size)
{
    const double low = g->corners ? 0 : -0.5, range = g->corners ? (double)size - 1 : (double)size;
    const double turn = range > 0 ? fmod(fabs(at - low), 2 * range) : 0;
    return low + (turn <= range ? turn : 2 * range - turn);
}

/* The place in samples. */
static double place_of(const grid *g, double at, int64_t size)
{
    const double last = (double)size - 1;
    double x = g->corners ? (at + 1) / 2 * last : ((at + 1) * (double)size - 1) / 2;
    if (g->mode == GRID_NEAREST)
        x = nearbyint(x);
    if (g->padding == GRID_BORDER)
        x = fmax(0, fmin(x, last));
    return g->padding == GRID_REFLECTION ? reflect(g, x, size) : x;
}

/* Sample i of an axis: its index; -1: there is none. */
static int64_t index_of(const grid *g, double i, int64_t size)
{
    const double last = (double)size - 1;
    if (g->padding == GRID_ZEROS)
        return i >= 0 && i <= last ? (int64_t)i : -1;
    const double inside = g->padding == GRID_REFLECTION ? nearbyint(reflect(g, i, size)) : i;
    return (int64_t)fmax(0, fmin(inside, last));
}

/* The samples around a place and their weights; returns how many there are. */
static int taps_of(const grid *g, double at, int64_t size, int64_t index[4], double weight[4])
{
    const double x = place_of(g, at, size), first = floor(x), d = x - first, a = -0.75;
    const int count = g->mode == GRID_NEAREST ? 1 : g->mode == GRID_LINEAR ? 2 : 4;
    for (int i = 0; i < count; i++) {
        const double offset = g->mode == GRID_CUBIC ? i - 1 : i, far = fabs(d - offset);
        index[i] = index_of(g, g->mode == GRID_NEAREST ? nearbyint(x) : first + offset, size);
        weight[i] = count == 1 ? 1 : 1 - far;
        if (count == 4)
            weight[i] = far <= 1 ? ((a + 2) * far - (a + 3)) * far * far + 1
                                 : ((a * far - 5 * a) * far + 8 * a) * far - 4 * a;
    }
    return count;
}

static double sample(const grid *g, const float *plane, const int64_t *size, double x, double y)
{
    int64_t column[4], row[4];
    double across[4], down[4], sum = 0;
    const int rows = taps_of(g, y, size[0], row, down);
    const int columns = taps_of(g, x, size[1], column, across);
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++)
            if (row[i] >= 0 && column[k] >= 0)
                sum += down[i] * across[k] * (double)plane[row[i] * size[1] + column[k]];
    return sum;
}

static bool read_modes(op_call *c, grid *g)
{
    /* bilinear and bicubic: as operator set 16 has them */
    static const char *const modes[] = {"linear", "cubic", "nearest", "bilinear", "bicubic"};
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    const int mode = onnx_word(c->node, "mode", modes, 5);
    const int padding = onnx_word(c->node, "padding_mode", paddings, 3);
    *g =
        (grid){(grid_mode)(mode % 3), (grid_padding)padding, onnx_int(c->node, "align_corners", 0)};
    return (mode >= 0 && padding >= 0) || op_fail(c, "has an unknown mode or padding_mode");
}

bool op_grid_sample(op_call *c)
{
    const tensor *x = op_in(c, 0), *at = op_in(c, 1);
    grid g;
    if (!read_modes(c, &g))
        return false;
    if (x->rank != 4 || !at || at->rank != 4 || at->dims[0] != x->dims[0] || at->dims[3] != 2 ||
        !x->count)
        return op_fail(c, "samples other than images of 4 dimensions at [batch, rows, columns, 2]");
    const int64_t dims[4] = {x->dims[0], x->dims[1], at->dims[1], at->dims[2]};
    if (!op_result(c, 0, x->type, 4, dims))
        return false;
    const float *from = op_floats(c, 0), *places = op_floats(c, 1);
    const size_t plane = (size_t)(x->dims[2] * x->dims[3]), made = (size_t)(dims[2] * dims[3]);
    for (size_t i = 0; from && places && i < c->out->count; i++) {
        const size_t batch = i / made / (size_t)dims[1];
        const float *p = places + 2 * (batch * made + i % made);
        tensor_set_number(
            c->out, i,
            sample(&g, from + i / made * plane, x->dims + 2, (double)p[0], (double)p[1]));
    }
    return from && places;
}
