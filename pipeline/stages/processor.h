// SPDX-License-Identifier: Apache-2.0
/* Takes a frame's samples through a chain of stages, which see at most PROCESSOR_SEEN_BITS of a
 * sample.
 *
 * In deeper frames they see rounded samples. Their change is the difference between their result
 * and the result if no network changed anything: repeated or interpolated samples, which a second
 * chain makes from the same frames. This difference is added to the frame itself, which the same
 * filters enlarge with all its bits. So unchanged samples keep every bit. */
#ifndef MONA_PROCESSOR_H
#define MONA_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/base/error.h"
#include "pipeline/stages/chain.h"
#include "pipeline/stages/frame.h"

enum { PROCESSOR_SEEN_BITS = MONA_MAX_DEPTH };

typedef struct processor {
    chain stages;
    frame_format in;
    /* The rest is for deep frames. */
    chain unchanged; /* the stages that change a frame's size; count 0: none does */
    named_model neutral[CHAIN_MAX_STAGES];
    void *models[CHAIN_MAX_STAGES]; /* the memory of neutral */
    resizer filters[CHAIN_MAX_STAGES];
    frame frames[CHAIN_MAX_STAGES + 1]; /* the frame, and the result of each filter */
    frame out;                          /* the result */
    uint8_t *memory;
    size_t memory_bytes;
    bool full_range; /* of the samples */
} processor;

/* A frame that is being processed. */
typedef struct processor_job {
    const uint8_t *const *planes; /* its samples, which must stay until it is done */
    const int *strides;
    float error;     /* as in chain_enqueue */
    bool begins;     /* likewise */
    unsigned before; /* likewise; not 0: there is no result */
    uint64_t number; /* as counted by the stages */
    mona_event *done, *unchanged;
} processor_job;

static inline bool processor_is_deep(const processor *p)
{
    return p->in.bits > PROCESSOR_SEEN_BITS;
}

/* Opens the stages; as chain_open, but for frames of any depth. Whether it succeeds or not,
 * processor_close releases what there is. */
bool processor_open(processor *p, const stage_kind *kinds, unsigned count,
                    const stage_settings *settings, const frame_format *in, bool overlap,
                    pipeline_error *error);

/* Opens what deep frames need besides. result_bits: of the samples of their result. */
bool processor_open_result(processor *p, const stage_settings *settings, unsigned result_bits,
                           pipeline_error *error);

/* Waits for a free slot and fills it with the frame's samples. */
mona_status processor_fill(processor *p, const processor_job *job);

/* Enqueues the next of the frames that were filled. Its output slot must be free. */
mona_status processor_enqueue(processor *p, processor_job *job);

/* Waits until the job's frame is done, and completes its result. */
mona_status processor_finish(processor *p, const processor_job *job);

/* Where the result of frame n lies: in the output slot or, of all deep frames, in one place. */
const frame *processor_result(const processor *p, uint64_t n);

/* The memory of the sessions, and of all frames. */
size_t processor_engine_bytes(const processor *p);
size_t processor_frame_bytes(const processor *p);

/* A zeroed one is allowed. */
void processor_close(processor *p);

#endif
