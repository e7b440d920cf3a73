// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/report/bench_result.h"

#include <time.h>

#include "build_info.h"
#include "apps/devices/machine.h"
#include "mona.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

cJSON *provenance(void)
{
    machine m;
    char date[32] = "unknown";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    machine_describe(&m);
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "version", MONA_VERSION);
    cJSON_AddStringToObject(o, "commit", BUILD_COMMIT);
    cJSON_AddStringToObject(o, "compiler", COMPILER);
    cJSON_AddStringToObject(o, "flags", BUILD_FLAGS);
    cJSON_AddStringToObject(o, "date", date);
    cJSON_AddStringToObject(o, "cpu", m.cpu);
    cJSON_AddStringToObject(o, "system", m.system);
    cJSON_AddNumberToObject(o, "cores", m.cores);
    cJSON_AddStringToObject(o, "governor", m.governor);
    cJSON_AddNumberToObject(o, "load", m.load);
    return o;
}
