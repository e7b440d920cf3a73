// SPDX-License-Identifier: Apache-2.0
/* The options for enhancement and encoding, and the settings made from them. mona enhance and mona
 * bench --pipeline share them. */
#ifndef ENHANCE_OPTIONS_H
#define ENHANCE_OPTIONS_H

#include <math.h>
#include <stdbool.h>

#include <cjson/cJSON.h>

#include "apps/cli/options.h"
#include "pipeline/job/result_size.h"
#include "pipeline/job/stage_list.h"
#include "pipeline/job/stage_models.h"
#include "pipeline/enhance.h"

/* As given on the command line; NULL: not given. */
typedef struct enhance_options {
    const char *stages, *tier, *content, *sr, *denoise, *colour_model;
    double strength, detail; /* negative: auto */
    double colour;           /* negative: not given */
    const char *temporal, *deinterlace, *fields, *rotate;
    double scale; /* 0: not given */
    result_size size;
    const char *codec, *preset, *audio;
    double crf; /* negative: not given */
    bool match_bitrate, low_latency;
    option_list encoder;
    /* The input's part, and where it is computed. mona bench sets these by itself: device NULL. */
    option_cut cut;
    bool keep_start;
    const char *device, *cpu, *threads, *format;
    long strip_rows, frames, quality; /* quality 0: not given */
    const command *line; /* the table that they stand in, and its rows that were used; NULL: not */
    option_set given;    /* kept */
    /* Where the size is late (result_size.h): what is set once it is known. */
    stage_models *models;
    enhance_settings *settings;
} enhance_options;

/* Before the options are parsed. */
#define ENHANCE_OPTIONS_NONE                                                                       \
    {                                                                                              \
        .crf = -1, .colour = -1, .cut = OPTION_CUT_NONE                                            \
    }

#define CODECS "h264, hevc, av1, vp9, ffv1, prores, gif, rawvideo"

/* Their rows in a command's table. at: offset of an enhance_options in the command's values. need: the
 * option without which they have no effect; or NULL. */
#define SHARED_FIELD(at, name) ((at) + offsetof(enhance_options, name))

