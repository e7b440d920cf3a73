// SPDX-License-Identifier: Apache-2.0
/* The settings that all stages share. */
#ifndef MONA_STAGE_SETTINGS_H
#define MONA_STAGE_SETTINGS_H

#include <stdbool.h>

#include "engine/mona_ascend.h"
#include "mona.h"
#include "pipeline/stages/chroma_location.h"
#include "pipeline/stages/resize.h"

typedef struct named_model {
    const char *name; /* for messages: a file, or the name of an embedded model */
    mona_model model;
    const uint8_t *om; /* NULL, or a model of the vendor's compiler in place of `model` */
    size_t om_bytes;
} named_model;

/* How long a stage that only waits takes for a frame. */
typedef struct delay_settings {
    double ms;      /* of a frame */
    double slow_ms; /* for every `every`th frame, the first of which is frame every - 1 */
    unsigned every; /* 0: never */
} delay_settings;

enum { CHAIN_MAX_STAGES = 6 };

/* What computes: several devices share the frames (pool.h). */
enum { DEVICES_MAX = MONA_ASCEND_CHIPS };
typedef struct device_set {
    const mona_device *at[DEVICES_MAX]; /* at[0] NULL: the host */
    unsigned count;
} device_set;

typedef struct stage_settings {
    /* For each stage that enlarges: tensors luma -> luma_*, enlarged equally in both directions. */
    const named_model *sr[CHAIN_MAX_STAGES];
    const named_model *denoise; /* tensors y, u, v, noise -> y_*, u_*, v_* */
    const named_model *colour;  /* y, u, v: thumbnails -> curves (colour_grading.h) */
    const named_model *bicubic; /* plane -> plane_*, twice the size; see chroma_location.h */
    device_set devices;
    bool or_host;     /* see session_binding_open_deep */
    const char *cpu;  /* NULL: the best */
    unsigned threads; /* of each session; 0: one per core */
    long strip_rows;  /* 0: the planner's choice */
    bool temporal;    /* steady denoised frames (temporal.h) */
    double strength;  /* of denoising, 0..1; negative: estimated */
    double
        detail; /* of what repairing compression changes, the share that is undone, 0..1; negative:
                      the usual one */
    double grain;    /* the share of what denoising removes that grain is made for; 0: none */
    bool still;      /* a picture, not a video */
    bool compressed; /* estimates count the error left by compression as noise */
    double colour_strength;          /* 0..1; negative: 1 */
    bool plain_chroma;               /* is interpolated without luma as a guide */
    bool full_range;                 /* of samples; else studio range */
    chroma_location chroma_location; /* of subsampled chroma */
    resize_scale resize; /* of the result to the input, where there is a stage that resizes */
    delay_settings delay;
} stage_settings;

/* Beside a model of the vendor's compiler, the CPU runs all others. */
static inline mona_config stage_config(const stage_settings *settings)
{
    const mona_device *device = settings->devices.at[0];
    const bool others = mona_device_first(device) == &mona_device_ascend_om;
    return (mona_config){.device = others ? &mona_device_host : device,
                         .cpu = settings->cpu,
                         .threads = settings->threads,
                         .strip_rows = (uint32_t)settings->strip_rows};
}

enum { STAGE_SLOTS = 64 }; /* frames that may be in a stage at once */

#endif
