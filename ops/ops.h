// SPDX-License-Identifier: Apache-2.0
/* The operators: what the loader, the planner and a session need to know of each.
 *
 * An operator makes one output row at a time from a window of rows of each input. That is all the
 * planner needs to run a whole network depth-first. Adding an operator is one file in ops/ and one
 * row in mona_ops. */
#ifndef MONA_OPS_H
#define MONA_OPS_H

#include "engine/aicore/aicore.h"
#include "engine/model/model_format.h"

/* Height and width of a tensor once bound, and its channels and type. */
typedef struct mona_shape {
    uint32_t channels, height, width;
    mona_type type;
} mona_shape;

/* The data section while records are checked. Many records may refer to the same bytes, so what they
 * refer to is counted: the time to look at all of it has a bound (engine/model/model.c). */
typedef struct mona_data {
    const uint8_t *bytes;
    uint64_t size;
    int64_t left; /* bytes that records may still refer to; negative: they refer to too many */
} mona_data;

/* A record refers to count items of `item` bytes at `offset`: aligned and inside the section. */
static inline bool mona_data_ok(mona_data *data, uint32_t offset, uint64_t count, uint64_t item)
{
    if (offset % MONA_FILE_ALIGNMENT || offset > data->size || count > (data->size - offset) / item)
        return false;
    data->left -= (int64_t)(count * item);
    return data->left >= 0;
}

/* Rows (or columns) [begin, end) of an input, unclipped: zero padding lies outside the tensor. */
typedef struct mona_span {
    int64_t begin, end;
} mona_span;

/* An operator bound to shapes and a target. */
typedef struct mona_bound_op {
    const mona_file_op *op;
    const uint8_t *data; /* the model's data section */
    const ac_target *target;
    const ac_isa *isa;
    mona_shape input[MONA_OP_MAX_INPUTS];
    mona_shape output;
    uint32_t input_c0[MONA_OP_MAX_INPUTS]; /* of the tensors in L1; 0: input planes */
    uint32_t output_c0;                    /* 0: output planes */
    const mona_file_op *store;             /* CONV: the STORE fused into it, or NULL; the type of */
    mona_type store_type;                  /* its planes */
    uint32_t placed;                       /* CONCAT, SLICE: bit i: input i shares memory with the
                                              output, nothing is copied (engine/plan/plan_place.c) */
    void *constants;                       /* constants_bytes(), filled by bind() */
} mona_bound_op;

/* Rows of a tensor as a kernel sees them: row y of the window is rows[y]. Column 0 of every pointer
 * is tensor column x_begin, which may be negative: columns outside the tensor are there and hold
 * zeros. */
typedef struct mona_rows {
    uint8_t *const *rows;
    size_t block_stride; /* bytes between channel blocks */
    int64_t x_begin;
} mona_rows;

/* One call: output row y, columns [x_begin, x_end). */
typedef struct mona_row_call {
    const mona_bound_op *bound;
    ac_core *core;
    uint8_t *scratch; /* scratch_bytes() of this thread, 64-byte aligned */
    int64_t y, x_begin, x_end;
    mona_rows
        input[MONA_OP_MAX_INPUTS]; /* rows[0] is the first row of window(y); planes: of the image */
    mona_rows output;              /* rows[0] is row y; unused when stored to planes */
    const mona_buffer *planes;     /* LOAD: of each input; STORE and a CONV with `store`: output */
    const struct mona_bound_op *store; /* CONV: the STORE fused into it, or NULL */
    /* STORE: itself and those that run with it, planes being of each; 0: it is alone */
    const mona_bound_op *const *stores;
    uint32_t store_count;
} mona_row_call;

/* A tensor stored whole: row y of channel block n begins at data + n * block_stride + y *
 * row_stride with tensor column 0. */
typedef struct mona_map {
    uint8_t *data;
    size_t block_stride, row_stride; /* bytes */
} mona_map;

/* One call of a kernel that works on whole maps: output rows [y_begin, y_end) of channel blocks
 * [block_begin, block_end). */
typedef struct mona_map_call {
    const mona_bound_op *bound;
    ac_core *core;
    uint8_t *scratch; /* map_scratch_bytes() of this thread, 64-byte aligned */
    uint32_t y_begin, y_end, block_begin, block_end;
    mona_map input[MONA_OP_MAX_INPUTS], output;
} mona_map_call;

/* One call of an operator on arrays: its share, items [begin, end). */
typedef struct mona_array_call {
    const mona_bound_op *bound;
    uint8_t *scratch; /* map_scratch_bytes() of this thread, 64-byte aligned */
    const uint8_t *input[MONA_OP_MAX_INPUTS];
    uint8_t *output;
    uint64_t begin, end;
} mona_array_call;

