// SPDX-License-Identifier: Apache-2.0
/* What a run may take at most, as in "memory=2G,pixels=100M,time=10m,streams=64". */
#ifndef MONA_JOB_LIMITS_H
#define MONA_JOB_LIMITS_H

#include <stdbool.h>

#include "pipeline/base/error.h"

/* 0: no limit. */
typedef struct limits {
    double memory;  /* bytes of this process that it may write */
    double pixels;  /* of a frame or picture of the input */
    double streams; /* of the input */
    double time;    /* seconds */
} limits;

#define LIMITS_VALUE "memory=2G,pixels=100M,time=10m,streams=64"

/* Lowers those that text names. option: for messages. False: it names none, or a value is wrong. */
bool limits_read(limits *l, const char *option, const char *text, pipeline_error *error);

/* "2G": a number, and K, M, G or T of `thousand` each; at least 1. False: the text is no such
 * count. */
bool limits_count(const char *text, double thousand, double *value);

/* Limits memory and time of this process. False: an option asks for more than may be limited. */
bool limits_apply(const limits *l, pipeline_error *error);

/* What may explain a fault of this text: that memory is limited; "": nothing does. */
const char *limits_explain(const char *fault);

#endif
