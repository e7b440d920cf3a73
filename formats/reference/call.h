// SPDX-License-Identifier: Apache-2.0
/* Shared by the operators of the reference executor: the form of a call, access to inputs, and
 * creation of outputs.
 *
 * Each operator has one function with two purposes. It first determines type and shape of each
 * output (op_result), of the first one last. If only shapes are wanted (shapes_only), that returns
 * false, and the call ends; else the elements are computed. Inputs then have shapes and, if they
 * are constants, data; an operator whose shapes depend on the data of an input checks that with
 * op_known. */
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

#endif
