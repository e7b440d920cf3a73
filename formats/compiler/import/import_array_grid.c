// SPDX-License-Identifier: Apache-2.0
/* GridSample of images, to the nearest sample or between four: the indices of samples and their
 * weights are computed from the grid, and the samples gathered from all frames at once. */
#include "formats/compiler/import/array.h"

#include <string.h>

typedef struct grid {
    importer *im;
    bool nearest, corners, zeros, reflects;
} grid;

static array number(const grid *g, double n)
{
    return array_number(g->im, MONA_F32, n);
}

static array binary(const grid *g, mona_array_function f, array a, array b)
{
    return array_binary(g->im, MONA_F32, f, a, b);
}

/* Coordinate k of the grid: [batch, rows, columns]. */
static array coordinate(const grid *g, uint32_t k)
{
    const array all = array_dense(g->im, array_in(g->im, 1));
    if (!array_ok(all))
        return all;
    const size_t count = array_elements(3, all.dims);
    uint32_t *places = array_places(g->im, count);
    for (size_t i = 0; places && i < count; i++)
        places[i] = (uint32_t)(2 * i + k + 1);
    return array_cast(g->im, MONA_F32, array_pick(g->im, all, 3, all.dims, places, 0));
}

/* Between the edges, after as many reflections as that takes. */
static array reflected(const grid *g, array x, double size)
{
    const double low = g->corners ? 0 : -0.5, range = g->corners ? size - 1 : size;
    if (range <= 0)
        return binary(g, MONA_FN_MUL, x, number(g, 0));
    const array far =
        array_unary(g->im, MONA_F32, MONA_FN_ABS, binary(g, MONA_FN_SUB, x, number(g, low)));
    const array turn = binary(g, MONA_FN_FMOD, far, number(g, 2 * range));
    const array back = binary(g, MONA_FN_SUB, number(g, 2 * range), turn);
    return binary(g, MONA_FN_ADD, binary(g, MONA_FN_MIN, turn, back), number(g, low));
}

/* The place in samples. */
static array place_of(const grid *g, array at, double size)
{
    const double scale = g->corners ? (size - 1) / 2 : size / 2;
    const double shift = g->corners ? scale : (size - 1) / 2;
    array x =
        binary(g, MONA_FN_ADD, binary(g, MONA_FN_MUL, at, number(g, scale)), number(g, shift));
    if (g->nearest)
        x = array_unary(g->im, MONA_F32, MONA_FN_ROUND, x);
    if (g->reflects)
        return reflected(g, x, size);
    return g->zeros ? x
                    : binary(g, MONA_FN_MAX, binary(g, MONA_FN_MIN, x, number(g, size - 1)),
                             number(g, 0));
}

/* A sample of an axis: its index, and its weight. */
typedef struct tap {
    array index, weight;
} tap;

/* The first or the second of two samples around x. */
static tap tap_of(const grid *g, array x, double size, bool second)
{
    const array first = array_unary(g->im, MONA_F32, g->nearest ? MONA_FN_ROUND : MONA_FN_FLOOR, x);
    const array d = binary(g, MONA_FN_SUB, x, first);
    tap t = {.weight = second ? d : binary(g, MONA_FN_SUB, number(g, 1), d)};
    const array at = second ? binary(g, MONA_FN_ADD, first, number(g, 1)) : first;
    t.index = binary(g, MONA_FN_MAX, binary(g, MONA_FN_MIN, at, number(g, size - 1)), number(g, 0));
    if (g->nearest)
        t.weight = number(g, 1);
    if (g->zeros)
        t.weight = binary(g, MONA_FN_MUL, t.weight,
                          array_binary(g->im, MONA_F32, MONA_FN_EQUAL, at, t.index));
    return t;
}

/* Samples [channels, batch, rows, columns] at a pair of taps, times their weights. */
static array weighted(const grid *g, array flat, array first, tap y, tap x, int64_t width)
{
    const array row =
        array_binary(g->im, MONA_S64, MONA_FN_MUL, array_cast(g->im, MONA_S64, y.index),
                     array_number(g->im, MONA_S64, (double)width));
    const array index = array_binary(g->im, MONA_S64, MONA_FN_ADD,
                                     array_binary(g->im, MONA_S64, MONA_FN_ADD, row, first),
                                     array_cast(g->im, MONA_S64, x.index));
    return binary(g, MONA_FN_MUL, array_gather(g->im, flat, 1, index),
                  binary(g, MONA_FN_MUL, y.weight, x.weight));
}

static bool read_modes(grid *g)
{
    const onnx_node *node = g->im->node;
    const char *mode = onnx_string(node, "mode", "linear");
    const char *padding = onnx_string(node, "padding_mode", "zeros");
    g->nearest = !strcmp(mode, "nearest");
    g->corners = onnx_int(node, "align_corners", 0);
    g->zeros = !strcmp(padding, "zeros");
    g->reflects = !strcmp(padding, "reflection");
    return g->nearest || !strcmp(mode, "linear") || !strcmp(mode, "bilinear") ||
           import_fail(g->im, "has mode '%.30s'; supported: linear and nearest", mode);
}

bool import_array_grid_sample(importer *im)
{
    static const uint32_t turned[4] = {1, 0, 2, 3};
    grid g = {.im = im};
    const array x = array_in(im, 0);
    if (!array_ok(x) || !read_modes(&g))
        return false;
    const int64_t batch = x.dims[0], height = x.dims[2], width = x.dims[3];
    const int64_t dims[2] = {x.dims[1], batch * height * width};
    const array flat = array_view(im, array_permute(x, turned), 2, dims);
    const array across = place_of(&g, coordinate(&g, 0), (double)width);
    const array down = place_of(&g, coordinate(&g, 1), (double)height);
    const array first = array_multiples(im, 3, (const int64_t[]){batch, 1, 1}, height * width);
    array sum = array_none;
    for (int i = 0; i < (g.nearest ? 1 : 4); i++) {
        const array part = weighted(&g, flat, first, tap_of(&g, down, (double)height, i / 2),
                                    tap_of(&g, across, (double)width, i % 2), width);
        sum = i ? binary(&g, MONA_FN_ADD, sum, part) : part;
    }
    if (!array_ok(sum))
        return false;
    return array_bind(im, 0, array_permute(array_cast(im, array_result_type(im, 0), sum), turned));
}
