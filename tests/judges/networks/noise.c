// SPDX-License-Identifier: Apache-2.0
/* How far rounding inside a network moves its outputs: measured, since no bound holds for all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/reference/execute.h"
#include "tests/judges/networks/judge.h"

typedef struct shaker {
    noise how;
    uint64_t random;
    double peak;
} shaker;

/* From -1 to 1. */
static double next(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)*random * 0x1p-63;
}

static double largest(const tensor *t)
{
    double most = 0;
    for (size_t i = 0; i < t->count; i++) {
        const double x = fabs(tensor_number(t, i));
        most = x > most || isnan(x) ? x : most;
    }
    return most;
}

/* The reference lets readers see what an observer leaves. */
static bool shake(void *context, uint32_t value, const tensor *t, format_error *error)
{
    shaker *s = context;
    tensor *mine = (tensor *)t;
    (void)value, (void)error;
    if (!element_is_float(t->type))
        return true;
    const double most = largest(t), step = s->how.steps * most / 255;
    s->peak = most > s->peak || isnan(most) ? most : s->peak;
    for (size_t i = 0; i < t->count && s->how.runs; i++) {
        const double x = tensor_number(t, i);
        tensor_set_number(mine, i,
                          x + x * s->how.relative * next(&s->random) + step * next(&s->random));
    }
    return true;
}

static bool run(const onnx_graph *g, const network *n, shaker *s, tensor *outputs,
                format_error *error)
{
    const tensor_observer observer = {shake, s};
    return reference_execute(g, n->inputs, outputs, &observer, error);
}

bool reference_plain(const onnx_graph *g, const network *n, tensor *outputs, double *peak,
                     format_error *error)
{
    shaker s = {0};
    const bool ok = run(g, n, &s, outputs, error);
    if (peak)
        *peak = s.peak;
    return ok;
}

bool spread_measure(const onnx_graph *g, const network *n, const tensor *plain, const noise *how,
                    spread *s, format_error *error)
{
    for (uint32_t o = 0; o < g->output_count; o++)
        s[o] = (spread){calloc(plain[o].count + 1, sizeof(double)), 0};
    for (unsigned r = 0; r < how->runs; r++) {
        tensor moved[MONA_MAX_IO] = {0};
        shaker shaker = {*how, r * 977 + n->seed, 0};
        if (!run(g, n, &shaker, moved, error))
            return false;
        for (uint32_t o = 0; o < g->output_count; o++) {
            double sum = 0;
            for (size_t i = 0; i < plain[o].count && i < moved[o].count; i++) {
                const double d = fabs(tensor_number(&moved[o], i) - tensor_number(&plain[o], i));
                s[o].most[i] = d > s[o].most[i] ? d : s[o].most[i];
                sum += isfinite(d) ? d * d : 0;
            }
            if (plain[o].count)
                s[o].rms = fmax(s[o].rms, sqrt(sum / (double)plain[o].count));
            tensor_free(&moved[o]);
        }
    }
    return true;
}

void spread_free(spread *s, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(s[i].most);
}
