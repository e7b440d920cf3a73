// SPDX-License-Identifier: Apache-2.0
/* Parses the output of npu-smi, a program of the chip's driver, for systems where the driver's
 * library (DCMI) cannot be loaded. The parsers take the program's lines; a line of another form is
 * ignored. */
#ifndef NPU_SMI_H
#define NPU_SMI_H

#include <stdbool.h>

/* A figure that is unknown is negative. */
typedef struct npu_figures {
    double temperature_c, power_w;
    double utilisation; /* of the AI Cores, 0 to 1 */
    const char *health; /* "ok", "warning", "alarm", "critical" or "unknown" */
} npu_figures;

/* Card and chip of the chip that programs know by this number, from `npu-smi info -m`. */
bool npu_smi_parse_map(const char *text, unsigned wanted, unsigned *card, unsigned *chip);
/* Temperature, power and use of a chip, from `npu-smi info -t common -i CARD`. Rated power is not
 * the chip's draw, and the whole card's power is not the chip's: both are left out. */
void npu_smi_parse_common(const char *text, unsigned chip, npu_figures *figures);
/* Health, from `npu-smi info -t health -i CARD -c CHIP`. */
void npu_smi_parse_health(const char *text, npu_figures *figures);

/* Figures of the chip of this number. The program takes about a second, so only the first call for
 * a chip waits for it, at most a few seconds; later ones return what was last known while it runs
 * again. Without it, nothing is known. Call it from one thread. */
npu_figures npu_smi_read(unsigned at);

#endif
