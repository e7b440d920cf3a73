// SPDX-License-Identifier: Apache-2.0
/* The compiler's network: values and the nodes that make them, in execution order.
 *
 * import.c builds it from ONNX, the passes (fold.c, fuse.c) bring it to what the engine
 * runs, reference.c runs it in fp32 at any stage, lower.c turns it into a .mona model.
 *
 * A computed value is a map, channels x height x width of one frame, or an array: numbers of any
 * shape and of one element type, of which only their number is known here (the operators' own
 * records say how they walk them). TO_ARRAY and TO_MAP stand where one becomes the other.
 *
 * All memory belongs to the graph and lives until graph_free. */
#ifndef MONA_COMPILER_GRAPH_H
#define MONA_COMPILER_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "formats/blocks.h"
#include "formats/error.h"
#include "formats/compiler/passes/fusion.h"
#include "engine/model/model_format.h"
#include "mona.h"

enum {
    GRAPH_MAX_NODES = 4096,
    GRAPH_MAX_RANK = 8,
    GRAPH_MAX_INPUTS = MONA_OP_MAX_INPUTS,
    GRAPH_MAX_BLOCK = 4, /* of what LOAD, STORE and DEPTH_TO_SPACE rearrange */
};

typedef enum graph_kind {
    GRAPH_CONV,       /* inputs: source, then the residual if one is fused */
    GRAPH_AFFINE,     /* x * scale[c] + shift[c] */
    GRAPH_QUANTIZE,   /* the nearest of a format's numbers; exist until absorb.c */
    GRAPH_ACTIVATION, /* activation alone */
    GRAPH_ADD,        /* of two; the second may have one channel for all */
    GRAPH_MUL,
    GRAPH_CONCAT, /* of channels */
    GRAPH_SLICE,  /* channels first .. first + count - 1 */
    GRAPH_SPACE_TO_DEPTH,
    GRAPH_DEPTH_TO_SPACE,
    GRAPH_RESIZE,
    GRAPH_MAX_POOL,
    GRAPH_AVERAGE_POOL,
    GRAPH_ARRAY,    /* an operator on arrays: array */
    GRAPH_TO_ARRAY, /* a map as an array of the same numbers in the same order */
    GRAPH_TO_MAP,   /* and back: only arrays of F16 */
    GRAPH_RESHAPE,  /* exist only until import_depth.c has seen what they are part of */
    GRAPH_TRANSPOSE,
} graph_kind;

/* How numbers are stored: real value = scale * stored value. */
typedef struct value_format {
    mona_type type;
    float scale; /* 1 for F16 */
} value_format;

/* From a coordinate to the nearest sample: the engine rounds halves down, ONNX knows four rules. */
typedef enum graph_nearest {
    GRAPH_ROUND_HALF_DOWN,
    GRAPH_ROUND_HALF_UP,
    GRAPH_FLOOR,
    GRAPH_CEIL,
} graph_nearest;

typedef struct graph_activation {
    mona_activation kind;
    float low, high;     /* CLIP */
    const float *slopes; /* PRELU: one a channel */
} graph_activation;

/* Where a sliding filter reads; rows, then columns. */
typedef struct graph_window {
    uint32_t kernel[2], stride[2], dilation[2];
    uint32_t pad_begin[2], pad_end[2];
} graph_window;

typedef struct graph_conv {
    graph_window window;
    uint32_t groups;
    float *weights; /* [output channels][input channels / groups][kernel rows][kernel columns] */
    float *bias;    /* [output channels] */
    /* [output channels]: the weights are integers in [-128, 127] times these, as the model was
     * quantised; NULL: they are any numbers. */
    float *weight_scales;
} graph_conv;

typedef struct graph_pool {
    graph_window window;
    bool whole;       /* the whole map, whatever its size: window is not used */
    bool round_up;    /* the number of outputs */
    bool include_pad; /* AVERAGE_POOL: divides by the padding under the window as well */
} graph_pool;

typedef struct graph_resize {
    mona_resize_mode mode;
    mona_resize_coordinates coordinates;
    graph_nearest nearest;
    uint32_t ratio[2][2]; /* rows, columns: output = input * [0] / [1], rounded down */
    float cubic_a;
    float offset[2]; /* rows, columns: added to the input coordinate */
} graph_resize;

/* A table of an array operator, which its record refers to. */
typedef struct graph_table {
    const void *data; /* NULL: none */
    size_t bytes;
} graph_table;

enum { GRAPH_TABLES = MONA_ARRAY_DIMS + 1 };

/* The record of an array operator as it is in the file (engine/model/array_format.h), but for the offsets
 * of its tables: PICK: of each axis, then of the sources; RESAMPLE: first, index, weight. */
typedef struct graph_array {
    mona_op_kind kind;
    union {
        mona_array_map map;
        mona_array_pick pick;
        mona_array_reduce reduce;
        mona_array_matmul matmul;
        mona_array_window window;
        mona_array_resample resample;
        mona_array_gather gather;
    };
    graph_table tables[GRAPH_TABLES];
} graph_array;

typedef struct graph_node {
    graph_kind kind;
    const char *name;    /* of the ONNX node, or of its output where it has none */
    const char *op_type; /* ONNX's word */
    uint32_t input_count;
    uint32_t inputs[GRAPH_MAX_INPUTS];
    uint32_t output;
    /* CONV, ADD, MUL: activation, then the residual (CONV), then after_add. ACTIVATION: activation.
     */
    graph_activation activation, after_add;
    union {
        graph_conv conv;
        struct {
            float *scale, *shift;
        } affine;
        struct {
            uint32_t first, count;
        } slice;
        struct {
            uint32_t block;
            bool depth_first; /* ONNX mode DCR: channel = (dy * block + dx) * channels + c */
        } depth;
        graph_resize resize;
        graph_pool pool;
        value_format quantize; /* of 8 bits */
        graph_array *array;
        struct {
            uint32_t rank;
            int64_t numbers[GRAPH_MAX_RANK]; /* RESHAPE: shape; TRANSPOSE: permutation */
        } shape;
    };
} graph_node;

