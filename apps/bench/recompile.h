// SPDX-License-Identifier: Apache-2.0
/* Recompiles a model's network from its ONNX file with other options, for comparison. Only its
 * speed is meaningful, as INT8 is calibrated on noise. */
#ifndef RECOMPILE_H
#define RECOMPILE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/error.h"
#include "mona.h"

typedef struct recompiler recompiler;

/* The path of a model's ONNX file: path if given, or for a file NAME.mona the file NAME.onnx beside
 * it, if there is one. NULL: there is none; else released with free(). */
char *recompile_find(const char *name, const char *path);

/* Opens the ONNX file at path, which must hold the model's network: compiled as the model was, it
 * has the same operators. NULL: `why` has the reason; if it is empty, the file cannot be read and a
 * message was printed. */
recompiler *recompile_open(const mona_model *model, const char *path, format_error *why);

/* Compiles it as FP16 or INT8, with or without fusion. *bytes is released with free(). */
bool recompile(recompiler *r, bool int8, bool fused, uint8_t **bytes, mona_model *model,
               format_error *why);

void recompile_close(recompiler *r); /* NULL is allowed */

/* Whether most convolutions of a model are INT8. */
bool model_mostly_int8(const mona_model *model);

#endif
