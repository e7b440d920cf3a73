// SPDX-License-Identifier: Apache-2.0
/* Sensors of a simulated machine: existing ones are read, missing ones are unknown. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "apps/devices/telemetry.h"

static char root[] = "/tmp/telemetry-XXXXXX";

/* Writes root/path, and creates its folders. */
static void put(const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(whole, 0755);
        *slash = '/';
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

static int make_root(void **state)
{
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

static void nothing_is_known_of_an_empty_machine(void **state)
{
    (void)state;
    telemetry_counters counters = {0};
    const telemetry t = telemetry_read_host(root, &counters);
    assert_true(t.temperature_c < 0 && t.power_w < 0 && t.utilisation < 0 && t.clock_mhz < 0);
    assert_true(t.memory_bytes < 0 && t.memory_free_bytes < 0);
    assert_string_equal(t.health, "unknown");
}

static void sensors_are_found(void **state)
{
    (void)state;
    telemetry_counters counters = {0};
    put("sys/class/thermal/thermal_zone0/temp", "41500\n");
    put("sys/class/thermal/thermal_zone1/temp", "38000\n");
    put("sys/class/hwmon/hwmon0/temp1_input", "63250\n");
    put("sys/class/hwmon/hwmon0/temp2_input", "nonsense\n");
    put("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3100000\n");
    put("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3600000\n");
    put("proc/meminfo", "MemTotal: 8000000 kB\nMemFree: 1 kB\nMemAvailable: 5000000 kB\n");
    telemetry t = telemetry_read_host(root, &counters);
    assert_true(fabs(t.temperature_c - 63.25) < 1e-9 && t.clock_mhz == 3600);
    assert_true(t.memory_bytes == 8192000000.0 && t.memory_free_bytes == 5120000000.0);
    assert_string_equal(t.health, "ok");
    put("sys/class/hwmon/hwmon0/temp1_input", "97000\n");
    t = telemetry_read_host(root, &counters);
    assert_string_equal(t.health, "hot");
    put("sys/class/hwmon/hwmon0/temp1_input", "50000\n");
}

/* Two readings; differences are divided by the time between them. */
static void rates_are_differences(void **state)
{
    (void)state;
    telemetry_counters counters = {0};
    const long ticks = sysconf(_SC_CLK_TCK);
    char text[256];
    put("proc/stat", "cpu 100 0 0 500 0 0 0 0\ncpu0 50 0 0 250 0 0 0 0\ncpu1 50 0 0 250 0 0 0 0\n");
    put("sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n");
    put("sys/class/powercap/intel-rapl:0:0/energy_uj", "999\n"); /* a part of the package */
    put("sys/class/powercap/intel-rapl:1/energy_uj", "2000000\n");
    put("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "3\n");
    telemetry t = telemetry_read_host(root, &counters);
    assert_true(t.utilisation < 0 && t.power_w < 0 && t.throttled == 3);
    assert_string_equal(t.health, "ok");
    /* As if the first reading was two seconds ago: one of two CPUs was busy, and 30 joules were
     * used. */
    counters.ns -= 2000000000u;
    snprintf(text, sizeof text,
             "cpu %ld 0 0 500 0 0 0 0\ncpu0 1 0 0 1 0 0 0 0\ncpu1 1 0 0 1 0 0 0 0\n",
             100 + 2 * ticks);
    put("proc/stat", text);
    put("sys/class/powercap/intel-rapl:0/energy_uj", "21000000\n");
    put("sys/class/powercap/intel-rapl:1/energy_uj", "12000000\n");
    put("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "5\n");
    t = telemetry_read_host(root, &counters);
    assert_true(t.utilisation > 0.4 && t.utilisation <= 0.5);
    assert_true(t.power_w > 12 && t.power_w <= 15);
    assert_string_equal(t.health, "throttled");
    /* A counter that wrapped gives no rate, which is not the same as zero. */
    counters.ns -= 2000000000u;
    put("sys/class/powercap/intel-rapl:1/energy_uj", "5\n");
    put("sys/class/powercap/intel-rapl:0/energy_uj", "5\n");
    t = telemetry_read_host(root, &counters);
    assert_true(t.power_w < 0 && t.utilisation == 0);
}

static void a_modelled_device_has_no_sensors(void **state)
{
    (void)state;
    telemetry_counters counters = {0};
    const telemetry t = telemetry_read(&mona_device_model310, &counters);
    assert_true(t.temperature_c < 0 && t.power_w < 0 && t.utilisation < 0);
    assert_string_equal(t.health, "unknown");
}

static double figure(const cJSON *log, const char *key, const char *which)
{
    const cJSON *o = cJSON_GetObjectItemCaseSensitive(log, key);
    return cJSON_GetObjectItemCaseSensitive(o, which)->valuedouble;
}

/* Figures that are known only sometimes are averaged over those times. */
static void readings_are_summed_up(void **state)
{
    (void)state;
    static const telemetry readings[] = {{.temperature_c = 40,
                                          .power_w = -1,
                                          .utilisation = -1,
                                          .clock_mhz = -1,
                                          .throttled = 7,
                                          .health = "ok"},
                                         {.temperature_c = 50,
                                          .power_w = 12,
                                          .utilisation = 0.5,
                                          .clock_mhz = -1,
                                          .throttled = 7,
                                          .health = "ok"},
                                         {.temperature_c = 45,
                                          .power_w = 18,
                                          .utilisation = 1,
                                          .clock_mhz = -1,
                                          .throttled = 9,
                                          .health = "ok"}};
    telemetry_log log = {0};
    for (int i = 0; i < 3; i++)
        telemetry_log_add(&log, &readings[i]);
    cJSON *o = telemetry_log_json(&log);
    assert_true(figure(o, "temperature_c", "mean") == 45 &&
                figure(o, "temperature_c", "min") == 40);
    assert_true(figure(o, "temperature_c", "max") == 50 && figure(o, "power_w", "mean") == 15);
    assert_true(figure(o, "utilisation", "mean") == 0.75 && figure(o, "utilisation", "min") == 0.5);
    assert_true(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(o, "clock_mhz")));
    assert_int_equal(cJSON_GetObjectItemCaseSensitive(o, "readings")->valueint, 3);
    assert_int_equal(cJSON_GetObjectItemCaseSensitive(o, "throttled")->valueint, 2);
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(o, "health")->valuestring, "throttled");
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    telemetry_print(f, o);
    fclose(f);
    assert_string_equal(text,
                        "busy 75 % (50 to 100), temperature 45 C (40 to 50), power 15 W (12 to "
                        "18), health throttled, 3 readings; not available here: clock\n");
    free(text);
    cJSON_Delete(o);
}

/* Even the shortest run has rates. */
static void a_run_has_two_readings(void **state)
{
    (void)state;
    telemetry_log log;
    telemetry_log_open(&log, &mona_device_host);
    telemetry_log_end(&log);
    assert_int_equal(log.readings, 2);
    telemetry_log_end(&log);
    assert_int_equal(log.readings, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_of_an_empty_machine),
        cmocka_unit_test(sensors_are_found),
        cmocka_unit_test(rates_are_differences),
        cmocka_unit_test(a_modelled_device_has_no_sensors),
        cmocka_unit_test(readings_are_summed_up),
        cmocka_unit_test(a_run_has_two_readings),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
