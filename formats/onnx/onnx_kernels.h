// SPDX-License-Identifier: Apache-2.0
/* Nodes that call kernels of the user's own (engine/mona_op.h): their op_type is the kernel's name
 * with its domain, such as "com.example::Demosaic". */
#ifndef MONA_ONNX_KERNELS_H
#define MONA_ONNX_KERNELS_H

#include "engine/mona_op.h"
#include "formats/onnx/onnx_graph.h"

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

#endif
