// SPDX-License-Identifier: Apache-2.0
/* The plan: a model bound to frame sizes and a target. Private to engine/.
 *
 * Operators run in groups, one group after another. Within a group each core runs units one after
 * another, and inside a unit the operators run depth-first. A unit is a rectangle of the group's
 * results: a band of rows, one for each core, by a tile of columns. Every operator computes its
 * rows in order, only as far as the next strip of results needs them, and keeps them in a ring just
 * deep enough for its slowest reader. engine/run/schedule.c derives which rows those are.
 *
 * A tensor that a later group reads is kept whole, in a map that all cores share. A convolution
 * whose weights are larger than its rows is a group of its own and works on whole maps;
 * engine/plan/plan_groups.c decides that. Most networks that produce pictures are a single group
 * without maps. An operator on arrays is a group of its own as well. Arrays lie among the maps;
 * LOAD and STORE see them as planes. */
#ifndef MONA_PLAN_H
#define MONA_PLAN_H

#include "engine/aicore/program.h"
#include "engine/run/device.h"
#include "engine/arith.h"

/* Cells of a grid, counted from its corner. engine/run/session_changed.c tracks in cells which
 * results have changed. */
enum { PLAN_CELL_ROWS = 8, PLAN_CELL_COLUMNS = 32 };

/* How far the samples of an input that a cell depends on reach beyond the cell itself, in rows and
 * columns of that input. */
typedef struct plan_reach {
    int64_t above, below, left, right;
} plan_reach;

/* Operators [first, last). */
typedef struct plan_group {
    uint32_t first, last;
    uint32_t parts;   /* cores that take part: bands of rows, or shares of the channel blocks */
    bool whole_maps;  /* it is one operator, run by mona_op_class.map or .array */
    bool by_channels; /* with whole_maps: parts are shares of the channel blocks */
    uint32_t side;    /* on AI Cores: 1 + the core that runs it alone, 2 while core 0 runs the group
                         before; 0: cores share it */
    uint32_t tiles;   /* column tiles of a band */
    uint32_t strip_rows; /* on AI Cores: of a strip, if not as many as in other groups; else 0 */
    /* The reference grid has the size of the smallest result. Bands, strips and tiles are counted
     * in it, and its positions are scaled to the rows and columns of each result. */
    uint32_t grid_height, grid_width;
    size_t rings_bytes;
} plan_group;

/* A bound operator, and where its output lies: in a ring in each core's region, or in a map if a
 * later group reads it. It may lie in the ring or map of another operator, its *home*, where it has
 * some of the channel blocks (engine/layout/place.c). */
typedef struct plan_op {
    mona_bound_op bound;
    plan_group group; /* the group that begins with this operator */
    /* The operator that computes each input; MONA_NONE: the input is planes or an array */
    uint32_t writer[MONA_OP_MAX_INPUTS];
    /* The operator that computes each input that is an array. MONA_NONE: the input is no array, or
     * an input of the model. */
    uint32_t array_writer[MONA_OP_MAX_INPUTS];
    uint32_t first_reader; /* first operator that reads its output; its own index if none does */
    uint32_t last_reader;  /* last operator that reads its output or anything that shares its
                              memory */
    uint32_t store;        /* STORE fused into this CONV, or MONA_NONE */
    bool leaves;           /* a later group reads its output, which is not an array */
    bool read_outside;     /* a reader needs rows outside its output */
    bool read_in_blocks;   /* on an AI Core: a reader counts columns in blocks of 32 */
    uint32_t home;         /* operator whose ring or map its output lies in; usually itself */
    uint32_t home_block;   /* first of its channel blocks there */
    bool may_begin;        /* a group of an AI Core may begin with it */
    bool begins;           /* one does, as rings would not fit L1 */
    bool shared;           /* and all cores share it, for the same reason */
    bool map;              /* its home is a map */
    bool array;            /* its output is an array, and not an output of the model */
    int64_t map_x_begin;   /* first column of a map's rows; 0 or less */
    uint32_t depth;        /* rows that the ring or map holds; 0: there is neither */
    uint32_t turned;       /* on an AI Core: places in the ring by which row 0 follows the first */
    bool row_outside;      /* one more follows them, for rows outside its output; on AI Cores */
    uint32_t columns;      /* columns of such a row, over all tiles */
    uint32_t group_first;  /* first operator of its group */
    size_t block_stride;   /* bytes between channel blocks */
    size_t row_bytes;      /* bytes between rows */
    size_t ring_offset;    /* in a core's region; of a map or an array, in the region of the maps */
    size_t map_bytes;      /* of a map or an array */
    size_t zero_offset;    /* in the arena: that row if it is not there, see mona_plan */
    size_t constants_offset; /* in the arena; unused if constants are shared */
    size_t constants_bytes;
    size_t tables_offset, tables_bytes; /* on an AI Core: constants that no instruction reads */
} plan_op;

