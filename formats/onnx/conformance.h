// SPDX-License-Identifier: Apache-2.0
/* Test cases in the layout of the ONNX suite: a folder with model.onnx and test_data_set_*, each
 * with input_*.pb and output_*.pb. */
#ifndef MONA_CONFORMANCE_H
#define MONA_CONFORMANCE_H

#include "formats/onnx/onnx_graph.h"

enum { CONFORMANCE_MAX_TENSORS = 64 };

typedef struct conformance_set {
    tensor inputs[CONFORMANCE_MAX_TENSORS], outputs[CONFORMANCE_MAX_TENSORS];
    uint32_t input_count, output_count;
} conformance_set;

/* Reads data set `index` of the folder. False with an empty error: there is no such set. */
bool conformance_read(conformance_set *set, const char *folder, unsigned index,
                      format_error *error);
void conformance_free(conformance_set *set);

/* How far a result is from the expected one. */
typedef struct conformance_difference {
    size_t count, wrong;       /* elements; those beyond the tolerance */
    double absolute, relative; /* the largest; relative only where the expected value is not 0 */
} conformance_difference;

typedef struct conformance_tolerance {
    double relative, absolute; /* |found - expected| <= absolute + relative * |expected| */
} conformance_tolerance;

/* False: types or shapes differ, with the reason in error. NaN equals NaN, and infinities equal
 * those of the same sign. */
bool conformance_compare(const tensor *found, const tensor *expected,
                         conformance_tolerance tolerance, conformance_difference *difference,
                         format_error *error);

#endif
