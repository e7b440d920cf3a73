// SPDX-License-Identifier: Apache-2.0
/* Shared by the importers of single operators. Private to import*.c. */
#ifndef MONA_COMPILER_IMPORTER_H
#define MONA_COMPILER_IMPORTER_H

#include "formats/compiler/import/import.h"
#include "formats/compiler/import/operators.h"
#include "formats/reference/operators.h"

/* 8-bit integers q stand for scale * (q - zero). */
typedef struct import_quantisation {
    float scale; /* 0: the numbers stand for themselves */
    int zero;
    element_type type;
} import_quantisation;

/* A Transpose of six axes that exchanges pixels and channels, which a Reshape completes. */
typedef struct import_shuffle {
    uint32_t block; /* 0: none */
    bool up, depth_first;
} import_shuffle;

/* An ONNX value's form in the graph: a map or a constant of floats, or an array, or both if it was
 * needed in both forms. */
typedef struct import_binding {
    uint32_t value; /* UINT32_MAX: not created yet, or not a map */
    uint32_t rank;  /* of a map in ONNX, where folding does not know its shape */
    /* The shape is [..., channels], the dimensions before it together height * width; else the
     * numbers have the order of the map, in whatever shape. */
    bool last;
    import_shuffle shuffle; /* of the map, in which the numbers are not there yet */
    bool wanted;    /* nothing makes the map yet: the array is converted once a node reads it */
    uint32_t array; /* UINT32_MAX: not created yet */
    /* For a map: ONNX has integers where the map has the numbers they stand for. */
    import_quantisation quantisation;
} import_binding;

/* A value of the model. */
typedef struct import_use {
    uint32_t maker; /* the node that makes it; ONNX_NONE: none */
    bool apart;     /* something reads it that takes no quantised maps */
    bool kept;      /* it is an output, or something reads it that is not for maps */
} import_use;

typedef struct importer {
    graph *g;
    const onnx_graph *model;
    const onnx_node *node;    /* that is imported; what is made for it gets its name */
    onnx_node output;         /* that, while an output is added */
    import_binding *bindings; /* one for each value of the model */
    import_use *uses;         /* the same */
    const char *why_array;    /* of what is made on arrays for the node */
    /* The node as the reference's functions read it; sides that are open are -1. */
    op_call call;
    const tensor *in[MONA_OP_MAX_INPUTS + 1];
    tensor open[MONA_OP_MAX_INPUTS + 1];
    format_error *error;
} importer;

