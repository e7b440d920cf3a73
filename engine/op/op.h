// SPDX-License-Identifier: Apache-2.0
/* The operators, as the loader, the planner and a session see them.
 *
 * An operator computes one output row at a time from a window of rows of each input. That is all
 * the planner needs to run a whole network depth-first. A new operator takes one file in ops/ and
 * one row in mona_ops. */
#ifndef MONA_OPS_H
#define MONA_OPS_H

#include "engine/aicore/aicore.h"
#include "engine/cpu/cpu.h"
#include "engine/model_format.h"
#include "engine/mona_op.h"

/* Height and width of a tensor once bound, and what its record says of it. */
typedef struct mona_shape {
    uint32_t channels, height, width;
    mona_type type;
    uint8_t zero; /* the stored value that stands for 0, see model_format.h */
    /* The stored values that fill padding; 0: `zero` does. */
    uint16_t padding[MONA_PADDED_CHANNELS];
} mona_shape;

/* The 8 bytes that padding repeats, in every channel block, from a pixel on. A channel block of
 * less than 4 channels has one. Elements that fill up a block are any finite numbers. */
static inline uint64_t mona_padding(const mona_shape *s)
{
    const bool half = mona_type_size(s->type) == 2;
    uint64_t bytes = 0;
    if (!mona_is_padded(s->padding))
        return s->zero * UINT64_C(0x0101010101010101);
    for (uint32_t i = 0; i < MONA_PADDED_CHANNELS; i++) {
        const uint64_t value = s->padding[s->channels > 1 ? i : 0];
        bytes |= half ? value << 16 * i : value * UINT64_C(0x100000001) << 8 * i;
    }
    return bytes;
}

/* The data section while records are checked. Many records may refer to the same bytes, so what
 * they refer to is counted: the time to look at all of it has a bound (engine/model/model.c). */
typedef struct mona_data {
    const uint8_t *bytes;
    uint64_t size;
    int64_t left; /* bytes that records may still refer to; negative: they refer to too many */
    const mona_kernel *const *kernels; /* the application's; NULL: it has none */
    const char *missing;               /* the name of a kernel that is not among them */
} mona_data;

/* A record refers to count items of `item` bytes at `offset`: aligned and inside the section. */
static inline bool mona_data_ok(mona_data *data, uint32_t offset, uint64_t count, uint64_t item)
{
    if (offset % MONA_FILE_ALIGNMENT || offset > data->size || count > (data->size - offset) / item)
        return false;
    data->left -= (int64_t)(count * item);
    return data->left >= 0;
}

/* Rows or columns [begin, end) of a tensor. Not clipped to the tensor: what lies outside is
 * padding. */
typedef struct mona_span {
    int64_t begin, end;
} mona_span;

/* An operator bound to shapes and a target. */
typedef struct mona_bound_op {
    const mona_file_op *op;
    const uint8_t *data; /* the model's data section */
    const struct mona_op_run *run;
    const mona_kernel *kernel; /* ARRAY_KERNEL, KERNEL: the application's */
    const ac_target *target;
    const mona_isa *isa; /* row kernels; on an AI Core, for what has no program */
    /* On an AI Core: the program that computes it, known after bind(). NULL: it has none, and the
     * time on a chip is an estimate. */
    const struct mona_op_program *program;
    /* Rows in L1 begin at blocks of 32 bytes and may be read to the end of the block that holds
     * their last pixel (schedule.c). */
    bool on_ai_core;
    mona_shape input[MONA_OP_MAX_INPUTS];
    mona_shape output;
    uint32_t input_c0[MONA_OP_MAX_INPUTS]; /* channel block of each input in L1; 0: it is planes */
    uint32_t output_c0;                    /* channel block of the output in L1; 0: it is planes */
    const mona_file_op *store;             /* CONV: the STORE fused into it, or NULL */
    mona_type store_type;                  /* element type of that STORE's planes */
    uint32_t placed;                       /* CONCAT, SLICE: bit i is set when input i shares memory
                                              with the output, so that nothing is copied
                                              (engine/layout/place.c) */
    void *constants;                       /* constants_bytes() bytes, filled by bind() */
    ac_address resident; /* on an AI Core: constants that the program's instructions read */
} mona_bound_op;

