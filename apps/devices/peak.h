// SPDX-License-Identifier: Apache-2.0
/* What this CPU can do at most, measured with loops that live in registers: the limits figures are shares
 * of. */
#ifndef MONA_APPS_PEAK_H
#define MONA_APPS_PEAK_H

#include <stdbool.h>

typedef struct peak {
    const char *int8_instruction, *fp32_instruction; /* what the loops are made of */
    double int8_gmac_per_s;                          /* u8 x s8 -> s32 */
    double
        fp16_gmac_per_s; /* as mona computes FP16 layers on a CPU: fp32 multiply-adds on widened fp16 */
    double fp32_gmac_per_s;
    double copy_gb_per_s;       /* bytes read and as many written, from memory to memory */
    double cache_copy_gb_per_s; /* the same within a core's own cache */
} peak;

/* threads at once, about a second in all; the best of five short runs of each. False: a thread could not be
 * started or memory is short. */
bool peak_measure(unsigned threads, peak *result);

#endif
