// SPDX-License-Identifier: Apache-2.0
/* mona bench MODEL on the host: one model on one frame after another. */
#ifndef BENCH_MODEL_H
#define BENCH_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "apps/devices/machine.h"
#include "apps/timing/sampling.h"
#include "mona.h"
#include "pipeline/stages/frame.h"
#include "pipeline/stages/session_binding.h"
#include "pipeline/stages/stage_settings.h"
#include "pipeline/stages/stage.h"

/* The planes a plan reads and writes, filled with the same noise on every machine. */

typedef struct bench_planes {
    unsigned input_count, output_count;
    mona_buffer inputs[MONA_MAX_IO], outputs[MONA_MAX_IO];
    frame_memory memory[2 * MONA_MAX_IO]; /* for inputs; from MONA_MAX_IO on, for outputs */
    size_t bytes[2 * MONA_MAX_IO];        /* of these */
} bench_planes;

/* device: whose memory they are in, if the host shares it; NULL: the host's. False: out of memory.
 * Close them in any case; zeroed ones are allowed. */
bool bench_planes_open(bench_planes *p, const mona_device *device, const mona_plan *plan,
                       const mona_model *model);
void bench_planes_close(bench_planes *p);

uint32_t bench_planes_input_crc(const bench_planes *p);
uint32_t bench_planes_output_crc(const bench_planes *p);
/* Bytes of all inputs and outputs. */
size_t bench_planes_bytes(const bench_planes *p);

/* A session on planes of noise, for benchmarks. */

typedef struct bench_session {
    const char *name; /* of the model, for messages */
    session_binding bound;
    bench_planes planes;
} bench_session;

/* False, with a message. Close it in any case. name must outlive it. */
bool bench_session_open(bench_session *s, const char *name, const mona_model *model,
                        const mona_config *config);
/* Runs a frame. False, with a message. */
bool bench_session_run(bench_session *s);
/* Takes times of frames, as samples_take does. */
bool bench_session_sample(bench_session *s, const sampling *how, samples *times);
void bench_session_close(bench_session *s);

typedef struct bench_model_job {
    const char *name;
    const mona_model *model;
    const mona_config *config;
    const device_set *devices; /* config has the first */
    sampling how;
    double percentile; /* the percentile that will be asked about; 0: none */
    bool layers;       /* also operator by operator */
    bool advise;       /* also report/advice.h */
} bench_model_job;

/* A result (bench_result.h), NULL with a message. */
cJSON *bench_model(const bench_model_job *job);
void bench_model_print(const cJSON *result);

/* Where a frame's time goes, operator by operator, and how close each comes to what the machine can
 * do. */

/* Runs `frames` frames observed, each beside one that is not, and adds to the result:
 *
 *   "layers"     rows of layer_log.h; the last one, "(other)", is the time between operators, so
 *                that times add up to the frame's
 *   "observing"  what observing cost, as a share: how much more processor time the cheapest tenth
 *                of observed frames takes than that of the others
 *
 * False, with a message. */
bool bench_layers(cJSON *result, bench_session *session, const peak *limit, unsigned frames);

/* Prints nothing if the result has no layers. */
void bench_layers_print(const cJSON *result);

/* Frames of a session whose planes are copied in and out, as with a card that has memory of its
 * own. */

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

/* mona bench NET.om: a model from the vendor's compiler on frames of noise. */

typedef struct bench_om_job {
    const named_model *model;
    const mona_device *device;
    mona_size size; /* where the model leaves it open; 0: its first */
    sampling how;
    double percentile; /* as of bench_model_job */
} bench_om_job;

/* A result (bench_result.h): "upload_ms", "run_ms" and "download_ms" are medians of a frame's
 * steps, one after another; "overlapped_ms" is the time of a frame while others are in work. NULL,
 * with a message. */
cJSON *bench_om(const bench_om_job *job);
void bench_om_print(const cJSON *result);

#endif
