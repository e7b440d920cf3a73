// SPDX-License-Identifier: Apache-2.0
/* The compiler's network: values and the nodes that compute them, in execution order.
 *
 * import.c builds it from ONNX, the passes (fold.c, fuse.c) transform it into what the engine can
 * run, and lower.c turns it into a .mona model.
 *
 * A computed value is a map, which is channels x height x width of one frame, or an array. For an
 * array, only the number of elements and their type are stored here; the operators' own records
 * describe how they are indexed. TO_ARRAY and TO_MAP convert between the two.
 *
 * Import fills nodes in place. After it has called graph_count_uses, inputs and outputs change only
 * through functions of this file, which keep `uses` right.
 *
 * All memory belongs to the graph and lives until graph_free. */
#ifndef MONA_COMPILER_GRAPH_H
#define MONA_COMPILER_GRAPH_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/blocks.h"
#include "formats/error.h"
#include "formats/compiler/graph/fusion.h"
#include "engine/model_format.h"
#include "mona.h"

enum {
    GRAPH_MAX_NODES = 65536,
    GRAPH_MAX_WARNINGS = 8, /* that are kept */
    GRAPH_MAX_RANK = 8,
    GRAPH_MAX_INPUTS = MONA_OP_MAX_INPUTS,
    GRAPH_MAX_KERNEL = 255, /* of a window, and so on */
    GRAPH_MAX_STRIDE = 63,
    GRAPH_MAX_PAD = 255,
    GRAPH_MAX_SHUFFLED =
        2048,            /* channels that a convolution moves; it has their square of weights */
    GRAPH_MAX_BLOCK = 4, /* the largest block that LOAD, STORE and DEPTH_TO_SPACE rearrange */
};

/* What the inputs are, where a node has more than its source:
 *
 *   CONV        the source, then the residual if one was fused
 *   ADD, MUL    two values; the second may have one channel for all
 *   CONCAT      parts, of channels
 *   ATTENTION   queries, keys, values; the channels are in heads
 *   KERNEL      its maps; its result has the samples of a cell as channels, which DEPTH_TO_SPACE
 *               puts in their places
 *
 * AFFINE is x * scale[c] + shift[c]; QUANTIZE rounds to the nearest number of a format;
 * NORMALISE brings the channels of each pixel to a mean of 0 and a variance of 1; SLICE keeps
 * channels first .. first + count - 1; PAD repeats samples, as pads with zeros are part of a
 * CONV; TO_ARRAY converts a map to an array of the same numbers in the same order, and TO_MAP
 * the reverse, of F16 alone. */
typedef enum graph_kind {
#define KIND(name, ...) GRAPH_##name,
#include "formats/compiler/graph/kinds.inc"
#undef KIND
} graph_kind;

/* How numbers are stored: real value = scale * (stored value - zero). */
typedef struct value_format {
    mona_type type;
    float scale;  /* 1 for F16 */
    uint8_t zero; /* 0 but for U8 */
} value_format;

static inline bool graph_same_format(value_format a, value_format b)
{
    return a.type == b.type && a.scale == b.scale && a.zero == b.zero;
}

/* TABLE: results, as they are stored, of x = scale * (q - zero), q in 0..255. */
typedef struct graph_lookup {
    float scale;
    int zero;
    uint8_t entries[256];
} graph_lookup;

typedef struct graph_activation {
    mona_activation kind;
    float low, high;            /* CLIP */
    float alpha;                /* ELU */
    const float *slopes;        /* PRELU: one per channel */
    const graph_lookup *lookup; /* TABLE */
} graph_activation;

/* Where a sliding filter reads; [0] rows, [1] columns. */
typedef struct graph_window {
    uint32_t kernel[2], stride[2], dilation[2];
    uint32_t pad_begin[2], pad_end[2];
} graph_window;

/* Rounded weights of a CONV. */
typedef struct graph_rounding {
    int8_t *weights; /* as graph_conv's */
    double *scales;  /* [output channels]; 0: better rounded as usual */
} graph_rounding;

