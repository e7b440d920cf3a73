// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/report/bench_result.h"

#include <time.h>

#include "build_info.h"
#include "apps/cli/json_output.h"
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
    JSON_ADD(o, TEXT("version", MONA_VERSION), TEXT("commit", BUILD_COMMIT),
             TEXT("compiler", COMPILER), TEXT("flags", BUILD_FLAGS), TEXT("date", date),
             TEXT("cpu", m.cpu), TEXT("system", m.system), NUMBER("cores", m.cores),
             TEXT("governor", m.governor), NUMBER("load", m.load));
    return o;
}
