// SPDX-License-Identifier: Apache-2.0
/* The networks of a pipeline: embedded ones, or files that replace them. */
#ifndef MONA_STAGE_MODELS_H
#define MONA_STAGE_MODELS_H

#include <stdbool.h>

#include "pipeline/job/model_source.h"
#include "pipeline/base/error.h"
#include "pipeline/stages/chain.h"

/* --stages: the stages that process a frame, in order. */

/* The default stages. Denoising goes first, since an enlarging network mistakes noise for detail
 * and makes it coarse and sharp, so that a denoiser cannot tell it from the picture; and the
 * smaller frame costs a quarter. Film with noise (sigma 5 to 25, then x264, doubled) is up to 11 dB
 * better than in the other order, and at worst, with faint noise, 0.3 dB below it. Clean frames
 * stay as they are. */
#define USUAL_STAGES "denoise,sr"

typedef struct stage_list {
    stage_kind kinds[CHAIN_MAX_STAGES];
    unsigned count;
    delay_settings delay;
} stage_list;

/* Reads names separated by commas: those in STAGES and, if delays are allowed, delay:TIME or
 * delay:TIME/TIME@N, where the second time is that of every Nth frame. There is only one delay: the
 * last one applies to all. */
bool stage_list_read(stage_list *list, const char *text, bool delays, pipeline_error *error);

/* Embedded networks are named TASK_TIER, and what they are for if it is not clean pictures, _jpeg,
 * _video or _anime: sr_x3_best, sr_x2_fast_video. */
/* The tiers, from the fastest: constant, name, the one whose network is used where it has none
 * (itself: there is no other), and whether chroma is enlarged without luma as a guide, which takes
 * as long as a quarter of the fast tier's network. */
#define NETWORK_TIER_ROWS(FIRST, NEXT)                                                             \
    FIRST(TINY, "tiny", FAST, true)                                                                \
    NEXT(FAST, "fast", FAST, true)                                                                 \
    NEXT(BALANCED, "balanced", FAST, false)                                                        \
    NEXT(BEST, "best", BALANCED, false)
#define NETWORK_TIER_FIRST(tier, name, instead, plain) name
#define NETWORK_TIER_NEXT(tier, name, instead, plain) "|" name
#define NETWORK_TIERS NETWORK_TIER_ROWS(NETWORK_TIER_FIRST, NETWORK_TIER_NEXT)
#define NETWORK_TIER(tier, name, instead, plain) TIER_##tier,
typedef enum network_tier { NETWORK_TIER_ROWS(NETWORK_TIER, NETWORK_TIER) TIERS } network_tier;

typedef struct job job;

enum { NETWORK_MAX_SCALE = 4, NETWORKS_TEXT = 256 };

/* A job's networks, where no field names them. */
typedef struct model_choice {
    struct job *job;
    bool video;         /* the content was compressed before */
    bool lossy_picture; /* it is pictures that were; their noise is as clean ones' */
    resize_scale scale; /* of every sr; x 0: 2, or that of the file */
} model_choice;

typedef struct stage_models {
    model_source sr[NETWORK_MAX_SCALE + 1]; /* [s]: enlarges by s; [0]: the file */
    model_source denoise, colour, bicubic;
    const struct mona_kernel *kernels[KERNELS_MAX + 1]; /* that files may call */
} stage_models;

/* Sets the stages of choice->job from a list, and opens and names their networks. An sr becomes as
 * many stages as it takes networks to enlarge by the scale:
 *   1         none
 *   2 and 3   the one for that scale
 *   4         the one for 4 if its tier and content suit as well as those of the one for 2, else
 *             the latter twice
 *   others    products of these, the smallest first, so that few networks have large frames
 *   between   the next larger one, then a stage that resizes
 * If a network is missing, the one of the next tier is taken that is for the content (drawn,
 * or else compressed), or else one for any content. Enlarged frames do not count as film for a
 * denoiser.
 *
 * False: there are no such networks. stage_models_close closes zeroed or opened ones, whether or
 * not all are there. */
bool stage_models_open(stage_models *models, const model_choice *choice, const stage_list *list,
                       pipeline_error *error);

/* Their names in order: "denoise_fast, then sr_x2_fast". */
void stage_models_describe(char text[NETWORKS_TEXT], const job *j);

void stage_models_close(stage_models *models);

#endif
