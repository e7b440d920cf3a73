/* The plan: a model bound to frame sizes and a target. Private to engine/.
 *
 * A network runs in units, one after another on each core. A unit is a rectangle of the output: a band of
 * rows (one band a core) by a tile of columns. Inside a unit every operator makes its rows in order, each
 * only as far as the next strip of output rows needs it, and keeps them in a ring just deep enough for its
 * slowest reader. engine/schedule.c derives which rows those are. */
#ifndef MONA_PLAN_H
#define MONA_PLAN_H

#include "../ops/ops.h"
#include "arith.h"

/* A bound operator, and the ring its output lives in. */
typedef struct plan_op {
    mona_bound_op bound;
    uint32_t writer[MONA_OP_MAX_INPUTS]; /* operator that makes each input; MONA_NONE: a model input */
    uint32_t store;          /* STORE fused into this CONV, or MONA_NONE */
    uint32_t depth;          /* rows the ring holds; 0: no ring */
    uint32_t columns;        /* columns a ring row holds, over all tiles */
    size_t block_stride;     /* bytes between channel blocks of a ring row */
    size_t row_bytes;        /* of a ring row: all channel blocks */
    size_t ring_offset;      /* in a core's region */
    size_t constants_offset; /* in the arena */
    size_t constants_bytes;
} plan_op;

struct mona_plan {
    mona_model model;
    const ac_target *target;
    const ac_isa *isa;
    uint32_t cores;            /* bands; threads on the host */
    uint32_t tiles;            /* column tiles of a band */
    uint32_t strip_rows;
    /* The reference grid, the smallest STORE's input: positions in it are scaled to each STORE's rows and
     * columns. Bands, strips and tiles are counted in it. */
    uint32_t grid_height, grid_width;
    size_t state_bytes;        /* session, this plan, worker threads */
    size_t zero_offset, zero_bytes; /* a row of zeros, for rows outside a tensor */
    size_t core_offset, core_bytes; /* core i's region is at core_offset + i * core_bytes */
    size_t rings_bytes;        /* of a core's region, which holds in this order: rings, */
    size_t progress_offset;    /* schedule state, */
    size_t scratch_offset;     /* kernels' scratch, */
    size_t window_offset;      /* row pointers of a call's windows, */
    size_t buffers_offset;     /* and the core's L0 and UB, where the target runs instructions */
    size_t arena_bytes;

    mona_shape shapes[MONA_MAX_TENSORS];
    plan_op ops[MONA_MAX_OPS]; /* last: a session copies only those in use */
};

/* Schedule state of one operator inside a unit. Rows and columns are those of its output; a STORE counts
 * in rows and columns of its input. */
typedef struct plan_progress {
    int64_t begin, end;       /* rows the unit needs */
    int64_t next;             /* rows before this one are made */
    int64_t need;             /* rows before this one are wanted by the current strip */
    int64_t oldest;           /* rows before this one will not be read again */
    int64_t x_begin, x_end;   /* columns the unit needs; beyond the tensor: zero padding */
} plan_progress;

/* Sets begin, end, next, x_begin and x_end of every operator for unit (band, tile). */
void mona_schedule_unit(const mona_plan *plan, uint32_t band, uint32_t tile, plan_progress *progress);
/* Grid rows of a band: positions run from mona_schedule_start (below rows.begin: rows that only warm up the
 * rings) to rows.end in steps of plan->strip_rows. */
mona_span mona_schedule_rows(const mona_plan *plan, uint32_t band);
int64_t mona_schedule_start(const mona_plan *plan, uint32_t band, plan_progress *progress);
/* Sets need of every operator so that output is complete up to grid row `position`. */
void mona_schedule_strip(const mona_plan *plan, int64_t position, plan_progress *progress);
/* Sets oldest of every operator: the first row of its output that some reader has still to read. */
void mona_schedule_oldest(const mona_plan *plan, plan_progress *progress);

/* Columns of the unit that an operator computes: those inside its tensor. */
mona_span mona_plan_columns(const plan_op *op, const plan_progress *progress);
/* Shape in whose rows and columns the operator's progress counts. */
const mona_shape *mona_plan_progress_shape(const plan_op *op);

/* The steps of mona_plan_make. progress: room for every operator. */
mona_status mona_plan_bind(mona_plan *plan, const mona_config *config);
mona_status mona_plan_rings(mona_plan *plan, const mona_config *config, plan_progress *progress);

/* No region or arena may reach this, so that sums of them cannot wrap. */
#define PLAN_MAX_BYTES (SIZE_MAX / 16)

/* Bytes of the part of an arena that session.c lays out itself. */
size_t mona_session_state_bytes(const mona_plan *plan);

#endif
