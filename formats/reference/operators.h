// SPDX-License-Identifier: Apache-2.0
/* The operators of the reference executor. */
#ifndef MONA_REFERENCE_OPERATORS_H
#define MONA_REFERENCE_OPERATORS_H

#include "formats/onnx/onnx_graph.h"

/* Shared by the operators of the reference executor: the form of a call, access to inputs, and
 * creation of outputs.
 *
 * Each operator has one function with two purposes. It first determines type and shape of each
 * output (op_result), of the first one last. If only shapes are wanted (shapes_only), that returns
 * false, and the call ends; else the elements are computed. Inputs then have shapes and, if they
 * are constants, data; an operator whose shapes depend on the data of an input checks that with
 * op_known. */

enum { OP_SCRATCH = 8 };

typedef struct op_call {
    const onnx_node *node;
    const tensor *const *in; /* NULL: left out */
    uint32_t in_count;
    tensor *out; /* zeroed; one for each output of the node */
    uint32_t out_count;
    int64_t opset;
    bool shapes_only, shaped; /* shaped: they are all known */
    bool unknown;             /* set by an operator that needs data which is missing */
    void *scratch[OP_SCRATCH];
    uint32_t scratch_count;
    format_error *error;
} op_call;

/* False: failed with an error, or `unknown` or `shaped` is set. */
typedef bool op_function(op_call *c);

/* Writes "node 'NAME' (OP) " and the text. Always returns false. */
bool op_fail(op_call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool op_out_of_memory(op_call *c);

/* ---- inputs ---- */
/* NULL: input i is left out. */
const tensor *op_in(const op_call *c, uint32_t i);
/* Whether input i is left out or has data. */
bool op_known(op_call *c, uint32_t i);
/* Input i as floats, converted if necessary, valid until the call ends; NULL: failed. */
const float *op_floats(op_call *c, uint32_t i);
/* Reads input i as a list of at most `max` integers; *count 0: left out. */
bool op_ints(op_call *c, uint32_t i, int64_t *numbers, uint32_t max, uint32_t *count);
/* Zeroed memory, valid until the call ends; NULL: failed. */
void *op_scratch(op_call *c, size_t count, size_t size);
/* Releases what op_scratch returned last, before the call ends; NULL is allowed. */
void op_scratch_free(op_call *c, void *memory);

/* Checks an axis of `rank` dimensions; negative ones count from the end. */
bool op_axis(op_call *c, int64_t axis, uint32_t rank, uint32_t *out);
/* Bit k: axis k is in the list in input i. All bits are clear if that is left out or empty. */
bool op_axes(op_call *c, uint32_t i, uint32_t rank, uint32_t *mask);

/* ---- outputs ---- */
bool op_wants(const op_call *c, uint32_t i);
/* Creates output i, unless the node leaves it out. False: failed, or i is 0, of which only the
 * shape is wanted. */
bool op_result(op_call *c, uint32_t i, element_type type, uint32_t rank, const int64_t *dims);
bool op_result_like(op_call *c, uint32_t i, const tensor *like);

/* ---- broadcasting ---- */
/* Steps through a result's elements in order and gives the position of an operand's element. */
typedef struct op_walk {
    uint32_t rank;
    int64_t at[TENSOR_MAX_RANK], dims[TENSOR_MAX_RANK];
    size_t stride[TENSOR_MAX_RANK];
    size_t offset; /* of the operand's element */
} op_walk;

/* The shape to which a and b broadcast; the result may overwrite a. */
bool op_broadcast(op_call *c, const tensor *a, const tensor *b, uint32_t *rank, int64_t *dims);
/* Copies the element of x at each step of the walk. */
void op_move(const tensor *x, op_walk w, tensor *out);
/* t must broadcast to these dimensions. */
op_walk op_walk_start(const tensor *t, uint32_t rank, const int64_t *dims);
static inline void op_walk_next(op_walk *w)
{
    for (uint32_t i = w->rank; i-- > 0;) {
        w->offset += w->stride[i];
        if (++w->at[i] < w->dims[i])
            return;
        w->offset -= w->stride[i] * (size_t)w->dims[i];
        w->at[i] = 0;
    }
}

/* Their table and their functions, some shared by similar operators. */

enum { OPERATOR_ANY_COUNT = 255 };

typedef struct reference_row { /* columns of operators.inc */
    const char *name;
    int64_t since;
    uint8_t min_inputs, max_inputs; /* OPERATOR_ANY_COUNT: any number */
    uint32_t types;                 /* bit t: input 0 may be of element type t */
    op_function *function;
    bool whole_tensors;
    const char *attributes; /* names, with spaces between */
} reference_row;

/* NULL: there is no such operator. */
const reference_row *reference_find(const char *name);
/* Whether an attribute of the node is none of its operator's, or of another kind; text says which,
 * to follow the node's name. */
bool reference_attribute_fault(const reference_row *row, const onnx_node *node, char *text,
                               size_t size);
/* Runs a kernel of the user's own, which has code; fills out like an operator's function. */
bool reference_kernel(const mona_kernel *k, const onnx_node *node, const tensor *const *in,
                      tensor *out, format_error *error);
/* "float32, float16, ..." for a set of types. */
void reference_types(uint32_t types, char *text, size_t size);

/* The functions of all operators. */
#define ROW(name, since, min, max, types, function, whole, map, maps, array, arrays, attributes,   \
            images, integers, code)                                                                \
    op_function op_##function;
