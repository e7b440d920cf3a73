// SPDX-License-Identifier: Apache-2.0
/* What sensors say about a device, where the system offers them. */
#ifndef TELEMETRY_H
#define TELEMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "mona.h"

/* A figure that is unknown is negative. */
typedef struct telemetry {
    double temperature_c; /* of the hottest sensor */
    double power_w;       /* of the packages, between two readings */
    double utilisation;   /* of all CPUs, 0 to 1, between two readings */
    double clock_mhz;
    double memory_bytes, memory_free_bytes; /* of the machine */
    unsigned long throttled; /* times the clock was lowered for heat or power since the start */
    const char *health;      /* "ok", "throttled", "hot", "unknown" */
} telemetry;

/* What a reading starts from: counters that only rise. Zeroed at first. */
typedef struct telemetry_counters {
    uint64_t ns;
    double busy_s, energy_j; /* negative: unknown */
    unsigned long throttled;
} telemetry_counters;

/* Reads the host's sensors under root, "" for this machine; counters are those of the reading
 * before and become those of this one. Power, utilisation and health of the first reading are
 * unknown. */
telemetry telemetry_read_host(const char *root, telemetry_counters *counters);

/* Of a device: the host's, or nothing known for one that is modelled. A chip's will come through
 * DCMI. */
telemetry telemetry_read(const mona_device *device, telemetry_counters *counters);

#endif
