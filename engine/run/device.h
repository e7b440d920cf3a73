// SPDX-License-Identifier: Apache-2.0
/* A device as a table of functions. Private to engine/.
 *
 * A function that a device leaves NULL does nothing, or is a feature that it lacks. A CPU leaves
 * ai_core NULL: session.c itself runs its plans. */
#ifndef MONA_DEVICE_H
#define MONA_DEVICE_H

#include "engine/op/op.h"

/* The functions by which a device with AI Cores replaces a session's work on a CPU. It keeps its
 * state in the cores' regions of the arena, at plan->device_offset, and in its own memory. */
typedef struct mona_ai_core {
    const mona_op_program *programs; /* by mona_op_kind */
    /* While planning. Sets plan->program if the model has one for these sizes; MONA_ERR_MODEL: it
     * has, but it is not sound. MONA_ERR_UNSUPPORTED: the device needs one. */
    mona_status (*plan)(mona_plan *plan);
    /* Bytes of a core's region of the arena that the device uses. */
    size_t (*core_bytes)(const mona_plan *plan);
    /* The session's arena is laid out and its workers are placed. If this fails, close is not
     * called. */
    mona_status (*open)(mona_session *session);
    void (*close)(mona_session *session);
    /* Runs session->inputs to session->outputs and returns when they are written. These lie in the
     * device's memory if it has its own. */
    mona_status (*run)(mona_session *session);
} mona_ai_core;

/* Where the source of a copy lies, and where it goes. */
typedef enum mona_direction { MONA_ON_HOST, MONA_UPLOAD, MONA_DOWNLOAD } mona_direction;

typedef struct mona_copy {
    mona_direction direction;
    uint8_t *dst;
    const uint8_t *src;
    ptrdiff_t dst_stride, src_stride;
    size_t row_bytes, rows;
} mona_copy;

struct mona_device {
    const char *name, *description;
    const mona_device *first; /* of several devices of a kind; NULL: it is the first or only one */
    uint32_t number;          /* of several, counted from 0 */
    const ac_target *target;
    /* Brings the device up unless it is up, and describes it but for name, description and isa.
     * MONA_ERR_DEVICE: it does not answer. */
    mona_status (*open)(const mona_device *device, mona_device_properties *properties);
    void (*close)(const mona_device *device);
    /* Sets what is known. */
    mona_status (*telemetry)(const mona_device *device, mona_telemetry *telemetry);
    /* The device's own memory, aligned to MONA_ALIGNMENT; NULL: sessions use the host's. The size
     * is above 0, and so is the pointer that is freed. */
    mona_status (*allocate)(const mona_device *device, size_t bytes, void **memory);
    void (*free)(const mona_device *device, void *memory);
    /* Copies from the host's memory to its own, which has no gaps between rows, or back, and
     * returns when that is done. Streams of the host's threads call it, several at a time. */
    mona_status (*copy)(const mona_device *device, const mona_copy *copy);
    /* The best instruction set to run row kernels with, or the one named `highest`; it returns NULL
     * if there is no such set, or this machine cannot run it. On a device with AI Cores it is for
     * what has no program. */
    const mona_isa *(*isa)(const char *highest);
    const mona_ai_core *ai_core; /* NULL: a CPU */
};

#endif
