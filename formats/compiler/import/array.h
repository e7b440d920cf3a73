// SPDX-License-Identifier: Apache-2.0
/* Arrays while an operator of ONNX is brought onto the engine's array operators: what the importers
 * of import_array*.c are written with. Private to import*.c.
 *
 * An `array` is a value of the graph seen in some shape, with a stride of its own for every axis,
 * so that broadcasting and transposing cost nothing where the operator that reads it takes strides.
 * A function that fails says so in im->error and gives array_none, which every other function
 * passes on, so that only the last of a chain is checked. */
#ifndef MONA_COMPILER_ARRAY_H
#define MONA_COMPILER_ARRAY_H

#include "formats/reference/call.h"
#include "formats/compiler/import/importer.h"

typedef struct array {
    uint32_t value; /* of the graph; UINT32_MAX: none */
    mona_type type;
    uint32_t rank;
    int64_t dims[TENSOR_MAX_RANK], strides[TENSOR_MAX_RANK]; /* in elements */
} array;

static const array array_none = {.value = UINT32_MAX};

static inline bool array_ok(array a)
{
    return a.value != UINT32_MAX;
}

/* What an operator is made for: the nodes it adds bear its name. */
typedef struct array_maker {
    importer *im;
    const onnx_node *node;
} array_maker;

/* "node NAME (OP) " + text. Always array_none. */
array array_fail(const array_maker *m, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- inputs and outputs ------------------------------------------------------------------- */
/* The type in which elements of this type are kept; MONA_TYPE_COUNT: they cannot be. */
mona_type array_type_of(element_type type);
bool array_is_float(mona_type type);
size_t array_elements(uint32_t rank, const int64_t *dims);
/* All of a value in this shape. */
array array_of_value(const graph *g, uint32_t value, uint32_t rank, const int64_t *dims);
/* Input i is given: whether it is computed or constant. */
array array_in(const array_maker *m, uint32_t i);
/* The ONNX tensor that input i is, with data where it is constant; NULL: failed or left out. */
const tensor *array_in_tensor(const array_maker *m, uint32_t i);
/* Type and shape of output i, which folding found. NULL: failed. */
const tensor *array_result(const array_maker *m, uint32_t i);
/* The type that output i is kept in. */
mona_type array_result_type(const array_maker *m, uint32_t i);
/* Output i is not left out. */
bool array_wants(const array_maker *m, uint32_t i);
/* Output i is these numbers, in the shape that folding found. False: failed, a being none too. */
bool array_bind(const array_maker *m, uint32_t i, array a);

/* For the functions by which the reference reads attributes and constant inputs. */
typedef struct array_call {
    op_call call;
    const tensor *in[MONA_OP_MAX_INPUTS + 1];
} array_call;
/* False: failed, since the shape of an input is not known. */
bool array_open_call(const array_maker *m, array_call *c);

/* ---- constants and views ------------------------------------------------------------------ */
/* A single number of rank 0. */
array array_number(const array_maker *m, mona_type type, double number);
/* A dense array in another shape of as many elements. */
array array_view(const array_maker *m, array a, uint32_t rank, const int64_t *dims);
/* The axes in another order: axis i is a's axis order[i]. */
array array_permute(array a, const uint32_t *order);
/* Seen with `rank` dimensions, of which a's are those from `first` on and the others 1. */
array array_place(const array_maker *m, array a, uint32_t rank, uint32_t first);
/* The same numbers in C order without gaps. */
array array_dense(const array_maker *m, array a);

/* ---- operators ---------------------------------------------------------------------------- */
typedef struct array_function {
    mona_array_function code;
    mona_arithmetic arithmetic;
    mona_conversion conversion;
    float parameter[4];
} array_function;

/* Element by element of up to three operands, which broadcast together. */
array array_map(const array_maker *m, mona_type type, const array_function *f, uint32_t count,
                const array *operands);
/* The same by a function without parameters; whole where all operands and the result are. */
array array_unary(const array_maker *m, mona_type type, mona_array_function f, array x);
array array_binary(const array_maker *m, mona_type type, mona_array_function f, array x, array y);
/* Truncated and wrapped where it must be; x itself where it has the type. */
array array_cast(const array_maker *m, mona_type type, array x);

/* As Cast makes an element of this type; saturate: what is beyond a narrow float's largest number.
 */
array array_to_element(const array_maker *m, element_type to, bool saturate, array x);
/* The nearest number of a float type of 16 bits or fewer, kept as F32. */
array array_narrow(const array_maker *m, element_type to, bool saturate, array x);

/* Over the axes of the mask, whose dimensions become 1. */
array array_reduce(const array_maker *m, mona_type type, mona_reduction f, array x, uint32_t mask);

/* (array_pick.c) Elements of a dense array by place: element i of the result is element places[i] -
 * 1 of x, or the fill where that is 0. The places must be the sum of one number for each axis. */
array array_pick(const array_maker *m, array x, uint32_t rank, const int64_t *dims,
                 const uint32_t *places, uint64_t fill);
/* False, with an error: the model moves more elements than is worth looking for. */
bool array_may_move(const array_maker *m, size_t count);
/* Joined along an axis; all of one type. */
array array_concat(const array_maker *m, uint32_t axis, uint32_t count, const array *parts);

/* [batch..., M, K] x [batch..., K, N], batches broadcast; both have the same rank. */
array array_matmul(const array_maker *m, mona_type type, array a, array b);

/* Operands dense: [batch, channels, dims...], then weights and bias. */
array array_window(const array_maker *m, mona_type type, const mona_array_window *window,
                   const array *operands, uint32_t count);
/* Along one axis, by a table for each place of the result: weights for some places of x. */
typedef struct array_taps {
    uint32_t out;
    const uint32_t *first, *index; /* as in mona_array_resample */
    const float *weight;
    float fill;
} array_taps;
array array_resample(const array_maker *m, mona_type type, array x, uint32_t axis,
                     const array_taps *taps);
/* Elements along an axis by computed indices, whose dimensions take the axis's place. */
array array_gather(const array_maker *m, array x, uint32_t axis, array indices);

/* A node of this record. The last step of all of the above. */
array array_add(const array_maker *m, mona_type type, uint32_t rank, const int64_t *dims,
                const graph_array *record, const array *operands, uint32_t count);

/* Shared by products and convolutions of quantised operands: input i less its zero point, which is
 * input `zero` if it is there; and sums brought to the scale and zero point of the result, by one
 * scale for all or one for each index of the axis. */
array array_centred(const array_maker *m, uint32_t i, uint32_t zero);
array array_requantize(const array_maker *m, array sum, uint32_t axis);

/* A node of the graph that makes this value, still without inputs; NULL: failed. */
graph_node *array_add_node(importer *im, const onnx_node *node, graph_kind kind, uint32_t output);

/* ---- forms of a value (array_forms.c) ------------------------------------------------------- */
/* The array that a value of the model is: computed, made of a map, or constant. UINT32_MAX: failed.
 */
uint32_t array_value(importer *im, const onnx_node *node, uint32_t onnx_value);
/* Binds a value of the model, which is an array, as a map too. False: it cannot be one (without an
 * error), or that failed. */
bool array_to_map(importer *im, const onnx_node *node, uint32_t onnx_value);
/* A map of fixed size as an array [channels, height, width]; and a new array of F16 as a map, whose
 * dimensions are known. */
array array_of_map(const array_maker *m, uint32_t map);
bool array_become_map(const array_maker *m, array a, uint32_t map);
/* The same numbers as another value, of this type. */
array array_copy(const array_maker *m, mona_type type, uint32_t value);

#endif