/* Rows that an AI Core program works on in one go, so that one row's vector work overlaps the next
 * one's cube work. */
enum { MONA_ROWS_AT_ONCE = 8 };

typedef struct mona_op_class {
    const char *name;
    uint32_t min_inputs, max_inputs;
    /* The record alone: parameters in range, data in bounds given the tensors' channels and types.
     * Heights and widths of the shapes are not yet known. */
    mona_status (*check)(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data);
    /* Output height and width; MONA_ERR_SHAPE if the inputs do not fit. */
    mona_status (*infer)(const mona_file_op *op, const mona_shape *inputs, mona_shape *output);
    /* The rows of input i needed for output rows [out.begin, out.end); columns: the same along x.
     */
    mona_span (*rows)(const mona_bound_op *bound, uint32_t i, mona_span out);
    mona_span (*columns)(const mona_bound_op *bound, uint32_t i, mona_span out);
    /* Bind-time constants (packed weights, tables), and scratch for row() of one thread. */
    size_t (*constants_bytes)(const mona_bound_op *bound);
    void (*bind)(const mona_bound_op *bound);
    size_t (*scratch_bytes)(const mona_bound_op *bound, uint32_t columns);
    void (*row)(const mona_row_call *call);
    /* Several rows at once, at most MONA_ROWS_AT_ONCE; NULL: one by one. Calls differ in y, which
     * is one more from call to call, scratch and rows. */
    void (*some_rows)(const mona_row_call *calls, uint32_t count);
    /* The same on whole maps; NULL, or not possible: only rows. */
    bool (*map_possible)(const mona_bound_op *bound);
    size_t (*map_scratch_bytes)(const mona_bound_op *bound);
    void (*map)(const mona_map_call *call);
    /* On arrays, instead of everything from rows() to map() but map_scratch_bytes(); NULL: not on
     * arrays. items: into how many parts that do not depend on each other the work falls; NULL: the
     * output's elements. check() knows heights and widths, since they are fixed. */
    void (*array)(const mona_array_call *call);
    uint64_t (*items)(const mona_bound_op *bound);
    /* Multiply-adds of one whole frame. */
    uint64_t (*macs)(const mona_bound_op *bound);
} mona_op_class;

static inline uint64_t mona_shape_elements(const mona_shape *s)
{
    return (uint64_t)s->channels * s->height * s->width;
}

/* An operator on arrays: the parts its work falls into, and how much it is, counted in elements
 * read and written and in multiply-adds. */
uint64_t mona_array_items(const mona_bound_op *bound);
uint64_t mona_array_work(const mona_bound_op *bound);

/* One per operator, in the file of its name (add and mul: elementwise.c). */
extern const mona_op_class mona_op_load, mona_op_store, mona_op_conv, mona_op_add, mona_op_mul,
    mona_op_resize, mona_op_depth_to_space, mona_op_max_pool, mona_op_average_pool,
    mona_op_array_map, mona_op_array_pick, mona_op_array_reduce, mona_op_array_matmul,
    mona_op_array_window, mona_op_array_resample, mona_op_array_gather, mona_op_concat,
    mona_op_slice;
extern const mona_op_class *const mona_ops[MONA_OP_COUNT]; /* by mona_op_kind */

/* LOAD as an AI Core program where a tensor's row is a plane's, some_rows' arguments. */
bool mona_load_is_dense(const mona_bound_op *bound);
void mona_load_dense(const mona_row_call *calls, uint32_t count);
/* LOAD as an AI Core program, for the forms that have one. */
bool mona_load_has_program(const mona_bound_op *bound);
void mona_load_by_instructions(const mona_row_call *calls, uint32_t count);

/* STORE likewise. together: how many of these STOREs of one tensor, at least the first, one call
 * may make (mona_row_call.stores). */
bool mona_store_has_program(const mona_bound_op *bound);
uint32_t mona_store_together(const mona_bound_op *const *stores, uint32_t count);
void mona_store_by_instructions(const mona_row_call *calls, uint32_t count);

/* First channel of the output of CONCAT that input i makes; of the input that SLICE begins with. */
uint32_t mona_channels_before(const mona_bound_op *bound, uint32_t i);

/* RESIZE, and ADD and MUL, likewise, once bound. */
bool mona_resize_has_program(const mona_bound_op *bound);
bool mona_elementwise_has_program(const mona_bound_op *bound);

/* Runs rows of one fused convolution, alike but for where they lie, by instructions on the core's
 * buffers: what row programs must equal bit for bit. The weights are packed as fractals. */
void ac_conv_rows_by_instructions(ac_core *core, const ac_conv_row *rows, uint32_t count);

#endif
