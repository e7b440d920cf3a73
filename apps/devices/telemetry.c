// SPDX-License-Identifier: Apache-2.0
/* Linux has temperatures in thermal zones (millidegrees) or under hwmon, energy in powercap (RAPL,
 * microjoules that wrap around), CPU times in /proc/stat, and throttling counts with every CPU.
 * Virtual machines have only a few of these. */
#include "apps/devices/telemetry.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/mona_ascend.h"
#include "pipeline/base/clock.h"

static bool read_number(const char *path, double *value)
{
    FILE *file = fopen(path, "r");
    const bool good = file && fscanf(file, "%lf", value) == 1;
    if (file)
        fclose(file);
    return good;
}

typedef enum fold { FOLD_SUM, FOLD_MAX } fold;

/* The sum or the largest of the numbers in all files that match a pattern; negative: there are
 * none. */
static double read_all(const char *root, const char *pattern, fold how)
{
    char whole[512];
    glob_t found;
    double result = -1, value;
    snprintf(whole, sizeof whole, "%s%s", root, pattern);
    if (!glob(whole, 0, NULL, &found))
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (read_number(found.gl_pathv[i], &value) && value >= 0)
                result = result < 0        ? value
                         : how == FOLD_SUM ? result + value
                         : value > result  ? value
                                           : result;
    globfree(&found);
    return result;
}

static double read_temperature(const char *root)
{
    const double zone = read_all(root, "/sys/class/thermal/thermal_zone*/temp", FOLD_MAX);
    const double sensor = read_all(root, "/sys/class/hwmon/hwmon*/temp*_input", FOLD_MAX);
    const double hottest = zone > sensor ? zone : sensor;
    return hottest < 0 ? -1 : hottest / 1000;
}

double telemetry_busy_s(const char *root, unsigned *cpus)
{
    char path[512], line[512];
    unsigned long long t[8] = {0};
    double busy = -1;
    *cpus = 0;
    snprintf(path, sizeof path, "%s/proc/stat", root);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (line[3] == ' ' && sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0],
                                     &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) == 8)
            busy = (double)(t[0] + t[1] + t[2] + t[5] + t[6] + t[7]) / (double)sysconf(_SC_CLK_TCK);
        *cpus += !strncmp(line, "cpu", 3) && line[3] >= '0' && line[3] <= '9';
    }
    if (file)
        fclose(file);
    return busy;
}

static void read_memory(const char *root, telemetry *t)
{
    char path[512], line[256];
    double kib;
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "MemTotal: %lf", &kib) == 1)
            t->memory_bytes = kib * 1024;
        if (sscanf(line, "MemAvailable: %lf", &kib) == 1)
            t->memory_free_bytes = kib * 1024;
    }
    if (file)
        fclose(file);
}

static double between(double from, double to, double seconds)
{
    return from >= 0 && to >= from && seconds > 0 ? (to - from) / seconds : -1;
}

/* Computes the differences between two readings. */
static void compare_readings(telemetry *t, const telemetry_counters *from,
                             const telemetry_counters *to, unsigned cpus)
{
    const double seconds = from->ns ? 1e-9 * (double)(to->ns - from->ns) : 0;
    const double busy = between(from->busy_s, to->busy_s, seconds);
    t->utilisation = busy < 0 || !cpus ? -1 : busy < cpus ? busy / cpus : 1;
    t->power_w = between(from->energy_j, to->energy_j, seconds);
    if (seconds > 0 && t->throttled > from->throttled)
        t->health = "throttled";
}

telemetry telemetry_read_host(const char *root, telemetry_counters *counters)
{
    enum { HOT_C = 95 };
    unsigned cpus;
    telemetry t = {.memory_bytes = -1, .memory_free_bytes = -1, .health = "unknown"};
    const double energy = read_all(root, "/sys/class/powercap/intel-rapl:?/energy_uj", FOLD_SUM);
    const double throttled = read_all(
        root, "/sys/devices/system/cpu/cpu*/thermal_throttle/core_throttle_count", FOLD_SUM);
    const double khz =
        read_all(root, "/sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq", FOLD_MAX);
    const telemetry_counters now = {.ns = clock_ns(),
                                    .busy_s = telemetry_busy_s(root, &cpus),
                                    .energy_j = energy < 0 ? -1 : 1e-6 * energy,
                                    .throttled = throttled > 0 ? (unsigned long)throttled : 0};
    t.temperature_c = read_temperature(root);
    t.clock_mhz = khz < 0 ? -1 : khz / 1000;
    t.throttled = now.throttled;
    if (t.temperature_c >= 0 || throttled >= 0)
        t.health = t.temperature_c >= HOT_C ? "hot" : "ok";
    read_memory(root, &t);
    compare_readings(&t, counters, &now, cpus);
    *counters = now;
    return t;
}

const char *telemetry_chip_health(int health)
{
    static const char *const names[] = {"ok", "warning", "alarm", "critical"};
    return health < 0 ? "unknown" : names[health];
}

/* Readings from the driver's library or, if it cannot be loaded, the driver's program. */
static void read_chip(const mona_device *device, telemetry *t)
{
    mona_ascend_health health;
    if (!mona_ascend_health_of(device, &health)) {
        t->health = telemetry_chip_health(health.health);
        return;
    }
    const npu_figures f = npu_smi_read(mona_device_number(device));
    t->temperature_c = f.temperature_c;
    t->power_w = f.power_w;
    t->utilisation = f.utilisation;
    t->health = f.health;
}

telemetry telemetry_read(const mona_device *device, telemetry_counters *counters)
{
    mona_telemetry of_device;
    if (device == &mona_device_host)
        return telemetry_read_host("", counters);
    if (mona_device_telemetry(device, &of_device))
        return (telemetry){-1, -1, -1, -1, -1, -1, 0, "unknown"};
    telemetry t = {.temperature_c = (double)of_device.celsius,
                   .power_w = (double)of_device.watts,
                   .utilisation = (double)of_device.utilisation,
                   .clock_mhz = (double)of_device.clock_mhz,
                   .memory_bytes = (double)of_device.memory_bytes,
                   .memory_free_bytes = (double)of_device.memory_free_bytes,
                   .health = "unknown"};
    if (mona_ascend_chip(device, 0))
        read_chip(device, &t);
    return t;
}
