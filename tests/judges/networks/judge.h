// SPDX-License-Identifier: Apache-2.0
/* Judges what mona makes of a network. */
#ifndef MONA_JUDGE_JUDGE_H
#define MONA_JUDGE_JUDGE_H

#include "formats/tensor.h"
#include "mona.h"

/* A network and what it is given: all that a judge needs. */
typedef struct network {
    uint8_t *bytes; /* ONNX */
    size_t size;
    char names[MONA_MAX_IO][32]; /* of the inputs */
    tensor inputs[MONA_MAX_IO];
    uint32_t input_count;
    uint64_t seed;
    char family[32];
} network;

void network_free(network *n);
/* Sets inputs of these types and dims to random numbers. */
void network_fill(network *n, uint64_t seed);

/* The outputs of another program, as doubles. */
typedef struct peer_result {
    bool ran;
    char why[320]; /* if not */
    tensor outputs[MONA_MAX_IO];
    uint32_t output_count;
} peer_result;

typedef enum verdict_kind {
    VERDICT_PASSED,
    VERDICT_REFUSED, /* mona says why it does not take the network */
    VERDICT_WRONG,
    VERDICT_CRASHED,
} verdict_kind;

typedef struct verdict {
    verdict_kind kind;
    char way[64]; /* of computing that it is about */
    char why[512];
    double worst;   /* largest error, in units of what rounding explains */
    double snr[2];  /* of FP16 and of INT8, in dB */
    unsigned ways;  /* that were judged */
    bool overflows; /* FP16 cannot hold its numbers, so only the reference was judged */
    bool fixed;     /* refused with open sizes, and judged with fixed ones */
    bool noisy;     /* passed on a second look only */
    bool apart;     /* for a batch, whose images were judged each by itself, too */
} verdict;

typedef struct judge_options {
    const char *folder; /* for files */
    const char *cc;     /* the C compiler for networks as C; NULL: they are not judged */
    const char *build;  /* where libmona.a is */
    const char *only;   /* the only way to judge, with the reference; NULL: all */
} judge_options;

/* In a process of its own, which may crash. peers: their results. */
void judge(const network *n, const peer_result *peers, uint32_t peer_count,
           const judge_options *options, verdict *v);

/* ---- what rounding explains (noise.c) ----------------------------------------------------- */

/* How far an output moves if every number of the network is rounded somewhat: the most each of its
 * elements did, and the root of the mean square. */
typedef struct spread {
    double *most, rms;
} spread;

typedef struct noise {
    double relative; /* of each number */
    double steps;    /* of 1/255 of a tensor's largest number; 0: none */
    unsigned runs;
} noise;

struct onnx_graph;
/* Runs the reference. outputs: released with tensor_free. peak: the largest number inside; may be
 * NULL. */
bool reference_plain(const struct onnx_graph *g, const network *n, tensor *outputs, double *peak,
                     format_error *error);
bool spread_measure(const struct onnx_graph *g, const network *n, const tensor *plain,
                    const noise *how, spread *s, format_error *error);
void spread_free(spread *s, uint32_t count);

#endif
