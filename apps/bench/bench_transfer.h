// SPDX-License-Identifier: Apache-2.0
/* Frames of a session whose planes are copied in and out, as with a card that has memory of its
 * own. */
#ifndef BENCH_TRANSFER_H
#define BENCH_TRANSFER_H

#include "apps/bench/bench_session.h"

enum { TRANSFER_SLOTS = 2 };

typedef struct transfer_slot {
    bench_planes planes;
    void *chip[2 * MONA_MAX_IO]; /* memory of a device that has its own, in place of these planes */
    mona_event uploaded, computed, downloaded;
} transfer_slot;

typedef struct bench_transfer {
    bench_session *session; /* the caller's frames are its planes */
    transfer_slot slot[TRANSFER_SLOTS];
    void *memory[3];
    mona_stream *upload, *compute, *download;
} bench_transfer;

/* One frame is copied in and another out while a third is computed. False, with a message. Close it
 * in any case, before the session. */
bool bench_transfer_open(bench_transfer *t, bench_session *session, const mona_model *model);
/* Sends `frames` frames through and waits for the last one. */
bool bench_transfer_run(bench_transfer *t, unsigned frames);
void bench_transfer_close(bench_transfer *t);

#endif
