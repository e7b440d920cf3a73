// SPDX-License-Identifier: Apache-2.0
/* The Ascend 310 without the chip: a model of its AI Core that checks every instruction and
 * predicts how long it takes. Results are those of ac_execute(). All figures are modelled; nothing
 * was measured on a chip.
 *
 * An instruction issued on an ac_core with a model goes through three stages, then is executed:
 *   legality   operands within the limits of dav-m100, aligned, inside one buffer each
 *   races      accesses of different pipes to the same bytes must be ordered by flags or barriers
 *              (happens-before over vector clocks, independent of the modelled time), and so what
 *              V reads of its own results; bytes read must have been written
 *   time       its pipe is in order; it starts when the pipe is free and the flags it waits for
 *              are set
 *
 * Memory is the caller's: ac_model_bytes(). The model allocates nothing.
 */
#ifndef AC_MODEL310_H
#define AC_MODEL310_H

#include "engine/aicore/aicore.h"

typedef struct ac_model ac_model; /* of one core */

/* ---- time ----------------------------------------------------------------------------------- */

/* Every constant of the time model, in cycles of the core's clock unless said otherwise.
 * model310_time.c holds the default of each with its source, and names those that no source gives.
 */
typedef struct ac_costs {
    double clock_mhz;
    double mmad_head; /* of every mmad, in addition to m1 * k1 * n1 */
    double mmad_odd;  /* 1: k1 - 2 more when k1 > 1 and m1 or n1 is odd */
    double load2d_fractal, load2d_latency;
    double load3d_fractal, load3d_latency;
    double drain_fractal, drain_latency;
    double vector_repeat, vector_latency;
    double transpose_block, transpose_latency;
    double l1_ub_bytes, ub_l1_bytes, ub_gm_bytes, l2_read_bytes; /* a cycle */
    double ddr_read_bytes, ddr_write_bytes;                      /* a cycle, for one core alone */
    double ddr_total_bytes; /* a cycle, for all cores together */
    double l2_bytes;        /* size of the L2 */
    double copy_latency;    /* of a copy from or to global memory */
    double local_latency;   /* of a copy between L1 and UB */
    double copy_burst;      /* minimum for each burst of a copy */
    double flag;            /* of set_flag and wait_flag, on their pipe */
    double scalar_step;     /* of a step of the scalar unit's program */
    double issue;           /* of any instruction, on the scalar unit, which issues them all */
    double load3d_issue;    /* of a load3d by a vendor's kernel, which packs its operands itself */
    double operands;        /* on the scalar unit, of an instruction: to load its operands */
    double replay;          /* the same in the replay kernel, which finds them in memory */
    double turn;            /* on the scalar unit, of a loop of a program */
    double task_launch;     /* microseconds from the end of a task to the start of the next */
    double serial_share;    /* of the work that pipes could do side by side, how much published
                               kernels do one after another */
} ac_costs;

typedef struct ac_cost_row {
    const char *name, *unit, *source;
    size_t offset; /* in ac_costs */
    bool known;    /* false: no source gives it; it was chosen or fitted */
} ac_cost_row;

extern const ac_costs ac_costs_310;
extern const ac_cost_row ac_cost_rows[];
extern const size_t ac_cost_row_count;

/* How long an instruction takes on its pipe, in cycles. This depends on its operands alone. */
double ac_time_mmad(const ac_costs *, uint32_t m1, uint32_t k1, uint32_t n1);
double ac_time_load2d(const ac_costs *, uint32_t fractals);
double ac_time_load3d(const ac_costs *, uint32_t fractals);
double ac_time_drain(const ac_costs *, uint32_t fractals);
/* spread: cycles that a repeat takes because of conflicts of UB banks, at least 1. */
double ac_time_vector(const ac_costs *, uint32_t repeats, double spread);
double ac_time_transpose(const ac_costs *, uint32_t repeats);
/* cores: how many cores share the DDR. */
double ac_time_copy(const ac_costs *, ac_path, ac_copy, uint32_t cores);

/* ---- findings ------------------------------------------------------------------------------- */

