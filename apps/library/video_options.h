// SPDX-License-Identifier: Apache-2.0
/* The options of a handle, collected as on a command line. */
#ifndef MONA_VIDEO_OPTIONS_H
#define MONA_VIDEO_OPTIONS_H

#include "apps/enhance/enhance_options.h"

enum { VIDEO_OPTIONS_MAX = 64 };

typedef struct video_options {
    char *given[VIDEO_OPTIONS_MAX]; /* "--scale=2" */
    int count;
} video_options;

/* Adds an option, value NULL if it takes none, and checks it alone. */
bool video_options_add(video_options *o, const char *name, const char *value,
                       pipeline_error *error);

/* The settings for an input and an output, and the options that they come to, whose strings belong to
 * o; "-" stands for frames in memory. models: as in
 * enhance_options_apply, and so is what must outlive what. modes: of enhance_rules.h. */
bool video_options_apply(const video_options *o, enhance_options *a, unsigned modes,
                         stage_models *models, enhance_settings *settings, pipeline_error *error);

void video_options_free(video_options *o);

#endif
