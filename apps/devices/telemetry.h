// SPDX-License-Identifier: Apache-2.0
/* Readings of a device's sensors, if the system has them. */
#ifndef TELEMETRY_H
#define TELEMETRY_H

#include <stdio.h>
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "mona.h"

/* A figure that is unknown is negative. */
typedef struct telemetry {
    double temperature_c; /* of the hottest sensor */
    double power_w;       /* of the CPU packages, between two readings */
    double utilisation;   /* of all CPUs, 0 to 1, between two readings */
    double clock_mhz;
    double memory_bytes, memory_free_bytes; /* of the machine */
    unsigned long throttled; /* how often the clock was lowered for heat or power since the
                                system started */
    const char *health;      /* "ok", "throttled", "hot", "unknown"; of a chip also "warning",
                                "alarm", "critical" */
} telemetry;

/* The counters of a reading, which only rise. Zeroed before the first one. */
typedef struct telemetry_counters {
    uint64_t ns;
    double busy_s, energy_j; /* negative: unknown */
    unsigned long throttled;
} telemetry_counters;

/* How many seconds all CPUs have worked since the system started, stolen time included; negative:
 * unknown. *cpus: how many there are. */
double telemetry_busy_s(const char *root, unsigned *cpus);

/* Reads the host's sensors under root, "" for this machine. counters: those of the previous
 * reading, replaced by those of this one. In the first reading power, utilisation and health are
 * unknown. */
telemetry telemetry_read_host(const char *root, telemetry_counters *counters);

/* Reads a device: the host's sensors, or what the device reports. */
telemetry telemetry_read(const mona_device *device, telemetry_counters *counters);

/* What a chip's health (mona_ascend_health) is called here. */
const char *telemetry_chip_health(int health);

/* Parses the output of npu-smi, a program of the chip's driver, for systems where the driver's
 * library (DCMI) cannot be loaded. The parsers take the program's lines; a line of another form is
 * ignored. */

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

/* Readings of sensors in the course of a run. */

/* Statistics of one figure over the readings in which it was known. */
typedef struct telemetry_series {
    double sum, low, high;
    unsigned count;
} telemetry_series;

enum { TELEMETRY_FIGURES = 4 };

typedef struct telemetry_log {
    const mona_device *device;
    telemetry_counters counters;
    telemetry_series figures[TELEMETRY_FIGURES];
    unsigned readings;
    unsigned long throttled; /* count at the beginning */
    telemetry last;
} telemetry_log;

/* Takes the first reading, from which rates are computed. device NULL: nothing is known about
 * it. */
void telemetry_log_open(telemetry_log *log, const mona_device *device);

/* Call as often as is convenient, from one thread. It reads at most four times a second, which
 * takes some tenths of a millisecond. */
void telemetry_log_look(telemetry_log *log);

/* Takes the last reading, unless the one before was a moment ago. The second reading is always
 * taken: rates need two. */
void telemetry_log_end(telemetry_log *log);

/* Adds a reading that the caller took. */
void telemetry_log_add(telemetry_log *log, const telemetry *reading);

/* "readings"; "temperature_c", "power_w", "utilisation" and "clock_mhz", each with mean, min and
 * max, or null if unknown; "throttled", the count during the log; and "health". */
cJSON *telemetry_log_json(const telemetry_log *log);

/* Prints what telemetry_log_json returned on one line. */
void telemetry_print(FILE *f, const cJSON *telemetry);

#endif
