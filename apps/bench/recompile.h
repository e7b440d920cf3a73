// SPDX-License-Identifier: Apache-2.0
/* The network of a model compiled once more from its ONNX file, another way, for comparison. Only
 * its speed means anything: what INT8 is calibrated on is noise. */
#ifndef RECOMPILE_H
#define RECOMPILE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/error.h"
#include "mona.h"

typedef struct recompiler recompiler;

/* Where the ONNX file of a model lies: path, if given, or beside a file NAME.mona the file
 * NAME.onnx, if there is one. NULL: nowhere; else released with free(). */
char *recompile_find(const char *name, const char *path);

/* Opens the ONNX file at path, which must be of the model's network: compiled as the model was, it
 * has the same operators. NULL: why says so or, where it is empty, a message was printed: the file
 * cannot be read. */
recompiler *recompile_open(const mona_model *model, const char *path, format_error *why);

/* Compiles it as FP16 or INT8, with or without fusions. *bytes is released with free(). */
bool recompile(recompiler *r, bool int8, bool fused, uint8_t **bytes, mona_model *model,
               format_error *why);

void recompile_close(recompiler *r); /* NULL is allowed */

/* Whether most convolutions of a model are INT8. */
bool model_mostly_int8(const mona_model *model);

#endif