#include "formats/operators.inc"
#undef ROW

/* What nodes ask for, as their attributes and constants say it. Sides of inputs may be open, -1. */

/* Of each axis: what a Slice takes, in which negative bounds count from the end. */
typedef struct op_taken {
    int64_t start, end, step;
} op_taken;
/* taken: TENSOR_MAX_RANK of them; of axes that are not named all is taken. */
bool op_slice_read(op_call *c, op_taken *taken);

/* The bounds of what is taken of a dimension. */
typedef struct op_span {
    int64_t first, step, count;
} op_span;
op_span op_taken_of(const op_taken *t, int64_t dim);

typedef enum op_pad_mode { PAD_CONSTANT, PAD_EDGE, PAD_REFLECT, PAD_WRAP } op_pad_mode;
typedef struct op_padding {
    op_pad_mode mode;
    int64_t begin[TENSOR_MAX_RANK], end[TENSOR_MAX_RANK];
} op_padding;
bool op_pad_read(op_call *c, op_padding *p);

/* The axis and the sizes of a Split's parts. sizes: room for one for each output. */
bool op_split_read(op_call *c, uint32_t *axis, int64_t *sizes);

/* The axes of a MeanVarianceNormalization, as a mask. */
bool op_mean_variance_axes(op_call *c, uint32_t *mask);

/* The equation of an Einsum, such as bchw,dc->bdhw. */
enum { EINSUM_LABELS = 3 * TENSOR_MAX_RANK }; /* of two operands and the result */

/* Labels are numbered: those of the result first, in its order, then those that are summed over. */
typedef struct op_equation {
    uint32_t operands, rank, labels; /* rank: of the result */
    char letters[EINSUM_LABELS];
    int64_t dims[EINSUM_LABELS];
    int axis[2][EINSUM_LABELS]; /* of the operand; -1: it does not have the label */
} op_equation;

/* Reads it for the operands' shapes. */
bool op_equation_read(op_call *c, op_equation *e);

/* What an Attention asks for: queries, keys and values. */
typedef struct op_heads {
    int64_t batch, heads, rows, size; /* rows may be open, -1 */
} op_heads;

typedef struct op_attending {
    op_heads part[3];
    double scale; /* of the products of queries and keys */
} op_attending;

/* Fails if it is more than attention alone: with a mask, earlier keys, or limits. */
bool op_attention_read(op_call *c, op_attending *a);

/* A function of one number. */
typedef struct op_unary_form {
    uint32_t row;        /* of functions.inc */
    bool on_ints;        /* takes integers as they are */
    bool approximate;    /* Gelu by tanh */
    float parameters[2]; /* the attributes of the row */
} op_unary_form;

/* operators.inc names only functions that exist. */
op_unary_form op_unary_read(const onnx_node *node);

/* The scales and zero points of quantised tensors. */

/* One scale for all, one for each index of an axis, or one for each block along it. */
typedef struct op_scales {
    const tensor *scale, *zero; /* zero: NULL for none */
    tensor_dims dims;
    size_t blocks, block; /* along the axis */
    bool blocked;
} op_scales;

/* Reads them from inputs 1 and 2, for input 0. */
bool op_scales_read(op_call *c, op_scales *s);
/* The index of the scale of element i. */
size_t op_scale_at(const op_scales *s, size_t i);

/* ---- QLinearConv, QLinearMatMul and the ...Integer operators ---- */
/* Input i minus its zero point, input `zero` (left out: 0), as floats with integer values. There is
 * one zero point for all, or one for each index of an axis, if it has that. NULL: failed. */
const float *requantize_centred(op_call *c, uint32_t i, uint32_t zero, uint32_t axis);
/* The axes of zero points of the operands of a product: rows of the first, columns of the second;
 * a vector has none. */
uint32_t requantize_rows(uint32_t rank);
uint32_t requantize_columns(uint32_t rank);

/* out = (sum + bias) * (x scale * w scale / y scale) + y zero point, rounded to nearest, halves to
 * even. */
typedef struct requantize {
    const tensor *x_scale, *w_scale, *y_scale, *y_zero;
    bool per_channel;         /* w_scale has one number per channel */
    const tensor *bias;       /* one number per channel; NULL: none */
    size_t channels, samples; /* each channel has this many after each other */
    tensor *out;
} requantize;

/* Scales and zero points are the node's inputs 1, 4, 6 and 7. */
bool requantize_read(op_call *c, size_t channels, requantize *r);
/* An op_store of a requantize. */
void requantize_store(void *to, size_t index, const double *sums, size_t count);

/* The attributes of a Resize, and the weights of each output sample along one axis. */

enum { RESIZE_MAX_TAPS = 1 << 16 };

