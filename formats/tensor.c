// SPDX-License-Identifier: Apache-2.0
#include "formats/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tensor_shape(tensor *t, element_type type, uint32_t rank, const int64_t *dims)
{
    tensor made = {.type = type, .rank = rank, .count = 1};
    bool ok = rank <= TENSOR_MAX_RANK && element_size(type);
    uint64_t product = 1; /* without dimensions of 0, which would hide an overflow */
    for (uint32_t i = 0; ok && i < rank; i++) {
        const int64_t dim = dims[i];
        ok = dim >= 0 && (!dim || product <= (uint64_t)TENSOR_MAX_COUNT / (uint64_t)dim);
        product *= ok && dim ? (uint64_t)dim : 1;
        made.dims[i] = dim;
        made.count *= ok ? (size_t)dim : 1;
    }
    *t = made;
    return ok;
}

bool tensor_make(tensor *t, element_type type, uint32_t rank, const int64_t *dims)
{
    if (!tensor_shape(t, type, rank, dims))
        return false;
    t->data = calloc(t->count ? t->count : 1, element_size(type));
    return t->data;
}

void tensor_free(tensor *t)
{
    free(t->data);
    *t = (tensor){0};
}

size_t tensor_bytes(const tensor *t)
{
    return t->count * element_size(t->type);
}

bool tensor_same_shape(const tensor *a, const tensor *b)
{
    return a->rank == b->rank && !memcmp(a->dims, b->dims, a->rank * sizeof *a->dims);
}

void tensor_text(const tensor *t, char *text, size_t size)
{
    int used = snprintf(text, size, "%s [", element_name(t->type));
    for (uint32_t i = 0; i < t->rank && used >= 0 && (size_t)used < size; i++)
        used += snprintf(text + used, size - (size_t)used, "%s%" PRId64, i ? ", " : "", t->dims[i]);
    if (used >= 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "]");
}

void *tensor_at(const tensor *t, size_t i)
{
    return (uint8_t *)t->data + i * element_size(t->type);
}

/* A number as an integer type stores it: rounded towards zero, then the low bits; 0 for NaN. */
static int64_t tensor_truncate(double value)
{
    if (isnan(value))
        return 0;
    if (value >= 0x1p63) /* a uint64, as its bits */
        return value >= 0x1p64 ? INT64_MAX : (int64_t)(uint64_t)value;
    return value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

int64_t tensor_int(const tensor *t, size_t i)
{
    if (element_is_float(t->type))
        return tensor_truncate(tensor_number(t, i));
    return element_int(t->type, tensor_at(t, i));
}

void tensor_store_number(tensor *t, size_t i, double value)
{
    if (element_is_float(t->type))
        element_store_float(t->type, tensor_at(t, i), value, ELEMENT_OVERFLOWS);
    else if (t->type == ELEMENT_BOOL)
        *(uint8_t *)tensor_at(t, i) = value != 0;
    else
        element_store_int(t->type, tensor_at(t, i), tensor_truncate(value));
}

void tensor_set_int(tensor *t, size_t i, int64_t value)
{
    if (element_is_float(t->type))
        tensor_set_number(t, i, (double)value);
    else
        element_store_int(t->type, tensor_at(t, i), value);
}

tensor_dims tensor_split(const tensor *t, uint32_t axis)
{
    tensor_dims s = {1, axis < t->rank ? (size_t)t->dims[axis] : 1, 1};
    for (uint32_t i = 0; i < t->rank; i++) {
        if (i < axis)
            s.before *= (size_t)t->dims[i];
        else if (i > axis)
            s.after *= (size_t)t->dims[i];
    }
    return s;
}
