// SPDX-License-Identifier: Apache-2.0
/* Figures that a session on model310 reports besides its results, all modelled. */
#ifndef MONA_MODELLED_H
#define MONA_MODELLED_H

#include "engine/aicore/program.h"
#include "engine/model310/model310.h"

/* The cost of one operator on one core in the last run. The operators of a strip run one after
 * another, so their cycles and those of the launch add up to the core's. If a LOAD begins while
 * STOREs are still writing, its cycles count from the end of these. */
typedef struct mona_modelled_op {
    double cycles, busy[AC_PIPE_ALL], cube_useful;
} mona_modelled_op;

/* The cycles of an operator if its pipes hide as little of their work behind each other as the
 * vendor's published kernels do (ac_costs.serial_share). The cube's pipes and the scalar unit,
 * which feed it, count as one. */
static inline double mona_modelled_with_losses(const mona_modelled_op *op, double serial_share)
{
    const double *busy = op->busy;
    double all = busy[AC_PIPE_M];
    all = busy[AC_PIPE_MTE1] > all ? busy[AC_PIPE_MTE1] : all;
    all = busy[AC_PIPE_S] > all ? busy[AC_PIPE_S] : all;
    all += busy[AC_PIPE_V] + busy[AC_PIPE_MTE2] + busy[AC_PIPE_MTE3];
    return op->cycles + (all > op->cycles ? serial_share * (all - op->cycles) : 0);
}

/* The report of the last run. NULL: there is no such core, or the session's device is not model310.
 * A core's frame begins with the launch of its task, which copies a row of zeros to L1. */
const ac_model_report *mona_session_modelled(const mona_session *session, unsigned core);
/* The figures of operator `op` of the model, NULL as above. All are zero for a STORE that ran as
 * part of a convolution or of an earlier STORE. */
const mona_modelled_op *mona_session_modelled_op(const mona_session *session, unsigned core,
                                                 unsigned op);
/* From the next run on: costs, which must outlive the session (NULL: ac_costs_310), and what is
 * called for every instruction (NULL: nothing). */
void mona_session_set_model(mona_session *session, const ac_costs *costs,
                            void (*observe)(void *observer, const ac_model_event *event),
                            void *observer);

/* Callbacks of a recorder of programs. begin: cores begin a group of operators with these
 * constants; ring: of the group, in L1; take: an instruction, or where an operator begins. */
typedef struct mona_program_recorder {
    void *context;
    void (*begin)(void *context, const ac_segment *places);
    void (*ring)(void *context, ac_ring ring);
    void (*take)(void *context, uint32_t core, const ac_instruction *instruction);
} mona_program_recorder;

/* From the next run on instructions go to the recorder and are not executed, and planes are neither
 * read nor written. NULL: they are again. The recorder must outlive its use. */
void mona_session_record(mona_session *session, const mona_program_recorder *recorder);
/* A program without instructions for what the session plans. buffers: room for all of them. */
ac_program mona_session_places(const mona_session *session, ac_buffer buffers[AC_SPACES - AC_GM]);
/* Why operator `op` of the model has no program. */
const char *mona_session_program_missing(const mona_session *session, uint32_t op);

/* The time of a tall frame is extrapolated: deep inside a band every strip takes the same time, so
 * what a frame of `rows` rows takes follows from frames of these two heights and its full width. */
enum { MODELLED_SHORT_ROWS = 96, MODELLED_LONG_ROWS = 160 };

static inline double modelled_grown(double of_short, double of_long, uint32_t rows)
{
    return of_short + (of_long - of_short) * ((double)rows - MODELLED_SHORT_ROWS) /
                          (MODELLED_LONG_ROWS - MODELLED_SHORT_ROWS);
}

#endif
