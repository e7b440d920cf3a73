// SPDX-License-Identifier: Apache-2.0
/* The ONNX files that a command works with, and the dims that the command line gives for them. */
#ifndef MONA_ONNX_SOURCE_H
#define MONA_ONNX_SOURCE_H

#include "apps/cli/options.h"
#include "apps/compile/arrays.h"
#include "apps/compile/calibration.h"
#include "engine/mona_op.h"
#include "formats/compiler/compiler.h"
#include "formats/error.h"

/* Reads the file at path. dims: items NAME=N, which set open dims of that name; may be NULL. False:
 * one line was printed; or, if the file exists but its model cannot be used, `refusal` says why
 * (NULL: that is printed as well). *model is released with onnx_graph_free. */
bool onnx_source_read(onnx_graph *model, const char *path, const option_list *dims,
                      format_error *refusal);

/* The same, ready to compile. size: "WxH" of images whose dims are open, or NULL. feed: what turns
 * samples into the network's numbers, which becomes part of the network if it has feed->inside;
 * NULL: nothing. one_image: as compiler_open_image. NULL: one line was printed. */
compiler *onnx_source_compiler(const char *path, const option_list *dims, const char *size,
                               const fusion_switches *fusion, const calibration_feed *feed,
                               bool one_image);

/* The same, with open dims as arrays for its first inputs have them. */
compiler *onnx_source_for(const char *path, const input_array *arrays, size_t count,
                          bool one_image);

/* The kernels that a model which is compiled may call (--kernels): their interfaces, as
 * mona.kernel writes them, and their code where it lies beside them as a shared library. */

/* A list that ends with NULL. */
const mona_kernel *const *kernels_all(void);
/* Whether all have code. */
bool kernels_run(void);
/* Patterns that they may replace: ONNX models beside them. */
const onnx_pattern *kernels_patterns(uint32_t *count);
/* Read all files of the option --kernels whose names end in .kernel; NULL is no folder. _load: all
 * must have code. False: one line was printed. */
bool kernels_list(const char *folder);
bool kernels_load(const char *folder);
/* Models that are read from now on have them on arrays alone, as AI Cores run them; whether so. */
void kernels_keep_apart(void);
bool kernels_apart(void);
/* options_model() for a model that may call them. */
bool kernels_model(model_source *source, const char *name);
/* Opens a model that may call them. */
mona_status kernels_open(mona_model *model, const void *bytes, size_t size);

/* MONA_TYPE_COUNT: no type is called so. */
mona_type type_named(const char *name);

#endif
