// SPDX-License-Identifier: Apache-2.0
/* A random network under construction: its ONNX model, and the shape and type of every value.
 * Shapes follow from ONNX's rules as they are written down here, not from mona's. */
#ifndef MONA_JUDGE_NET_H
#define MONA_JUDGE_NET_H

#include "tests/unit/onnx_builder.h"

enum { NET_VALUES = 1024, NET_RANK = 6, NET_ELEMENTS = 40000 };

enum {
    T_FLOAT = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT,
    T_U8 = ONNX__TENSOR_PROTO__DATA_TYPE__UINT8,
    T_S8 = ONNX__TENSOR_PROTO__DATA_TYPE__INT8,
    T_S32 = ONNX__TENSOR_PROTO__DATA_TYPE__INT32,
    T_S64 = ONNX__TENSOR_PROTO__DATA_TYPE__INT64,
    T_BOOL = ONNX__TENSOR_PROTO__DATA_TYPE__BOOL,
    T_HALF = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16,
};

typedef struct shape {
    int type;
    uint32_t rank;
    int64_t dims[NET_RANK];
} shape;

typedef struct net {
    onnx_builder *b;
    uint64_t random;
    int opset;
    int type;  /* of the network's floats */
    int batch; /* images of its inputs */
    bool open; /* rows and columns of its inputs are left open */
    shape shapes[NET_VALUES];
    int value_count;
    Onnx__NodeProto *last; /* the node added last, for its attributes */
    const char *family;
} net;

/* A value is an index; NONE stands for an input that is left out, or for what could not be made. */
enum { NONE = -1 };

/* ---- chance ------------------------------------------------------------------------------- */

uint64_t net_random(net *n);
/* A number from 0 to count - 1. */
uint32_t pick(net *n, uint32_t count);
/* True once in `count` times. */
bool once_in(net *n, uint32_t count);
double uniform(net *n, double low, double high);
/* One of these. */
#define ONE_OF(n, type, ...)                                                                       \
    (((const type[]){__VA_ARGS__})[pick(n, sizeof((const type[]){__VA_ARGS__}) / sizeof(type))])

/* ---- values ------------------------------------------------------------------------------- */

shape shape_of(const net *n, int value);
shape shape_make(int type, uint32_t rank, ...); /* int dims */
int64_t shape_count(const shape *s);
bool shape_same(const shape *a, const shape *b);

int net_input(net *n, shape s);
void net_output(net *n, int value);
/* Uniform from center - spread to center + spread, of the network's float type. */
int net_floats(net *n, shape s, double center, double spread);
int net_float(net *n, double value);
/* 32-bit floats, whatever those of the network. */
int net_list(net *n, const float *list, uint32_t count);
/* 64-bit integers: a list, or a number of rank 0. */
int net_ints(net *n, const int64_t *list, uint32_t count);
int net_int(net *n, int64_t value);
/* 8- or 32-bit integers from low to high. */
int net_small_ints(net *n, shape s, int low, int high);

/* ---- nodes -------------------------------------------------------------------------------- */

/* Adds a node with one output of this shape. The result is NONE, and nothing is added, if an input
 * that must be there is not, or if the output is empty or too large. */
int net_node(net *n, const char *op, shape output, int count, ...); /* int inputs */
/* The same with outputs of several shapes, which are written to `outputs`. */
bool net_nodes(net *n, const char *op, int made, const shape *shapes, int *outputs, int count,
               const int *inputs);
#define AS_NODE(n, op, like, ...)                                                                  \
    net_node(n, op, like, sizeof((int[]){__VA_ARGS__}) / sizeof(int), __VA_ARGS__)

void set_int(net *n, const char *name, int64_t value);
void set_float(net *n, const char *name, double value);
void set_text(net *n, const char *name, const char *value);
void set_ints(net *n, const char *name, const int64_t *list, uint32_t count);

net *net_new(uint64_t seed);
void net_free(net *n);

/* ---- operators (operators.c) -------------------------------------------------------------- */

typedef struct window {
    int64_t kernel[2], stride[2], dilation[2], pads[4]; /* top, left, bottom, right */
    int64_t groups;
    bool bias;
    const char *automatic; /* in place of pads: SAME_UPPER, SAME_LOWER or VALID; NULL: pads */
} window;

window window_same(int64_t kernel); /* keeps rows and columns */
int net_conv(net *n, int x, int64_t outputs, window w);
int net_conv_same(net *n, int x, int64_t outputs, int64_t kernel);
int net_conv_random(net *n, int x);
int net_deconv(net *n, int x, int64_t outputs, window w, const int64_t *output_padding);
int net_deconv_random(net *n, int x);
int net_pool_random(net *n, int x);
int net_unary(net *n, const char *op, int x);
int net_activation(net *n, int x);      /* what networks have between layers */
int net_function_random(net *n, int x); /* any function of single numbers */
int net_binary(net *n, const char *op, int a, int b);
int net_binary_random(net *n, int a, int b); /* b: NONE: a constant */
int net_norm_random(net *n, int x);          /* of maps */
int net_layer_norm(net *n, int x);           /* over the last axis */
int net_gelu(net *n, int x);
int net_softmax(net *n, int x, int64_t axis);
int net_depth_to_space(net *n, int x, int64_t block, bool depth_first);
int net_space_to_depth(net *n, int x, int64_t block);
int net_resize(net *n, int x, double scale_h, double scale_w);
int net_resize_random(net *n, int x);
int net_pad_random(net *n, int x);
int net_slice(net *n, int x, int64_t axis, int64_t first, int64_t end, int64_t step);
int net_slice_random(net *n, int x);
int net_concat(net *n, int64_t axis, int count, const int *inputs);
bool net_split(net *n, int x, int64_t axis, int count, const int64_t *sizes, int *outputs);
int net_reduce(net *n, const char *op, int x, const int64_t *axes, uint32_t count, bool keep);
int net_reduce_random(net *n, int x);
int net_reshape(net *n, int x, uint32_t rank, const int64_t *dims);
int net_transpose(net *n, int x, const int64_t *perm);
int net_matmul(net *n, int a, int b);
int net_linear(net *n, int x, int64_t outputs, bool bias); /* of the last axis */
int net_gemm(net *n, int x, int64_t outputs);              /* of rank 2 */
int net_flatten(net *n, int x);
int net_squeeze(net *n, int x, bool un, const int64_t *axes, uint32_t count);
int net_shuffle_channels(net *n, int x, int64_t groups);
int net_cast(net *n, int x, int type);

/* ---- families (families.c) ---------------------------------------------------------------- */

/* The network of a seed. */
net *net_of_seed(uint64_t seed);

/* Quantised networks (quantised.c). */
void make_qdq(net *n);
void make_qlinear(net *n);

/* Operators one after another with anything they may have (soup.c). */
void make_soup(net *n);
void make_array_soup(net *n);
int soup_step(net *n, int *pool, int *count, int max);

#endif
