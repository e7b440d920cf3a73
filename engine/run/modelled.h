// SPDX-License-Identifier: Apache-2.0
/* What a session on model310 reports besides its results. Every figure is modelled. */
#ifndef MONA_MODELLED_H
#define MONA_MODELLED_H

#include "engine/model310/model310.h"

/* The cost of one operator on one core in the last run. The operators of a strip run one after
 * another, so their cycles and those of the launch add up to the core's. If a LOAD begins while
 * STOREs are still writing, its cycles count from the end of these. */
typedef struct mona_modelled_op {
    double cycles, busy[AC_PIPE_ALL], cube_useful;
} mona_modelled_op;

/* The report of the last run. NULL: there is no such core, or the session's device is not model310.
 * A core's frame begins with the launch of its task, which copies the constants to L1. */
const ac_model_report *mona_session_modelled(const mona_session *session, unsigned core);
/* The figures of operator `op` of the model, NULL as above. All are zero for a STORE that ran as
 * part of a convolution or of an earlier STORE. */
const mona_modelled_op *mona_session_modelled_op(const mona_session *session, unsigned core,
                                                 unsigned op);
/* From the next run on, calls observe for every instruction; NULL: stops that. */
void mona_session_observe(mona_session *session,
                          void (*observe)(void *observer, const ac_model_event *event),
                          void *observer);

/* The time of a tall frame is extrapolated: deep inside a band every strip takes the same time, so
 * what a frame of `rows` rows takes follows from frames of these two heights and its full width. */
enum { MODELLED_SHORT_ROWS = 96, MODELLED_LONG_ROWS = 160 };

static inline double modelled_grown(double of_short, double of_long, uint32_t rows)
{
    return of_short + (of_long - of_short) * ((double)rows - MODELLED_SHORT_ROWS) /
                          (MODELLED_LONG_ROWS - MODELLED_SHORT_ROWS);
}

#endif