/* How threads run a session together, in session_share.c. A program whose sessions have one thread
 * is linked without it. */
typedef struct mona_crew {
    mona_status (*open)(mona_session *session);
    void (*run)(mona_session *session);
    void (*close)(mona_session *session);
} mona_crew;

extern const mona_crew mona_threads;

struct mona_plan {
    mona_model model;
    const ac_target *target;
    const mona_isa *isa;        /* row kernels */
    const mona_device *device;  /* with AI Cores, which computes; NULL: a CPU */
    const mona_session *shared; /* session whose constants are used; NULL: this plan's own */
    uint32_t cores;             /* threads, on the host */
    const mona_crew *crew;      /* how several threads share a run; NULL: there is one core, or
                                    AI Cores */
    uint32_t strip_rows;
    ac_program program;     /* of the model, for model310 to run; records NULL: none */
    size_t group_constants; /* on an AI Core: what a group may take of L1; 0: all fit */
    size_t all_constants;   /* on an AI Core: bytes of all groups' */
    uint32_t sixteenths;    /* on an AI Core: of what constants leave of L1, for rings */
    bool copies;            /* every CONCAT and SLICE copies */
    bool linked; /* it is part of a program, and so are its constants; the arena holds neither */
    size_t cache_bytes; /* cache that a core may expect to have */
    size_t state_bytes; /* session, this plan, worker threads; on an AI Core, tables */
    /* A row of zeros, for rows outside a tensor; on a CPU others follow for tensors with a zero
     * other than 0 (plan_op.zero_offset). */
    size_t zero_offset, zero_bytes;
    size_t maps_offset, maps_bytes;     /* shared by all cores */
    size_t planes_offset, planes_bytes; /* inputs and outputs on AI Cores */
    size_t core_offset, core_bytes;     /* core i's region is at core_offset + i * core_bytes */
    /* A core's region holds, in this order: */
    size_t rings_bytes;                   /* rings */
    size_t progress_offset;               /* state of the schedule */
    size_t scratch_offset, scratch_bytes; /* scratch of the kernels */
    size_t window_offset, window_bytes;   /* row pointers for a call; on an AI Core,
                                             pointers and addresses for several */
    size_t device_offset;                 /* what the device itself needs: ai_core->core_bytes() */
    size_t arena_bytes;
    mona_lines lines; /* count 0: it cannot run line by line */
    bool parts;       /* any rectangle of a tile can be computed on its own */
    plan_reach reach[MONA_MAX_IO];

    mona_shape *shapes; /* of every tensor */
    plan_op *ops;
};

/* State of one operator inside a unit. Rows and columns are those of its output, for a STORE those
 * of its input. */
typedef struct plan_progress {
    int64_t begin, end;     /* rows that the unit needs */
    int64_t next;           /* rows before this one have been computed */
    int64_t need;           /* rows before this one are needed by the current strip */
    int64_t oldest;         /* rows before this one will not be read again */
    int64_t x_begin, x_end; /* columns that the unit needs; outside the tensor: zero padding */
    /* For a home: the unit's columns in its ring, and, while planning, the rows in use. */
    int64_t ring_begin, ring_end;
    int64_t used_begin, used_end;
} plan_progress;

/* Whether AI Cores run the plan, or a program of the model; their sessions run in the caller's
 * thread. */
static inline bool mona_plan_on_ai_core(const mona_plan *plan)
{
    return plan->device;
}

/* Whether an operator only copies channels, unless they lie in place. */
static inline bool mona_plan_copies(const plan_op *op)
{
    return op->bound.run->joins_channels || op->bound.run->cuts_channels;
}

/* Whether operator o has a ring of its own. For when depths are known. */
static inline bool mona_plan_has_ring(const mona_plan *plan, uint32_t o)
{
    const plan_op *op = &plan->ops[o];
    return op->depth && !op->map && op->home == o;
}

/* Of an input, or of an output, which are numbered behind the inputs. */
static inline mona_tensor_info mona_plan_planes_info(const mona_plan *plan, uint32_t tensor)
{
    const uint32_t inputs = plan->model.header->input_count;
    return tensor < inputs ? mona_plan_input(plan, tensor)
                           : mona_plan_output(plan, tensor - inputs);
}

/* Whether a program of the model is run, instead of the plan. */
static inline bool mona_plan_has_program(const mona_plan *plan)
{
    return plan->program.records;
}

/* Whether the arena holds packed constants: not if another session's are used, those that are
 * linked, or those of a program of the model. */
static inline bool mona_plan_packs(const mona_plan *plan)
{
    return !plan->shared && !plan->linked && !mona_plan_has_program(plan);
}

