// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "pipeline/job/job.h"

static const char files[] = "Input and output", work[] = "Enhancement", encoding[] = "Encoding",
                  computing[] = "Computation", living[] = "Live streams";

/* clang-format off */
#define FIELD(name) offsetof(job, name)
const option job_rows[JOB_ROWS] = {
    [JOB_INPUT] = {"--input", "-i", OPTION_FILE, CHANGES_BYTES, FIELD(input.path), "FILE", files,
        .help = "video or picture to enhance, the same as IN; - is standard input, in/%04d.png "
                "numbered pictures"},
    [JOB_OUTPUT] = {"--output", "-o", OPTION_FILE, CHANGES_BYTES, FIELD(output), "FILE", files,
        .help = "file for the result; - is standard output, out/%04d.png numbered pictures",
        .written = true},
    [JOB_RAW] = {"--raw", NULL, OPTION_STRING, CHANGES_BYTES, FIELD(input.raw), "WxH:FORMAT:RATE", files,
        .help = "read frames without a header, for example 1280x720:yuv420p:25"},
    [JOB_FPS] = {"--fps", "-r", OPTION_STRING, CHANGES_BYTES, FIELD(input.rate), "RATE", files,
        .help = "frame rate of numbered pictures (default 25)",
        .values = "24 24000/1001 25 30 60"},
    [JOB_ON_ERROR] = {"--on-error", NULL, OPTION_CHOICE, CHANGES_BYTES,
        FIELD(input.on_error), WORDS_TEXT(ON_ERRORS), files,
        .help = "where the input is damaged: skip and count the damage, or stop",
        .initial = "skip"},
    [JOB_ALLOW] = {"--allow", NULL, OPTION_CHOICE, CHANGES_BYTES, FIELD(allow), "playlist", files,
        .help = "IN may be a playlist of HLS too, whose files are read if they lie in or below "
                "its folder"},
    [JOB_LIMIT] = {"--limit", NULL, OPTION_STRING, KEEPS_BYTES, FIELD(limit), "LIST", files,
        .help = "what the run may take, any of " LIMITS_VALUE ": bytes it may write to, pixels "
                "of a frame of the input, streams of it, and time until it is given up",
        .values = "memory=2G pixels=100M time=10m streams=64"},
    [JOB_RESUME] = {"--resume", NULL, OPTION_FLAG, CHANGES_BYTES, FIELD(resume), NULL, files,
        .help = "save finished segments in OUT.resume; after an interruption, the same command "
                "continues from them"},
    [JOB_PART] = {"--part", NULL, OPTION_STRING, SHARES_BYTES, FIELD(part), "K/N", files,
        .help = "make only part K of N of the video, in segments in OUT.resume, where other runs "
                "or machines put the other parts; mona join OUT makes OUT of them"},
    [JOB_SEGMENT] = {"--segment", NULL, OPTION_WHOLE, CHANGES_BYTES,
        FIELD(segment_frames), "N", files,
        .help = "frames in each segment (default: a few seconds' worth, up to a key frame)",
        .minimum = 1, .maximum = 1e6, .needs = "--resume or --part"},
    [JOB_DROP_UNSUPPORTED] = {"--drop-unsupported", NULL, OPTION_FLAG, CHANGES_BYTES,
        FIELD(drop_unsupported), NULL, files,
        .help = "leave out what the container or the codec cannot hold, such as alpha, instead of "
                "stopping"},
    [JOB_FORMAT] = {"--format", "-f", OPTION_STRING, CHANGES_BYTES, FIELD(format), "NAME", files,
        .help = "container of the result (default: the one OUT's name stands for; y4m on standard "
                "output)", .values = "mp4 mov matroska webm avi mpegts nut y4m rawvideo"},
    [JOB_START] = OPTIONS_CUT(FIELD(input.start), FIELD(duration), FIELD(input.end), files, " of the input"),
    [JOB_KEEP_START] = {"--keep-start", NULL, OPTION_FLAG, CHANGES_BYTES,
        FIELD(input.keep_start), NULL, files,
        .help = "keep the times of an input that starts late, as broadcasts do (default: the "
                "result starts at 0, in sync)"},
    [JOB_FRAMES] = {"--frames", NULL, OPTION_WHOLE, CHANGES_BYTES, FIELD(frames), "N", files,
        .help = "stop after N frames", .minimum = 1, .maximum = 1e15},
    [JOB_STAGES] = {"--stages", NULL, OPTION_STRING, CHANGES_BYTES, FIELD(stages), "LIST", work,
        .help = "what to do, one after the other: any of " STAGE_LIST " (default " USUAL_STAGES
                "); denoise leaves what is clean as it is",
        .values = STAGE_WORDS " denoise,sr sr,denoise sr,sr denoise,sr,colour"},
    [JOB_SCALE] = {"--scale", "-s", OPTION_NUMBER, CHANGES_BYTES, FIELD(scale), "N", work,
        .help = "enlarge by this factor (default 2), in several steps where no network does it in "
                "one: 6 is 2 x 3; a fraction takes the next larger factor and then a filter that "
                "reduces: 1.5 is 2 times, then 3/4; enhance --dry-run shows the steps",
        .minimum = RESIZE_MIN, .maximum = RESIZE_MAX},
    [JOB_HEIGHT] = {"--height", NULL, OPTION_WHOLE, CHANGES_BYTES, FIELD(size.height), "ROWS", work,
        .help = "make the result this high (instead of --scale): enlarged by the next larger "
                "factor, then reduced by one filter; sides are even where chroma is subsampled",
        .minimum = 1, .maximum = MONA_MAX_SIDE},
    [JOB_WIDTH] = {"--width", NULL, OPTION_WHOLE, CHANGES_BYTES, FIELD(size.width), "COLUMNS", work,
        .help = "make the result this wide, in the same way",
        .minimum = 1, .maximum = MONA_MAX_SIDE},
    [JOB_TIER] = {"--tier", NULL, OPTION_CHOICE, CHANGES_BYTES, FIELD(tier), NETWORK_TIERS, work,
        .help = "built-in networks to use, from the fastest to the best; each tier does several "
                "times the work of the one before; where it has no network, one of the "
                "next tier is used", .initial = "fast"},
    [JOB_CONTENT] = {"--content", NULL, OPTION_CHOICE, CHANGES_BYTES,
        FIELD(content), WORDS_TEXT(JOB_CONTENTS), work,
        .help = "kind of input: clean is hardly compressed; video is compressed, so that networks "
                "must not sharpen the damage; anime is drawn, compressed or not (default: video "
                "for videos; for pictures clean, but JPEGs of quality 91 or less and WebPs of 75 "
                "or less are enlarged by networks for JPEG)"},
    [JOB_SR] = {"--sr", NULL, OPTION_FILE, CHANGES_BYTES, FIELD(sr), "MODEL", work,
        .help = "another network for super-resolution: a .mona file, or the name of a built-in one",
        .models = "sr_"},
    [JOB_DENOISE] = {"--denoise", NULL, OPTION_FILE, CHANGES_BYTES, FIELD(denoise), "MODEL", work,
        .help = "another network for denoising: a .mona file, or the name of a built-in one",
        .models = "denoise_"},
    [JOB_STRENGTH] = {"--strength", NULL, OPTION_SHARE, CHANGES_BYTES, FIELD(stage.strength), "S", work,
        .help = "how strongly to denoise: from 0, which changes nothing, to 1, which suits noise "
                "with a standard deviation of 50 steps of 255; or auto, which measures the noise "
                "and, with --content video, the damage done by compression",
        .initial = "auto", .values = "auto"},
    [JOB_DETAIL] = {"--detail", NULL, OPTION_SHARE, CHANGES_BYTES, FIELD(stage.detail), "D", work,
        .help = "how much fine detail to keep where compression damage is repaired: 0 is the "
                "cleanest, 1 keeps all detail and some of the damage with it; auto: 0 for "
                "pictures, and from 0.75 (lightly compressed) to 0.25 (heavily compressed) for "
                "videos", .initial = "auto", .values = "auto"},
    [JOB_GRAIN] = {"--grain", NULL, OPTION_SHARE, CHANGES_BYTES, FIELD(stage.grain), "keep|remove|G", work,
        .help = "what becomes of the grain that denoising removes: keep puts as much of the same kind "
                "into the result, as much larger as the picture, a number from 0 to 1 a share of it",
        .initial = "remove", .values = "keep remove"},
    [JOB_COLOUR] = {"--colour", NULL, OPTION_NUMBER, CHANGES_BYTES, FIELD(stage.colour_strength), "S", work,
        .help = "how much of the colour network's changes to apply, from 0 (none) to 1; without "
                "--stages this adds the colour stage at the end (default: no colour stage)",
        .maximum = 1},
    [JOB_COLOUR_MODEL] = {"--colour-model", NULL, OPTION_FILE, CHANGES_BYTES,
        FIELD(colour_model), "MODEL", work,
        .help = "another network for colour: a .mona file", .models = "colour"},
    [JOB_TEMPORAL] = {"--temporal", NULL, OPTION_SWITCH, CHANGES_BYTES,
        FIELD(stage.temporal), "on|off", work,
        .help = "on: blend the still parts of denoised video with the frame before, so that they "
                "do not flicker; off: treat each frame on its own", .initial = "on"},
    [JOB_DEINTERLACE] = {"--deinterlace", NULL, OPTION_SWITCH, CHANGES_BYTES,
        FIELD(input.deinterlace), "auto|off", work,
        .help = "auto: deinterlace interlaced frames, even those not marked as interlaced",
        .initial = "auto"},
    [JOB_FIELDS] = {"--fields", NULL, OPTION_CHOICE, CHANGES_BYTES,
        FIELD(input.fields), WORDS_TEXT(FIELDS_WORDS), work,
        .help = "double: make a frame of each field of interlaced video, twice as many a second: "
                "50i becomes 50p; film: restore the 24 frames a second of film that was made 30 "
                "(29.97) with 3:2 pull-down, where it is found", .initial = "single"},
    [JOB_ROTATE] = {"--rotate", NULL, OPTION_CHOICE, CHANGES_BYTES,
        FIELD(input.rotate), WORDS_TEXT(ROTATIONS), work,
        .help = "auto: keep the rotation that a phone's video is marked with, and turn the frames "
                "where the output cannot hold it; a number: turn the frames as they are stored "
                "clockwise by so many degrees, and drop the mark; none: only drop it",
        .initial = "auto"},
    [JOB_KERNELS] = {"--kernels", NULL, OPTION_FILE, CHANGES_BYTES, FIELD(kernels), "FOLDER", work,
        .help = "kernels of your own that the networks of --sr, --denoise or --colour-model call, with "
                "their code, as python3 -m mona.kernel --build writes them"},
    [JOB_SIZE] = {"--size", NULL, OPTION_SIZE, CHANGES_BYTES, FIELD(size.size), "WxH", work,
        .help = "make the result this large; a video with a different aspect ratio keeps it by "
                "means of pixels that are not square (sample aspect ratio)",
        .values = "1920x1080 3840x2160"},
    [JOB_CODEC] = {"--codec", "-c", OPTION_STRING, CHANGES_BYTES, FIELD(codec), "CODEC", encoding,
        .help = "codec of the result: " JOB_CODECS
                "; or the name of one of FFmpeg's encoders for these, such as libx264 (default: "
                "HEVC, AV1 and VP9 are kept, HDR becomes hevc, anything else gets what suits the "
                "container and the pixels)",
        .values = "h264 hevc av1 vp9 ffv1 prores gif rawvideo"},
    [JOB_CRF] = {"--crf", NULL, OPTION_NUMBER, CHANGES_BYTES, FIELD(encoder.crf), "N", encoding,
        .help = "quality, lower is better: for h264 from 0 to 51 (default 18), hevc from 0 to 51 "
                "(20), av1 from 1 to 63 (28), vp9 from 0 to 63 (24)", .maximum = INFINITY},
    [JOB_MATCH_BITRATE] = {"--match-bitrate", NULL, OPTION_FLAG, CHANGES_BYTES,
        FIELD(encoder.match_bitrate), NULL, encoding,
        .help = "aim at the input's bit rate instead of a quality"},
    [JOB_PRESET] = {"--preset", NULL, OPTION_STRING, CHANGES_BYTES, FIELD(encoder.preset), "NAME", encoding,
        .help = "speed of the encoder (default: medium for h264 and hevc; 8 for av1, from 0 to "
                "13; 3 for vp9, from 0 to 8; with --live: superfast, ultrafast, 12 and 8)",
        .values = "ultrafast superfast veryfast faster fast medium slow slower veryslow placebo"},
    [JOB_LOW_LATENCY] = {"--low-latency", NULL, OPTION_FLAG, CHANGES_BYTES,
        FIELD(encoder.low_latency), NULL, encoding,
        .help = "write each frame before the next one arrives, for live video: no B-frames, no "
                "look-ahead, no search for interlaced frames that are not marked"},
    [JOB_ENCODER_OPTION] = {"--encoder-option", "-e", OPTION_LIST, CHANGES_BYTES,
        FIELD(encoder_options), "KEY=VALUE", encoding,
        .help = "an option of FFmpeg's encoder; can be given more than once"},
    [JOB_AUDIO] = {"--audio", NULL, OPTION_STRING, CHANGES_BYTES,
        FIELD(audio), "copy|auto|none|CODEC", encoding,
        .help = "copy: keep the sound as it is, bit by bit, or in a lossless codec where the "
                "container cannot hold it; auto: the same, but where no lossless codec fits "
                "either, encode it in the container's usual codec; none: leave it out; or a "
                "codec: aac, opus, mp3, ac3, flac, alac",
        .initial = "copy", .values = "copy auto none aac opus mp3 ac3 flac alac"},
    [JOB_QUALITY] = {"--quality", NULL, OPTION_WHOLE, CHANGES_BYTES, FIELD(jpeg_quality), "N", encoding,
        .help = "quality of a JPEG, from 1 to 100 (default 95); up to 90 with chroma at half the "
                "resolution", .minimum = 1, .maximum = 100},
    [JOB_THREADS] = {"--threads", "-j", OPTION_STRING, CHANGES_BYTES,
        FIELD(threads), "LOAD:PROC:SAVE", computing,
        .help = "threads of the decoder, of each network and of the encoder, where 0 lets each of "
                "them choose; a single number is for the networks (default 0:0:0, one per core)",
        .alias = "--jobs"},
    [JOB_DEVICE] = OPTION_DEVICE(FIELD(device), computing),
    [JOB_CPU] = OPTION_CPU(FIELD(stage.cpu), computing),
    [JOB_STRIP_ROWS] = {"--strip-rows", NULL, OPTION_WHOLE, KEEPS_BYTES,
        FIELD(stage.strip_rows), "N", computing,
        .help = "rows to compute at a time (default: the planner chooses)",
        .minimum = 1, .maximum = MONA_MAX_SIDE},
    [JOB_LIVE] = {"--live", NULL, OPTION_FLAG, CHANGES_BYTES, FIELD(is_live), NULL, living,
        .help = "IN is a live stream: leave out frames that come too late, reconnect when a "
                "connection breaks, write each frame before the next one arrives, and complete "
                "OUT when interrupted"},
    [JOB_MAX_DELAY] = {"--max-delay", NULL, OPTION_TIME, CHANGES_BYTES,
        FIELD(max_delay), "TIME", living,
        .help = "leave out a frame if work on it would begin this late, because earlier frames "
                "took too long", .initial = "0.05", .needs = "--live"},
    [JOB_RECONNECT] = {"--reconnect", NULL, OPTION_TIME, CHANGES_BYTES,
        FIELD(live.patience), "TIME", living,
        .help = "how long to try to reconnect; 0: not at all", .initial = "30", .needs = "--live"},
    [JOB_STALL] = {"--stall", NULL, OPTION_TIME, CHANGES_BYTES, FIELD(live.stall), "TIME", living,
        .help = "a connection without data for so long counts as broken",
        .initial = "5", .needs = "--live"},
};
#undef FIELD
/* clang-format on */