typedef struct graph_moments graph_moments; /* learn.c */

typedef struct graph_conv {
    graph_window window;
    uint32_t groups;
    float *weights; /* [output channels][input channels / groups][kernel rows][kernel columns] */
    float *bias;    /* [output channels] */
    /* [output channels]: the weights are integers in [-128, 127] times these, as quantised by the
     * model; NULL: the model did not quantise them. */
    float *weight_scales;
    graph_moments *moments; /* of what it reads, to learn rounding from (learn.c); NULL: none */
    graph_rounding *learnt; /* NULL: nothing */
} graph_conv;

/* A window as the records of CONV and pools have it. */
#define GRAPH_WINDOW_FIELDS(w)                                                                     \
    .kernel_h = (uint16_t)(w)->kernel[0], .kernel_w = (uint16_t)(w)->kernel[1],                    \
    .stride_h = (uint16_t)(w)->stride[0], .stride_w = (uint16_t)(w)->stride[1],                    \
    .dilation_h = (uint16_t)(w)->dilation[0], .dilation_w = (uint16_t)(w)->dilation[1],            \
    .pad_top = (uint16_t)(w)->pad_begin[0], .pad_left = (uint16_t)(w)->pad_begin[1],               \
    .pad_bottom = (uint16_t)(w)->pad_end[0], .pad_right = (uint16_t)(w)->pad_end[1]

/* A table of an array operator; its record refers to it. */
typedef struct graph_table {
    const void *data; /* NULL: no table */
    size_t bytes;
    size_t field; /* of the record, for the table's offset in the file */
} graph_table;

enum { GRAPH_TABLES = MONA_ARRAY_DIMS + 1 };

/* The record of an array operator, as in the file (engine/array_format.h) except for the offsets of
 * its tables. Tables of PICK: one for each axis, then those of the sources. */
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
        mona_array_sort sort;
        mona_array_normalise normalise;
        mona_array_kernel kernel;
    };
    graph_table tables[GRAPH_TABLES];
} graph_array;

/* An output of a kernel of the user's own. Inputs of the node are its maps, in their order. */
typedef struct graph_kernel {
    const struct mona_kernel *kernel; /* outlives the graph */
    uint32_t output;
    const void *tables[MONA_OP_MAX_INPUTS]; /* of each input of the kernel that is none of them */
} graph_kernel;

typedef struct graph_node {
    graph_kind kind;
    const char *name;    /* of the ONNX node, or of its output if the node has none */
    const char *op_type; /* as in ONNX */
    uint32_t input_count;
    uint32_t inputs[GRAPH_MAX_INPUTS];
    uint32_t output;
    /* CONV, ADD, MUL: activation, then the residual (CONV), then after_add. ACTIVATION: activation
     * alone. Of functions a CONV has only after_add, without activation. */
    graph_activation activation, after_add;
    uint32_t before; /* CONV with a function: the value of its argument, which nothing computes */
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
        mona_file_resize resize;
        mona_file_pool pool; /* but for the scale, which follows from formats */
        mona_file_pad pad;
        struct {
            float *gain, *shift; /* of each channel, afterwards */
            float epsilon;       /* added to the variance */
        } normalise;
        struct {
            uint32_t heads;
            float scale; /* of the products of queries and keys */
        } attention;
        value_format quantize; /* an 8-bit format */
        graph_kernel *own;     /* KERNEL */
        struct {
            graph_array *array;
            const char *why_array; /* why no operator on maps does it; NULL: unknown */
        };
    };
} graph_node;

typedef struct observation observation; /* observation.h */

