// SPDX-License-Identifier: Apache-2.0
/* Stages process frames in the background, each on its own stream.
 *
 * A kind of stage is a file with a stage_row, and an entry in STAGES: enlarge.c, denoise.c,
 * colour_grading.c, resize.c, grain.c and delay.c. */
#ifndef MONA_STAGE_H
#define MONA_STAGE_H

#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>

#include "mona.h"
#include "pipeline/base/error.h"
#include "pipeline/stages/frame.h"
#include "pipeline/stages/grain.h"
#include "pipeline/stages/session_binding.h"
#include "pipeline/stages/stage_settings.h"

/* Observes a pipeline at work: which step handles which frame, and when. */

/* The steps of a frame, in order; PROBE_STAGE + i is stage i. */
enum { PROBE_DECODE, PROBE_UPLOAD, PROBE_STAGE };

typedef struct pipeline_probe {
    /* Called before the decoder is asked for frame n, counted from 0, in the decoder's thread. It
     * may wait, like a program that waits for a camera. False: there are no more frames. May be
     * NULL. */
    bool (*arrive)(void *context, uint64_t frame);
    /* Called when a step begins or ends, in the thread that does it. Encoding is the step after the
     * last stage. A decode that finds the end of the video begins and does not end. */
    void (*mark)(void *context, uint64_t frame, unsigned step, bool end);
    /* Called before the first frame for each model that a stage has bound and runs this many times
     * a frame. May be NULL. */
    void (*bound)(void *context, unsigned stage, const session_binding *model, unsigned runs);
    void *context;
} pipeline_probe;

/* probe may be NULL. */
static inline void probe_mark(const pipeline_probe *probe, uint64_t frame, unsigned step, bool end)
{
    if (probe)
        probe->mark(probe->context, frame, step, end);
}

/* The kinds of stage: constant, row and name. FIRST, NEXT and LAST: those that --stages can name,
 * in the order in which texts list them. OTHER: the rest. */
#define STAGES(FIRST, NEXT, LAST, OTHER)                                                           \
    FIRST(SR, enlarge_stage, "sr")                                                                 \
    NEXT(DENOISE, denoise_stage, "denoise")                                                        \
    NEXT(DEBAND, deband_stage, "deband")                                                           \
    LAST(COLOUR, colour_grading_stage, "colour")                                                   \
    OTHER(DELAY, delay_stage, "delay")                                                             \
    OTHER(RESIZE, resize_stage, "resize")                                                          \
    OTHER(GRAIN, grain_stage, "grain")

#define STAGE_NO_TEXT(kind, row, name)
#define STAGE_FIRST_TEXT(kind, row, name) name
#define STAGE_WORD_TEXT(kind, row, name) " " name
#define STAGE_COMMA_TEXT(kind, row, name) ", " name
/* The names: between commas, the same without the last, the last alone, and between spaces. */
#define STAGE_LIST STAGES(STAGE_FIRST_TEXT, STAGE_COMMA_TEXT, STAGE_COMMA_TEXT, STAGE_NO_TEXT)
#define STAGE_BUT_LAST STAGES(STAGE_FIRST_TEXT, STAGE_COMMA_TEXT, STAGE_NO_TEXT, STAGE_NO_TEXT)
#define STAGE_LAST STAGES(STAGE_NO_TEXT, STAGE_NO_TEXT, STAGE_FIRST_TEXT, STAGE_NO_TEXT)
#define STAGE_WORDS STAGES(STAGE_FIRST_TEXT, STAGE_WORD_TEXT, STAGE_WORD_TEXT, STAGE_NO_TEXT)

#define STAGE_KIND(kind, row, name) STAGE_##kind,
typedef enum stage_kind {
    STAGES(STAGE_KIND, STAGE_KIND, STAGE_KIND, STAGE_KIND) STAGE_KINDS
} stage_kind;
#undef STAGE_KIND

enum { STAGE_MAX_TAKEN = 16 };

