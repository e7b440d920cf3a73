// SPDX-License-Identifier: Apache-2.0
/* mona: a static, allocation-free CNN inference engine for the Ascend 310 and for any CPU.
 *
 * The whole public interface of libmona.a. In order of use:
 *
 *   mona_model_open      check an offline model (.mona) in memory; nothing is copied
 *   mona_plan_make       model x frame size x target -> every tile and offset, and the exact bytes
 *   mona_session_open    place a session in an arena the caller owns
 *   mona_session_run     one frame, synchronously
 *   mona_stream_*        the same asynchronously: in-order queues of copies and runs, and events
 *   mona_session_close   stop the session's worker threads; the arena is the caller's again
 *
 * Guarantees
 *   - The library never allocates, prints, opens a file or exits. It keeps no global state.
 *   - Any byte string given to mona_model_open either loads with a proof that no later access leaves
 *     it, or is refused with a status.
 *   - A session needs exactly mona_plan.arena_bytes, known before anything runs, and touches nothing
 *     outside of it but the input and output planes, which it reads and writes only inside their
 *     width x height.
 *   - Output bytes are the same for every instruction set, thread count, strip height and tile width.
 *
 * Errors are negative mona_status values; a function that returns one has changed nothing.
 * Thread safety: a model and a plan are read-only once made and may be shared; a session runs one
 * frame at a time; a stream is fed by one thread at a time.
 */
#ifndef MONA_H
#define MONA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#pragma GCC visibility push(default) /* all that libmona.so shows */
#endif

#define MONA_VERSION "0.1.0"

/* ---- status ------------------------------------------------------------------------------- */

typedef enum mona_status {
    MONA_OK = 0,
    MONA_ERR_ARGUMENT = -1,    /* a pointer, count or name the caller passed makes no sense */
    MONA_ERR_TRUNCATED = -2,   /* the model ends before its header says it does */
    MONA_ERR_MAGIC = -3,       /* not a .mona file */
    MONA_ERR_VERSION = -4,     /* a .mona file of a version this engine does not read */
    MONA_ERR_CHECKSUM = -5,    /* the model's bytes do not match its CRC */
    MONA_ERR_MODEL = -6,       /* a record of the model is out of bounds or contradicts another */
    MONA_ERR_LIMIT = -7,       /* a fixed limit is exceeded */
    MONA_ERR_UNSUPPORTED = -8, /* valid, but not on this target */
    MONA_ERR_SHAPE = -9,       /* frame sizes do not fit the model */
    MONA_ERR_ARENA = -10,      /* arena too small or misaligned */
    MONA_ERR_DEVICE = -11,     /* no such device, or it does not answer */
    MONA_ERR_THREADS = -12,    /* the system refused a thread */
    MONA_ERR_STATE = -13,      /* call in the wrong order, or after a failed command */
} mona_status;

/* One line of English for a status, without a full stop; never NULL. */
const char *mona_status_text(mona_status status);

/* ---- limits ------------------------------------------------------------------------------- */

enum {
    MONA_MAX_IO = 8, /* input tensors, and output tensors, of a model */
    MONA_MAX_TENSORS = 1024,
    MONA_MAX_OPS = 1024,
    MONA_MAX_CHANNELS = 16384,
    MONA_MAX_SIDE = 32768, /* rows or columns of any tensor that is no array */
    MONA_MAX_THREADS = 64,
    MONA_MAX_DEPTH = 11, /* bits of a sample that mona_model_deepen can provide for */
    MONA_ALIGNMENT = 64, /* of a model in memory, of an arena and of stream memory */
};

/* ---- model -------------------------------------------------------------------------------- */

typedef enum mona_type {
    MONA_U8 = 0,  /* unsigned, real value = scale * q */
    MONA_S8 = 1,  /* signed symmetric, real value = scale * q */
    MONA_F16 = 2, /* IEEE binary16; scale is 1 */
    MONA_U16 = 3, /* planes of 9 to 16 bits a sample; of inputs, outputs and arrays only */
    MONA_F32 = 4, /* IEEE binary32; scale is 1. This and the following: of arrays only */
    MONA_S16 = 5,
    MONA_S32 = 6,
    MONA_U32 = 7,
    MONA_S64 = 8,
    MONA_U64 = 9,
    MONA_TYPE_COUNT = 10,
} mona_type;

