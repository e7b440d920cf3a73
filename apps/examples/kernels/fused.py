# SPDX-License-Identifier: Apache-2.0
"""Conv+BatchNormalization+ReLU of 1x1 in one pass over memory."""
from mona.kernel import f32, kernel, rows, table

INPUTS, OUTPUTS = 8, 8


@kernel('com.example::ConvNormRelu')
def conv_norm_relu(x: rows(f32, planes=INPUTS), weights: table(f32, INPUTS * OUTPUTS), scale: table(f32, OUTPUTS),
                   shift: table(f32, OUTPUTS), *, y: rows(f32, planes=OUTPUTS)):
    """weights: [output][input]. scale, shift: of the batch normalisation; with the deviation and mean and the convolution's bias
    in them, as gamma / sqrt(variance + epsilon) and beta + (bias - mean) * scale."""
    for o in range(OUTPUTS):
        total = x[0, 0, 0] * weights[INPUTS * o]
        for i in range(1, INPUTS):
            total += x[i, 0, 0] * weights[INPUTS * o + i]
        y[o, 0, 0] = max(total * scale[o] + shift[o], 0.0)