typedef enum ac_finding_kind {
    AC_ILLEGAL_OPERAND, /* an operand is beyond a limit or misaligned */
    AC_OUT_OF_BUFFER,   /* it lies outside the buffers, in the wrong one, or across two */
    AC_OVERLAP,         /* dst and a source of one instruction overlap but are not the same */
    AC_FLAG,            /* set twice, waited for without a set, left set, or no such event */
    AC_RACE,            /* two pipes access the same bytes, and nothing orders them */
    AC_UNWRITTEN,       /* bytes are read that nothing has written */
    AC_FINDING_KINDS,
} ac_finding_kind;

typedef struct ac_finding {
    ac_finding_kind kind;
    const char *kernel, *instruction, *operand; /* names that outlive the model */
    uint64_t index;                             /* of the instruction in its core's program */
    int64_t found, limit;                       /* a value and the limit it broke, or 0 */
    const char *other;                          /* race: the earlier instruction */
    uint64_t other_index;                       /* race: its index */
} ac_finding;

/* ---- a core --------------------------------------------------------------------------------- */

/* One executed instruction, for an observer. Times are in cycles since the model was reset. */
typedef struct ac_model_event {
    uint32_t core;
    ac_pipe pipe;
    const char *kernel, *instruction;
    double start, end;
    uint64_t index;
    uint64_t flag_from; /* wait_flag: index of the set_flag it waited for; 0: none */
} ac_model_event;

typedef struct ac_model_config {
    const ac_costs *costs; /* NULL: ac_costs_310 */
    uint32_t core, cores;
    void (*observe)(void *observer, const ac_model_event *event); /* NULL: none */
    void *observer;
} ac_model_config;

enum { AC_MODEL_FINDINGS = 16 };

/* A core's activity since it was reset. */
typedef struct ac_model_report {
    double cycles;                /* until the last pipe was idle */
    double busy[AC_PIPE_ALL];     /* by pipe */
    double cube_useful;           /* of busy[AC_PIPE_M]: without heads and penalties */
    uint64_t gm_read, gm_written; /* bytes */
    uint64_t instructions;
    uint64_t finding_count; /* all; the first AC_MODEL_FINDINGS are kept */
    ac_finding findings[AC_MODEL_FINDINGS];
} ac_model_report;

/* Bytes of memory for the model of a core with this target. */
size_t ac_model_bytes(const ac_target *target);
/* Makes core->model in the given memory, 64-byte aligned, and resets it; core->take is
 * ac_model_take then. core->target and the core's buffers in core->memory, none larger than the
 * target's, are set before; constants and global memory may change later. The given memory must
 * outlive the model. */
void ac_model_init(ac_core *core, void *memory, const ac_model_config *config);
/* Checks an instruction, times it and, if it is legal, executes it. */
void ac_model_take(ac_core *core, const ac_instruction *instruction);
/* Bytes of L1 or UB, or of the constants in L1, that hold values before the program begins. */
void ac_model_written(ac_core *core, ac_address at, size_t size);
/* For all later instructions: costs, which must outlive the model (NULL: ac_costs_310), and what is
 * called for each (NULL: nothing). */
void ac_model_set(ac_core *core, const ac_costs *costs,
                  void (*observe)(void *observer, const ac_model_event *event), void *observer);
/* Begins a task, after a reset or a wait: its launch, then the copy of what stays in L1. */
void ac_model_launch(ac_core *core, size_t resident_bytes);
/* Waits for other cores; constants that instructions have loaded are no longer in L1. What follows
 * begins after everything issued before has ended, and not
 * before `cycles` cycles since the reset. */
void ac_model_wait(ac_core *core, double cycles);
/* Name of the kernel that the instructions from here on belong to; it must outlive the model. */
void ac_model_kernel(ac_core *core, const char *name);
/* Ends the program: flags still set are findings. Returns the report. */
const ac_model_report *ac_model_finish(ac_core *core);
/* Forgets time, flags, findings and what was written. */
void ac_model_reset(ac_core *core);
/* The report so far, since the reset. */
const ac_model_report *ac_model_so_far(const ac_core *core);

const char *ac_pipe_name(ac_pipe pipe);
const char *ac_finding_kind_name(ac_finding_kind kind);

#endif