/* Rows of a tensor as a kernel sees them. rows[i] is row i of the window and points at tensor
 * column x_begin. x_begin may be negative: columns outside the tensor exist in memory and hold
 * its padding. */
typedef struct mona_rows {
    uint8_t *const *rows;
    size_t block_stride; /* bytes from one channel block to the next */
    int64_t x_begin;
    const ac_address *at; /* of programs: where rows[i] lies */
} mona_rows;

/* One call: output row y, columns [x_begin, x_end). */
typedef struct mona_row_call {
    const mona_bound_op *bound;
    ac_core *core;    /* of programs */
    uint8_t *scratch; /* scratch_bytes() bytes of this thread, 64-byte aligned */
    int64_t y, x_begin, x_end;
    /* rows[0] is the first row of the window for y; of planes, row 0 of the image */
    mona_rows input[MONA_OP_MAX_INPUTS];
    mona_rows output;            /* rows[0] is row y; unused when the result goes to planes */
    const mona_buffer *planes;   /* LOAD: one for each input; STORE, CONV with `store`: output */
    const ac_address *planes_at; /* of programs: where they lie */
    const struct mona_bound_op *store; /* CONV: the STORE fused into it, or NULL */
    /* STORE: the STOREs that run in this call, itself first, with one entry of `planes` for each;
     * store_count 0: it runs alone */
    const mona_bound_op *const *stores;
    uint32_t store_count;
    bool loads;   /* of programs with loads_constants: they are not in L1 yet */
    bool follows; /* since the call for the row above, with these columns, scratch is as it was */
} mona_row_call;

/* A tensor stored whole. Column 0 of row y of channel block n lies at
 * data + n * block_stride + y * row_stride. */
typedef struct mona_map {
    uint8_t *data;
    size_t block_stride, row_stride; /* bytes */
} mona_map;

/* One call of a kernel on whole maps: output rows [y_begin, y_end) of channel blocks [block_begin,
 * block_end). */
typedef struct mona_map_call {
    const mona_bound_op *bound;
    uint8_t *scratch; /* map_scratch_bytes() bytes of this thread, 64-byte aligned */
    uint32_t y_begin, y_end, block_begin, block_end;
    mona_map input[MONA_OP_MAX_INPUTS], output;
} mona_map_call;

/* One call of an operator on arrays, which computes items [begin, end) of its output. */
typedef struct mona_array_call {
    const mona_bound_op *bound;
    uint8_t *scratch; /* map_scratch_bytes() bytes of this thread, 64-byte aligned */
    const uint8_t *input[MONA_OP_MAX_INPUTS];
    uint8_t *output;
    uint64_t begin, end;
} mona_array_call;

/* The same as an AI Core program is called, with addresses. */
typedef struct mona_array_places {
    const mona_bound_op *bound;
    ac_core *core;
    ac_address input[MONA_OP_MAX_INPUTS], output; /* 0: a constant */
    uint64_t begin, end;
} mona_array_places;

/* Most rows of an AI Core program, which overlaps the vector work of a row with the cube work of
 * the next. */
enum { MONA_ROWS_AT_ONCE = 8 };

/* How a session runs an operator on a CPU. */
typedef struct mona_op_run {
    bool reads_planes, writes_planes; /* so its inputs, its output are; an array counts as planes */
    /* It only copies channels, unless they lie in place: those of its inputs to one after
     * another, or some of its input. */
    bool joins_channels, cuts_channels;
    bool windows_vary; /* the number of rows that an output row needs is not always the same */
    /* The rows of input i that output rows `out` need, and the same for columns. */
    mona_span (*rows)(const mona_bound_op *bound, uint32_t i, mona_span out);
    mona_span (*columns)(const mona_bound_op *bound, uint32_t i, mona_span out);
    void (*row)(const mona_row_call *call);
    void (*map)(const mona_map_call *call); /* in place of row(), on whole maps */
    /* Operators on arrays have these two in place of those above; for others they are NULL. items:
     * the number of independent parts of the work; NULL: one for each element of the output. */
    void (*array)(const mona_array_call *call);
    uint64_t (*items)(const mona_bound_op *bound);
} mona_op_run;

