// SPDX-License-Identifier: Apache-2.0
/* Sums of products over a patch's maps, for chain.c: by vdpbf16ps of AVX-512 BF16 or, where the
 * processor has it, by the tiles of AMX, which multiply eight times as fast on the same core. */
#ifndef MONA_TRAIN_PRODUCTS_H
#define MONA_TRAIN_PRODUCTS_H

#include <stddef.h>
#include <stdint.h>

enum {
    LANES = 16,
    TAPS = 9,
    SPARE = 64 /* pixels behind a map that may be read, zeros */
};

typedef uint16_t bf16;

/* Rows of pixels of `lanes` channels, 16 or 32, with a border of zeros around them. */
struct map {
    bf16 *data;
    int lanes;
};

/* Of one size of patches. */
struct products {
    int height, width; /* width: a multiple of 24 */
    int by_tiles;
    uint32_t *in_pairs, *g_pairs; /* see correlate() */
    bf16 *in_planes;
};

/* most_lanes: of a map. What it takes is given back by end_products(). */
struct products begin_products(int height, int width, int most_lanes, int by_tiles);
void end_products(struct products *);

/* How many pixels a map has, border included, without SPARE. */
int pixels_of(const struct products *);

/* A kernel for convolve_row(): its size, and where the code of a tap, input and output stands.
 * inputs: channels that there are; outputs: lanes, 16 or 32. */
size_t kernel_size(const struct products *, int inputs, int outputs);
size_t kernel_place(const struct products *, int inputs, int outputs, int tap, int input,
                    int output);

/* Row y of the convolution of a map: sums are [width][outputs]. */
void convolve_row(const struct products *, struct map in, int y, int inputs, const bf16 *kernel,
                  int outputs, float *sums);

/* For how many inputs correlate() has sums. */
int correlated_inputs(const struct products *, int inputs, int outputs);

/* Adds to sums, [tap][inputs][outputs], the products of a map's codes, moved by the tap, and a
 * gradient, over all pixels; with correlated_inputs() for inputs. */
void correlate(struct products *, struct map in, struct map gradient, int inputs, float *sums);

static inline int whole(int n, int lot)
{
    return (n + lot - 1) / lot * lot;
}

/* Memory or the end of the program, with a line. */
void *zeros(size_t count, size_t size);

#endif