typedef struct graph_value {
    const char *name;
    float *data;   /* of a constant, else NULL */
    uint32_t rank; /* of a constant; of an input that is an array */
    uint64_t dims[GRAPH_MAX_RANK];
    size_t count;         /* elements of a constant, or of an array */
    bool is_array;        /* computed or constant */
    mona_type type;       /* of an array */
    const void *elements; /* of a constant array; else NULL */
    uint32_t channels;    /* of a computed value; an array has channels x height x width = count */
    uint32_t height, width; /* of a computed value; 0: any */
    uint32_t place;         /* of the node that computes it; UINT32_MAX: none does */
    uint32_t uses;          /* inputs of nodes and outputs of the graph that are it */
    uint32_t joined;        /* an earlier value whose format it shares, or itself (quantize.h) */
    uint32_t root;          /* the value whose format it has, after quantize_join */
    uint32_t alike;         /* the next value with this root, beginning with it; UINT32_MAX: none */
    bool meets_array;   /* of a root: an array is made of it or of what has its format, or one of
                               these of an array; or a kernel has its numbers */
    uint32_t source;    /* of a map: the model's value with the same numbers, which
                                  calibration sees; UINT32_MAX: none */
    bool channels_last; /* in the model */
    float *divisors;    /* of each channel: the model's numbers are divided by these; NULL: 1 */
    float *padding;  /* of each channel of an input: what the only node that reads it, a CONV, takes
                       for its padding; NULL: 0 */
    float low, high; /* range seen in calibration; low > high: none */
    observation *seen;         /* in calibration; NULL: nothing yet */
    value_format prequantised; /* as a quantised model defines it; scale 0: undefined */
    bool whole; /* the model has integers here that stand for themselves; prequantised tells it */
    bool half;  /* F16 where others have 8 bits; the setting of the root counts for all that share
                  its format */
} graph_value;

typedef struct graph {
    const char *name;
    graph_node *nodes;
    uint32_t node_count;
    graph_value *values;
    uint32_t value_count;
    size_t node_room, value_room;
    uint32_t inputs[MONA_MAX_IO], outputs[MONA_MAX_IO]; /* values */
    uint32_t input_count, output_count;
    bool has_arrays;        /* import has created operators on arrays */
    size_t moved;           /* number of elements whose source was computed, which is limited */
    fusion_switches fusion; /* rules that the passes must leave alone */
    fusion_log log;         /* what the passes found */
    const char *warnings[GRAPH_MAX_WARNINGS];
    uint32_t warning_count; /* including those that are not kept */
    blocks memory;          /* passes may share memory between nodes freely */
} graph;

void graph_free(graph *g);
/* Copies the nodes and values, but shares weights and names with g: the copy must be freed before
 * g. On failure *copy is empty. */
bool graph_copy(graph *copy, const graph *g);
/* Logs what a rule found at this node. why_not NULL: the rule was applied. */
void graph_log(graph *g, fusion_rule rule, const graph_node *node, const char *why_not);
/* The same for a node of the model, whose names are copied. False: out of memory. */
bool graph_log_named(graph *g, fusion_rule rule, const char *name, const char *op_type,
                     const char *why_not);

/* Keeps "node NAME (OP_TYPE) " and the text for compiler_warning. False: out of memory. */
bool graph_warn(graph *g, const char *name, const char *op_type, const char *format,
                va_list arguments);

/* Zeroed memory that lives as long as the graph; NULL: out of memory. */
void *graph_alloc(graph *g, size_t count, size_t size);
/* Numbers that all have this value. */
float *graph_fill(graph *g, size_t count, float value);
const char *graph_strdup(graph *g, const char *text);

/* Adds a value. UINT32_MAX: out of memory or too many. */
uint32_t graph_add_value(graph *g, const char *name);
void graph_set_dims(graph *g, uint32_t value, uint32_t channels, uint32_t height, uint32_t width);
/* Adds an array in the form of one row. */
uint32_t graph_add_array(graph *g, const char *name, mona_type type, size_t count);
/* Adds a zeroed node at the end. NULL: out of memory or more than GRAPH_MAX_NODES. */
graph_node *graph_add_node(graph *g);
/* Counts the uses of all values. */
void graph_count_uses(graph *g);
/* Inserts a copy of a node with input x before node i, which moves by one, as those behind it do up
 * to the next that is GONE. Returns its result, which gets x's name and size; UINT32_MAX: out of
 * memory or too many. */
