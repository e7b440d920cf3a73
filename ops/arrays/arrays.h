// SPDX-License-Identifier: Apache-2.0
/* Shared by the operators on arrays: walks over elements, and conversion of elements to numbers and
 * back, as engine/array_format.h defines it. Private to ops/. */
#ifndef MONA_OPS_ARRAYS_H
#define MONA_OPS_ARRAYS_H

#include "ops/helpers.h"

#include "engine/libc.h"

/* Elements that are processed at a time, so few that they and their results stay in a first-level
 * cache. */
enum { ARRAY_BLOCK = 256 };
/* The same where several blocks hold numbers of 64 bits, so that the stack of a controller has room
 * for them: 8 KB. */
enum { WIDE_BLOCK = 128 };

static inline const void *array_record(const mona_bound_op *b)
{
    return b->data + b->op->array.record;
}

/* ---- walks ---------------------------------------------------------------------------------- */

/* A walk over elements of an array, in the C order of some dimensions. */
typedef struct array_walk {
    uint32_t dims;
    const uint32_t *extent; /* [dims] */
    const int32_t *stride;  /* [dims], elements */
    uint32_t index[MONA_ARRAY_DIMS];
    int64_t at; /* the current element */
} array_walk;

/* A walk that begins at its element number `first`. Without dimensions it has the one element at
 * base. */
static inline array_walk walk_from(uint32_t dims, const uint32_t *extent, const int32_t *stride,
                                   int64_t base, uint64_t first)
{
    array_walk w = {.dims = dims, .extent = extent, .stride = stride, .at = base};
    for (uint32_t d = dims; d-- > 0; first /= extent[d]) {
        w.index[d] = (uint32_t)(first % extent[d]);
        w.at += (int64_t)w.index[d] * stride[d];
    }
    return w;
}

/* How many elements from here on lie in one row of the last dimension; at most `max`. */
static inline uint32_t walk_run(const array_walk *w, uint32_t max)
{
    if (!w->dims)
        return 1;
    const uint32_t left = w->extent[w->dims - 1] - w->index[w->dims - 1];
    return left < max ? left : max;
}

/* Moves on by count elements, which all lie in one run. After the last element comes the first. */
static inline void walk_pass(array_walk *w, uint32_t count)
{
    uint32_t d = w->dims;
    if (!d)
        return;
    w->index[d - 1] += count;
    w->at += (int64_t)count * w->stride[d - 1];
    while (w->index[d - 1] == w->extent[d - 1]) {
        w->at -= (int64_t)w->extent[d - 1] * w->stride[d - 1];
        w->index[d - 1] = 0;
        if (--d == 0)
            return;
        w->index[d - 1]++;
        w->at += w->stride[d - 1];
    }
}

/* A number of FLOAT or of INT arithmetic. */
typedef union array_number {
    float as_float;
    int64_t as_int;
} array_number;

/* An operand: its elements from number 0 on, and their type. */
typedef struct array_source {
    const uint8_t *data;
    mona_type type;
} array_source;

static inline array_source source_of(const mona_array_call *call, uint32_t i)
{
    return (array_source){call->input[i], call->bound->input[i].type};
}

/* Read count elements as numbers, from element `at` on, `stride` elements apart. */
void mona_array_read_floats(float *to, array_source from, int64_t at, int32_t stride,
                            uint32_t count);
void mona_array_read_ints(int64_t *to, array_source from, int64_t at, int32_t stride,
                          uint32_t count);
/* The same for either arithmetic: `to` has float or int64_t. */
void mona_array_read(mona_arithmetic arithmetic, void *to, array_source from, int64_t at,
                     int32_t stride, uint32_t count);
/* Reads the next count elements of a walk. */
void mona_array_ints(int64_t *to, array_source from, array_walk *walk, uint32_t count);
/* The same as floats; returns the place in the array if the elements are floats that lie side by
 * side there, and else `room`, after copying them there. */
