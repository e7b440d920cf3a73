// SPDX-License-Identifier: Apache-2.0
#include "apps/devices/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "apps/devices/telemetry.h"
#include "mona.h"

/* The first line of a system file, without its end; fallback if there is none. */
static void read_line(const char *path, const char *fallback, char *line, int size)
{
    FILE *file = fopen(path, "r");
    if (!file || !fgets(line, size, file) || line[0] == '\n')
        snprintf(line, (size_t)size, "%s", fallback);
    line[strcspn(line, "\n")] = 0;
    if (file)
        fclose(file);
}

/* x86 has "model name", some ARM kernels "Model" or "Hardware", others only numbers. */
static void find_cpu_name(char *name, size_t size)
{
    static const char *const keys[] = {"model name", "Model", "Hardware", "CPU part"};
    char line[512];
    snprintf(name, size, "unknown");
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        FILE *file = fopen("/proc/cpuinfo", "r");
        bool found = false;
        while (file && !found && fgets(line, sizeof line, file)) {
            const char *value = strstr(line, ": ");
            found = value && !strncmp(line, keys[k], strlen(keys[k]));
            if (found)
                snprintf(name, size, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
        }
        if (file)
            fclose(file);
        if (found)
            return;
    }
}

unsigned machine_cores(const mona_device *device)
{
    mona_device_properties properties = {.cores = 1};
    mona_device_query(device, &properties);
    return properties.cores;
}

void machine_describe(machine *m)
{
    struct utsname system;
    *m = (machine){.cores = machine_cores(&mona_device_host)};
    find_cpu_name(m->cpu, sizeof m->cpu);
    read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "unknown", m->governor,
              sizeof m->governor);
    if (!uname(&system))
        snprintf(m->system, sizeof m->system, "%.40s %.60s %.40s", system.sysname, system.release,
                 system.machine);
    if (getloadavg(&m->load, 1) != 1)
        m->load = -1;
}

/* The number of a line such as "Pss:   12 kB" of a file of this process, in bytes; 0: none. */
static double of_process(const char *path, const char *format)
{
    char line[256];
    double kib = 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file) && sscanf(line, format, &kib) != 1)
        ;
    if (file)
        fclose(file);
    return 1024 * kib;
}

/* Without /proc, what getrusage says, where a process that was started by vfork counts from what
 * its parent held. */
double machine_peak_bytes(void)
{
    struct rusage usage;
    const double peak = of_process("/proc/self/status", "VmHWM: %lf");
    return peak > 0 || getrusage(RUSAGE_SELF, &usage) ? peak : 1024.0 * (double)usage.ru_maxrss;
}

double machine_own_bytes(void)
{
    return of_process("/proc/self/smaps_rollup", "Pss: %lf");
}

/* A number in the folder of this process's control group. Negative: there is none, or no limit. */
static double of_group(const char *name)
{
    char group[256], line[64], path[sizeof group + 64];
    double value;
    read_line("/proc/self/cgroup", "", group, sizeof group);
    const bool second = !strncmp(group, "0::/", 4);
    snprintf(path, sizeof path, "/sys/fs/cgroup/%s/%s", second ? group + 4 : "", name);
    read_line(path, "", line, sizeof line);
    return sscanf(line, "%lf", &value) == 1 ? value : -1;
}

/* Memory that holds files is given up for others. */
double machine_free_bytes(void)
{
    telemetry_counters counters = {0};
    const double machine = telemetry_read_host("", &counters).memory_free_bytes;
    const double limit = of_group("memory.max"), used = of_group("memory.current");
    const double free = machine > 0 ? machine : 0;
    return limit > used && used >= 0 && (free <= 0 || limit - used < free) ? limit - used : free;
}

/* ---- what else it does ----------------------------------------------------------------------- */

static double of_timeval(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* The best of a few runs of additions that each depend on the one before: one per cycle on every
 * CPU that mona runs on. The addend comes from memory, as some CPUs add immediates while they
 * rename registers. */
static double measure_clock(void)
{
    enum { TIMES = 5, PASSES = 20000, A_PASS = 8 };
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < TIMES; i++) {
        uint64_t sum = (uint64_t)i, addend = 3;
        __asm__ volatile("" : "+r"(addend));
        const uint64_t start = clock_ns();
        for (int p = 0; p < PASSES; p++)
            for (int k = 0; k < A_PASS; k++) {
                sum += addend;
                __asm__ volatile("" : "+r"(sum));
            }
        const uint64_t took = clock_ns() - start;
        best = took < best ? took : best;
    }
    return best ? 1e3 * PASSES * A_PASS / (double)best : 0;
}

machine_moment machine_now(void)
{
    static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    struct rusage usage;
    unsigned cpus;
    machine_moment now = {.clock_mhz = measure_clock()};
    now.wall = 1e-3 * machine_clock_ms();
    now.busy = telemetry_busy_s("", &cpus);
    for (int i = 0; i < 2; i++)
        if (!getrusage(whose[i], &usage))
            now.own += of_timeval(usage.ru_utime) + of_timeval(usage.ru_stime);
    return now;
}

double machine_others(const machine_moment *from, const machine_moment *to)
{
    const double wall = to->wall - from->wall;
    if (from->busy < 0 || to->busy < 0 || wall <= 0)
        return -1;
    const double others = (to->busy - from->busy) - (to->own - from->own);
    return others > 0 ? others / wall : 0;
}
