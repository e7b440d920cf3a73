// SPDX-License-Identifier: Apache-2.0
/* Tensors of any element type with up to eight dimensions. */
#ifndef MONA_FORMAT_TENSOR_H
#define MONA_FORMAT_TENSOR_H

#include "formats/element.h"
#include "formats/error.h"

enum { TENSOR_MAX_RANK = 8, TENSOR_MAX_COUNT = 1 << 28 };

typedef struct tensor {
    element_type type;
    uint32_t rank; /* 0: a single number */
    int64_t dims[TENSOR_MAX_RANK];
    size_t count; /* product of dims */
    void *data;   /* count elements, row by row; NULL: only the shape is known */
} tensor;

/* Sets type, shape and count; data stays NULL. False: the type is not supported, a dimension is
 * negative, or the product of the dimensions that are not 0 exceeds TENSOR_MAX_COUNT. So no product
 * of some of a tensor's dimensions exceeds that, even if the tensor is empty. dims may point to
 * those of *t. */
bool tensor_shape(tensor *t, element_type type, uint32_t rank, const int64_t *dims);
/* The same with zeroed data; release it with tensor_free. */
bool tensor_make(tensor *t, element_type type, uint32_t rank, const int64_t *dims);
/* data may be NULL. Leaves an empty tensor. */
void tensor_free(tensor *t);

size_t tensor_bytes(const tensor *t);
bool tensor_same_shape(const tensor *a, const tensor *b);
/* "float32 [1, 3, 24, 24]" */
void tensor_text(const tensor *t, char *text, size_t size);

/* Address of element i. */
void *tensor_at(const tensor *t, size_t i);
static inline double tensor_number(const tensor *t, size_t i)
{
    return t->type == ELEMENT_FLOAT32 ? (double)((const float *)t->data)[i]
                                      : element_number(t->type, tensor_at(t, i));
}
int64_t tensor_int(const tensor *t, size_t i);
void tensor_store_number(tensor *t, size_t i, double value);
/* Rounds to the type: floats as in IEEE, integers by keeping the low bits. */
static inline void tensor_set_number(tensor *t, size_t i, double value)
{
    if (t->type == ELEMENT_FLOAT32)
        ((float *)t->data)[i] = (float)value;
    else
        tensor_store_number(t, i, value);
}
void tensor_set_int(tensor *t, size_t i, int64_t value);

/* Elements before axis, along it, and after it. */
typedef struct tensor_dims {
    size_t before, along, after;
} tensor_dims;
tensor_dims tensor_split(const tensor *t, uint32_t axis);

#endif