/* A folder may hold both pictures and videos, and a plan or a preview is asked for by one option
 * more: so what has no effect there is accepted. */
static const char videos[] = "only on videos";

const option_rule job_rules[JOB_RULES] = {
    {"--input", .never = JOB_MODE_BATCH},
    {"--output", .never = JOB_MODE_BATCH},
    {"--raw", .never = JOB_MODE_PICTURE | JOB_MODE_NUMBERED_IN},
    {"--fps", .only = JOB_MODE_NUMBERED_IN | JOB_MODE_BATCH},
    {"--on-error", .idle = JOB_MODE_PICTURE, .why = videos},
    {"--allow", .idle = JOB_MODE_PICTURE, .why = videos},
    {"--resume", .never = JOB_MODE_PREVIEW | JOB_MODE_LIVE | JOB_MODE_NUMBERED_OUT,
     .idle = JOB_MODE_PICTURE | JOB_MODE_DRY_RUN, .why = videos},
    {"--part", .never = JOB_MODE_PREVIEW | JOB_MODE_LIVE | JOB_MODE_NUMBERED_OUT,
     .idle = JOB_MODE_PICTURE | JOB_MODE_DRY_RUN, .why = videos},
    {"--segment", .never = JOB_MODE_PREVIEW | JOB_MODE_LIVE | JOB_MODE_NUMBERED_OUT,
     .idle = JOB_MODE_PICTURE | JOB_MODE_DRY_RUN, .why = videos},
    {"--format", .never = JOB_MODE_FRAMES,
     .idle = JOB_MODE_PICTURE | JOB_MODE_PREVIEW | JOB_MODE_DRY_RUN, .why = videos},
    {"--drop-unsupported", .idle = JOB_MODE_PICTURE | JOB_MODE_PREVIEW, .why = videos},
    {"--keep-start", .never = JOB_MODE_FRAMES,
     .idle = JOB_MODE_PICTURE | JOB_MODE_NUMBERED_IN | JOB_MODE_NUMBERED_OUT | JOB_MODE_PREVIEW |
             JOB_MODE_DRY_RUN,
     .why = videos},
    {"--start", .never = JOB_MODE_FRAMES, .idle = JOB_MODE_PICTURE, .why = videos},
    {"--duration", .never = JOB_MODE_FRAMES, .idle = JOB_MODE_PICTURE | JOB_MODE_PREVIEW,
     .why = videos},
    {"--end", .never = JOB_MODE_FRAMES, .idle = JOB_MODE_PICTURE | JOB_MODE_PREVIEW, .why = videos},
    {"--frames", .never = JOB_MODE_FRAMES, .idle = JOB_MODE_PICTURE | JOB_MODE_PREVIEW,
     .why = videos},
    {"--temporal", .idle = JOB_MODE_PICTURE | JOB_MODE_PREVIEW | JOB_MODE_DRY_RUN, .why = videos},
    {"--deinterlace", .never = JOB_MODE_FRAMES, .idle = JOB_MODE_PICTURE, .why = videos},
    {"--fields", .never = JOB_MODE_FRAMES, .idle = JOB_MODE_PICTURE, .why = videos},
    {"--rotate", .never = JOB_MODE_FRAMES, .idle = JOB_MODE_PICTURE, .why = videos},
    {"--codec", .never = JOB_MODE_FRAMES, .idle = JOB_MODE_PICTURE, .why = videos},
    {"--crf", .never = JOB_MODE_FRAMES, .idle = JOB_MODE_PICTURE, .why = videos},
    {"--match-bitrate", .never = JOB_MODE_FRAMES, .idle = JOB_MODE_PICTURE, .why = videos},
    {"--preset", .never = JOB_MODE_FRAMES, .idle = JOB_MODE_PICTURE, .why = videos},
    {"--low-latency", .never = JOB_MODE_FRAMES, .idle = JOB_MODE_PICTURE | JOB_MODE_LIVE,
     .why = videos},
    {"--encoder-option", .never = JOB_MODE_FRAMES, .idle = JOB_MODE_PICTURE, .why = videos},
    {"--audio", .never = JOB_MODE_FRAMES, .idle = JOB_MODE_PICTURE, .why = videos},
    {"--quality", .never = JOB_MODE_FRAMES},
    {"--live", .never = JOB_MODE_NUMBERED_IN | JOB_MODE_NUMBERED_OUT | JOB_MODE_PREVIEW |
                        JOB_MODE_DRY_RUN | JOB_MODE_BATCH},
};