/* Writes "node NAME (OP) " and the text as an error. Always returns false. */
bool import_fail(importer *im, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Keeps "node NAME (OP) " and the text for compiler_warning. False: out of memory, told as
 * error. */
bool import_warn(importer *im, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- bindings ---- */
/* The shape of input i, which is bound to a map; sides that are open are 0. */
tensor import_shape(const importer *im, size_t i);
/* The part of depth-to-space or space-to-depth that input 0 is. */
import_shuffle import_shuffle_of(const importer *im);
/* Whether the channels of input i come last. */
bool import_is_last(const importer *im, size_t i);
/* The dimensions of map i from the channels on: 3 of [1, channels, height, width], 2 of [1,
 * channels, height * width], 1 of [1, all of it] or [..., channels]; 0: it has another shape. */
uint32_t import_trailing(const importer *im, size_t i);

/* Whether inputs 0 and 1, which are maps, broadcast as maps as their shapes do in ONNX. */
bool import_alike(const importer *im);
/* The value that input i is bound to; UINT32_MAX: it is left out. */
uint32_t import_bound(const importer *im, size_t i);

/* The meaning of the integers of input i; scale 0: it is not a map of integers. */
import_quantisation import_quantisation_of(const importer *im, size_t i);

/* The code of the node's row. */
uint32_t import_code(const importer *im);

/* ---- attributes ---- */
/* Whether the text attribute has this value, or is absent and `otherwise` equals it. */
bool import_text_is(const importer *im, const char *name, const char *value, const char *otherwise);

/* ---- inputs ---- */
/* Whether input i is given (not left out). */
bool import_has(const importer *im, size_t i);
/* The value of input i if it is a constant, else NULL. The pointer is valid until a value is
 * added. */
const graph_value *import_constant(const importer *im, size_t i);
/* Input i must be computed, and a map. */
bool import_tensor(importer *im, size_t i, uint32_t *value);
/* The same, or a line. */
bool import_channels(importer *im, size_t i, uint32_t *value);
/* The same, or one whose channels come last. */
bool import_any_channels(importer *im, size_t i, uint32_t *value);
/* Whether this axis of input i, which may count from the end, is that of its channels. */
bool import_is_channel_axis(const importer *im, size_t i, int64_t axis);
/* The same in any shape. */
bool import_elements(importer *im, size_t i, uint32_t *value);
/* Wants input i, an array [..., channels], as a map whose channels come last. */
bool import_rows_as_map(importer *im, size_t i);
/* Input i must be flat. */
bool import_flat(importer *im, size_t i, uint32_t *value);
/* Reads a list of integers: attribute `name` or, if input i is given, that constant. Fails if there
 * are more than max, or if input i is not constant; *count is 0 if neither is given. */
bool import_numbers(importer *im, const char *name, size_t i, int64_t *numbers, uint32_t max,
                    uint32_t *count);
/* Reads one number per channel from a constant with one element or of shape [channels, 1, 1] or [1,
 * channels, 1, 1]; beside lines or flat operands the last one or two dimensions may be missing.
 * Memory of the graph; NULL: failed. */
float *import_per_channel(importer *im, const graph_value *constant, uint32_t channels);

/* Begins to import a node. False: failed, because the shape of an input is unknown. */
bool import_begin(importer *im, const onnx_node *node);
/* Fails after a function of the reference that read the node and failed, or wanted `what`, which is
 * computed. Always returns false. */
bool import_refused(importer *im, const char *what);

/* ---- windows ---- */
/* The window, if one of a map may have such numbers. */
bool import_window(importer *im, const op_window *from, graph_window *w);
/* Rows and columns of the window's result for the source; 0: unknown. */
bool import_window_size(importer *im, const graph_window *w, const graph_value *source,
                        bool round_up, uint32_t size[2]);

/* ---- results ---- */
/* Binds output 0 to a value with this rank and order. */
bool import_bind_shape(importer *im, uint32_t value, uint32_t rank, bool last);
/* Binds output i to a value, with the rank and the order of the node's first computed input. */
bool import_bind(importer *im, size_t i, uint32_t value);
/* Whether a map may be so large. */
bool import_fits(importer *im, uint64_t channels, uint64_t height, uint64_t width);
/* Adds a node that computes a value of the graph from value x. NULL: failed. The pointer is valid
 * until another node is added. */
graph_node *import_add_node(importer *im, graph_kind kind, uint32_t x, uint32_t output);
/* The same for output i, a new value of this shape. */
graph_node *import_node(importer *im, size_t i, graph_kind kind, uint32_t x, uint32_t channels,
                        uint32_t height, uint32_t width);
/* The same for output 0 with the shape of x. */
graph_node *import_node_like(importer *im, graph_kind kind, uint32_t x);
/* The same for a value that is not an output of the ONNX node, of this shape or of that of x. */
graph_node *import_inner(importer *im, graph_kind kind, uint32_t x, uint32_t channels,
                         uint32_t height, uint32_t width);
graph_node *import_inner_like(importer *im, graph_kind kind, uint32_t x);
/* Reads weights (input w), biases (input b) and window of a convolution of a map. */
bool import_read_conv(importer *im, uint32_t w, uint32_t b, graph_conv *conv, uint32_t *outputs);
/* Its biases, one for each output or zeros; fails if they or the weights are not finite. */
bool import_read_bias(importer *im, size_t i, const graph_value *w, uint32_t outputs, float **bias);
/* The matrix of input i as [outputs][inputs]; NULL: failed. Memory of the graph. */
float *import_matrix(importer *im, size_t i, bool transposed, float alpha, uint64_t inputs,
                     uint32_t *outputs);
/* The same product for a flattened map of fixed size, as a convolution whose filter has the map's
 * size. */
bool import_whole_window(importer *im, uint32_t x, graph_window *w);
/* The scales along this axis of the weights in input i. NULL: failed, or they are not quantised
 * constants with a scale for each output. Memory of the graph. */
float *import_weight_scales(importer *im, size_t i, int64_t axis, uint32_t outputs);
/* Adds a convolution of value x with this window, weights and bias as the node's output. */
bool import_add_conv(importer *im, const graph_conv *conv, uint32_t x, uint32_t outputs);

/* Adds the node of output i that keeps these channels of x. */
bool import_add_slice(importer *im, size_t output, uint32_t x, uint32_t first, uint32_t count);

/* ---- operators (import_*.c) ---- */
/* The importers of all operators. There are no import_none and import_array_none. */
#define ROW(name, since, min, max, types, function, whole, map, maps, array, arrays, attributes,   \
            images, integers, code)                                                                \
    operator_import import_##map, import_array_##array;
#include "formats/operators.inc"
#undef ROW
operator_import import_kernel, import_array_kernel;
/* Whether a kernel's node may run on maps; and whether an input that kernels read is a map of its
 * type, which all of them can read. */
bool import_kernel_joins(const importer *im, const onnx_node *node);
bool import_kernel_takes(const importer *im, const onnx_input *input);

/* Whether the axes in input 1 are those of rows and columns of four dimensions, and no others. */
bool import_spatial_axes(importer *im, bool *spatial);
/* A Reshape to the shape that folding found, or to two dimensions: [1, all]. */
bool import_reshape_view(importer *im, const int64_t *shape, uint32_t rank);
/* Output 0 is x * scale + shift, with numbers for each channel; NULL: out of memory. */
bool import_add_affine(importer *im, uint32_t x, float *scale, float *shift);
/* Output 0 is this function of x. */
bool import_add_activation(importer *im, uint32_t x, graph_activation activation);
/* Adds a value x * scale + shift of the node, with one number per channel, or with one for all if
 * `one`. */
bool import_inner_affine(importer *im, uint32_t x, float scale, float shift, uint32_t *made);

#endif