typedef struct op_resizing {
    bool cubic, linear; /* else nearest */
    const char *coordinates, *nearest;
    bool antialias, exclude_outside, crop;
    bool sized; /* to given sizes, not by scales */
    double a, extrapolation;
    double scale[TENSOR_MAX_RANK][2];                  /* a ratio */
    double from[TENSOR_MAX_RANK], to[TENSOR_MAX_RANK]; /* region of interest, 0 to 1 */
    int64_t out[TENSOR_MAX_RANK];
} op_resizing;

/* Sides that are open, -1, are resized by scales alone. */
bool op_resize_read(op_call *c, op_resizing *r);
/* Whether x is unchanged along this axis. */
bool op_resize_keeps(const op_resizing *r, const tensor *x, uint32_t axis);
/* The nearest_mode along an axis of this scale. "simple", that of operator set 10, is ceil where an
 * axis becomes shorter, else floor. */
const char *op_resize_rule(const op_resizing *r, const double scale[2]);

typedef struct op_resize_axis {
    const op_resizing *r;
    double scale[2], from, to;
    int64_t in, out;
    int64_t first; /* position of the first tap, relative to the sample left of the coordinate */
    size_t taps;   /* more than RESIZE_MAX_TAPS is refused */
} op_resize_axis;
op_resize_axis op_resize_along(const op_resizing *r, const tensor *x, uint32_t axis);

/* Positions and weights of the taps of output sample i. False: it lies outside the region. */
bool op_resize_taps(const op_resize_axis *s, int64_t i, int64_t *places, double *weights);

/* Sliding windows of convolutions and pools in one to three dimensions; with fewer than three, the
 * first ones are 1. */

enum { WINDOW_DIMS = 3, WINDOW_MAX = 1 << 24 /* limit of each of its numbers */ };

typedef struct op_window {
    uint32_t spatial_dims; /* of the tensor: only the last ones of the arrays below are used */
    int64_t in[WINDOW_DIMS], out[WINDOW_DIMS];
    int64_t kernel[WINDOW_DIMS], stride[WINDOW_DIMS], dilation[WINDOW_DIMS];
    int64_t begin[WINDOW_DIMS], end[WINDOW_DIMS]; /* padding */
    /* Of a pool: a last window may be incomplete, padding counts in a mean, and positions of maxima
     * are counted column by column. */
    bool round_up, counts_padding, by_columns;
} op_window;

/* A convolution of input 0, [batch, channels, dims...], and the window of its weights. */
typedef struct op_convolution {
    op_window w;
    int64_t batch, inputs, outputs, groups;
} op_convolution;

/* Reads an attribute with one number per axis, in [min, WINDOW_MAX]; fill: used if it is absent. */
bool op_window_list(op_call *c, const char *name, uint32_t spatial_dims, int64_t fill, int64_t min,
                    int64_t *out);

/* Reads strides, dilations, pads and auto_pad, and computes the number of outputs. x is [batch,
 * channels, dims...]; dims that are open, -1, have open outputs. kernel: one number per axis;
 * NULL: a pool, whose kernel_shape and other attributes are read. */
bool op_window_read(op_call *c, const tensor *x, const int64_t *kernel, op_window *w);

/* With the weights of input i: [outputs, inputs / groups, kernel...]. */
bool op_convolution_read(op_call *c, uint32_t i, op_convolution *v);
/* A ConvTranspose, whose weights are [inputs, outputs / groups, kernel...]: the sizes of its input
 * and result, and how much is cut off at each side of the result. */
bool op_convolution_read_transposed(op_call *c, op_convolution *v);

/* Samples along an axis from the first position of the kernel to the last. */
int64_t op_window_extent(const op_window *w, uint32_t axis);

/* [batch, channels, outputs...] */
void op_window_shape(const op_window *w, int64_t batch, int64_t channels, int64_t *dims);

/* The positions of the kernel along an axis that lie inside the samples, for output `at`. */
typedef struct window_range {
    int64_t first, last; /* first > last: none */
} window_range;
window_range op_window_inside(const op_window *w, uint32_t axis, int64_t at);

/* Matrix products, also used for convolutions. */

/* Copies part of a row of the second matrix. */
typedef void op_row(const void *context, size_t row, size_t column, size_t count, float *to);
/* Stores elements index .. index + count - 1 of the result, row by row. */
typedef void op_store(void *to, size_t index, const double *sums, size_t count);

/* a [rows][depth] times b [depth][columns], which only `row` knows. */
typedef struct op_product {
    size_t rows, depth, columns;
    const float *a;
    op_row *row;
    const void *context;
    const float *start; /* a number for each row, to which its products are added; NULL: 0 */
    bool exact;         /* integers of at most 8 bits and a sign; else sums are rounded to fp32 */
    op_store *store;
    void *to;
    size_t index; /* of the first element */
} op_product;

/* alpha a b + beta c of a Gemm, of which a and b may be transposed; a b of other products. */
typedef struct op_gemm_form {
    bool turn_a, turn_b;
    float alpha, beta;
} op_gemm_form;
op_gemm_form op_gemm_read(const onnx_node *node);

bool op_multiply(op_call *c, const op_product *p);
/* An op_store of a tensor. */
void op_store_numbers(void *to, size_t index, const double *sums, size_t count);

#endif
