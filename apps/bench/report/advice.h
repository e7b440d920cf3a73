// SPDX-License-Identifier: Apache-2.0
/* mona bench --advise: what a frame's time goes to, what to do about it, and what that would gain.
 *
 * A frame is cut into parts: a layer, or something beside the layers such as a copy. Of each part
 * the busiest unit's time belongs to the cause that this unit stands for, and the rest, in which
 * that unit waits, to another. So the shares of all causes add up to the frame. */
#ifndef ADVICE_H
#define ADVICE_H

#include <stdbool.h>

#include <cjson/cJSON.h>

typedef enum advice_unit {
    ADVICE_COMPUTE, /* the cube, or the CPU's arithmetic */
    ADVICE_FEED,    /* L1 to L0, or a core's cache */
    ADVICE_VECTOR,
    ADVICE_SCALAR,
    ADVICE_MEMORY,
    ADVICE_ARRAYS,   /* AI CPUs */
    ADVICE_KERNEL,   /* the replay kernel beyond a kernel of its own */
    ADVICE_LAUNCH,   /* between layers */
    ADVICE_TRANSFER, /* to the chip and back */
    ADVICE_THREADS,  /* cores of this machine that the run leaves alone */
    ADVICE_UNITS
} advice_unit;

typedef struct advice_part {
    const char *layer; /* NULL: of no layer */
    double ms, busy[ADVICE_UNITS];
    bool fp16, small; /* small: of a map that is narrow */
    double left;      /* of no layer: what is left of it where the advice is followed */
} advice_part;

/* What a change really gained. */
typedef struct advice_trial {
    const char *option; /* that makes it */
    double ms;          /* of a frame then */
} advice_trial;

typedef struct advice_frame {
    const char *how; /* its time was found */
    bool chip;       /* an Ascend 310, modelled or not; else this machine's CPUs */
    double ms;
    double used; /* share of the cores; 1: all */
    double int8; /* time of INT8 arithmetic, as a share of that of FP16 */
    advice_part *parts;
    unsigned count;
    /* Makes the change that a cause asks for, and fills *trial; leaves it where no option makes
     * that change. False, with a message. */
    bool (*try)(const void *context, advice_unit unit, advice_trial *trial);
    const void *context;
} advice_frame;

/* Adds "advice" to a result: "ms", "how", "at_limit", the share at which nothing can be gained, and
 * "causes" from the costliest on, each with "cause", "share", "ms", "found", "do", "gain_ms" at
 * most, "predicted_ms" of a frame, for the costliest three "tried_ms" and "tried" where an option
 * applies the advice, and "layers", the costliest first. False, with a message. */
bool advice_add(cJSON *result, const advice_frame *frame);
void advice_print(const cJSON *result);

#endif