/* clang-format off */
#define ENHANCE_WORK_OPTIONS(at, group, need)                                                     \
    {"--stages", NULL, OPTION_STRING, CHANGES_BYTES, SHARED_FIELD(at, stages), "LIST", group, .needs = need,     \
     .help = "what to do, one after the other: any of sr, denoise, colour (default " USUAL_STAGES \
             "); denoise leaves what is clean as it is",                                          \
     .values = "sr denoise colour denoise,sr sr,denoise sr,sr denoise,sr,colour"},                \
    {"--scale", "-s", OPTION_NUMBER, CHANGES_BYTES, SHARED_FIELD(at, scale), "N", group, .needs = need,          \
     .help = "enlarge by this factor (default 2), in several steps where no network does it in one: "\
             "6 is 2 x 3; a fraction takes the next larger factor and then a filter that reduces: "\
             "1.5 is 2 times, then 3/4; enhance --dry-run shows the steps",                       \
     .minimum = RESIZE_MIN, .maximum = RESIZE_MAX},                                               \
    {"--height", NULL, OPTION_WHOLE, CHANGES_BYTES, SHARED_FIELD(at, size.height), "ROWS", group, .needs = need, \
     .help = "make the result this high (instead of --scale): enlarged by the next "              \
             "larger factor, then reduced by one filter; sides are even where chroma "            \
             "is subsampled",                                                                     \
     .minimum = 1, .maximum = MONA_MAX_SIDE},                                                     \
    {"--width", NULL, OPTION_WHOLE, CHANGES_BYTES, SHARED_FIELD(at, size.width), "COLUMNS", group, .needs = need,\
     .help = "make the result this wide, in the same way", .minimum = 1,                          \
     .maximum = MONA_MAX_SIDE},                                                                   \
    {"--tier", NULL, OPTION_CHOICE, CHANGES_BYTES, SHARED_FIELD(at, tier), NETWORK_TIERS, group, .needs = need,  \
     .help =                                                                                      \
         "built-in networks to use, from the fastest to the best; each tier does several times the "\
         "work of the one before; where it has no network, that of the next lower tier is used",  \
     .initial = "fast"},                                                                          \
    {"--content", NULL, OPTION_CHOICE, CHANGES_BYTES, SHARED_FIELD(at, content), "clean|video|anime", group, .needs = need,\
     .help = "kind of input: clean is hardly compressed; video is compressed, so that "           \
             "networks must not sharpen the damage; anime is drawn, compressed or not "           \
             "(default: video for videos, clean for pictures)"},                                  \
    {"--sr", NULL, OPTION_FILE, CHANGES_BYTES, SHARED_FIELD(at, sr), "MODEL", group, .needs = need,              \
     .help = "another network for super-resolution: a .mona file, or the name of a built-in one", \
     .models = "sr_"},                                                                            \
    {"--denoise", NULL, OPTION_FILE, CHANGES_BYTES, SHARED_FIELD(at, denoise), "MODEL", group, .needs = need,    \
     .help = "another network for denoising: a .mona file, or the name of a built-in one",        \
     .models = "denoise_"},                                                                       \
    {"--strength", NULL, OPTION_SHARE, CHANGES_BYTES, SHARED_FIELD(at, strength), "S", group, .needs = need,    \
     .help = "how strongly to denoise: from 0, which changes nothing, to 1, which suits noise with a "\
             "standard deviation of 50 steps of 255; or auto, which measures the noise and, with --content video, the "\
             "damage done by compression",                                                        \
     .initial = "auto", .values = "auto"},                                                        \
    {"--detail", NULL, OPTION_SHARE, CHANGES_BYTES, SHARED_FIELD(at, detail), "D", group, .needs = need,        \
     .help = "how much fine detail to keep where compression damage is repaired: 0 is "           \
             "the cleanest, 1 keeps all detail and some of the damage with it; auto: "            \
             "0 for pictures, and from 0.75 (lightly compressed) to 0.25 (heavily "               \
             "compressed) for videos",                                                            \
     .initial = "auto", .values = "auto"},                                                        \
    {"--colour", NULL, OPTION_NUMBER, CHANGES_BYTES, SHARED_FIELD(at, colour), "S", group, .needs = need,        \
     .help = "how much of the colour network's changes to apply, from 0 (none) to 1; without "    \
             "--stages this adds the colour stage at the end (default: no colour stage)", .maximum = 1},                   \
    {"--colour-model", NULL, OPTION_FILE, CHANGES_BYTES, SHARED_FIELD(at, colour_model), "MODEL", group, .needs = need,\
     .help = "another network for colour: a .mona file", .models = "colour"},                     \
    {"--temporal", NULL, OPTION_CHOICE, CHANGES_BYTES, SHARED_FIELD(at, temporal), "on|off", group, .needs = need,\
     .help = "on: blend the still parts of denoised video with the frame before, so that they do "\
             "not flicker; off: treat each frame on its own",                                     \
     .initial = "on"},                                                                            \
    {"--deinterlace", NULL, OPTION_CHOICE, CHANGES_BYTES, SHARED_FIELD(at, deinterlace), "auto|off", group, .needs = need,\
     .help = "auto: deinterlace interlaced frames, even those not marked as interlaced",          \
     .initial = "auto"},                                                                          \
    {"--fields", NULL, OPTION_CHOICE, CHANGES_BYTES, SHARED_FIELD(at, fields), "single|double|film", group, .needs = need,\
     .help = "double: make a frame of each field of interlaced video, twice as many a second: 50i "\
             "becomes 50p; film: restore the 24 frames a second of film that was made 30 (29.97) "\
             "with 3:2 pull-down, where it is found", .initial = "single"},                       \
    {"--rotate", NULL, OPTION_CHOICE, CHANGES_BYTES, SHARED_FIELD(at, rotate), "auto|none|90|180|270", group, .needs = need,\
     .help = "auto: keep the rotation that a phone's video is marked with, and turn the frames "  \
             "where the output cannot hold it; a number: turn the frames as they are stored "     \
             "clockwise by so many degrees, and drop the mark; none: only drop it",               \
     .initial = "auto"}

#define ENHANCE_ENCODER_OPTIONS(at, group, need)                                                  \
    {"--codec", "-c", OPTION_STRING, CHANGES_BYTES, SHARED_FIELD(at, codec), "CODEC", group, .needs = need,      \
     .help = "codec of the result: " CODECS                                                       \
             "; or the name of one of FFmpeg's encoders for these, such as libx264 (default: HEVC, "\
             "AV1 and VP9 are kept, HDR becomes hevc, anything else gets what suits the container and the pixels)",\
     .values = "h264 hevc av1 vp9 ffv1 prores gif rawvideo"},                                     \
    {"--crf", NULL, OPTION_NUMBER, CHANGES_BYTES, SHARED_FIELD(at, crf), "N", group, .needs = need,              \
     .help = "quality, lower is better: for h264 from 0 to 51 (default 18), hevc from 0 to 51 (20), "\
             "av1 from 1 to 63 (28), vp9 from 0 to 63 (24)", .maximum = INFINITY},                \
    {"--match-bitrate", NULL, OPTION_FLAG, CHANGES_BYTES, SHARED_FIELD(at, match_bitrate), NULL, group, .needs = need,\
     .help = "aim at the input's bit rate instead of a quality"},                                 \
    {"--preset", NULL, OPTION_STRING, CHANGES_BYTES, SHARED_FIELD(at, preset), "NAME", group, .needs = need,     \
     .help = "speed of the encoder (default: medium for h264 and hevc; 8 for av1, from 0 to 13; 3 "\
             "for vp9, from 0 to 8; with --live: superfast, ultrafast, 12 and 8)",                \
     .values = "ultrafast superfast veryfast faster fast medium slow slower veryslow placebo"},   \
    {"--low-latency", NULL, OPTION_FLAG, CHANGES_BYTES, SHARED_FIELD(at, low_latency), NULL, group, .needs = need,\
     .help = "write each frame before the next one arrives, for live video: no "                  \
             "B-frames, no look-ahead, no search for interlaced frames that are not "             \
             "marked"},                                                                           \
    {"--encoder-option", "-e", OPTION_LIST, CHANGES_BYTES, SHARED_FIELD(at, encoder), "KEY=VALUE", group, .needs = need,\
     .help = "an option of FFmpeg's encoder; can be given more than once"},                       \
    {"--audio", NULL, OPTION_STRING, CHANGES_BYTES, SHARED_FIELD(at, audio), "copy|auto|none|CODEC", group, .needs = need,\
     .help = "copy: keep the sound as it is, bit by bit, or in a lossless codec where "           \
             "the container cannot hold it; auto: the same, but where no lossless "               \
             "codec fits either, encode it in the container's usual codec; none: "                \
             "leave it out; or a codec: aac, opus, mp3, ac3, flac, alac",                         \
     .initial = "copy", .values = "copy auto none aac opus mp3 ac3 flac alac"}
