// SPDX-License-Identifier: Apache-2.0
/* An ONNX model in memory: values, and the nodes that compute them in execution order.
 *
 * The branches of an If become part of the graph. For each of its outputs, the If becomes an
 * operator with three inputs: the condition, and the results of the two branches.
 *
 * Reading resolves names to values, decodes constants (initialisers and Constant nodes) to tensors,
 * and converts nodes of older operator sets to the current form (onnx_upgrade.c), so that there is
 * only one form of each operator.
 *
 * All memory belongs to the graph and lives until onnx_graph_free. */
#ifndef MONA_ONNX_GRAPH_H
#define MONA_ONNX_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/mona_op.h"
#include "formats/blocks.h"
#include "formats/onnx/onnx_reader.h"
#include "formats/error.h"

enum {
    ONNX_OPSET_MIN = 6,
    ONNX_OPSET_MAX = 28,
    ONNX_MAX_NODES = 32768,
    ONNX_MAX_VALUES = 1 << 18,
    ONNX_MAX_ARGUMENTS = 4096, /* inputs or outputs of one node */
    ONNX_MAX_NAME = 1024,      /* characters */
};

#define ONNX_NONE UINT32_MAX /* an input or output that is left out */

typedef enum onnx_kind {
    ONNX_INTS, /* one or more integers */
    ONNX_FLOATS,
    ONNX_TEXT,
    ONNX_TENSOR,
    ONNX_OTHER, /* of a kind that no supported operator has */
} onnx_kind;

typedef struct onnx_attribute {
    const char *name;
    onnx_kind kind;
    size_t count;        /* of numbers */
    const int64_t *ints; /* each is NULL unless the kind matches */
    const float *floats;
    const char *text;
    const tensor *tensor;
} onnx_attribute;

/* A branch of an If. Its nodes are in the graph like all others, and count where the condition has
 * this value. */
typedef struct onnx_branch {
    uint32_t condition; /* a value */
    bool when;
    const struct onnx_branch *outer; /* the branch that the If is in; NULL: none */
} onnx_branch;

typedef struct onnx_node {
    const char *name; /* or that of its first output if it has none */
    const char *op_type;
    onnx_attribute *attributes;
    uint32_t attribute_count;
    uint32_t *inputs, *outputs; /* values or ONNX_NONE */
    uint32_t input_count, output_count;
    const onnx_branch *branch; /* NULL: in none */
    /* Old forms for which there is no current attribute. Only onnx_upgrade.c sets them, never a
     * file. */
    bool flattens;          /* Softmax: treat all dimensions from the axis on as one */
    bool broadcasts;        /* the second operand's axes begin at this axis of the first */
    int64_t broadcast_axis; /* or are its last ones if negative */
} onnx_node;

typedef struct onnx_value {
    const char *name;
    /* Constants have data. Others have a shape if `shaped`, and no data. */
    tensor tensor;
    bool shaped;
    /* For a constant that DequantizeLinear computed: inputs of that node, and its axis. Else
     * NULL. */
    const uint32_t *dequantised;
    uint32_t dequantised_count;
    int64_t dequantised_axis;
} onnx_value;

/* The model's declaration of an input; dims: -1 where they are open. */
typedef struct onnx_input {
    uint32_t value;
    element_type type;
    uint32_t rank;
    int64_t dims[TENSOR_MAX_RANK];
    const char *dim_names[TENSOR_MAX_RANK]; /* of open dimensions; "" if unnamed */
} onnx_input;

typedef struct onnx_graph {
    const char *name;
    int64_t opset;
    onnx_node *nodes;
    uint32_t node_count, removed_count; /* those removed come after the others */
    onnx_value *values;
    uint32_t value_count;
    size_t value_room;
    onnx_input *inputs; /* except those that are constants */
    uint32_t input_count;
    uint32_t *outputs; /* values */
    tensor *declared;  /* the shapes that the model gives outputs, not only those it computes: sides
                          are -1 where open, the type is 0 where there is none */
    uint32_t output_count;
    const struct mona_kernel *const *kernels; /* that nodes may call; NULL: none */
    bool kernels_run, kernels_apart;          /* as in onnx_read_options */
    const struct onnx_pattern *patterns;      /* of these; they outlive the graph */
    uint32_t pattern_count;
    blocks memory;
} onnx_graph;

/* What a kernel may replace: a graph of its inputs, in the kernel's order, and its only output,
 * with up to ONNX_PATTERN_VALUES values. */
enum { ONNX_PATTERN_VALUES = 256 };
typedef struct onnx_pattern {
    const struct mona_kernel *kernel;
    const onnx_graph *graph;
} onnx_pattern;

/* A size for all open dimensions with this name. */
typedef struct onnx_dim {
    const char *name;
    int64_t size;
} onnx_dim;

