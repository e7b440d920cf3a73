// SPDX-License-Identifier: Apache-2.0
/* Streams of the chip. One thread at a time uses each: it begins a step, enqueues it and waits. */
#ifndef MONA_ASCEND_STREAM_H
#define MONA_ASCEND_STREAM_H

#include "engine/ascend/acl.h"
#include "engine/mona_ascend.h"

typedef struct ascend_stream {
    void *handle;
    void *reached;      /* event of a library that cannot stop waiting; NULL: this one can */
    void *marks[2];     /* events of a step that is watched, at its begin and end; NULL: none yet */
    mona_status failed; /* of a wait: what it was for may still run, so nothing may follow */
} ascend_stream;

/* The chip has been entered. If it fails, nothing is left to close. */
mona_status ascend_stream_open(ascend_stream *stream);
void ascend_stream_close(ascend_stream *stream); /* zeroed memory is allowed */

void ascend_step_begin(ascend_stream *stream);
/* Waits for what was enqueued since then. It gives the chip up after the time that
 * mona_ascend_set_patience() sets. doing: as for ascend_check(). */
mona_status ascend_step_end(ascend_stream *stream, mona_ascend_step step, const char *doing);

#endif