/* Bytes of one element. */
size_t mona_type_size(mona_type type);
const char *mona_type_name(mona_type type);

struct mona_file_header;
struct mona_file_tensor;
struct mona_file_op;

/* A view into the caller's bytes (engine/model/model_format.h describes them). Treat as opaque. */
typedef struct mona_model {
    const struct mona_file_header *header;
    const struct mona_file_tensor *tensors; /* inputs, then outputs, then intermediates */
    const struct mona_file_op *ops;         /* in execution order */
    const char *strings;
    const uint8_t *data;
    const uint8_t *file; /* header->next counts from here */
} mona_model;

/* Checks bytes[0, size) and fills *model. The bytes must start at a multiple of MONA_ALIGNMENT, stay
 * unchanged and outlive the model and everything made from it.
 * Opening takes a time in proportion to size: records that share tables and weights may together refer
 * to 256 times the file's bytes and 64 MiB more, beyond which the model is refused (MONA_ERR_LIMIT). */
mona_status mona_model_open(mona_model *model, const void *bytes, size_t size);

/* What a model takes and gives. Channel planes are H x W, one after another. An array is a tensor of any
 * rank, whose elements lie in C order and without gaps: its mona_buffer has row_stride = width and
 * channel_stride = width x height elements, and its data are aligned to an element. channels x height x
 * width are one way to write down how many elements it has; they are fixed and may exceed the limits
 * of other tensors. */
typedef struct mona_tensor_info {
    const char *name;
    mona_type type;
    uint32_t channels;
    uint32_t height, width; /* 0: any, bound by mona_plan_make */
    float scale;            /* real value of 1; itself 1 for F16 and F32 */
    bool array;
} mona_tensor_info;

/* A file may hold its model for several sizes: fills *next with the model for the size after this
 * one's; false: there is none. mona_plan_make looks for the size it is given by itself, so this is
 * for those who want to list them. next may be model. */
bool mona_model_next(const mona_model *model, mona_model *next);

unsigned mona_model_input_count(const mona_model *model);
unsigned mona_model_output_count(const mona_model *model);
/* index is below the matching count. */
mona_tensor_info mona_model_input(const mona_model *model, unsigned index);
mona_tensor_info mona_model_output(const mona_model *model, unsigned index);

/* A model for planes of 8 bits as one for planes of 9 to MONA_MAX_DEPTH: its inputs and outputs of U8
 * become U16 with samples of so many bits in the low ones. The network sees samples rounded to 8 bits;
 * the picture it corrects, a residual, a resampled plane, keeps all of them: a network that corrects
 * nothing returns what it was given. memory: mona_model_deep_bytes() bytes aligned to MONA_ALIGNMENT;
 * *deep refers to it and to model's bytes, which must stay. MONA_ERR_UNSUPPORTED: the model has no
 * picture apart from its features. */
size_t mona_model_deep_bytes(const mona_model *model);
mona_status mona_model_deepen(mona_model *deep, void *memory, size_t bytes, const mona_model *model,
                              unsigned bits);

/* ---- devices ------------------------------------------------------------------------------ */

typedef struct mona_device mona_device;

typedef struct mona_device_properties {
    const char *name;        /* "host" */
    const char *description; /* for people */
    const char *isa;         /* instruction set the kernels use, "" where that means nothing */
    unsigned cores;          /* AI Cores, or CPU threads this process may use */
    size_t cache_bytes;      /* of a core's own memory or largest own cache; 0: not known */
    bool unified_memory;     /* frames are used where they lie; no upload or download needed */
} mona_device_properties;

unsigned mona_device_count(void);
const mona_device *mona_device_at(unsigned index);
/* "host", ..., or "auto": the first device that answers, chips before the host. NULL: no such name,
 * or the device does not answer. */
const mona_device *mona_device_find(const char *name);
mona_status mona_device_query(const mona_device *device, mona_device_properties *properties);