uint32_t graph_insert_node(graph *g, uint32_t i, graph_node node, uint32_t x);
void graph_replace_node(graph *g, uint32_t i, graph_node node);
/* Removes node i, which stays as GONE until the pass calls graph_sweep at its end: a time for each
 * node, and not for each node times those behind it. */
void graph_remove_node(graph *g, uint32_t i);
static inline bool graph_is_gone(const graph_node *node)
{
    return node->kind == GRAPH_GONE;
}
static inline bool graph_quantises(const graph_node *node)
{
    return node->kind == GRAPH_QUANTIZE;
}
bool graph_sweep(graph *g); /* false: more than GRAPH_MAX_NODES are left */
/* Puts a GONE node behind each, so that many can be inserted in little time, until graph_sweep.
 * False: out of memory. */
bool graph_spread(graph *g);
/* Makes node i compute this value. */
void graph_set_result(graph *g, uint32_t i, uint32_t value);
void graph_set_input(graph *g, uint32_t i, uint32_t input, uint32_t value);
void graph_set_output(graph *g, uint32_t output, uint32_t value);

/* Index of the node that computes a value. UINT32_MAX: it is an input or a constant. */
uint32_t graph_producer(const graph *g, uint32_t value);
bool graph_is_input(const graph *g, uint32_t value);
bool graph_is_output(const graph *g, uint32_t value);
/* The model quantises this value to 8 bits, and no option overrides that. */
bool graph_is_prequantised(const graph *g, uint32_t value);
/* Planes of the model that a LOAD takes as they are or rearranged; and whether a LOAD does the work
 * of a CONCAT or SPACE_TO_DEPTH. */
bool graph_is_loaded(const graph *g, uint32_t value);
bool graph_packs(const graph *g, const graph_node *node);
/* Whether channels first .. first + count - 1 of `all` are whole blocks of 16, which are used in
 * place: on the host, and for FP16 on the 310. There, blocks of 8 bits have 32. */
bool graph_are_blocks(uint32_t first, uint32_t count, uint32_t all);
/* Makes nodes that read `value` read `other` instead. */
void graph_read_instead(graph *g, uint32_t value, uint32_t other);
/* The only node that reads a value, if the value is not an output. UINT32_MAX: none or several. */
uint32_t graph_only_reader(const graph *g, uint32_t value);
/* The producer of node i's input `input` if nothing else uses that value, else UINT32_MAX. */
uint32_t graph_private_producer(const graph *g, uint32_t i, uint32_t input);

/* Whether the node is a convolution without anything merged into it. */
bool graph_is_plain_conv(const graph_node *node);

size_t graph_window_area(const graph_window *w);
/* Rows or columns that the filter spans with its dilation. */
int64_t graph_window_extent(const graph_window *w, int axis);
/* Number of outputs along one axis with `in` samples; 0: the filter does not fit. With round_up, a
 * last window that would begin after the samples and the padding before them does not count. */
uint32_t graph_window_outputs(const graph_window *w, int axis, uint32_t in, bool round_up);

/* Makes the node a 1x1 convolution of each channel by itself and keeps its epilogue. weights and
 * bias have one number per channel. */
void graph_become_channel_conv(graph_node *node, uint32_t channels, float *weights, float *bias);

/* The same with weights of 1 and biases of 0, so that only the epilogue changes values. False: out
 * of memory. */
bool graph_become_copy(graph *g, graph_node *node);

/* Makes the node a 1x1 convolution whose output o is channel from[o] of its input, exactly in every
 * format. inputs, outputs: channels, up to GRAPH_MAX_SHUFFLED. False: out of memory. */
bool graph_become_shuffle(graph *g, graph_node *node, uint32_t inputs, uint32_t outputs,
                          const uint32_t *from);

/* Writes "NODE (OP_TYPE) " and the text as an error. Always returns false. */
bool graph_fail(const graph_node *node, format_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
