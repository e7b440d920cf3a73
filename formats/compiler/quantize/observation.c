// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/quantize/observation.h"

#include <math.h>
#include <string.h>

static observation *observation_of(graph *g, uint32_t value, format_error *error)
{
    graph_value *v = &g->values[value];
    if (!v->seen) {
        observation *o = graph_alloc(g, 1, sizeof *o);
        if (o)
            o->sums = graph_alloc(g, v->channels, sizeof *o->sums);
        if (o)
            o->largest = graph_alloc(g, v->channels, sizeof *o->largest);
        if (!o || !o->sums || !o->largest) {
            format_fail(error, "out of memory");
            return NULL;
        }
        v->seen = o;
    }
    return v->seen;
}

bool observation_add(graph *g, uint32_t value, const reference_array *a, format_error *error)
{
    observation *o = observation_of(g, value, error);
    graph_value *v = &g->values[value];
    const size_t plane = (size_t)a->height * a->width;
    if (!o)
        return false;
    for (uint32_t c = 0; c < a->channels; c++) {
        const float *x = a->data + c * plane;
        float low = x[0], high = x[0];
        double sum = 0;
        for (size_t i = 0; i < plane; i++) {
            if (!isfinite(x[i]))
                return format_fail(
                    error, "value '%s' becomes infinite or not a number in calibration", v->name);
            low = x[i] < low ? x[i] : low;
            high = x[i] > high ? x[i] : high;
            sum += (double)x[i];
        }
        const bool first = v->low > v->high;
        v->low = first || low < v->low ? low : v->low;
        v->high = first || high > v->high ? high : v->high;
        o->largest[c] = fmaxf(o->largest[c], fmaxf(fabsf(low), fabsf(high)));
        o->sums[c] += sum;
    }
    o->count += plane;
    o->rows = a->height;
    o->columns = a->width;
    histogram_add(&o->magnitudes, a->data, plane * a->channels);
    return true;
}

double observation_movement(graph *g, range_rule rule)
{
    double max = 0;
    for (uint32_t i = 0; i < g->value_count; i++) {
        graph_value *v = &g->values[i];
        if (!v->seen)
            continue;
        const double before = v->seen->threshold;
        const double largest = fmax(fabs((double)v->low), fabs((double)v->high));
        v->seen->threshold =
            histogram_threshold(&v->seen->magnitudes, rule, v->low < 0 ? 127 : 255, largest);
        if (v->seen->threshold > 0)
            max = fmax(max, fabs(v->seen->threshold - before) / v->seen->threshold);
    }
    return max;
}

void observation_clear(graph *g)
{
    for (uint32_t i = 0; i < g->value_count; i++) {
        graph_value *v = &g->values[i];
        v->low = 1;
        v->high = -1;
        if (!v->seen)
            continue;
        memset(&v->seen->magnitudes, 0, sizeof v->seen->magnitudes);
        memset(v->seen->sums, 0, v->channels * sizeof *v->seen->sums);
        memset(v->seen->largest, 0, v->channels * sizeof *v->seen->largest);
        v->seen->count = 0;
    }
}
