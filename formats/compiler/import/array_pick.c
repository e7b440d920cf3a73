// SPDX-License-Identifier: Apache-2.0
/* Derives the record of ARRAY_PICK from the source position of each element. */
#include "formats/compiler/import/array.h"

#include <stdlib.h>

enum { MAX_MOVED = 1 << 25 };

/* The cost of a model must stay in proportion to its file. */
bool array_may_move(importer *im, size_t count)
{
    size_t *moved = &im->g->moved;
    *moved += count < MAX_MOVED ? count : MAX_MOVED;
    return *moved <= MAX_MOVED ||
           import_fail(im, "moves more elements than are supported: %d in all", MAX_MOVED);
}

/* Place i of the result along one axis; the other indices are those of `pivot`. */
static size_t along(const int64_t *dims, uint32_t rank, uint32_t axis, size_t pivot, int64_t i)
{
    const size_t step = array_elements(rank - axis - 1, dims + axis + 1);
    const size_t at = pivot / step % (size_t)dims[axis];
    return pivot - at * step + (size_t)i * step;
}

/* Finds what each index of an axis adds to the place, or MONA_NONE: as a step if possible, else as
 * a table. Subtracts from *base what the pivot's indices add. */
static bool read_axis(importer *im, const int64_t *dims, uint32_t rank, uint32_t axis,
                      const uint32_t *places, size_t pivot, graph_array *record, int64_t *base)
{
    const size_t dim = (size_t)dims[axis];
    uint32_t *numbers = graph_alloc(im->g, dim, sizeof *numbers), min = UINT32_MAX;
    if (!numbers)
        return import_fail(im, "needs more memory than there is");
    for (size_t i = 0; i < dim; i++) {
        numbers[i] = places[along(dims, rank, axis, pivot, (int64_t)i)];
        min = numbers[i] && numbers[i] < min ? numbers[i] : min;
    }
    bool regular = true;
    for (size_t i = 0; i < dim; i++) {
        numbers[i] = numbers[i] ? numbers[i] - min : MONA_NONE;
        regular =
            regular && numbers[i] != MONA_NONE && numbers[i] == i * (uint64_t)numbers[dim > 1];
    }
    record->pick.extent[axis] = (uint32_t)dim;
    record->pick.table[axis] = MONA_NONE;
    record->pick.stride[0][axis] = regular ? (int32_t)numbers[dim > 1] : 1;
    if (!regular)
        record->tables[axis] = (graph_table){numbers, dim * sizeof *numbers,
                                             offsetof(mona_array_pick, table) + 4 * axis};
    if (places[pivot])
        *base += (int64_t)min - places[pivot];
    return true;
}

/* Whether the record reproduces all places. */
static bool is_sum(const graph_array *record, const int64_t *dims, const uint32_t *places)
{
    const mona_array_pick *p = &record->pick;
    const size_t count = array_elements(p->dims, dims);
    for (size_t i = 0; i < count; i++) {
        size_t rest = i;
        int64_t place = (int64_t)p->base[0] + 1;
        for (uint32_t axis = p->dims; axis-- > 0; rest /= (size_t)dims[axis]) {
            const uint32_t *table = record->tables[axis].data;
            const uint32_t k = (uint32_t)(rest % (size_t)dims[axis]), at = table ? table[k] : k;
            place = at == MONA_NONE || !place ? 0 : place + (int64_t)at * p->stride[0][axis];
        }
        if (place != places[i])
            return false;
    }
    return true;
}

/* Whether every element stays in its place. */
static bool is_same(size_t count, const uint32_t *places)
{
    for (size_t i = 0; i < count; i++)
        if (places[i] != i + 1)
            return false;
    return true;
}

uint32_t *array_places(importer *im, size_t count)
{
    uint32_t *places = malloc((count + 1) * sizeof *places);
    if (!places)
        import_fail(im, "needs more memory than there is");
    return places;
}

