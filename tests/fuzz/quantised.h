// SPDX-License-Identifier: Apache-2.0
/* Networks in INT8 from samples that a fuzz target makes up; what is written is run. */
#ifndef MONA_TESTS_FUZZ_QUANTISED_H
#define MONA_TESTS_FUZZ_QUANTISED_H

#include <stdlib.h>
#include <string.h>

#include "formats/compiler/compiler.h"
#include "tests/fuzz/run_model.h"
#include "tests/user_kernels.h"

enum { FUZZ_SIDE = 8, FUZZ_MAX_NODES = 16, FUZZ_MAX_COUNT = 512, FUZZ_MAX_VALUES = 64 };

/* The work is in proportion to the sizes of all tensors, which folding has found. */
static inline bool fuzz_is_small(const onnx_graph *g)
{
    bool small =
        g->node_count <= FUZZ_MAX_NODES && g->input_count + g->output_count <= FUZZ_MAX_VALUES;
    for (uint32_t i = 0; small && i < g->node_count; i++) {
        const onnx_node *n = &g->nodes[i];
        for (uint32_t k = 0; small && k < n->input_count + n->output_count; k++) {
            const uint32_t value =
                k < n->input_count ? n->inputs[k] : n->outputs[k - n->input_count];
            small = value == ONNX_NONE ||
                    (g->values[value].shaped && g->values[value].tensor.count < FUZZ_MAX_COUNT);
        }
    }
    return small;
}

static inline void fuzz_emit(compiler *c, const compiler_options *options)
{
    format_error error = {0};
    uint8_t *bytes = NULL;
    size_t size;
    mona_model model;
    if (!compiler_emit(c, options, &bytes, &size, &error))
        return;
    const mona_guard guard = {.kernels = user_kernels};
    const mona_status status = mona_model_open_guarded(&model, bytes, size, &guard);
    if (status == MONA_ERR_MODEL)
        abort(); /* the compiler has written an invalid model */
    if (!status)
        fuzz_run_model(&model);
    free(bytes);
}

/* Inputs whose numbers are the bits of data, over and over; open sides: FUZZ_SIDE. */
static inline void fuzz_inputs(const compiler *c, const uint8_t *data, size_t size,
                               reference_array *inputs)
{
    size_t at = 0;
    for (unsigned i = 0; i < compiler_input_count(c); i++) {
        const compiler_tensor t = compiler_input(c, i);
        inputs[i] = (reference_array){t.channels, t.height ? t.height : FUZZ_SIDE,
                                      t.width ? t.width : FUZZ_SIDE, NULL};
        const size_t count = reference_count(&inputs[i]);
        inputs[i].data = calloc(count ? count : 1, sizeof(float));
        uint8_t *to = (uint8_t *)inputs[i].data;
        for (size_t k = 0; to && size && k < count * sizeof(float); k++)
            to[k] = data[at++ % size];
    }
}

/* Calibrates, learns, measures, equalises and writes in every way; with the divergence, whose
 * search takes most of the time, for one last byte of the fuzzer's data in 16. */
static inline void fuzz_quantise(compiler *c, const reference_array *inputs, const uint8_t *data,
                                 size_t size)
{
    const bool divergence = size && data[size - 1] % 16 == 0;
    format_error error = {0};
    compiler_options options = {.int8 = true};
    unsigned pairs;
    for (int again = 0; again < 2; again++) {
        if (!compiler_calibrate(c, inputs, &error))
            return;
        for (options.ranges = RANGE_MIN_MAX; options.ranges <= RANGE_MSE; options.ranges++) {
            if (options.ranges == RANGE_KL && !divergence)
                continue;
            options.correct_bias = options.ranges == RANGE_MSE;
            compiler_movement(c, options.ranges);
            fuzz_emit(c, &options);
        }
        options.ranges = RANGE_MIN_MAX;
        if (!compiler_learn(c, &options, inputs, false, &error) ||
            !compiler_learn(c, &options, inputs, true, &error) ||
            !compiler_learn_rounding(c, &options, &error))
            return;
        fuzz_emit(c, &options);
        if (!compiler_measure_layers(c, &options, inputs, &error) ||
            !compiler_equalise(c, &options, &pairs, &error))
            return;
    }
}

#endif
