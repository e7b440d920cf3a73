// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/modelled_report.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/options.h"
#include "formats/file.h"

enum { LIMIT = 1 << 20 };

static const ac_cost_row *row_of(const char *name)
{
    for (size_t i = 0; name && i < ac_cost_row_count; i++)
        if (!strcmp(ac_cost_rows[i].name, name))
            return &ac_cost_rows[i];
    return NULL;
}

/* Rates and the clock divide, so they are above 0; others may be 0. */
static bool replace(const char *path, const cJSON *item, ac_costs *costs)
{
    const ac_cost_row *row = row_of(item->string);
    if (!row)
        return cli_fail(0, "%s: expected names of constants as in docs/ascend310.md, found \"%s\"",
                        path, item->string ? item->string : "");
    const bool divides = strstr(row->name, "_bytes") || !strcmp(row->name, "clock_mhz");
    if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble) || item->valuedouble < 0 ||
        item->valuedouble > 1e12 || (divides && item->valuedouble == 0))
        return cli_fail(0, "%s: %s: expected a number %s 0", path, row->name,
                        divides ? "above" : "not below");
    memcpy((char *)costs + row->offset, &item->valuedouble, sizeof(double));
    return true;
}

bool costs_read(const char *path, ac_costs *costs)
{
    uint8_t *bytes;
    size_t size;
    format_error error = {0};
    if (!file_read(path, "a file of costs", LIMIT, &bytes, &size, &error))
        return cli_fail(0, "%s", error.text);
    cJSON *file = cJSON_ParseWithLength((const char *)bytes, size);
    free(bytes);
    bool ok = cJSON_IsObject(file) || cli_fail(0, "%s: expected an object of JSON", path);
    const cJSON *item;
    if (ok)
        cJSON_ArrayForEach(item, file) ok = ok && replace(path, item, costs);
    cJSON_Delete(file);
    return ok;
}
