// SPDX-License-Identifier: Apache-2.0
/* Planes of a bound tensor in memory, read and written as real values. */
#ifndef MONA_PLANES_H
#define MONA_PLANES_H

#include <stdbool.h>
#include <stddef.h>

#include "mona.h"

typedef struct planes {
    mona_tensor_info info; /* with its size bound */
    mona_buffer buffer;    /* for mona_session_run; rows and channels without gaps */
    size_t count;          /* elements */
} planes;

/* False: out of memory. A zeroed or opened one is closed by planes_close. */
bool planes_open(planes *p, mona_tensor_info info);
void planes_close(planes *p);
/* Memory for so many images, one after the other, as those of one tensor. False: out of memory. */
bool planes_repeat(planes *p, mona_tensor_info info, size_t images);

/* Element i, counted over channels, rows and columns. Setting it rounds to the nearest number that
 * the planes hold (halves to even) and saturates. maximum: the largest U16 sample. */
double planes_get(const planes *p, size_t i);
void planes_set(planes *p, size_t i, double value);

/* Whether the planes hold this value to within half a step; those of F32 hold every value, all
 * others no NaN. */
bool planes_hold(const planes *p, double value);

/* The lowest and the highest value that planes of this type hold. Not for F32. */
double planes_low(const mona_tensor_info *info);
double planes_high(const mona_tensor_info *info);

/* The planes of all inputs and outputs of a plan. */
typedef struct plan_planes {
    planes in[MONA_MAX_IO], out[MONA_MAX_IO];
} plan_planes;

/* model: the plan's. False: out of memory. Close them in any case; zeroed ones are allowed. */
bool plan_planes_open(plan_planes *p, const mona_model *model, const mona_plan *plan);
void plan_planes_close(plan_planes *p);

/* Runs a session of the plan on them. */
mona_status plan_planes_run(plan_planes *p, mona_session *session);

#endif