typedef struct onnx_read_options {
    const char *folder; /* of the model, for external data; NULL: external data is not read */
    const onnx_dim *dims;
    size_t dim_count;
    /* Kernels of the user's own, which nodes of other domains call: a list that ends with NULL and
     * outlives the graph (engine/mona_op.h). NULL: there are none. */
    const struct mona_kernel *const *kernels;
    const onnx_pattern *patterns;
    uint32_t pattern_count;
    bool kernels_run;   /* they have code, with which the reference runs them */
    bool kernels_apart; /* they run on arrays alone, as on AI Cores */
} onnx_read_options;

/* Fills *g; options may be NULL. On failure *g is empty. */
bool onnx_graph_read(onnx_graph *g, const void *bytes, size_t size,
                     const onnx_read_options *options, format_error *error);
void onnx_graph_free(onnx_graph *g);

/* Sets the contents of an input, which becomes a constant. The graph takes over t's data. */
void onnx_graph_freeze(onnx_graph *g, uint32_t input, tensor *t);
/* Gives a dimension of an input this size. */
void onnx_graph_set_dim(onnx_graph *g, uint32_t input, uint32_t dim, int64_t size);
/* Puts (x - mean) / deviation between an input x and what reads it; count: 1 number for all
 * channels, which are the second axis, or one for each. False: out of memory. */
bool onnx_graph_normalise(onnx_graph *g, uint32_t input, const float *mean, const float *deviation,
                          uint32_t count);
/* The shape of an input. False: some dimensions are open. */
bool onnx_input_shape(const onnx_input *input, tensor *t);

/* Whether an output's computed shape, as far as it is known, differs from the declared one. */
bool onnx_output_contradicts(const onnx_graph *g, uint32_t output);

/* Removes the nodes i with !keep[i]. */
void onnx_graph_keep(onnx_graph *g, const bool *keep);
/* The nodes as they are now, whatever becomes of those of the graph. They live as long as it; NULL:
 * out of memory. */
onnx_node *onnx_graph_copy_nodes(onnx_graph *g);
/* Whether the node is in a branch that is not taken, as far as conditions are known; data: that of
 * a value, NULL: unknown. */
bool onnx_is_left_out(const onnx_node *node, const tensor *(*data)(const void *context, uint32_t),
                      const void *context);
/* The largest number of inputs or outputs of a node; at least 1. */
uint32_t onnx_graph_arguments(const onnx_graph *g);

/* Adds a value whose name nothing can refer to. ONNX_NONE: out of memory or too many. */
uint32_t onnx_graph_add_value(onnx_graph *g, const char *name);
/* Sets a value; the graph takes over t's data. */
void onnx_value_set(onnx_graph *g, uint32_t value, tensor *t);

const onnx_attribute *onnx_find_attribute(const onnx_node *node, const char *name);
int64_t onnx_int(const onnx_node *node, const char *name, int64_t otherwise);
float onnx_float(const onnx_node *node, const char *name, float otherwise);
const char *onnx_string(const onnx_node *node, const char *name, const char *otherwise);

/* Which of these words a text attribute is; the first one if it is absent. -1: none of them. */
int onnx_word(const onnx_node *node, const char *name, const char *const *words, int count);
/* Makes a tensor of an attribute's numbers: a list, or the only one. False: out of memory. */
bool onnx_numbers(const onnx_attribute *a, bool list, tensor *t);

/* Writes "node 'NAME' (OP) " and the text as an error. Always returns false. */
bool onnx_node_fail(const onnx_node *node, format_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- private to onnx_graph*.c and onnx_upgrade.c ---- */

enum { ONNX_MORE_ATTRIBUTES = 2, ONNX_MORE_INPUTS = 4 }; /* that conversion may add */
/* Converts a node of an older operator set to the current form. */
bool onnx_upgrade(onnx_graph *g, onnx_node *node, format_error *error);

/* Nodes that call kernels of the user's own (engine/mona_op.h): their op_type is the kernel's name
 * with its domain, such as "com.example::Demosaic". */

/* NULL: the node calls none. */
const mona_kernel *onnx_kernel_of(const onnx_graph *g, const onnx_node *node);

/* The grid of a node whose inputs have these shapes, and the shapes of its outputs. False: they do
 * not fit the kernel. */
typedef struct onnx_grid {
    uint32_t rows, columns;
} onnx_grid;
bool onnx_kernel_grid(const mona_kernel *k, const onnx_node *node, const tensor *const *in,
                      onnx_grid *grid, format_error *error);
bool onnx_kernel_shapes(const mona_kernel *k, const onnx_node *node, const tensor *const *in,
                        tensor *out, format_error *error);

/* A hash table for the names of values while a model is read. Finding a name takes bounded time,
 * whatever the names are. */

typedef struct onnx_names {
    struct onnx_name *slots;
    uint32_t room, count; /* room: a power of two */
} onnx_names;

/* The value with this name; UINT32_MAX: none. */
uint32_t onnx_names_find(const onnx_names *names, const char *name);
/* name must be new and must outlive the table. False: out of memory, or names constructed to
 * collide. */
bool onnx_names_add(onnx_names *names, const char *name, uint32_t value, format_error *error);
void onnx_names_free(onnx_names *names);

#endif
