// SPDX-License-Identifier: Apache-2.0
/* Loss and gradient of a chain of 3x3 convolutions, for losses.py. */
#ifndef MONA_TRAIN_CHAIN_H
#define MONA_TRAIN_CHAIN_H

/* As losses.py fills it. Arrays belong to the caller; sizes in elements. A chain has body + 2
 * convolutions: head, body, tail; and body + 1 maps between them, two at least. */
struct chain {
    int inputs, channels, body, outputs; /* channels: 16 or 32; inputs and outputs: at most 16 */
    int count, height, width;            /* patches; height and width of each, multiples of 24 */
    int squared;                         /* loss of a patch: see patch_loss() */
    int by_tiles;                        /* of AMX; has_tiles() was asked, and said yes */
    const float *kernels;                /* of each convolution: outputs x inputs x 3 x 3 */
    const float *biases;                 /* of each convolution: outputs */
    const float *grids;                  /* of each convolution: outputs; 1 where not quantised */
    const float *steps;                  /* of each map; 0 where not quantised */
    const float *input, *target; /* count x inputs (outputs) x height x width, code values */
    const float *units;          /* of each patch: factor of its error */
    const float *weights;        /* of each output: factor of its loss */
    float peak_cost;             /* loss of each map's largest value, mean of the patches */
    float least;                 /* see patch_loss() */
    float *d_kernels, *d_biases; /* out: gradients, as kernels and biases */
    float *peaks;                /* out: largest value of each map in all patches */
};

/* Whether the processor has AMX and the kernel lets this process use it. */
int has_tiles(void);

/* The loss, without that of peaks; writes the gradients of all and the peaks. Stops the program
 * with a line where memory does not suffice. */
double learn(const struct chain *chain);

#endif
