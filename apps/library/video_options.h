// SPDX-License-Identifier: Apache-2.0
/* The options of a handle. */
#ifndef MONA_VIDEO_OPTIONS_H
#define MONA_VIDEO_OPTIONS_H

#include "apps/enhance/enhance_options.h"

typedef struct video_options {
    enhance_options values;
    option_set given;
    struct kept_text *texts; /* what values points to */
} video_options;

void video_options_begin(video_options *o);

/* Sets an option; value NULL if it takes none. */
bool video_options_set(video_options *o, const char *name, const char *value,
                       pipeline_error *error);

/* The settings for an input and an output; "-" stands for frames in memory, whose size is `frames`.
 * settings points into o, a and models, which must outlive it. modes: of enhance_rules.h. */
bool video_options_apply(const video_options *o, mona_size frames, enhance_options *a,
                         unsigned modes, stage_models *models, enhance_settings *settings,
                         pipeline_error *error);

void video_options_free(video_options *o);

#endif
