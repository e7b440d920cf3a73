// SPDX-License-Identifier: Apache-2.0
/* A report of mona compile, as JSON or as an HTML page that loads nothing
 * (apps/page/compile.html):
 *
 *   file, onnx, bytes
 *   precision     of the layers: "int8", "fp16" or "mixed"; "auto" if that was requested
 *   coverage      share of the operators that rules apply to for which they took effect
 *   rules         each with pass, on, matched, applied
 *   kept          operators that a rule applies to but left alone: rule, name, type, why
 *   memory        for frames of `size` on one core, as compiled and with every rule off (`plain`):
 *                 calls, tensors_bytes; as compiled: planned_bytes, reuse, live_bytes, bound
 *   layers        precision of each convolution, and what was measured of it */
#ifndef MONA_COMPILE_REPORT_H
#define MONA_COMPILE_REPORT_H

#include "apps/compile/precision.h"
#include "formats/compiler/compiler.h"

typedef struct compile_report {
    const char *onnx, *output;
    precision precision;
    const compiler_options *options; /* those it was emitted with */
    const uint8_t *bytes;            /* the model */
    size_t size;
} compile_report;

/* Writes it to path, as HTML if that ends in .html. The last model that c emitted must be this one;
 * afterwards c has emitted another. False: one line was printed. */
bool compile_report_save(const compile_report *r, compiler *c, const char *path);

#endif