/* An operator as an AI Core program. */
typedef struct mona_op_program {
    /* Computes up to MONA_ROWS_AT_ONCE rows. The calls are alike except for scratch, rows and y,
     * which grows by one from call to call. NULL: there is no program, but for arrays. */
    void (*emit)(const mona_row_call *calls, uint32_t count);
    void (*array)(const mona_array_places *call);         /* in its place, for arrays */
    size_t (*array_l1_bytes)(const mona_bound_op *bound); /* that array() takes; NULL: 0 */
    /* After bind(): why there is none for an operator, as the end of a message; NULL: there is one.
     * NULL itself: there always is. */
    const char *(*missing)(const mona_bound_op *bound);
    bool in_blocks; /* columns of its input and output are counted in blocks of 32 */
    /* It reads its first input for so many columns of results at a time, also where fewer are left
     * at the end of a row. NULL: 1. */
    uint32_t (*together)(const mona_bound_op *bound);
    /* Whether one instruction loads all rows of a strip, so that rings should wrap around between
     * strips; NULL: no. */
    bool (*loads_strips)(const mona_bound_op *bound);
    bool loads_constants; /* to L1 itself, if the call says so */
    /* When it ends, V has waited for all other pipes but MTE2, which it does not use; and what is
     * before it may end so. */
    bool ends_in_v;
    /* Whether MTE2 alone brings rows of maps to a ring, if all inputs are maps; NULL: no. */
    bool (*brings_maps)(const mona_bound_op *bound);
    /* Whether it stores the planes of bound->store faster than that STORE would; NULL: yes. */
    bool (*stores)(const mona_bound_op *bound);
    /* What emit() reads at bound->constants, which bind() fills in place of mona_op_class; NULL:
     * what row kernels read. */
    size_t (*tables_bytes)(const mona_bound_op *bound);
    /* What its instructions read, at bound->resident; NULL: nothing. */
    size_t (*constants_bytes)(const mona_bound_op *bound);
    void (*bind)(const mona_bound_op *bound, void *constants);
} mona_op_program;

/* Which tensors of an operator may have a zero other than 0. */
typedef enum mona_zeros {
    MONA_ZEROS_NONE,
    MONA_ZEROS_SAME, /* all, and it is the same */
    MONA_ZEROS_ANY,  /* those that its check allows */
} mona_zeros;

/* How the samples of a result may be those of a picture, of which they hold more bits than 8
 * (engine/model/deepen.c). */
typedef enum mona_picture {
    MONA_PICTURE_NONE,     /* they are features */
    MONA_PICTURE_MOVED,    /* they are samples of its inputs, moved or resampled */
    MONA_PICTURE_SUMMED,   /* its inputs that are planes are pictures */
    MONA_PICTURE_RESIDUAL, /* all of these but the first */
    MONA_PICTURE_LOST,     /* it would lose bits */
} mona_picture;

