// SPDX-License-Identifier: Apache-2.0
/* The options that say what is done to frames and how the result is encoded. mona enhance and
 * mona bench --pipeline share them, and the settings that are made from them. */
#ifndef ENHANCE_OPTIONS_H
#define ENHANCE_OPTIONS_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "apps/cli/options.h"
#include "apps/enhance/stage_list.h"
#include "apps/enhance/stage_models.h"
#include "pipeline/enhance.h"

/* As given on the command line; NULL: not given. */
typedef struct enhance_options {
    const char *stages, *scale, *tier, *content, *sr, *denoise, *strength, *colour, *colour_model;
    const char *temporal, *deinterlace;
    const char *codec, *preset;
    double crf; /* negative: not given; set before the options are parsed */
    bool match_bitrate;
    option_list encoder;
} enhance_options;

/* Their rows in a command's table. at: offset of an enhance_options in the command's values. */
#define SHARED_FIELD(at, name) ((at) + offsetof(enhance_options, name))

/* clang-format off */
#define ENHANCE_WORK_OPTIONS(at, group)                                                           \
    {"--stages", NULL, OPTION_STRING, SHARED_FIELD(at, stages), "LIST", group,                    \
     .help = "what to do, in order: sr, denoise, colour (default " VIDEO_STAGES                   \
             "; images sr, or denoise at --scale 1)",                                             \
     .values = "sr denoise colour denoise,sr sr,denoise sr,sr denoise,sr,colour"},                \
    {"--scale", "-s", OPTION_CHOICE, SHARED_FIELD(at, scale), "1|2|3|4|6|8|9|12", group,          \
     .help = "how many times larger sr makes it (default 2), in one step or several: 4 is 2 x 2 " \
             "where the tier has no network for 4, 6 is 2 x 3; enhance --dry-run tells"},         \
    {"--tier", NULL, OPTION_CHOICE, SHARED_FIELD(at, tier), NETWORK_TIERS, group,                 \
     .help = "networks inside mona, from quick to good, each with several times the arithmetic "  \
             "of the one before; what a tier lacks is taken from the next lower",                 \
     .initial = "fast"},                                                                          \
    {"--content", NULL, OPTION_CHOICE, SHARED_FIELD(at, content), "clean|video", group,           \
     .help = "clean, or compressed as video is, whose damage networks made for it do not "        \
             "sharpen (default video for videos, clean for images)"},                             \
    {"--sr", NULL, OPTION_FILE, SHARED_FIELD(at, sr), "MODEL", group,                             \
     .help = "another super-resolution .mona, or one inside mona by its name"},                   \
    {"--denoise", NULL, OPTION_FILE, SHARED_FIELD(at, denoise), "MODEL", group,                   \
     .help = "another denoising .mona, or one inside mona by its name"},                          \
    {"--strength", NULL, OPTION_STRING, SHARED_FIELD(at, strength), "S", group,                   \
     .help =                                                                                      \
         "of denoising: auto, or 0 to 1, where 1 stands for noise of 50 steps; auto: of the "     \
         "noise that is found, or for --content video of what the decoder's quantiser tells that "\
         "compression left, if that is more",                                                     \
     .initial = "auto", .values = "auto"},                                                        \
    {"--colour", NULL, OPTION_STRING, SHARED_FIELD(at, colour), "S", group,                       \
     .help = "how much of what the colour network advises on tone and colour is done, 0 (none) "  \
             "to 1; alone: add that stage as the last (default: no such stage)"},                 \
    {"--colour-model", NULL, OPTION_FILE, SHARED_FIELD(at, colour_model), "MODEL", group,         \
     .help = "another colour .mona"},                                                             \
    {"--temporal", NULL, OPTION_CHOICE, SHARED_FIELD(at, temporal), "on|off", group,              \
     .help =                                                                                      \
         "steady what is denoised by the frame before, where that stands still, so that it does " \
         "not flicker; off: each frame on its own, as pictures are",                              \
     .initial = "on"},                                                                            \
    {"--deinterlace", NULL, OPTION_CHOICE, SHARED_FIELD(at, deinterlace), "auto|off", group,      \
     .help = "make interlaced frames whole, marked as such or not", .initial = "auto"}

#define ENHANCE_ENCODER_OPTIONS(at, group)                                                        \
    {"--codec", "-c", OPTION_CHOICE, SHARED_FIELD(at, codec),                                     \
     "h264|hevc|av1|vp9|ffv1|prores|rawvideo", group,                                             \
     .help = "codec of the result (default the first of these that the container holds, and "     \
             "that holds the video's pixel format)"},                                             \
    {"--crf", NULL, OPTION_NUMBER, SHARED_FIELD(at, crf), "N", group,                             \
     .help = "quality, lower is better (default h264 18, hevc 20, av1 28, vp9 24)",               \
     .maximum = 63},                                                                              \
    {"--match-bitrate", NULL, OPTION_FLAG, SHARED_FIELD(at, match_bitrate), NULL, group,          \
     .help = "as many bits a second as the input, in place of a quality"},                        \
    {"--preset", NULL, OPTION_STRING, SHARED_FIELD(at, preset), "NAME", group,                    \
     .help = "speed of the encoder (default h264, hevc medium; av1 8 of 0-13; vp9 3 of 0-8)",     \
     .values = "ultrafast superfast veryfast faster fast medium slow slower veryslow placebo"},   \
    {"--encoder-option", "-e", OPTION_LIST, SHARED_FIELD(at, encoder), "KEY=VALUE", group,        \
     .help = "an option of libav's encoder; may be given again"}
/* clang-format on */

/* Makes the stages, networks and encoder of settings from the options and opens the networks.
 * settings: input, and device, cpu and strip_rows of its stages, are set already. image: one
 * picture, not frames of a video. delays: as in stage_list_read. settings points into options and
 * models, which must outlive it; stage_models_close closes the models whatever comes back:
 * EXIT_SUCCESS, or after one line on stderr EXIT_USAGE (options that make no sense) or EXIT_FAILED
 * (there are no such networks). */
int enhance_options_apply(const enhance_options *options, bool image, bool delays,
                          stage_models *models, enhance_settings *settings);

/* What was made of them, as the members "networks", "strength", "temporal", "deinterlace" and, of a
 * video, "encoder". report: of a run that has begun. */
void enhance_describe(cJSON *to, const enhance_settings *settings, const enhance_report *report);

#endif