/* Rows of the grid in a strip. */
static inline uint32_t mona_plan_strip_rows(const mona_plan *plan, const plan_group *g)
{
    return g->strip_rows ? g->strip_rows : plan->strip_rows;
}

/* How the device computes an operator as a program; NULL on a CPU. */
static inline const mona_op_program *mona_plan_program_of(const mona_plan *plan, uint32_t kind)
{
    return plan->device ? &plan->device->ai_core->programs[kind] : NULL;
}

/* Bytes of L1 beside the constants. */
static inline size_t mona_plan_l1_bytes(const mona_plan *plan)
{
    return max_size(plan->rings_bytes + MONA_ROW_SLACK, plan->program.header.l1_bytes);
}

/* The same of a group. */
static inline size_t mona_plan_group_l1_bytes(const plan_group *g)
{
    return g->rings_bytes + MONA_ROW_SLACK;
}

/* Bytes of constants that lie in L1 while a group runs on an AI Core, besides a row of zeros: those
 * of the group, side by side, or all if they fit. */
size_t mona_plan_group_constants(const mona_plan *plan, const plan_group *g);

/* The first group, which every model has; the group after g, or NULL. */
static inline const plan_group *mona_plan_first_group(const mona_plan *plan)
{
    return &plan->ops[0].group;
}

static inline const plan_group *mona_plan_next_group(const mona_plan *plan, const plan_group *g)
{
    return g->last < plan->model.header->op_count ? &plan->ops[g->last].group : NULL;
}

/* Grid rows of a band, and grid columns of a tile. */
mona_span mona_schedule_rows(const plan_group *g, uint32_t band);
mona_span mona_schedule_columns(const mona_plan *plan, const plan_group *g, uint32_t tile);
/* Sets begin, end, next, x_begin and x_end of the group's operators for a unit: `rows` of a band,
 * usually all of them, by `columns` of a tile. */
void mona_schedule_unit(const mona_plan *plan, const plan_group *g, mona_span rows,
                        mona_span columns, plan_progress *progress);
/* The position at which a unit begins. From there its positions go to its last row in steps of
 * mona_plan_strip_rows(). If it is below `begin`, the first row of the unit, those before it only
 * fill the rings. `begin` must be whole strips away from the first row of the band. */
int64_t mona_schedule_start(const mona_plan *plan, const plan_group *g, uint32_t band,
                            int64_t begin, plan_progress *progress);
/* Sets need of the group's operators so that results are complete up to grid row `position`. */
void mona_schedule_strip(const mona_plan *plan, const plan_group *g, int64_t position,
                         plan_progress *progress);
/* Sets oldest of the group's operators: the first row of its output that a reader will still
 * read. */
void mona_schedule_oldest(const mona_plan *plan, const plan_group *g, plan_progress *progress);
/* Advances to where the strip after the current one begins, and sets used_begin and used_end of
 * rings: from the oldest row that any of its tensors still needs to the newest. */
void mona_schedule_advance(const mona_plan *plan, const plan_group *g, plan_progress *progress);

/* The columns of the unit that an operator computes, which are those inside its tensor. */
mona_span mona_plan_columns(const plan_op *op, const plan_progress *progress);
/* The columns of its input i that an operator reads to compute the columns `made`. */
mona_span mona_plan_columns_read(const mona_plan *plan, const plan_op *op, uint32_t i,
                                 mona_span made);
/* The shape whose rows and columns the operator's progress counts. */
const mona_shape *mona_plan_progress_shape(const plan_op *op);
/* Channel blocks of an operator's output. */
static inline uint32_t mona_plan_blocks(const plan_op *op)
{
    return ceil_div_u32(op->bound.output.channels, op->bound.output_c0);
}

/* Of a plan that runs line by line: rows of the grid in a line, and where the first strip
 * begins. */
static inline uint32_t mona_line_rows(const plan_group *g, uint32_t count)
{
    return g->grid_height / count;
}

static inline int64_t mona_line_start(int64_t start, uint32_t rows)
{
    return floor_div_small((int32_t)start, (int32_t)rows) * (int64_t)rows;
}

/* Whether an operator has nothing to do: a STORE that is fused into its convolution, or a CONCAT or
 * SLICE whose channels all lie in place. */
bool mona_plan_is_idle(const mona_plan *plan, uint32_t index);

/* Whether a session's constants are the same as those of this plan would be. */
bool mona_session_lends(const mona_session *session, const mona_plan *plan);

/* mona_session_open() with a plan whose constants are bound and that outlives the session: one that
 * is linked. */
mona_status mona_session_start(mona_session **session, const mona_plan *plan, void *arena,
                               size_t bytes);

/* Bytes of the part of the arena that session.c lays out itself. */
size_t mona_session_state_bytes(const mona_plan *plan);

#endif
