// SPDX-License-Identifier: Apache-2.0
/* Where options of mona enhance and of the library mean nothing. */
#ifndef ENHANCE_RULES_H
#define ENHANCE_RULES_H

#include "apps/cli/options.h"

/* What a run is; the bits of its modes. */
enum {
    ENHANCE_PICTURE = 1 << 0,      /* one picture into one */
    ENHANCE_NUMBERED_IN = 1 << 1,  /* numbered pictures */
    ENHANCE_NUMBERED_OUT = 1 << 2, /* the same, written */
    ENHANCE_PREVIEW = 1 << 3,
    ENHANCE_DRY_RUN = 1 << 4,
    ENHANCE_LIVE = 1 << 5,
    ENHANCE_BATCH = 1 << 6,  /* each file is a run of its own, which refuses for itself */
    ENHANCE_FRAMES = 1 << 7, /* of a program's memory: there is no file and no encoder */
};

#define ENHANCE_MODES                                                                              \
    {                                                                                              \
        "a picture", "numbered pictures as IN", "numbered pictures as OUT", "--preview",           \
            "--dry-run", "--live", "--out-dir", "frames in memory"                                 \
    }

enum { ENHANCE_RULES = 35 };
extern const option_rule enhance_rules[ENHANCE_RULES];

#endif