/* ---- plan --------------------------------------------------------------------------------- */

typedef struct mona_size {
    uint32_t width, height; /* 0 x 0: follow from the other inputs */
} mona_size;

/* Zero-initialise, then set what differs from the default. */
typedef struct mona_config {
    const mona_device *device; /* NULL: "auto" */
    const char *cpu;           /* host: highest instruction set to use: "instructions" (the AI
                                  Core's, in C), "c"; "avx2", "avxvnni", "avx512";
                                  "neon", "dotprod"; NULL: the best this CPU has */
    unsigned threads;          /* 0: one per core of the device */
    /* Rows a step produces and columns of a tile, of the smallest output before its depth-to-space: a x2
       model's output grows by twice as many. 0: the planner's choice. */
    unsigned strip_rows, tile_columns;
    size_t cache_bytes; /* host: what one thread may hope to keep in its cache: its rings, which
                                  tile_columns overrides, and half as much again of weights; 0: most of
                                  the device's cache_bytes */
    bool keep_rows;     /* no ring uses a row's memory again within a tile: for measuring what that
                                  is worth */
    /* Whose packed weights the session reads in place of a copy of its own: a session of the same
     * model, sizes, device and instruction set, which must be closed after it. NULL: nobody's.
     * MONA_ERR_ARGUMENT: it is of something else; MONA_ERR_UNSUPPORTED: not on model310. */
    const struct mona_session *shared;
    mona_size sizes[MONA_MAX_IO]; /* of each input; only those the model leaves open are needed */
} mona_config;

/* One region of the arena, for people who want to see where the bytes go. */
typedef struct mona_plan_buffer {
    const char *name; /* of the tensor or table */
    const char *kind; /* "weights", "maps", "ring", "rings", "core", "state" */
    size_t offset, bytes;
    uint32_t rows; /* rings: rows held */
} mona_plan_buffer;

typedef struct mona_plan mona_plan;

/* Bytes of a mona_plan, the same for every model. The caller provides them, aligned to
 * MONA_ALIGNMENT. */
size_t mona_plan_bytes(void);

/* Plans the model for the sizes in config; of a model for several sizes, the first that has them.
 * memory is the caller's: mona_plan_bytes() bytes. *plan points into it and refers to the model,
 * which must stay.
 *   MONA_ERR_SHAPE   the sizes do not fit the model
 *   MONA_ERR_DEVICE  there is no such device or instruction set */
mona_status mona_plan_make(mona_plan **plan, void *memory, const mona_model *model,
                           const mona_config *config);

size_t mona_plan_arena_bytes(const mona_plan *plan); /* exact; alignment is MONA_ALIGNMENT */
size_t mona_plan_stack_bytes(const mona_plan *plan); /* upper bound for any thread of a run */
unsigned mona_plan_threads(const mona_plan *plan);
/* The model for the size that was planned; good as long as the plan. */
const mona_model *mona_plan_model(const mona_plan *plan);
const char *mona_plan_isa(const mona_plan *plan);
/* Multiply-adds of one frame, without recomputation. */
uint64_t mona_plan_macs(const mona_plan *plan);
/* Shapes with every size bound. */
mona_tensor_info mona_plan_input(const mona_plan *plan, unsigned index);
mona_tensor_info mona_plan_output(const mona_plan *plan, unsigned index);
/* Regions 0, 1, ... in arena order; false past the last. They cover the arena without overlap. */
bool mona_plan_buffer_at(const mona_plan *plan, unsigned index, mona_plan_buffer *buffer);

/* What lies between operators, channels padded as they are stored: all tensors side by side; the
 * most that are needed at a time when operators run one by one on whole tensors; and what the plan
 * has for them, its maps and the rings of all cores. */
typedef struct mona_plan_tensors {
    uint64_t all_bytes, live_bytes, planned_bytes;
} mona_plan_tensors;

void mona_plan_tensors_of(const mona_plan *plan, mona_plan_tensors *tensors);

/* ---- session ------------------------------------------------------------------------------ */

typedef struct mona_session mona_session;