typedef struct observation observation; /* observation.h */

typedef struct graph_value {
    const char *name;
    float *data;   /* of a constant, else NULL */
    uint32_t rank; /* of a constant */
    uint64_t dims[GRAPH_MAX_RANK];
    size_t count;         /* elements of a constant, or of an array */
    bool is_array;        /* an array, computed or constant */
    mona_type type;       /* of an array */
    const void *elements; /* of an array that is constant, else NULL */
    uint32_t channels;    /* of a computed value; channels x height x width of an array is count */
    uint32_t height, width; /* of a computed value; 0: any */
    uint32_t joined;        /* a value made before it whose format it has, or itself (quantize.h) */
    float low, high;        /* range seen in calibration; low > high: none */
    observation *seen;      /* in calibration; NULL: nothing yet */
    value_format prequantised; /* as the model says, which is quantised; scale 0: it says nothing */
    bool half; /* F16 where others are of 8 bits; counts where values are not shared */
} graph_value;

typedef struct graph {
    const char *name;
    graph_node *nodes;
    uint32_t node_count, node_room;
    graph_value *values;
    uint32_t value_count, value_room;
    uint32_t inputs[MONA_MAX_IO], outputs[MONA_MAX_IO]; /* values */
    uint32_t input_count, output_count;
    bool has_arrays;        /* an operator was taken for one on arrays, if only to see it as such */
    size_t moved;           /* elements whose places were looked for, to bound that */
    fusion_switches fusion; /* what the passes are to leave alone */
    fusion_log log;         /* what they found */
    blocks memory;          /* passes may share arrays between nodes freely */
} graph;

void graph_free(graph *g);
/* A graph of its own nodes and values, which shares weights and names with g: it must be freed
 * before g. On failure *copy is empty. */
bool graph_copy(graph *copy, const graph *g);
/* Notes what a rule found at this node; why_not NULL: it took effect. */
void graph_log(graph *g, fusion_rule rule, const graph_node *node, const char *why_not);

/* Zeroed memory of the graph's lifetime; NULL: out of memory. */
void *graph_alloc(graph *g, size_t count, size_t size);
const char *graph_strdup(graph *g, const char *text);

/* A new value; UINT32_MAX: out of memory or too many. */
uint32_t graph_add_value(graph *g, const char *name);
/* A new array, as one row. */
uint32_t graph_add_array(graph *g, const char *name, mona_type type, size_t count);
/* A new node at the end, zeroed; NULL: out of memory or more than GRAPH_MAX_NODES. */
graph_node *graph_add_node(graph *g);
/* A new node before node i, zeroed; NULL: as above. */
graph_node *graph_insert_node(graph *g, uint32_t i);
/* Takes node i out; later ones move up. */
void graph_remove_node(graph *g, uint32_t i);

/* Index of the node that makes a value; UINT32_MAX: an input or a constant. */
uint32_t graph_producer(const graph *g, uint32_t value);
/* Number of node inputs and graph outputs that are this value. */
uint32_t graph_uses(const graph *g, uint32_t value);
bool graph_is_input(const graph *g, uint32_t value);
bool graph_is_output(const graph *g, uint32_t value);
/* The model says that this value is of 8 bits, and nothing else was asked for. */
bool graph_is_prequantised(const graph *g, uint32_t value);
/* Planes of the model that a LOAD takes as they are, or rearranges; and whether a CONCAT or
 * SPACE_TO_DEPTH is how a LOAD packs them. */
bool graph_is_loaded(const graph *g, uint32_t value);
bool graph_packs(const graph *g, const graph_node *node);
/* Nodes that read a value read another instead. */
void graph_read_instead(graph *g, uint32_t value, uint32_t other);
/* The only node that reads a value that is no output; UINT32_MAX: none or several. */
uint32_t graph_only_reader(const graph *g, uint32_t value);
/* The producer of input `input` of node i if nothing else uses that value; UINT32_MAX otherwise. */
uint32_t graph_private_producer(const graph *g, uint32_t i, uint32_t input);

/* Rows or columns of the filter at this dilation. */
int64_t graph_window_extent(const graph_window *w, int axis);
/* Outputs along one axis of `in` samples; 0: the filter does not fit. Rounded up, a last window
 * that would begin past the samples and the padding before them does not count. */
uint32_t graph_window_outputs(const graph_window *w, int axis, uint32_t in, bool round_up);

/* What is added to the engine's coordinates, rows and columns, besides `more`. False: the engine
 * cannot resize so. */
bool graph_resize_offsets(const graph_resize *r, const float more[2], double offset[2]);

/* Makes node a 1x1 convolution of every channel by itself, keeping its epilogue: weights and bias
 * have one number a channel. */
void graph_become_channel_conv(graph_node *node, uint32_t channels, float *weights, float *bias);

/* The same with weights of 1 and biases of 0: its result is its input, or what the epilogue makes
 * of it. False: out of memory. */
bool graph_become_copy(graph *g, graph_node *node);

/* "NODE (OP_TYPE) " + the text, as an error. Always false. */
bool graph_fail(const graph_node *node, format_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