typedef struct stage {
    const struct stage_row *row;
    stage_kind kind;
    frame_format in, out;
    unsigned number;   /* its place in the chain */
    unsigned enlarged; /* how many times the frames have been enlarged before */
    unsigned scale;    /* how many times larger a network makes out */
    void *state;       /* of the kind */
    void *stream_memory, *entry_memory;
    void *taken[STAGE_MAX_TAKEN]; /* by stage_take */
    unsigned taken_count;
    size_t taken_bytes;
    mona_stream *stream;
    mona_stream *entry; /* for what frames need before the network; NULL: the same stream */
    unsigned ahead;     /* how many frames it has in work at once besides the usual ones */
    mona_event done[STAGE_SLOTS]; /* recorded by the caller */
} stage;

/* One frame in work. */
typedef struct stage_work {
    const frame *in, *out;
    const frame *before, *previous; /* the previous frame and its result; both NULL: none */
    const frame *beside;            /* before or, if there is none, the next frame; NULL: unknown */
    bool begins;                    /* nothing of the frames before counts */
    float error;                    /* as in chain_enqueue, of the frame that entered the chain */
    const grain_model *removed;     /* by a stage before, once that is done; NULL: none measures */
    unsigned slot;
} stage_work;

/* A network that a stage has bound, and how often it runs for a frame. */
typedef struct stage_model {
    const session_binding *bound;
    unsigned runs;
} stage_model;

enum { STAGE_MAX_MODELS = 3 };

/* The functions of a kind of stage. NULL: does nothing. */
typedef struct stage_row {
    size_t state_bytes;
    /* Of a film that it meets in the middle it works on so many frames before that, to get used to
     * it, and looks at so many. */
    unsigned warm_up, looks;
    /* The stored sizes of its frames must be multiples of this. */
    uint32_t (*multiple)(const frame_format *in);
    /* The name of its network, or of what takes its place. */
    const char *(*network)(const stage_settings *settings, unsigned number);
    /* Fills in the zeroed state, s->out and s->scale, which are those of the input so far. */
    bool (*open)(stage *s, const stage_settings *settings, pipeline_error *error);
    /* Enqueues the work on one frame. All frames must stay until it is done; only then may a slot
     * be reused. */
    mona_status (*enqueue)(stage *s, const stage_work *work);
    /* Enqueues a look at a frame as it enters the chain, in any size: there is no more in work. */
    mona_status (*look)(stage *s, const stage_work *work);
    void (*close)(void *state);
    size_t (*bytes)(const void *state); /* beside what it took */
    unsigned (*models)(const void *state, stage_model models[STAGE_MAX_MODELS]);
    /* The noise found in the latest frames and the compression error in that of a slot, in steps of
     * 8 bits. False: it estimates none. */
    bool (*estimate)(const void *state, unsigned slot, float *noise, float *compression);
    /* Where the grain will be told that is removed from the frame in a slot. NULL: it is not
     * measured. */
    const grain_model *(*removed)(const void *state, unsigned slot);
} stage_row;

const stage_row *stage_row_of(stage_kind kind);
const char *stage_name(stage_kind kind);

/* The kind that --stages names so. False: none. */
bool stage_find(const char *name, stage_kind *kind);

/* Opens a stage for frames of format in; s->out is the format of the results. Whether it succeeds
 * or not, stage_close releases what there is. */
bool stage_open(stage *s, stage_kind kind, unsigned number, const stage_settings *settings,
                frame_format in, unsigned enlarged, pipeline_error *error);

/* Reports every model that the stage has bound to a probe that wants to know. */
void stage_tell_models(const stage *s, const pipeline_probe *probe);

/* Gives the stage an entry stream, as its pool has so many frames in work. */
bool stage_open_entry(stage *s, const stage_settings *settings, unsigned frames,
                      pipeline_error *error);

/* Memory that stage_bytes counts and stage_close releases. NULL: there is none. */
void *stage_take(stage *s, size_t bytes);

/* The stream that first reads a frame: what the stage waits for before it reads is enqueued
 * here. */
mona_stream *stage_entry(const stage *s);

/* Waits for what is queued. A zeroed stage is allowed. */
void stage_close(stage *s);

/* The bytes of the stage's sessions and of what it took. */
size_t stage_bytes(const stage *s);

/* How many times a model enlarges its one plane. 0, with an error, if it is not such a model or
 * enlarges width and height differently. device: opens it if it is of the vendor's compiler. */
unsigned model_scale(const named_model *model, const mona_device *device, pipeline_error *error);

#endif
