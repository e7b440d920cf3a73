// SPDX-License-Identifier: Apache-2.0
/* Arrays, for the importers of import_array*.c that build ONNX operators from the engine's array
 * operators. Private to import*.c.
 *
 * An `array` is a view of a value of the graph: a shape with a stride for every axis, so that
 * broadcasting and transposing cost nothing if the operator that reads it takes strides. A function
 * that fails writes im->error and returns array_none, which all other functions pass on, so only
 * the last call of a chain needs a check. */
#ifndef MONA_COMPILER_ARRAY_H
#define MONA_COMPILER_ARRAY_H

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

/* Writes "node NAME (OP) " and the text as an error. Always returns array_none. */
array array_fail(importer *im, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- inputs and outputs ------------------------------------------------------------------- */
/* The type that stores elements of this type; MONA_TYPE_COUNT: none can. */
mona_type array_type_of(element_type type);
bool array_is_float(mona_type type);
size_t array_elements(uint32_t rank, const int64_t *dims);
/* The whole of a value in this shape. */
array array_of_value(const graph *g, uint32_t value, uint32_t rank, const int64_t *dims);
/* Input i as an array, whether it is computed or constant. */
array array_in(importer *im, uint32_t i);
/* The ONNX tensor of input i, with data if it is constant; NULL: failed or left out. */
const tensor *array_in_tensor(importer *im, uint32_t i);
/* Type and shape of output i, as found by folding. NULL: failed. */
const tensor *array_result(importer *im, uint32_t i);
/* The type that stores output i. */
mona_type array_result_type(importer *im, uint32_t i);
/* The node's attribute axis, which may count from the end of `rank` dimensions. */
uint32_t array_axis(const importer *im, uint32_t rank, int64_t otherwise);
/* Whether output i is wanted. */
bool array_wants(importer *im, uint32_t i);
/* Makes these numbers output i, in the shape that folding found. False: failed; a may be
 * array_none. */
bool array_bind(importer *im, uint32_t i, array a);

/* ---- constants and views ------------------------------------------------------------------ */
/* A single number of rank 0. */
array array_number(importer *im, mona_type type, double number);
/* A constant; elements: of graph_alloc. NULL: there was no memory for them. */
array array_constant(importer *im, mona_type type, uint32_t rank, const int64_t *dims,
                     void *elements);
/* 0, step, 2 step and so on. */
array array_multiples(importer *im, uint32_t rank, const int64_t *dims, int64_t step);
/* A dense array in another shape with the same number of elements. */
array array_view(importer *im, array a, uint32_t rank, const int64_t *dims);
/* Reorders the axes: axis i of the result is a's axis order[i]. */
array array_permute(array a, const uint32_t *order);
/* A view with `rank` dimensions: a's dimensions begin at `first`; the others are 1. */
array array_place(importer *im, array a, uint32_t rank, uint32_t first);
/* The same numbers in C order without gaps. */
array array_dense(importer *im, array a);

/* ---- operators ---------------------------------------------------------------------------- */
typedef struct array_function {
    mona_array_function code;
    mona_arithmetic arithmetic;
    mona_conversion conversion;
    float parameter[4];
} array_function;

/* Applies a function to the elements of up to three operands, which broadcast together. */
array array_map(importer *im, mona_type type, const array_function *f, uint32_t count,
                const array *operands);
/* The same for a function without parameters. It works on integers if all operands and the result
 * are integers. */
array array_apply(importer *im, mona_type type, mona_array_function f, uint32_t count,
                  const array *operands);
array array_unary(importer *im, mona_type type, mona_array_function f, array x);
array array_binary(importer *im, mona_type type, mona_array_function f, array x, array y);
/* Converts with truncation and wrapping. Returns x itself if it has the type already. */
array array_cast(importer *im, mona_type type, array x);

/* Converts like ONNX's Cast. saturate: numbers beyond the largest of a narrow float become that
 * one. */
array array_to_element(importer *im, element_type to, bool saturate, array x);

/* round(x / scale) + zero point, saturated; operands: x, scale and zero point. */
array array_quantize(importer *im, mona_type type, const array operands[3]);

/* Reduces over the axes of the mask, whose dimensions become 1. */
array array_reduce(importer *im, mona_type type, mona_reduction f, array x, uint32_t mask);

/* Softmax or its logarithm along axes [begin, end) of x, which must be sound. */
array array_softmax(importer *im, mona_type type, mona_normalisation f, array x, uint32_t begin,
                    uint32_t end);

/* (array_pick.c) Gathers elements of a dense array: element i of the result is element places[i] -
 * 1 of x, or the fill where places[i] is 0. The places must be sums of one number per axis; they
 * are freed. */
array array_pick(importer *im, array x, uint32_t rank, const int64_t *dims, uint32_t *places,
                 uint64_t fill);
/* Places for so many elements; NULL: failed. */
uint32_t *array_places(importer *im, size_t count);
/* False, with an error: the model would have to compute the sources of too many elements. */
bool array_may_move(importer *im, size_t count);
/* Joins arrays of the same type along an axis. */
array array_concat(importer *im, uint32_t axis, uint32_t count, const array *parts);

/* [batch..., M, K] x [batch..., K, N] with broadcast batches; both have the same rank. */
array array_matmul(importer *im, mona_type type, array a, array b);

/* Operands are dense: [batch, channels, dims...], then weights and bias. */
array array_window(importer *im, mona_type type, const mona_array_window *window,
                   const array *operands, uint32_t count);
/* Resampling along one axis: a table with weights of some elements of x for each element of the
 * result. */
typedef struct array_taps {
    uint32_t out;
    const uint32_t *first, *index; /* as in mona_array_resample */
    const float *weight;
    float fill;
} array_taps;
array array_resample(importer *im, mona_type type, array x, uint32_t axis, const array_taps *taps);
/* Gathers elements along an axis by computed indices, whose dimensions replace the axis. */
array array_gather(importer *im, array x, uint32_t axis, array indices);

/* Adds a node with this record: the last step of all functions above. */
array array_add(importer *im, mona_type type, uint32_t rank, const int64_t *dims,
                const graph_array *record, const array *operands, uint32_t count);

/* For products and convolutions of quantised operands: input i minus its zero point, which is input
 * `zero` if there is one; and conversion of sums to the result's scale and zero point. There is one
 * zero point or scale for all, or one for each index of the axis. */
array array_centred(importer *im, uint32_t i, uint32_t zero, uint32_t axis);
array array_requantize(importer *im, array sum, uint32_t axis);

/* ---- forms of a value (array_forms.c) ------------------------------------------------------- */
/* A value of the model as an array: computed, converted from a map, or constant. UINT32_MAX:
 * failed. */
uint32_t array_value(importer *im, uint32_t onnx_value);
/* The channels, rows and columns of a tensor of this shape as a map of one frame; 0: any. False: it
 * is too large, or none. */
bool array_map_dims(uint32_t rank, const int64_t *shape, int64_t dims[3]);
/* Wants a value of the model, which is an array, as a map too. Does nothing if that is
 * impossible. */
void array_want_map(importer *im, uint32_t onnx_value);
/* Converts the inputs of the node that are wanted as maps. */
bool array_make_maps(importer *im);
/* Views a map of fixed size as an array [channels, height, width]; and makes an array of F16 with
 * known dimensions available as a map. */
array array_of_map(importer *im, uint32_t map);
bool array_become_map(importer *im, array a, uint32_t map);
/* Copies the numbers to another value with this type. */
array array_copy(importer *im, mona_type type, uint32_t value);

#endif
