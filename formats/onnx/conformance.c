// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/conformance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/file.h"

void conformance_free(conformance_set *set)
{
    for (uint32_t i = 0; i < set->input_count; i++)
        tensor_free(&set->inputs[i]);
    for (uint32_t i = 0; i < set->output_count; i++)
        tensor_free(&set->outputs[i]);
    *set = (conformance_set){0};
}

static bool read_tensor(const char *path, tensor *t, format_error *error)
{
    uint8_t *bytes;
    size_t size;
    format_error inner = {0};
    if (!file_read(path, "an ONNX tensor", ONNX_MAX_BYTES, &bytes, &size, error))
        return false;
    Onnx__TensorProto *proto = onnx_parse_tensor(bytes, size, &inner);
    const bool ok = proto && onnx_tensor_read(proto, NULL, t, &inner);
    onnx_release_tensor(proto);
    free(bytes);
    return ok || format_fail(error, "%s: %s", path, inner.text);
}

/* Reads the files KIND_0.pb, KIND_1.pb, ... of a data set. */
static bool read_kind(const char *folder, unsigned index, const char *kind, tensor *tensors,
                      uint32_t *count, format_error *error)
{
    char path[4096];
    for (*count = 0; *count < CONFORMANCE_MAX_TENSORS; (*count)++) {
        const int length = snprintf(path, sizeof path, "%s/test_data_set_%u/%s_%u.pb", folder,
                                    index, kind, *count);
        if (length < 0 || (size_t)length >= sizeof path)
            return format_fail(error, "%.100s...: the path is too long", folder);
        if (access(path, F_OK))
            return true;
        if (!read_tensor(path, &tensors[*count], error))
            return false;
    }
    return format_fail(error, "%s: more than %d tensors", folder, CONFORMANCE_MAX_TENSORS);
}

bool conformance_read(conformance_set *set, const char *folder, unsigned index, format_error *error)
{
    *set = (conformance_set){0};
    const bool ok = read_kind(folder, index, "input", set->inputs, &set->input_count, error) &&
                    read_kind(folder, index, "output", set->outputs, &set->output_count, error);
    if (ok && set->output_count)
        return true;
    conformance_free(set);
    return false;
}

static void compare_element(double found, double expected, conformance_tolerance tolerance,
                            conformance_difference *d)
{
    d->count++;
    if (found == expected || (isnan(found) && isnan(expected)))
        return;
    const double error = fabs(found - expected);
    if (!(error <= tolerance.absolute + tolerance.relative * fabs(expected)) || isinf(expected))
        d->wrong++;
    if (!(error <= d->absolute))
        d->absolute = error;
    if (expected != 0 && !(error / fabs(expected) <= d->relative))
        d->relative = error / fabs(expected);
}

bool conformance_compare(const tensor *found, const tensor *expected,
                         conformance_tolerance tolerance, conformance_difference *difference,
                         format_error *error)
{
    char a[128], b[128];
    if (found->type != expected->type || !tensor_same_shape(found, expected)) {
        tensor_text(found, a, sizeof a);
        tensor_text(expected, b, sizeof b);
        return format_fail(error, "expected %s, found %s", b, a);
    }
    for (size_t i = 0; i < found->count; i++)
        compare_element(tensor_number(found, i), tensor_number(expected, i), tolerance, difference);
    return true;
}
