// SPDX-License-Identifier: Apache-2.0
/* The networks of a pipeline: those inside mona, or files in their place. */
#ifndef MONA_STAGE_MODELS_H
#define MONA_STAGE_MODELS_H

#include "apps/cli/model_source.h"
#include "pipeline/enhance.h"
#include "apps/enhance/stage_list.h"

/* Networks inside mona are named TASK_TIER or TASK_TIER_video: sr_x3_best, sr_x2_fast_video. */
#define NETWORK_TIERS "fast|balanced|best"

enum { NETWORK_MAX_SCALE = 4, NETWORKS_TEXT = 256 };

typedef struct model_choice {
    const char *sr, *denoise, *colour; /* as model_source_open takes them; NULL: by task and tier */
    const char *tier;                  /* one of NETWORK_TIERS; NULL: the first */
    bool video;                        /* the content: compressed before */
    unsigned scale;                    /* of every sr; 0: 2, or that of the file */
} model_choice;

typedef struct stage_models {
    model_source sr[NETWORK_MAX_SCALE + 1]; /* [s]: enlarges s times; [0]: the file */
    model_source denoise, colour, bicubic;
} stage_models;

/* Makes the stages of a list those of settings, and opens and names their networks there. An sr
 * becomes as many stages as it takes networks to enlarge by the scale: none for 1, that of the
 * scale for 2 and 3, for 4 the one that does it at once if it is as close to what is wished as the
 * one for 2 is, else that one twice; others are products of these, the smallest first, so that
 * large frames meet few networks. What is wished but not there is of the next lower tier that is
 * for the content, or else for any; frames that were enlarged are no film to a denoiser. Prints one
 * line and gives false when there are no such networks. Zeroed or opened ones, whether or not all
 * are there, are closed by stage_models_close. */
bool stage_models_open(stage_models *models, const model_choice *choice, const stage_list *list,
                       enhance_settings *settings);

/* Their names in turn: "denoise_fast, then sr_x2_fast". */
void stage_models_describe(char text[NETWORKS_TEXT], const enhance_settings *settings);

void stage_models_close(stage_models *models);

#endif
