// SPDX-License-Identifier: Apache-2.0
/* mona: a static, allocation-free CNN inference engine for the Ascend 310 and for any CPU.
 *
 * This is the whole public interface of libmona.a. In order of use:
 *
 *   mona_model_open          checks an offline model (.mona) in memory; copies nothing
 *   mona_plan_make           model x frame size x target -> every tile and offset, and the exact
 *                            bytes
 *   mona_session_open        places a session in an arena that the caller owns
 *   mona_session_run         runs one frame, synchronously
 *   mona_session_run_changed the same, but computes only what has changed since an earlier frame
 *   mona_session_push_line   the same line by line, as a camera delivers them
 *   mona_session_pull_line
 *   mona_session_step        the same in slices of time, for networks of every kind
 *   mona_stream_*            the same asynchronously: in-order queues of copies and runs, and
 *                            events
 *   mona_session_close       ends the session's use of threads; the arena is the caller's again
 *
 * Guarantees
 *   - The library never allocates, prints, opens a file or exits. It keeps no global state, but for
 *     one pool of threads for all sessions of a process, where the platform has threads.
 *   - Any byte string given to mona_model_open either loads with a proof that no later access
 *     leaves it, or is refused with a status.
 *   - A session needs exactly mona_plan_arena_bytes() bytes, known before anything runs. It touches
 *     nothing outside of them but the input and output planes, and of these only samples inside
 *     their width x height.
 *   - Output bytes are the same for every instruction set, thread count, strip height and tile
 *     width.
 *
 * Errors are negative mona_status values; a function that returns one has changed nothing.
 *
 * Thread safety: a model and a plan are read-only once made and may be shared; a session runs one
 * frame at a time; one thread at a time may add commands to a stream. */
#ifndef MONA_H
#define MONA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#pragma GCC visibility push(default) /* all that libmona.so exports */
#endif

#define MONA_VERSION "0.1.0"

/* ---- status ------------------------------------------------------------------------------- */

typedef enum mona_status {
    MONA_OK = 0,
    MONA_ERR_ARGUMENT = -1,    /* the caller passed an invalid pointer, count or name */
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
    MONA_ERR_SIGNATURE = -14,  /* the caller's mona_guard does not know the model's bytes */
    MONA_ERR_RELEASE = -15,    /* the model is older than the caller's mona_guard takes */
    MONA_ERR_KERNEL = -16, /* the model calls a kernel that the caller's mona_guard does not have
                                  (mona_op.h) */
} mona_status;

/* One line of English for a status, without a full stop; never NULL. */
const char *mona_status_text(mona_status status);

/* ---- limits ------------------------------------------------------------------------------- */

enum {
    MONA_MAX_IO = 8, /* input tensors, and output tensors, of a model */
    MONA_MAX_TENSORS = 65536,
    MONA_MAX_OPS = 65536,
    MONA_MAX_CHANNELS = 16384,
    MONA_MAX_SIDE = 32768, /* rows or columns of any tensor that is not an array */
    MONA_MAX_THREADS = 64,
    MONA_MAX_DEPTH = 11, /* most bits of a sample that mona_model_deepen supports */
    MONA_ALIGNMENT = 64, /* alignment of a model in memory, of an arena and of stream memory */
};

/* ---- model -------------------------------------------------------------------------------- */

