// SPDX-License-Identifier: Apache-2.0
/* What the operators of the reference executor share: how one is called, and what it asks of its
 * inputs and gives as outputs.
 *
 * One function an operator serves two purposes. It first finds type and shape of each output
 * (op_result); where only shapes are asked for it ends there (op_only_shapes), else it fills them.
 * Inputs then have shapes and, if they are constants, data; an operator whose shape depends on the
 * data of an input says so by op_known. */
#ifndef MONA_REFERENCE_CALL_H
#define MONA_REFERENCE_CALL_H

#include "formats/onnx/onnx_graph.h"

enum { OP_SCRATCH = 8 };

typedef struct op_call {
    const onnx_node *node;
    const tensor *const *in; /* NULL: left out */
    uint32_t in_count;
    tensor *out; /* zeroed; one for each output of the node */
    uint32_t out_count;
    int64_t opset;
    bool shapes_only;
    bool unknown; /* set by an operator that needs data which is not there */
    void *scratch[OP_SCRATCH];
    uint32_t scratch_count;
    format_error *error;
} op_call;

/* False: failed and said why, or `unknown` is set. */
typedef bool op_function(op_call *c);

/* "node 'NAME' (OP) " + the text. Always false. */
bool op_fail(op_call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool op_out_of_memory(op_call *c);

/* ---- inputs ---- */
/* NULL: input i is left out. */
const tensor *op_in(const op_call *c, uint32_t i);
/* Input i is left out or has data. */
bool op_known(op_call *c, uint32_t i);
/* Input i as floats, converted if need be, until the call ends; NULL: failed. */
const float *op_floats(op_call *c, uint32_t i);
/* The list of integers that input i is; *count 0: left out. At most `max`. */
bool op_ints(op_call *c, uint32_t i, int64_t *numbers, uint32_t max, uint32_t *count);
/* Zeroed memory until the call ends; NULL: failed. */
void *op_scratch(op_call *c, size_t count, size_t size);

/* An axis of `rank` dimensions, negative from the end. */
bool op_axis(op_call *c, int64_t axis, uint32_t rank, uint32_t *out);
/* Bit k: axis k is in the list that input i is. All bits clear: it is left out or empty. */
bool op_axes(op_call *c, uint32_t i, uint32_t rank, uint32_t *mask);

/* ---- outputs ---- */
bool op_wants(const op_call *c, uint32_t i);
/* Makes output i, unless the node leaves it out. */
bool op_result(op_call *c, uint32_t i, element_type type, uint32_t rank, const int64_t *dims);
bool op_result_like(op_call *c, uint32_t i, const tensor *like);
static inline bool op_only_shapes(const op_call *c)
{
    return c->shapes_only;
}

/* ---- broadcasting ---- */
/* Steps through a result's elements in order and says where an operand's element lies. */
typedef struct op_walk {
    uint32_t rank;
    int64_t at[TENSOR_MAX_RANK], dims[TENSOR_MAX_RANK];
    size_t stride[TENSOR_MAX_RANK];
    size_t offset; /* of the operand's element */
} op_walk;

/* The shape that a and b have together; the result may be a itself. */
bool op_broadcast(op_call *c, const tensor *a, const tensor *b, uint32_t *rank, int64_t *dims);
/* t broadcasts to these dimensions. */
op_walk op_walk_start(const tensor *t, uint32_t rank, const int64_t *dims);
void op_walk_next(op_walk *w);

#endif