const float *mona_array_view(float *room, array_source from, array_walk *walk, uint32_t count);

/* Store count numbers from element `first` on. from_unsigned: the numbers are U64. */
void mona_array_put_floats(uint8_t *data, mona_type type, mona_conversion conversion,
                           uint64_t first, const float *from, uint32_t count);
void mona_array_put_ints(uint8_t *data, mona_type type, mona_conversion conversion,
                         bool from_unsigned, uint64_t first, const int64_t *from, uint32_t count);

/* x truncated to 64 bits, saturating; a NaN becomes 0. */
static inline int64_t int_of(float x)
{
    if (!(x > -0x1p63f))
        return x != x ? 0 : INT64_MIN;
    return x < 0x1p63f ? (int64_t)x : INT64_MAX;
}

/* round_half_even. Below 2^23, adding 2^23 and subtracting it again rounds to an integer. */
static inline float round_even(float x)
{
    const uint32_t sign = mona_bits(x) & 0x80000000, a = mona_bits(x) ^ sign;
    const float rounded = mona_float(a) + 0x1p23f - 0x1p23f;
    return mona_float(sign | (a < 0x4b000000 ? mona_bits(rounded) : a));
}

/* ---- MAP ------------------------------------------------------------------------------------ */

enum { MAP_OPERANDS = 3 };

/* A record's dimensions after joining. */
typedef struct array_map_layout {
    uint32_t dims;
    uint32_t extent[MONA_ARRAY_DIMS];
    int32_t stride[MAP_OPERANDS][MONA_ARRAY_DIMS];
} array_map_layout;

array_map_layout mona_array_map_layout(const mona_array_map *m, uint32_t operands);

static inline uint32_t function_arity(uint32_t function)
{
    return function >= MONA_FN_WHERE ? 3 : function >= MONA_FN_ADD ? 2 : 1;
}

bool mona_array_has_float(uint32_t function);
bool mona_array_has_int(uint32_t function);
/* y[i] = function(x[0][i], x[1][i], x[2][i]) for count elements, with parameters p. */
void mona_array_apply_float(uint32_t function, const float p[4], float *y, const float *const x[3],
                            uint32_t count);
void mona_array_apply_int(uint32_t function, bool is_unsigned, int64_t *y,
                          const int64_t *const x[3], uint32_t count);

/* Those that are evaluated in fp64: most functions of one number, and POW, MOD and FMOD. */
void mona_array_apply_float64(uint32_t function, const float *p, float *y, const float *a,
                              uint32_t count);
float mona_array_float64(uint32_t function, float a, float b);

/* REDUCE: results that are computed by turns, as every sum waits for its last addition. */
enum { REDUCED_TOGETHER = 4 };

/* Whether the numbers of an output lie closer together than those of its neighbours. */
static inline bool reduces_by_output(const mona_array_reduce *r)
{
    return !r->kept || !r->reduced || r->stride[r->kept + r->reduced - 1] <= r->stride[r->kept - 1];
}

/* Bytes of scratch for so many items. Far too many for the machine become SIZE_MAX, which planning
 * refuses. */
static inline size_t array_scratch(uint32_t items, size_t size)
{
    return items < SIZE_MAX / 16 / size ? items * size : SIZE_MAX;
}

/* ---- checks -------------------------------------------------------------------------------- */

/* Whether the operator's record, of so many bytes, lies in the data section. */
static inline bool record_ok(const mona_file_op *op, uint64_t size, mona_data *data)
{
    return mona_data_ok(data, op->array.record, 1, size);
}

/* The product of the extents. 0: one of them is 0, or the product is more than an array may
 * hold. */
uint64_t mona_array_product(const uint32_t *extent, uint32_t dims);
/* Whether base + sum over d of i_d * stride[d] lies within [0, elements) for all indices. */
bool mona_array_inside(const uint32_t *extent, const int32_t *stride, uint32_t dims, uint64_t base,
                       uint64_t elements);

