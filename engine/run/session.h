// SPDX-License-Identifier: Apache-2.0
/* Shared by session.c and session_modelled.c. Private to engine/. */
#ifndef MONA_SESSION_H
#define MONA_SESSION_H

#include <stdatomic.h>

#include "engine/run/plan.h"
#include "engine/port/port.h"

enum { MAX_STRIPS = 1 << 16 }; /* of a group, as numbers of 16 bits */

typedef struct worker {
    mona_session *session;
    ac_core core;
    uint8_t *region;
    uint32_t index;
    atomic_uint left; /* strips that this core may still take, see session_share.c */
} worker;

struct mona_session {
    const mona_plan *plan;
    uint8_t *arena;
    worker *workers; /* [plan->cores]; [0] is the thread that calls mona_session_run, the others
                        are of the pool */
    /* In session_share.c: */
    mona_port_job job;
    mona_port_mutex mutex;
    mona_port_condition changed;
    atomic_uint turn; /* odd during a run; changes when a group ends */
    atomic_uint pins; /* cores that work on the group, or look for work in it; 0: none may begin */
    const plan_group *group;
    uint32_t strips; /* in which a band of the group is divided */
    uint32_t worth;  /* as many are worth dividing between two cores */
    const mona_buffer *inputs, *outputs;
    const struct mona_program_recorder *recorder; /* of instructions on model310; NULL: none */
    const mona_change *change; /* in a run by mona_session_run_changed(); NULL: in others */
    int64_t changed_work;      /* of all shares of such a run */
    /* For engine/run/lines.c: lines of the current frame that have been pushed and pulled, and the
     * grid row up to which the next strip computes results. */
    uint32_t pushed, pulled;
    int64_t line_position;
    /* For engine/run/session_step.c, where a frame is besides its line_position: the group (NULL:
     * there is no frame), the tile, the operator whose rows of the strip come next, and the share
     * of a group on whole maps. */
    struct {
        const plan_group *group;
        uint32_t tile, op, share;
    } step;
    /* Runs a share of a group that is neither on whole maps nor divided into strips:
     * mona_session_run_tiles() or, in a run by mona_session_run_changed(), the function in
     * session_changed.c. */
    void (*run_share)(worker *w, const plan_group *g, uint32_t share);
#ifndef MONA_NO_OBSERVER /* last, so that everything else has the same offsets without them */
    /* Either the functions below, or those in session_observe.c. */
    void (*run_strip)(worker *w, const plan_group *g, plan_progress *progress);
    void (*run_map)(worker *w, const plan_group *g, uint32_t share);
    mona_op_observer observer; /* done NULL: none */
#endif
};

/* On an AI Core maps and arrays lie in the last buffer of global memory. */
static inline ac_address mona_session_map_at(const mona_plan *plan, size_t offset)
{
    const mona_file_header *h = plan->model.header;
    return ac_at((ac_space)(AC_GM + h->input_count + h->output_count), offset);
}

/* Where a row of a ring or map lies, at the column it begins with; and the row for rows outside the
 * output, which holds its zero. */
uint8_t *mona_session_row(const worker *w, const plan_op *op, int64_t row);
uint8_t *mona_session_row_outside(const worker *w, const plan_op *op);
int64_t mona_session_column(const plan_op *op, const plan_progress *progress);
/* The rows [p->next, p->need) of an operator, as a call without rows, which mona_session_point_at()
 * adds. planes: room for those that a LOAD reads, or that a STORE or the convolution it is fused
 * into writes. */
mona_row_call mona_session_call(worker *w, const plan_op *op, const plan_progress *p,
                                mona_buffer planes[MONA_OP_MAX_INPUTS]);
/* Points the call at row y, its windows and scratch. slot: 0, or one of several that a program
 * takes together. */
void mona_session_point_at(const worker *w, const plan_op *op, const plan_progress *progress,
                           mona_row_call *call, int64_t y, uint32_t slot);
/* Computes the rows that the strip needs from operator `index`, or from every operator of a
 * group. */
void mona_session_run_rows(worker *w, uint32_t index, plan_progress *progress);
void mona_session_run_strip(worker *w, const plan_group *g, plan_progress *progress);
/* Runs a share of a group on whole maps. */
void mona_session_run_map(worker *w, const plan_group *g, uint32_t share);
/* These two call run_strip or run_map; without observers there is only one function for each. */
static inline void session_strip(worker *w, const plan_group *g, plan_progress *progress)
{
#ifdef MONA_NO_OBSERVER
    mona_session_run_strip(w, g, progress);
#else
    w->session->run_strip(w, g, progress);
#endif
}

static inline void session_map(worker *w, const plan_group *g, uint32_t share)
{
#ifdef MONA_NO_OBSERVER
    mona_session_run_map(w, g, share);
#else
    w->session->run_map(w, g, share);
#endif
}

static inline void session_unobserved(mona_session *s)
{
#ifdef MONA_NO_OBSERVER
    (void)s;
#else
    s->run_strip = mona_session_run_strip;
    s->run_map = mona_session_run_map;
    s->observer = (mona_op_observer){0};
#endif
}

static inline plan_progress *mona_session_progress(const worker *w)
{
    return (plan_progress *)(void *)(w->region + w->session->plan->progress_offset);
}

/* Begins a unit, rows of a band by columns of a tile, and returns the position from which its
 * strips go on. */
int64_t mona_session_begin_unit(worker *w, const plan_group *g, uint32_t band, mona_span rows,
                                mona_span columns);
/* Runs its strips from there to the grid row `end`. */
void mona_session_run_until(worker *w, const plan_group *g, int64_t position, int64_t end);
/* Runs all of it. */
void mona_session_run_unit(worker *w, const plan_group *g, uint32_t band, mona_span rows,
                           mona_span columns);
/* Runs the tiles of a share of a group. */
void mona_session_run_tiles(worker *w, const plan_group *g, uint32_t share);

/* Shares of a group, which cores take one by one: of its tiles in all bands, of whole maps, or of
 * what has changed. */
static inline uint32_t mona_session_shares(const mona_session *s, const plan_group *g)
{
    const uint32_t tiles = g->parts * g->tiles;
    const uint32_t shares = tiles < MAX_STRIPS ? tiles : MAX_STRIPS - 1;
    return g->whole_maps || s->change ? g->parts : shares;
}

static inline void mona_session_run_share(worker *w, const plan_group *g, uint32_t share)
{
    if (g->whole_maps)
        session_map(w, g, share);
    else
        w->session->run_share(w, g, share);
}

/* Planes of a tensor that lie without gaps. */
static inline mona_buffer mona_session_dense(const mona_shape *s, uint8_t *data)
{
    const ptrdiff_t row = (ptrdiff_t)(s->width * mona_type_size(s->type));
    return (mona_buffer){data, row, row * (ptrdiff_t)s->height};
}

/* In session_arrays.c: the array that operator `writer` has computed, as planes; and the planes
 * that a STORE or an operator on arrays writes, which belong to an output or an array. */
mona_buffer mona_session_array(const mona_session *s, uint32_t writer);
mona_buffer mona_session_planes(const mona_session *s, uint32_t writer);
/* Runs a share of an operator on arrays. */
void mona_session_run_array(worker *w, const plan_group *g, uint32_t share);
/* Whether a buffer may be one of the model's inputs or outputs. */
bool mona_session_takes(const mona_plan *plan, uint32_t tensor, const mona_buffer *b);
/* The same for all inputs and all outputs; NULL: not those. */
bool mona_session_takes_all(const mona_plan *plan, const mona_buffer *inputs,
                            const mona_buffer *outputs);

#endif