/* Places a session in arena[0, bytes). The plan is copied; the model's bytes stay in use. Starts
 * threads - 1 worker threads. MONA_ERR_ARENA: bytes < mona_plan_arena_bytes or misaligned. */
mona_status mona_session_open(mona_session **session, const mona_plan *plan, void *arena,
                              size_t bytes);

/* The planes of one input or output tensor. Any alignment, any stride, also negative. Outputs must
 * not overlap inputs or each other. */
typedef struct mona_buffer {
    void *data;           /* channel 0, row 0, column 0 */
    ptrdiff_t row_stride; /* bytes from one row to the next */
    ptrdiff_t
        channel_stride; /* bytes from one channel's plane to the next; unused with one channel */
} mona_buffer;

/* Runs one frame and returns when the outputs are written. inputs and outputs are in model order.
 * MONA_ERR_ARGUMENT: one has no data, or that of an array has gaps or is misaligned. */
mona_status mona_session_run(mona_session *session, const mona_buffer *inputs,
                             const mona_buffer *outputs);

/* How many buffers a run of this session reads and writes. */
void mona_session_io_count(const mona_session *session, unsigned *inputs, unsigned *outputs);

/* ---- operators, one by one ---------------------------------------------------------------- */

/* What an operator of a plan is, and what a frame asks of it. Bytes count every input, output and
 * constant once, channels padded as they are stored. */
typedef struct mona_op_info {
    const char *name;        /* the model's, "" if it gives none */
    const char *kind;        /* "conv", "load", ... */
    mona_type input, output; /* types of its first input and its output */
    bool fused;              /* runs as part of the operator before it, which counts its bytes */
    uint64_t macs;           /* multiply-adds, without recomputation */
    uint64_t plane_bytes;    /* of frames and of maps between groups: from and to memory */
    uint64_t ring_bytes;     /* of rows that stay in a core's cache */
    uint64_t constant_bytes; /* of packed weights and tables */
    uint32_t rows, columns;  /* of its output, in a strip and in a tile */
} mona_op_info;

/* Operators 0, 1, ... in the order they run; false past the last. */
bool mona_plan_op_at(const mona_plan *plan, unsigned index, mona_op_info *info);

/* Some rows of an operator's output that a core has made, a strip's as a rule. */
typedef struct mona_op_event {
    uint32_t op;         /* as in mona_plan_op_at */
    uint32_t core;       /* 0 to mona_plan_threads - 1 */
    uint32_t rows;       /* of its output, or of its share of the channels */
    uint64_t begin, end; /* by the observer's clock */
} mona_op_event;

/* Both functions are called by the threads that compute, by several at once; done must not call the
 * session. */
typedef struct mona_op_observer {
    uint64_t (*now)(
        void *context); /* the engine has no clock of its own; any unit, never falling */
    void (*done)(void *context, const mona_op_event *event);
    void *context;
} mona_op_observer;

/* Has later runs observed; NULL: no longer. The observer is copied. Not during a run. A session that
 * is not observed makes its rows by the same code, and a program that never calls this has none of
 * it. A library built with -DMONA_NO_OBSERVER has no observers: MONA_ERR_UNSUPPORTED. */
mona_status mona_session_observe_ops(mona_session *session, const mona_op_observer *observer);

/* Stops the workers. NULL is allowed. */
void mona_session_close(mona_session *session);

/* ---- curves ------------------------------------------------------------------------------- */

/* The tone and colour of a frame, changed by curves over its luma: in luma and chroma as they are,
 * by integer arithmetic, the same on every target.
 *
 * A curve of samples of b bits has a straight line in each of 16 segments of luma: in segment
 * s = y >> (b - 4), with f = y's other bits, its value is start[s] + rise[s] * f / 2^(b - 4),
 * the product rounded to the nearest, halves up, the sum saturated to 16 bits. */
enum { MONA_CURVE_SEGMENTS = 16 };

typedef struct mona_curve {
    int16_t start[MONA_CURVE_SEGMENTS], rise[MONA_CURVE_SEGMENTS];
} mona_curve;

