// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/options.h"

bool quantity_ms(const char *option, const char *text, double *ms)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"", 1}, {"ms", 1}, {"us", 1e-3}, {"s", 1e3}};
    char *end;
    const double value = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units && end != text; i++)
        if (!strcmp(end, units[i].unit) && isfinite(value) && value > 0) {
            *ms = value * units[i].factor;
            return true;
        }
    return cli_fail(0, "%s: expected a time above 0 such as 33.3ms, 800us or 2s, found '%s'",
                    option, text);
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
