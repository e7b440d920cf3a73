// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool quantity_ms(const char *option, const char *text, double *ms)
{
    double seconds;
    pipeline_error error = {0};
    if (!option_duration(option, text, &seconds, &error))
        return !cli_fail_of(&error);
    *ms = 1e3 * seconds;
    return true;
}

bool quantity_share(const char *option, const char *text, double *share)
{
    char *end;
    const double value = strtod(text, &end);
    if (end != text && (!*end || !strcmp(end, "%")) && isfinite(value) && value >= 0) {
        *share = value / 100;
        return true;
    }
    return cli_fail(0, "%s: expected a percentage such as 5%%, found '%s'", option, text);
}
