// SPDX-License-Identifier: Apache-2.0
/* What a session on model310 tells beside its results. Every figure is modelled. */
#ifndef MONA_MODELLED_H
#define MONA_MODELLED_H

#include "engine/model310/model310.h"

/* What one operator took on one core, over the last run. Operators of a strip run one after
 * another, so their cycles and the launch's add up to the core's; those of a LOAD that begins while
 * STOREs are on their way out count from where these end. */
typedef struct mona_modelled_op {
    double cycles, busy[AC_PIPE_ALL], cube_useful;
} mona_modelled_op;

/* Of the last run; NULL: no such core, or the session's device is not model310. A core's frame
 * begins with the launch of its task, which brings the constants to L1. */
const ac_model_report *mona_session_modelled(const mona_session *session, unsigned core);
/* Of operator `op` of the model, all zero for a STORE that ran as part of a convolution or of the
 * STORE before it; NULL as above. */
const mona_modelled_op *mona_session_modelled_op(const mona_session *session, unsigned core,
                                                 unsigned op);
/* Calls observe for every instruction of later runs; NULL: no longer. */
void mona_session_observe(mona_session *session,
                          void (*observe)(void *observer, const ac_model_event *event),
                          void *observer);

/* A tall frame is sampled: deep inside a band every strip takes the same time, so whatever a frame
 * of `rows` rows takes follows from what frames of these two heights and its full width take. */
enum { MODELLED_SHORT_ROWS = 96, MODELLED_LONG_ROWS = 160 };

static inline double modelled_grown(double of_short, double of_long, uint32_t rows)
{
    return of_short + (of_long - of_short) * ((double)rows - MODELLED_SHORT_ROWS) /
                          (MODELLED_LONG_ROWS - MODELLED_SHORT_ROWS);
}

#endif