static array pick(importer *im, array x, uint32_t rank, const int64_t *dims, const uint32_t *places,
                  uint64_t fill)
{
    const int64_t one = 1, *extents = rank ? dims : &one;
    const size_t count = array_elements(rank, dims);
    graph_array record = {.kind = MONA_OP_ARRAY_PICK,
                          .pick = {.dims = rank ? rank : 1,
                                   .source_axis = MONA_NONE,
                                   .source_table = MONA_NONE,
                                   .fill = fill}};
    size_t pivot = 0;
    x = array_dense(im, x);
    if (!array_ok(x) || !array_may_move(im, count))
        return array_none;
    if (!count)
        return array_fail(im, "makes an empty tensor");
    if (count == array_elements(x.rank, x.dims) && is_same(count, places))
        return array_view(im, x, rank, dims);
    while (pivot + 1 < count && !places[pivot])
        pivot++;
    int64_t base = places[pivot] ? (int64_t)places[pivot] - 1 : 0;
    for (uint32_t axis = 0; axis < record.pick.dims; axis++)
        if (!read_axis(im, extents, record.pick.dims, axis, places, pivot, &record, &base))
            return array_none;
    record.pick.base[0] = (uint32_t)base;
    for (uint32_t axis = record.pick.dims; axis < MONA_ARRAY_DIMS; axis++)
        record.pick.table[axis] = MONA_NONE;
    if (!is_sum(&record, extents, places))
        return array_fail(im, "moves elements in a way that is not supported");
    return array_add(im, x.type, rank, dims, &record, &x, 1);
}

array array_pick(importer *im, array x, uint32_t rank, const int64_t *dims, uint32_t *places,
                 uint64_t fill)
{
    const array picked = places ? pick(im, x, rank, dims, places, fill) : array_none;
    free(places);
    return picked;
}

/* Joins 1 to 8 parts. */
static array concat_some(importer *im, uint32_t axis, uint32_t count, const array *parts)
{
    array dense[MONA_OP_MAX_INPUTS], out = parts[0];
    graph_array record = {.kind = MONA_OP_ARRAY_PICK,
                          .pick = {.dims = out.rank, .source_axis = axis}};
    out.dims[axis] = 0;
    for (uint32_t k = 0; k < count; k++) {
        dense[k] = array_dense(im, parts[k]);
        if (!array_ok(dense[k]))
            return array_none;
        out.dims[axis] += dense[k].dims[axis];
        for (uint32_t i = 0; i < out.rank; i++)
            record.pick.stride[k][i] = (int32_t)dense[k].strides[i];
    }
    uint32_t *places = graph_alloc(im->g, (size_t)out.dims[axis], sizeof *places);
    uint8_t *sources = graph_alloc(im->g, (size_t)out.dims[axis], sizeof *sources);
    if (!places || !sources)
        return array_fail(im, "needs more memory than there is");
    for (uint32_t k = 0, at = 0; k < count; k++)
        for (uint32_t i = 0; i < dense[k].dims[axis]; i++, at++) {
            places[at] = i;
            sources[at] = (uint8_t)k;
        }
    for (uint32_t i = 0; i < MONA_ARRAY_DIMS; i++) {
        record.pick.extent[i] = i < out.rank ? (uint32_t)out.dims[i] : 0;
        record.pick.table[i] = MONA_NONE;
    }
    const size_t extent = (size_t)out.dims[axis];
    record.tables[axis] =
        (graph_table){places, extent * sizeof *places, offsetof(mona_array_pick, table) + 4 * axis};
    record.tables[MONA_ARRAY_DIMS] =
        (graph_table){sources, extent, offsetof(mona_array_pick, source_table)};
    return array_add(im, out.type, out.rank, out.dims, &record, dense, count);
}

array array_concat(importer *im, uint32_t axis, uint32_t count, const array *parts)
{
    array joined = parts[0];
    for (uint32_t done = 1; done < count;) {
        array some[MONA_OP_MAX_INPUTS] = {joined};
        uint32_t n = 1;
        while (n < MONA_OP_MAX_INPUTS && done < count)
            some[n++] = parts[done++];
        joined = concat_some(im, axis, n, some);
    }
    return joined;
}