/* An operator as the loader and the planner see it. */
typedef struct mona_op_class {
    const char *name;
    const mona_op_run *run;
    const mona_op_run *run_map; /* the same on whole maps; NULL: it only works row by row */
    uint32_t kernels; /* row kernels that these may call: a set of MONA_KERNEL (isa_table.h) */
    uint32_t min_inputs, max_inputs;
    mona_zeros zeros;
    mona_picture picture;
    bool has_filter, has_epilogue; /* its record is a mona_file_conv; has an epilogue */
    /* Checks the record alone: parameters are in range, and data is in bounds given the tensors'
     * channels and types. Heights and widths of the shapes are not yet known. */
    mona_status (*check)(const mona_file_op *op, const mona_shape *inputs, const mona_shape *output,
                         mona_data *data);
    /* Output height and width; MONA_ERR_SHAPE if the inputs do not fit. */
    mona_status (*infer)(const mona_file_op *op, const mona_shape *inputs, mona_shape *output);
    /* Constants made at bind time: packed weights, tables. bind() fills bound->constants. */
    size_t (*constants_bytes)(const mona_bound_op *bound);
    void (*bind)(const mona_bound_op *bound);
    /* Scratch memory that row() of one thread needs for rows of `columns` columns. */
    size_t (*scratch_bytes)(const mona_bound_op *bound, uint32_t columns);
    /* Whether rows take less time than run_map, however large the weights are; NULL: no. */
    bool (*prefers_rows)(const mona_bound_op *bound);
    /* Whether run_map can compute it, and the scratch that map() or array() needs of one
     * thread. */
    bool (*map_possible)(const mona_bound_op *bound);
    size_t (*map_scratch_bytes)(const mona_bound_op *bound);
    /* Multiply-adds for one whole frame. */
    uint64_t (*macs)(const mona_bound_op *bound);
    /* Whether it can store the planes of its result itself; NULL: no. */
    bool (*stores)(const mona_bound_op *bound);
    /* Whether it reads maps in global memory on an AI Core: those that copy them into rings, and
     * those whose windows are whole maps, which need not fit L1. NULL: no. */
    bool (*reads_maps)(const mona_file_op *op);
    /* The application's kernel that it runs, whose tables may be constants; NULL: none. */
    const mona_kernel *(*kernel)(const mona_model *model, const mona_file_op *op);
} mona_op_class;

static inline uint64_t mona_shape_elements(const mona_shape *s)
{
    return (uint64_t)s->channels * s->height * s->width;
}

/* For an operator on arrays: the number of independent parts of its work; and its work, which is
 * the sum of elements read, elements written and multiply-adds. */
uint64_t mona_array_items(const mona_bound_op *bound);
uint64_t mona_array_work(const mona_bound_op *bound);

/* One for each operator, in the file with its name (ADD and MUL: elementwise.c). */
extern const mona_op_class mona_op_load, mona_op_store, mona_op_conv, mona_op_add, mona_op_mul,
    mona_op_resize, mona_op_depth_to_space, mona_op_max_pool, mona_op_average_pool,
    mona_op_array_map, mona_op_array_pick, mona_op_array_reduce, mona_op_array_matmul,
    mona_op_array_window, mona_op_array_resample, mona_op_array_gather, mona_op_concat,
    mona_op_slice, mona_op_normalise, mona_op_attention, mona_op_array_sort,
    mona_op_array_normalise, mona_op_pad, mona_op_array_kernel, mona_op_kernel;
extern const mona_op_run mona_run_load, mona_run_store, mona_run_conv, mona_run_conv_map,
    mona_run_add, mona_run_mul, mona_run_resize, mona_run_depth_to_space, mona_run_max_pool,
    mona_run_average_pool, mona_run_array_map, mona_run_array_pick, mona_run_array_reduce,
    mona_run_array_matmul, mona_run_array_window, mona_run_array_resample, mona_run_array_gather,
    mona_run_concat, mona_run_slice, mona_run_normalise, mona_run_attention, mona_run_attention_map,
    mona_run_array_sort, mona_run_array_normalise, mona_run_pad, mona_run_array_kernel,
    mona_run_kernel;
extern const mona_op_class *const mona_ops[MONA_OP_COUNT]; /* by mona_op_kind */

/* Whether row kernels take a bound CONV as depthwise. They write channel blocks then, no planes. */
bool mona_conv_is_depthwise(const mona_bound_op *bound);

/* Of CONCAT and SLICE: channels from, from + 1, ... of input i become channels to, to + 1, ...
 * of the output. */
typedef struct mona_channels {
    uint32_t input, from, to, count;
} mona_channels;

mona_channels mona_channels_part(const mona_bound_op *bound, uint32_t i);

#endif
