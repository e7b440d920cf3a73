// SPDX-License-Identifier: Apache-2.0
/* The most that this CPU can do, measured with loops that work in registers. Other figures are
 * shares of these limits. */
#ifndef MONA_APPS_PEAK_H
#define MONA_APPS_PEAK_H

#include <stdbool.h>

typedef struct peak {
    const char *int8_instruction, *fp32_instruction; /* that the loops consist of */
    double int8_gmac_per_s;                          /* u8 x s8 -> s32 */
    double fp16_gmac_per_s; /* as mona computes FP16 layers on a CPU: fp32 multiply-adds on widened
                            fp16 */
    double fp32_gmac_per_s;
    double copy_gb_per_s;       /* bytes read, and as many written, from memory to memory */
    double cache_copy_gb_per_s; /* the same within a core's own cache */
} peak;

/* Takes about a second in all, with `threads` threads; the best of five short runs of each loop.
 * False: a thread could not be started, or memory is short. */
bool peak_measure(unsigned threads, peak *result);

#endif