/* With d the distance of a chroma sample from grey, 2^(b - 1), and y the mean, rounded, of the luma
 * samples that share it:
 *
 *     luma becomes    luma(y)              in steps of 2^(b - 15)
 *     d becomes       d * gain(y)          in steps of 2^-13, 0 to below 4; d * gain(y) is rounded
 *                     + offset(y)          to steps of 2^(b - 13), those of offset
 *
 * each then rounded to whole samples, halves up, and clipped to 0 .. 2^b - 1. offset stays within
 * +-2^13. */
typedef struct mona_curves {
    unsigned bits; /* b: 8 to MONA_MAX_DEPTH, of samples in bytes or, from 9 on, in 16-bit words */
    mona_curve luma, gain[2], offset[2]; /* of u, v */
} mona_curves;

/* Applies curves to one plane, grey, or three, of which 1 and 2 are smaller by 1 << shift_x across
 * and 1 << shift_y down; shifts are at most 2. size: of plane 0, whole groups of luma samples. The
 * outputs may be the inputs. device, cpu: as in mona_config. The work is done by the caller's
 * thread, on the device's behalf. MONA_ERR_ARGUMENT, MONA_ERR_SHAPE, MONA_ERR_DEVICE. */
mona_status mona_curves_apply(const mona_curves *curves, const mona_device *device, const char *cpu,
                              const mona_buffer *inputs, const mona_buffer *outputs,
                              unsigned planes, mona_size size, unsigned shift_x, unsigned shift_y);

/* ---- streams and events ------------------------------------------------------------------- */

/* A stream runs its commands in order, in the background where the platform has threads and at once
 * where it has none. Double buffering is three streams (upload, compute, download) over two slots,
 * ordered by events: tests/unit/engine/test_stream.c shows it. */
typedef struct mona_stream mona_stream;

/* A point of a stream. Zero-initialise before first use; record it on one stream only. */
typedef struct mona_event {
    mona_stream *stream; /* NULL: never recorded */
    uint64_t reached;    /* commands the stream has done once the event has happened */
} mona_event;

size_t mona_stream_bytes(void);
/* memory: mona_stream_bytes() bytes aligned to MONA_ALIGNMENT. device NULL: "auto". */
mona_status mona_stream_open(mona_stream **stream, const mona_device *device, void *memory,
                             size_t bytes);

/* Each of these enqueues and returns; when the queue (64 commands) is full it waits for a place. The
 * pointers' targets must stay until the command has run; the mona_buffer arrays are copied.
 * Once a command has failed the later ones are skipped, and every call returns that status. A function
 * given to mona_stream_call must not wait for its own stream. */
mona_status mona_stream_copy(mona_stream *stream, void *dst, ptrdiff_t dst_stride, const void *src,
                             ptrdiff_t src_stride, size_t row_bytes, size_t rows);
mona_status mona_stream_run(mona_stream *stream, mona_session *session, const mona_buffer *inputs,
                            const mona_buffer *outputs);
/* The same, unless *wanted is false by the time the stream comes to it. */
mona_status mona_stream_run_if(mona_stream *stream, const bool *wanted, mona_session *session,
                               const mona_buffer *inputs, const mona_buffer *outputs);
mona_status mona_stream_call(mona_stream *stream, void (*function)(void *), void *argument);
/* Marks this point of the stream; an event can be recorded again, on the same stream. */
mona_status mona_stream_record(mona_stream *stream, mona_event *event);
/* Later commands of this stream wait until the event's latest record (so far) has been reached. An
 * event never recorded holds nothing up. */
mona_status mona_stream_wait(mona_stream *stream, const mona_event *event);

/* Blocks the caller until the latest record of the event has been reached. */
mona_status mona_event_synchronize(const mona_event *event);
/* Blocks until the stream is empty; returns the first failure of its commands. */
mona_status mona_stream_synchronize(mona_stream *stream);
/* Finishes what is queued, then stops. NULL is allowed. Nobody may still wait for the stream's events:
 * synchronize every stream that does before the first of them is closed, and zero events that outlive
 * their stream. */
void mona_stream_close(mona_stream *stream);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
