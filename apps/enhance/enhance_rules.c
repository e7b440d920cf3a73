// SPDX-License-Identifier: Apache-2.0
#include "apps/enhance/enhance_rules.h"

/* A folder may hold both pictures and videos, and a plan or a preview is asked for by one option more:
 * so what has no effect there is accepted. */
static const char videos[] = "only on videos";

const option_rule enhance_rules[ENHANCE_RULES] = {
    {"--input", .never = ENHANCE_BATCH},
    {"--output", .never = ENHANCE_BATCH},
    {"--overwrite", .idle = ENHANCE_DRY_RUN, .why = "which writes nothing"},
    {"--no-overwrite", .idle = ENHANCE_DRY_RUN, .why = "which writes nothing"},
    {"--raw", .never = ENHANCE_PICTURE | ENHANCE_NUMBERED_IN},
    {"--fps", .only = ENHANCE_NUMBERED_IN | ENHANCE_BATCH},
    {"--on-error", .idle = ENHANCE_PICTURE, .why = videos},
    {"--allow", .idle = ENHANCE_PICTURE, .why = videos},
    {"--resume", .never = ENHANCE_PREVIEW | ENHANCE_LIVE | ENHANCE_NUMBERED_OUT,
     .idle = ENHANCE_PICTURE | ENHANCE_DRY_RUN, .why = videos},
    {"--segment", .never = ENHANCE_PREVIEW | ENHANCE_LIVE | ENHANCE_NUMBERED_OUT,
     .idle = ENHANCE_PICTURE | ENHANCE_DRY_RUN, .why = videos},
    {"--format", .never = ENHANCE_FRAMES,
     .idle = ENHANCE_PICTURE | ENHANCE_PREVIEW | ENHANCE_DRY_RUN, .why = videos},
    {"--drop-unsupported", .idle = ENHANCE_PREVIEW, .why = "which is a picture"},
    {"--keep-start",
     .idle = ENHANCE_PICTURE | ENHANCE_NUMBERED_IN | ENHANCE_NUMBERED_OUT | ENHANCE_PREVIEW |
             ENHANCE_DRY_RUN,
     .why = videos},
    {"--progress", .idle = ENHANCE_PREVIEW | ENHANCE_DRY_RUN, .why = "which is done at once"},
    {"--quiet", .idle = ENHANCE_PREVIEW | ENHANCE_DRY_RUN, .why = "which says nothing"},
    {"--start", .never = ENHANCE_FRAMES, .idle = ENHANCE_PICTURE, .why = videos},
    {"--duration", .never = ENHANCE_FRAMES, .idle = ENHANCE_PICTURE | ENHANCE_PREVIEW,
     .why = videos},
    {"--end", .never = ENHANCE_FRAMES, .idle = ENHANCE_PICTURE | ENHANCE_PREVIEW, .why = videos},
    {"--frames", .never = ENHANCE_FRAMES, .idle = ENHANCE_PICTURE | ENHANCE_PREVIEW, .why = videos},
    {"--temporal", .idle = ENHANCE_PICTURE | ENHANCE_PREVIEW | ENHANCE_DRY_RUN, .why = videos},
    {"--deinterlace", .never = ENHANCE_FRAMES, .idle = ENHANCE_PICTURE, .why = videos},
    {"--fields", .never = ENHANCE_FRAMES, .idle = ENHANCE_PICTURE, .why = videos},
    {"--rotate", .never = ENHANCE_FRAMES, .idle = ENHANCE_PICTURE, .why = videos},
    {"--codec", .never = ENHANCE_FRAMES, .idle = ENHANCE_PICTURE, .why = videos},
    {"--crf", .never = ENHANCE_FRAMES, .idle = ENHANCE_PICTURE, .why = videos},
    {"--match-bitrate", .never = ENHANCE_FRAMES, .idle = ENHANCE_PICTURE, .why = videos},
    {"--preset", .never = ENHANCE_FRAMES, .idle = ENHANCE_PICTURE, .why = videos},
    {"--low-latency", .never = ENHANCE_FRAMES, .idle = ENHANCE_PICTURE | ENHANCE_LIVE,
     .why = videos},
    {"--encoder-option", .never = ENHANCE_FRAMES, .idle = ENHANCE_PICTURE, .why = videos},
    {"--audio", .never = ENHANCE_FRAMES, .idle = ENHANCE_PICTURE, .why = videos},
    {"--live", .never = ENHANCE_NUMBERED_IN | ENHANCE_NUMBERED_OUT | ENHANCE_PREVIEW |
                        ENHANCE_DRY_RUN | ENHANCE_BATCH},
    {"--metrics", .never = ENHANCE_PREVIEW | ENHANCE_DRY_RUN | ENHANCE_BATCH},
    {"--preview", .never = ENHANCE_DRY_RUN | ENHANCE_BATCH},
    {"--stats", .never = ENHANCE_PREVIEW | ENHANCE_DRY_RUN},
    {"--html", .never = ENHANCE_PREVIEW | ENHANCE_DRY_RUN | ENHANCE_LIVE | ENHANCE_BATCH |
                        ENHANCE_NUMBERED_IN | ENHANCE_NUMBERED_OUT},
};