typedef enum mona_type {
    MONA_U8 = 0,  /* unsigned, real value = scale * q */
    MONA_S8 = 1,  /* signed symmetric, real value = scale * q */
    MONA_F16 = 2, /* IEEE binary16; scale is 1 */
    MONA_U16 = 3, /* planes of 9 to 16 bits a sample; only for inputs, outputs and arrays */
    MONA_F32 = 4, /* IEEE binary32; scale is 1. This and the following: only for arrays */
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
struct mona_kernel;

/* A view into the caller's bytes (engine/model_format.h describes them). Treat as opaque. */
typedef struct mona_model {
    const struct mona_file_header *header;
    const struct mona_file_tensor *tensors; /* inputs, then outputs, then intermediates */
    const struct mona_file_op *ops;         /* in execution order */
    const char *strings;
    const uint8_t *data;
    const uint8_t *file; /* offsets to headers of other sizes count from here */
    const struct mona_kernel *const *kernels; /* those of mona_guard */
} mona_model;

/* Checks bytes[0, size) and fills *model. The bytes must start at a multiple of MONA_ALIGNMENT,
 * stay unchanged, and outlive the model and everything made from it.
 *
 * Time is proportional to size. Records may share tables and weights. In total they may refer to at
 * most 256 times the file's bytes plus 64 MiB; a model beyond that is refused (MONA_ERR_LIMIT). */
mona_status mona_model_open(mona_model *model, const void *bytes, size_t size);

/* The version of a model that `mona compile --release` stored; 0: none. */
uint32_t mona_model_release(const mona_model *model);

/* Which models a program takes. */
typedef struct mona_guard {
    /* Whether the bytes are genuine: signed by a key that the program knows, say. It is asked
     * before anything of them is read. NULL: any are. */
    bool (*genuine)(void *context, const void *bytes, size_t size);
    void *context;
    uint32_t release; /* the oldest that is taken; a device stores that of the last it has used, so
                         that nobody can bring back an older one that is signed, too */
    /* Kernels of the caller's own that the model may call (mona_op.h): a list that ends with NULL
     * and, like them, outlives the model. NULL: there are none. */
    const struct mona_kernel *const *kernels;
} mona_guard;

/* The same as mona_model_open, for models that come from outside. */
mona_status mona_model_open_guarded(mona_model *model, const void *bytes, size_t size,
                                    const mona_guard *guard);

/* An input or output of a model. The planes of its channels are H x W, one after another.
 *
 * An array is a tensor of any rank whose elements lie in C order without gaps. Its mona_buffer has
 * row_stride = width and channel_stride = width x height elements, and its data is aligned to an
 * element. channels x height x width is one way to factor its number of elements; all three are
 * fixed and may exceed the limits of other tensors. */
typedef struct mona_tensor_info {
    const char *name;
    mona_type type;
    uint32_t channels;
    uint32_t height, width; /* 0: any, bound by mona_plan_make */
    float scale;            /* real value = scale * stored value; 1 for F16 and F32 */
    bool array;
    uint32_t rank;        /* of an input that is an array: how many dims it has; 0: the file, of an
                             older version of mona, does not have them */
    const uint32_t *dims; /* [rank]: channels * height * width elements in all */
} mona_tensor_info;

/* A file may hold its model for several sizes. Fills *next with the model for the size after this
 * one's; returns false if there is none. Needed only to list the sizes, since mona_plan_make finds
 * the one in its config. next may be model. */
bool mona_model_next(const mona_model *model, mona_model *next);

unsigned mona_model_input_count(const mona_model *model);
unsigned mona_model_output_count(const mona_model *model);
/* index must be below the matching count. */
mona_tensor_info mona_model_input(const mona_model *model, unsigned index);
mona_tensor_info mona_model_output(const mona_model *model, unsigned index);

/* Turns a model for planes of 8 bits into one for planes of `bits` bits, 9 to MONA_MAX_DEPTH. Its
 * inputs and outputs of U8 become U16, with samples in the low bits. The network sees samples
 * rounded to 8 bits. The picture that it corrects, the operand of an addition or a resampled plane,
 * keeps all bits, so a network that corrects nothing returns its input unchanged.
 *
 * memory: mona_model_deep_bytes() bytes, aligned to MONA_ALIGNMENT. *deep refers to it and to
 * model's bytes, which must outlive it. MONA_ERR_UNSUPPORTED: the model has no picture apart from
 * its features. */
size_t mona_model_deep_bytes(const mona_model *model);
mona_status mona_model_deepen(mona_model *deep, void *memory, size_t bytes, const mona_model *model,
                              unsigned bits);

/* ---- devices ------------------------------------------------------------------------------ */

/* An application has the devices it links: mona_device_host is in libmona.a; mona_device_model310,
 * a model of the chip that checks instructions and predicts times, is in libmona-model310.a. */
typedef struct mona_device mona_device;

extern const mona_device mona_device_host, mona_device_model310;

typedef struct mona_device_properties {
    const char *name;        /* "host" */
    const char *description; /* for people */
    const char *isa;         /* instruction set the kernels use, "" if none applies */
    unsigned cores;          /* AI Cores, or CPU threads this process may use */
    size_t cache_bytes;      /* size of a core's own memory or largest own cache; 0: unknown */
    bool unified_memory;     /* host and device use one memory: frames need no upload or download */
} mona_device_properties;

/* The device of this name in a list that ends with NULL; "auto": the first that answers. NULL:
 * there is no such name, or the device does not answer. */
const mona_device *mona_device_find(const mona_device *const *devices, const char *name);
/* Opens the device unless it is open (planning for it does so too) and describes it.
 * MONA_ERR_DEVICE: it does not answer. */
mona_status mona_device_query(const mona_device *device, mona_device_properties *properties);
/* A machine may have several devices of a kind (mona_ascend_chip): its first one, and the number of
 * this one, counted from 0. */
const mona_device *mona_device_first(const mona_device *device);
unsigned mona_device_number(const mona_device *device);
/* Releases what a device holds in this process; its sessions, streams and memory must be gone. It
 * can be opened again. */
void mona_device_close(const mona_device *device);

/* Readings of a device's sensors; unknown ones are negative. */
typedef struct mona_telemetry {
    float celsius, watts, clock_mhz;
    float utilisation; /* 0 to 1 */
    int64_t memory_bytes, memory_free_bytes;
} mona_telemetry;

/* MONA_ERR_UNSUPPORTED: the device has no sensors, or the library cannot read them (the host's). */
mona_status mona_device_telemetry(const mona_device *device, mona_telemetry *telemetry);

/* Memory of a device for planes of inputs or outputs, aligned to MONA_ALIGNMENT. On success *memory
 * is NULL if the device can use any host memory. With unified_memory the host may use this memory
 * like its own, and planes as mona_device_planes() has them are read and written in place; others
 * are copied. MONA_ERR_ARENA: there is not enough. */
mona_status mona_device_allocate(const mona_device *device, size_t bytes, void **memory);
void mona_device_free(const mona_device *device, void *memory); /* NULL is allowed */

/* ---- plan --------------------------------------------------------------------------------- */

typedef struct mona_size {
    uint32_t width, height; /* 0 x 0: follow from the other inputs; those of the first if nothing
                               reads this one */
} mona_size;

/* Zero-initialise, then set what differs from the default. */
typedef struct mona_config {
    const mona_device *device; /* NULL: mona_device_host */
    const char *cpu;           /* host: highest instruction set to use: "c"; "avx2", "avxvnni",
                                  "avx512"; "neon", "dotprod", "i8mm"; NULL: the best of
                                  this CPU */
    unsigned threads;          /* 0: one per core of the device */
    /* Rows that a step produces and columns of a tile, counted in the smallest output before its
     * depth-to-space; the output of a x2 model has twice as many. 0: the planner chooses. */
    unsigned strip_rows, tile_columns;
    size_t cache_bytes; /* host: cache that one thread may expect to keep for its rings, and half
                           as much again for weights; tile_columns overrides it for rings. 0:
                           most of the device's cache_bytes */
    /* A session whose packed weights this one reads instead of its own copy. It must have the same
     * model, sizes, device and instruction set, and be closed after this one. NULL: none.
     * MONA_ERR_ARGUMENT: any of these differs. MONA_ERR_UNSUPPORTED: on model310. */
    const struct mona_session *shared;
    mona_size sizes[MONA_MAX_IO]; /* of each input; needed only where the model leaves it open */
} mona_config;

/* One region of the arena, to show where the bytes go. */
typedef struct mona_plan_buffer {
    const char *name; /* name of the tensor or table */
    const char *kind; /* "weights", "maps", "ring", "rings", "core", "state" */
    size_t offset, bytes;
    uint32_t rows; /* rings: rows that it holds */
} mona_plan_buffer;

typedef struct mona_plan mona_plan;

/* Bytes of a mona_plan for this model, whatever the sizes. The caller provides them, aligned to
 * MONA_ALIGNMENT. */
size_t mona_plan_bytes(const mona_model *model);

/* Plans the model for the sizes in config; a model with several sizes, for the first that matches.
 * memory: mona_plan_bytes(model) bytes of the caller. *plan points into it and refers to the model,
 * which must outlive it.
 *   MONA_ERR_SHAPE   the sizes do not fit the model
 *   MONA_ERR_DEVICE  there is no such device or instruction set */
mona_status mona_plan_make(mona_plan **plan, void *memory, const mona_model *model,
                           const mona_config *config);

/* The same, but loads a plan that `mona compile --target` wrote into the model for these sizes and
 * this instruction set: for programs linked without the planner, libmona-plan.a. config may set
 * only sizes, device, cpu, shared and threads; threads, if set, must be the plan's.
 *   MONA_ERR_UNSUPPORTED  the model holds no such plan
 *   MONA_ERR_MODEL        the plan is invalid */
mona_status mona_plan_load(mona_plan **plan, void *memory, const mona_model *model,
                           const mona_config *config);

size_t mona_plan_arena_bytes(const mona_plan *plan); /* exact; alignment is MONA_ALIGNMENT */
size_t mona_plan_stack_bytes(const mona_plan *plan); /* upper bound for any thread of a run */
unsigned mona_plan_threads(const mona_plan *plan);
/* The model for the size that was planned. It is valid as long as the plan. */
const mona_model *mona_plan_model(const mona_plan *plan);
const char *mona_plan_isa(const mona_plan *plan);
/* Multiply-adds of one frame, without recomputation. */
uint64_t mona_plan_macs(const mona_plan *plan);
/* Shapes with every size bound. */
mona_tensor_info mona_plan_input(const mona_plan *plan, unsigned index);
mona_tensor_info mona_plan_output(const mona_plan *plan, unsigned index);
/* The next region in the order of the arena; false past the last. *place: 0 before the first. They
 * cover the arena without overlap. */
bool mona_plan_next_buffer(const mona_plan *plan, uint64_t *place, mona_plan_buffer *buffer);

/* Bytes of the tensors between operators, with channels padded as they are stored:
 *   all_bytes      all tensors side by side
 *   live_bytes     the most needed at once if operators run one by one on whole tensors
 *   planned_bytes  the plan's maps and the rings of all cores */
typedef struct mona_plan_tensors {
    uint64_t all_bytes, live_bytes, planned_bytes;
} mona_plan_tensors;

void mona_plan_tensors_of(const mona_plan *plan, mona_plan_tensors *tensors);

/* ---- session ------------------------------------------------------------------------------ */

typedef struct mona_session mona_session;

/* Places a session in arena[0, bytes). The plan is copied; the model's bytes stay in use. All
 * sessions share a pool of threads, with one thread fewer than the session that has the most; it
 * ends with the last session. MONA_ERR_ARENA: fewer bytes than mona_plan_arena_bytes(), or
 * misaligned. */
mona_status mona_session_open(mona_session **session, const mona_plan *plan, void *arena,
                              size_t bytes);

/* The planes of one input or output tensor. Any alignment and any stride are allowed, even a
 * negative stride. Outputs must not overlap inputs or each other. */
typedef struct mona_buffer {
    void *data;           /* channel 0, row 0, column 0 */
    ptrdiff_t row_stride; /* bytes from one row to the next */
    ptrdiff_t
        channel_stride; /* bytes from one channel's plane to the next; unused with one channel */
} mona_buffer;

/* Runs one frame and returns when the outputs are written. inputs and outputs are in the model's
 * order. MONA_ERR_ARGUMENT: a buffer has no data, or an array's buffer has gaps or is
 * misaligned. */
mona_status mona_session_run(mona_session *session, const mona_buffer *inputs,
                             const mona_buffer *outputs);

/* Samples [x, x + width) of rows [y, y + height) of an input, in all of its channels. */
typedef struct mona_rect {
    uint32_t input;
    uint32_t x, y, width, height;
} mona_rect;

/* What has changed since an earlier run of the same model at the same sizes. */
typedef struct mona_change {
    const mona_buffer *previous; /* the outputs of that run. Where nothing changes, a buffer that
                                    is also the output keeps its bytes, and others are copied
                                    from; otherwise they must not overlap an output */
    const mona_rect *rects;      /* rectangles that contain all samples of the inputs that differ
                                    from that run, in any order; they may overlap */
    size_t count;
} mona_change;

/* Like mona_session_run, with the same outputs, but computes only the parts that depend on the
 * rectangles. Time is proportional to these parts, and hardly above mona_session_run's when they
 * are nearly everything. Some runs compute everything: on model310, for models on arrays, for
 * models whose weights do not stay in the cache, and for frames with fewer rows than a sample
 * depends on.
 *
 * change NULL: everything has changed. MONA_ERR_ARGUMENT: also if a rectangle exceeds its input. */
mona_status mona_session_run_changed(mona_session *session, const mona_buffer *inputs,
                                     const mona_buffer *outputs, const mona_change *change);

/* ---- line by line ------------------------------------------------------------------------- */

/* A frame can also pass line by line, so that no frame has to be stored and no call takes longer
 * than the work for one line. A line is the smallest part of a frame that has whole rows of every
 * tensor: height / count rows of a tensor with `height` rows. For a network that doubles luma, a
 * line is 1 row in and 2 rows out; for one that takes NV12, 2 rows of luma and 1 of chroma. */
typedef struct mona_lines {
    uint32_t count;   /* lines of a frame */
    uint32_t latency; /* line k can be pulled once line k + latency, or the last, was pushed */
} mona_lines;

/* MONA_ERR_UNSUPPORTED: the plan has several threads, tiles or groups, or a device with AI Cores,
 * or a line has more rows of the smallest output than the plan's strip_rows, or the network needs
 * rows with a line that the plan does not keep. */
mona_status mona_plan_lines(const mona_plan *plan, mona_lines *lines);

/* Takes the next line of every input, which may be overwritten afterwards. inputs: as for
 * mona_session_run, but `data` is the line's first row. The first line begins a frame; once all
 * lines were pushed and pulled, the next one begins another.
 *   MONA_ERR_STATE        a ready line must be pulled first, or the frame has no more lines
 *   MONA_ERR_UNSUPPORTED  the plan does not run line by line */
mona_status mona_session_push_line(mona_session *session, const mona_buffer *inputs);

/* If enough lines were pushed, computes and writes the next line of every output and sets *ready.
 * The bytes are those of mona_session_run. outputs: `data` is the line's first row. */
mona_status mona_session_pull_line(mona_session *session, const mona_buffer *outputs, bool *ready);

/* ---- in slices ---------------------------------------------------------------------------- */

/* When a call returns to its caller: no piece of work begins once `budget` of the clock has passed.
 * A piece is a row of an operator, a channel block of one with few large maps, a part of one on
 * arrays that is computed on its own, or clearing an operator's padding. */
typedef struct mona_slice {
    uint32_t (*now)(void *context); /* the caller's clock, in any unit; it may wrap around */
    void *context;
    uint32_t budget;
} mona_slice;

/* Runs a frame in as many calls as it takes, each of at least one piece. The first call begins a
 * frame and later ones go on where the one before it returned, until *done is set; the next begins
 * another. Inputs must not change in between, and outputs are complete at the end; the bytes are
 * those of mona_session_run, which discards a frame that was begun, as does a line that is pushed.
 * Not observed. MONA_ERR_UNSUPPORTED: the plan has several threads, or a device with AI Cores. */
mona_status mona_session_step(mona_session *session, const mona_buffer *inputs,
                              const mona_buffer *outputs, const mona_slice *slice, bool *done);

/* Discards a frame that was begun, if any, by lines or slices; mona_session_run does so too. */
void mona_session_drop_lines(mona_session *session);

/* How many buffers a run of this session reads and writes. */
void mona_session_io_count(const mona_session *session, unsigned *inputs, unsigned *outputs);

/* ---- operators, one by one ---------------------------------------------------------------- */

/* An operator of a plan and its work for one frame. Bytes count every input, output and constant
 * once, with channels padded as they are stored. */
typedef struct mona_op_info {
    const char *name;        /* the model's name for it, "" if there is none */
    const char *kind;        /* "conv", "load", ... */
    mona_type input, output; /* types of its first input and its output */
    bool fused;              /* runs as part of the operator before it, which counts its bytes */
    uint64_t macs;           /* multiply-adds, without recomputation */
    uint64_t plane_bytes;    /* bytes of frames and of maps between groups, from and to memory */
    uint64_t ring_bytes;     /* bytes of rows that stay in a core's cache */
    uint64_t constant_bytes; /* bytes of packed weights and tables */
    uint32_t rows, columns;  /* of its output, in a strip and in a tile */
} mona_op_info;

/* Operators 0, 1, ... in the order they run; false past the last. */
bool mona_plan_op_at(const mona_plan *plan, unsigned index, mona_op_info *info);

/* Rows of an operator's output that a core has computed, usually those of a strip. */
typedef struct mona_op_event {
    uint32_t op;         /* index for mona_plan_op_at */
    uint32_t core;       /* 0 to mona_plan_threads - 1 */
    uint32_t rows;       /* rows of its output, or of its share of the channels */
    uint64_t begin, end; /* by the observer's clock */
} mona_op_event;

/* The computing threads call both functions, several threads at a time. done must not call the
 * session. */
typedef struct mona_op_observer {
    uint64_t (*now)(
        void *context); /* the caller's clock, as the engine has none; in any unit, never going
                           back */
    void (*done)(void *context, const mona_op_event *event);
    void *context;
} mona_op_observer;

/* Observes later runs; NULL: stops observing. The observer is copied. Must not be called during a
 * run. A session that is not observed computes its rows with the same code, and a program that
 * never calls this function links none of it. MONA_ERR_UNSUPPORTED: the library was built with
 * -DMONA_NO_OBSERVER. */
mona_status mona_session_observe_ops(mona_session *session, const mona_op_observer *observer);

/* Not during a run. NULL is allowed. */
void mona_session_close(mona_session *session);

/* ---- curves ------------------------------------------------------------------------------- */

/* Changes the tone and colour of a frame by curves over its luma, applied to luma and chroma
 * directly in integer arithmetic that is the same on every target.
 *
 * A curve for samples of b bits is a straight line in each of 16 segments of luma. Luma y lies in
 * segment s = y >> (b - 4); let f be the lower b - 4 bits of y. The curve's value is
 *
 *   start[s] + rise[s] * f / 2^(b - 4)
 *
 * The product is rounded to nearest, halves up; the sum saturates to 16 bits. */
enum { MONA_CURVE_SEGMENTS = 16 };

typedef struct mona_curve {
    int16_t start[MONA_CURVE_SEGMENTS], rise[MONA_CURVE_SEGMENTS];
} mona_curve;

/* Let d be a chroma sample minus grey, 2^(b - 1), and y the rounded mean of the luma samples that
 * share it. Then
 *
 *   luma becomes  luma(y)      luma is in units of 2^(b - 15)
 *   d becomes     d * gain(y)  gain is in units of 2^-13, 0 to below 4
 *                 + offset(y)  offset is in units of 2^(b - 13), to which d * gain(y) is rounded
 *
 * Each is then rounded to whole samples, halves up, and clipped to 0 .. 2^b - 1. offset must lie
 * within +-2^13. */
typedef struct mona_curves {
    unsigned bits; /* b: 8 to MONA_MAX_DEPTH; samples lie in bytes, or from 9 bits on in 16-bit
                      words */
    mona_curve luma, gain[2], offset[2]; /* gain, offset: of u and v */
} mona_curves;

/* Applies curves to one grey plane or to three planes, of which 1 and 2 have 1 / 2^shift_x of the
 * columns and 1 / 2^shift_y of the rows; shifts are at most 2. size: of plane 0, a multiple of
 * 2^shift_x x 2^shift_y. The outputs may be the inputs. device, cpu: as in mona_config. The
 * caller's thread does the device's work. MONA_ERR_ARGUMENT, MONA_ERR_SHAPE, MONA_ERR_DEVICE. */
mona_status mona_curves_apply(const mona_curves *curves, const mona_device *device, const char *cpu,
                              const mona_buffer *inputs, const mona_buffer *outputs,
                              unsigned planes, mona_size size, unsigned shift_x, unsigned shift_y);

/* ---- streams and events ------------------------------------------------------------------- */

/* A stream runs its commands in order: in the background if the platform has threads, otherwise at
 * once. Double buffering takes three streams (upload, compute, download) over two slots, ordered by
 * events; tests/unit/engine/test_stream.c shows it. */
typedef struct mona_stream mona_stream;

/* A point in a stream. Zero-initialise it before first use, and record it on one stream only. */
typedef struct mona_event {
    mona_stream *stream; /* NULL: never recorded */
    uint64_t reached;    /* which of the stream's records this is */
} mona_event;

size_t mona_stream_bytes(void);
/* memory: mona_stream_bytes() bytes aligned to MONA_ALIGNMENT. device NULL: mona_device_host. */
mona_status mona_stream_open(mona_stream **stream, const mona_device *device, void *memory,
                             size_t bytes);

/* Each of these enqueues a command and returns; if the queue (512 commands) is full, it waits for a
 * place. Memory that the pointers refer to must stay valid until the command has run; the
 * mona_buffer arrays are copied. After a command has failed, later ones are skipped and every call
 * returns its status. A function given to mona_stream_call must not wait for its own stream. */
/* From and to host memory. */
mona_status mona_stream_copy(mona_stream *stream, void *dst, ptrdiff_t dst_stride, const void *src,
                             ptrdiff_t src_stride, size_t row_bytes, size_t rows);
/* Where a device's sessions find the planes of an input or output: at *host, or if `memory` of the
 * device is not NULL, there: planes one after another, with rows at multiples of 32 bytes. Their
 * bytes are those of mona_device_planes_bytes(). */
mona_buffer mona_device_planes(void *memory, const mona_buffer *host, const mona_tensor_info *info);
size_t mona_device_planes_bytes(const mona_tensor_info *info);
/* Copy all planes of an input from host memory to the memory of the stream's device, or of an
 * output back. Planes that are at `to` already are not copied. */
mona_status mona_stream_upload(mona_stream *stream, const mona_buffer *to, const mona_buffer *from,
                               const mona_tensor_info *info);
mona_status mona_stream_download(mona_stream *stream, const mona_buffer *to,
                                 const mona_buffer *from, const mona_tensor_info *info);
/* The same at once, by the caller's thread. */
mona_status mona_device_upload(const mona_device *device, const mona_buffer *to,
                               const mona_buffer *from, const mona_tensor_info *info);
mona_status mona_device_download(const mona_device *device, const mona_buffer *to,
                                 const mona_buffer *from, const mona_tensor_info *info);
/* The session's device must be the stream's. */
mona_status mona_stream_run(mona_stream *stream, mona_session *session, const mona_buffer *inputs,
                            const mona_buffer *outputs);
/* The same, but does nothing if *wanted is false when the command runs. */
mona_status mona_stream_run_if(mona_stream *stream, const bool *wanted, mona_session *session,
                               const mona_buffer *inputs, const mona_buffer *outputs);
/* change, and what it points to, is read when the command runs, so an earlier command may still
 * fill it in. */
mona_status mona_stream_run_changed(mona_stream *stream, mona_session *session,
                                    const mona_buffer *inputs, const mona_buffer *outputs,
                                    const mona_change *change);
mona_status mona_stream_call(mona_stream *stream, void (*function)(void *), void *argument);
/* The same with a function that may fail like a command. */
mona_status mona_stream_try(mona_stream *stream, mona_status (*function)(void *), void *argument);
/* Marks this point of the stream. An event can be recorded again, on the same stream. */
mona_status mona_stream_record(mona_stream *stream, mona_event *event);
/* Later commands of this stream wait until the event's latest record so far has been reached. An
 * event that was never recorded delays nothing. */
mona_status mona_stream_wait(mona_stream *stream, const mona_event *event);

/* Blocks the caller until the latest record of the event has been reached. */
mona_status mona_event_synchronize(const mona_event *event);
/* Blocks until the stream is empty. Returns the status of the first command that failed. */
mona_status mona_stream_synchronize(mona_stream *stream);
/* Runs the queued commands, then stops. NULL is allowed. Nothing may still wait for the stream's
 * events: first synchronize every stream that does, and zero events that outlive their stream. */
void mona_stream_close(mona_stream *stream);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