/* Rows of mona enhance and of the library. */
#define ENHANCE_PART_OPTIONS(at, group)                                                           \
    {"--format", "-f", OPTION_STRING, CHANGES_BYTES, SHARED_FIELD(at, format), "NAME", group,                    \
     .help = "container of the result (default: the one OUT's name stands for; y4m on standard "  \
             "output)",                                                                           \
     .values = "mp4 mov matroska webm avi mpegts nut y4m rawvideo"},                              \
    OPTIONS_CUT(SHARED_FIELD(at, cut), group, " of the input"),                                   \
    {"--keep-start", NULL, OPTION_FLAG, CHANGES_BYTES, SHARED_FIELD(at, keep_start), NULL, group,                \
     .help = "keep the times of an input that starts late, as broadcasts do (default: the result " \
             "starts at 0, in sync)"},                                                             \
    {"--frames", NULL, OPTION_WHOLE, CHANGES_BYTES, SHARED_FIELD(at, frames), "N", group,                        \
     .help = "stop after N frames", .minimum = 1, .maximum = 1e15}

#define ENHANCE_PICTURE_OPTIONS(at, group)                                                        \
    {"--quality", NULL, OPTION_WHOLE, CHANGES_BYTES, SHARED_FIELD(at, quality), "N", group,       \
     .help = "quality of a JPEG, from 1 to 100 (default 95); up to 90 with chroma at half the "   \
             "resolution",                                                                        \
     .minimum = 1, .maximum = 100}

#define ENHANCE_SIZE_OPTION(at, group)                                                            \
    {"--size", NULL, OPTION_SIZE, CHANGES_BYTES, SHARED_FIELD(at, size.size), "WxH", group,                    \
     .help = "make the result this large; a video with a different aspect ratio keeps "           \
             "it by means of pixels that are not square (sample aspect ratio)",                   \
     .values = "1920x1080 3840x2160"}

#define ENHANCE_COMPUTING_OPTIONS(at, group)                                                      \
    {"--threads", "-j", OPTION_STRING, CHANGES_BYTES, SHARED_FIELD(at, threads), "LOAD:PROC:SAVE", group,        \
     .help = "threads of the decoder, of each network and of the encoder, where 0 lets each of "  \
             "them choose; a single number is for the networks (default 0:0:0, one per core)",    \
     .alias = "--jobs"},                                                                          \
    OPTION_DEVICE(SHARED_FIELD(at, device), group),                                               \
    OPTION_CPU(SHARED_FIELD(at, cpu), group),                                                     \
    {"--strip-rows", NULL, OPTION_WHOLE, KEEPS_BYTES, SHARED_FIELD(at, strip_rows), "N", group,                \
     .help = "rows to compute at a time (default: the planner chooses)", .minimum = 1,            \
     .maximum = MONA_MAX_SIDE}
/* clang-format on */

/* Completes the cut. False: options contradict each other. */
bool enhance_options_check(enhance_options *options, pipeline_error *error);

/* Whether the output is one picture, by its name. */
bool enhance_makes_picture(const char *output);

/* Whether the input is one picture, a film of one frame. An animated one is, if the output is
 * one. preview: the output is not the result. */
bool enhance_takes_picture(const char *input, const char *output, bool preview);

/* Makes settings from the options, but for input, raw, rate and what no option says, and opens the
 * networks. Input must be set already. image: one picture, not frames of a video. delays: as in
 * stage_list_read. settings points into options and models, which must outlive it. Where the size is
 * late (result_size.h), the stages are those of --scale 2 until it is known.
 * stage_models_close closes the models whatever is returned. */
bool enhance_options_apply(enhance_options *options, bool image, bool delays, stage_models *models,
                           enhance_settings *settings, pipeline_error *error);

/* Adds the settings as the members "networks", "strength", "temporal", "deinterlace" and, for a
 * video, "encoder". report: that of a run that has begun. */
void enhance_describe(cJSON *to, const enhance_settings *settings, const enhance_report *report);

#endif
