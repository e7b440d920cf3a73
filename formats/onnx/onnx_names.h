// SPDX-License-Identifier: Apache-2.0
/* A hash table for the names of values while a model is read. Finding a name takes bounded time,
 * whatever the names are. */
#ifndef MONA_ONNX_NAMES_H
#define MONA_ONNX_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/error.h"

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
