// SPDX-License-Identifier: Apache-2.0
/* Networks whose speed on a real Ascend 310 was published, and a prediction of it by the time model
 * of engine/model310/model310.h. networks.c: their layers; schedule.c: the time of a layer. */
#ifndef PUBLISHED_H
#define PUBLISHED_H

#include "engine/model310/model310.h"

/* A task of the vendor's compiler: a convolution with what is fused into it, or a pass over
 * memory. */
typedef struct layer {
    bool pass;
    uint32_t count; /* how often the network contains it */
    uint32_t batch;
    uint32_t height, width; /* of the output */
    uint32_t in_height, in_width, in_channels, channels;
    uint32_t kernel, stride, groups; /* groups: 1, or the input channels */
    uint32_t vector_ops;             /* per output element, fused */
    bool residual;                   /* a map of the output's size is added */
    double read, write, repeats;     /* pass: bytes, bytes, vector repeats of 256 bytes */
} layer;

enum { LAYERS = 160 };

typedef struct network {
    const char *name;
    uint32_t batch;
    double published_ms;  /* of one batch on one chip */
    layer layers[LAYERS]; /* without repetitions */
    uint32_t layer_count;
    uint32_t height, width, channels; /* of the map the next layer reads */
    double host_bytes;                /* of input and output, fp32 */
} network;

/* The vendor's schedule: costs of instructions, and how well its kernels overlap their pipes. */
typedef struct schedule {
    ac_costs costs;
} schedule;

typedef enum bound { BOUND_CUBE, BOUND_VECTOR, BOUND_COPIES, BOUND_LAUNCH, BOUNDS } bound;

typedef struct prediction {
    double ms, cube_ms;      /* cube_ms: M1 * K1 * N1 cycles of all convolutions on two cores */
    double bound_ms[BOUNDS]; /* of tasks by their longest pipe */
    double conv_ms, concat_ms;
    double tasks;
} prediction;

enum { NETWORKS = 17, BATCHED = 13 };

/* Fills networks of batch 1, sorted by name. */
void build_networks(network networks[NETWORKS]);
/* The same with larger batches, as far as published. */
void build_batched(network networks[BATCHED]);

/* Unpublished networks for comparison: the shipped super-resolution layer by layer; a convolution
 * with normalisation and activation in one task; and the same in four. */
enum { COMPARED = 3 };
void build_compared(network networks[COMPARED]);
/* Bytes of maps that the tasks read and write. */
double map_traffic(const network *n);

/* Runs a frame of width x height through a model file on model310, depth-first and sampled
 * (modelled.h). False: failed. */
typedef struct depth_first {
    double ms, bytes;
} depth_first;
bool run_depth_first(const char *path, uint32_t width, uint32_t height, depth_first *result);

prediction predict(const schedule *, const network *);

#endif