/* Windows over 1 to 3 axes, shared by convolutions and pools on arrays. Private to ops/. */

/* The number of inputs, outputs or taps, of all axes together. They are counted in C order. */
uint32_t mona_window_inputs(const mona_array_window *w);
uint32_t mona_window_outputs(const mona_array_window *w);
uint32_t mona_window_taps(const mona_array_window *w);

/* The indices along the axes of output `i` or of tap `i`. */
typedef enum window_side { WINDOW_OUT, WINDOW_TAP } window_side;
void mona_window_indices(const mona_array_window *w, window_side side, uint32_t i,
                         uint32_t index[3]);

/* Reads what tap `tap` reads for outputs [first, first + count), in the plane that begins at
 * element `plane` of operand 0. Samples outside the plane are `outside`. to: float or int64_t, by
 * the window's arithmetic. */
void mona_window_samples(const mona_array_call *call, uint64_t plane, uint32_t tap, uint32_t first,
                         uint32_t count, array_number outside, void *to);

/* The parts of the operator for CONV and for pools. */
void mona_window_conv(const mona_array_call *call);
uint64_t mona_window_conv_items(const mona_bound_op *b);
void mona_window_pool(const mona_array_call *call);
uint64_t mona_window_pool_items(const mona_bound_op *b);

/* Products of matrices in panels, of fp32 or of 64-bit numbers, for ARRAY_MATMUL and ARRAY_WINDOW.
 *
 * A result is divided into tiles of PANEL_ROWS x PANEL_COLUMNS sums, and each tile is an item. The
 * inner dimension is processed in steps of PANEL_DEPTH. In each step this part of a's rows and b's
 * columns is converted to numbers and packed side by side in panels, whatever their types and
 * strides, and the panels are multiplied. A sum adds its products one after another with the inner
 * index ascending, so tiles and steps do not change the result.
 *
 * Operators define how rows of a and b are read (panel_reader). Private to ops/. */

enum { PANEL_ROWS = 16, PANEL_COLUMNS = 128, PANEL_DEPTH = 64 };

/* Sums of floats that stay in registers while the inner index runs; strips are computed whole. */
enum { STRIP_ROWS = 4, STRIP_COLUMNS = 8 };

/* A tile of the result. */
typedef struct panel_tile {
    const mona_array_call *call;
    mona_arithmetic arithmetic;
    uint64_t matrix;      /* index of the matrix in the batch; for ARRAY_WINDOW, in batch x
                             groups */
    uint32_t row, column; /* the first row and column of the tile */
    uint32_t rows, columns;
    uint32_t depth; /* the extent of the inner dimension */
} panel_tile;

/* How an operator reads its matrices. row_of_a and row_of_b write numbers side by side: float or
 * int64_t, by the tile's arithmetic. */
typedef struct panel_reader {
    /* Reads a[row][k .. k + count), and b[k][the tile's columns]. */
    void (*row_of_a)(const panel_tile *tile, uint32_t row, uint32_t k, uint32_t count, void *to);
    void (*row_of_b)(const panel_tile *tile, uint32_t k, void *to);
    /* The initial value of a row's sums. NULL: 0. */
    array_number (*start)(const panel_tile *tile, uint32_t row);
    /* The element of the output for the tile's first sum in a row. The others follow it. */
    uint64_t (*place)(const panel_tile *tile, uint32_t row);
} panel_reader;

size_t mona_panel_scratch_bytes(void);
/* The number of tiles of a matrix of `rows` x `columns`. */
uint64_t mona_panel_tiles(uint32_t rows, uint32_t columns);
/* Computes and stores a tile. scratch: mona_panel_scratch_bytes() bytes. */
void mona_panel_run(const panel_reader *reader, const panel_tile *tile, uint8_t *scratch);
/* Sets row, column, rows and columns of tile number `index` of a matrix of `rows` x `columns`. */
void mona_panel_locate(panel_tile *tile, uint64_t index, uint32_t rows, uint32_t columns);

#endif
