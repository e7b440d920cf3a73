// SPDX-License-Identifier: Apache-2.0
/* ONNX files that a command works with, with what the command line says of their open sides. */
#ifndef MONA_ONNX_SOURCE_H
#define MONA_ONNX_SOURCE_H

#include "formats/compiler/compiler.h"
#include "apps/cli/options.h"

/* Reads the file at path; dims: items NAME=N, sizes of open sides of that name; may be NULL. False:
 * one line was printed or, where the file is there and the model cannot be used, refusal says why
 * (NULL: that is printed too). *model is released with onnx_graph_free. */
bool onnx_source_read(onnx_graph *model, const char *path, const option_list *dims,
                      format_error *refusal);

/* The same, ready to compile; size: "WxH" of images whose sides are open, or NULL. NULL: one line
 * was printed. */
compiler *onnx_source_compiler(const char *path, const option_list *dims, const char *size,
                               const fusion_switches *fusion);

#endif
