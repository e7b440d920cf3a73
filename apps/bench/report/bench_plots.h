// SPDX-License-Identifier: Apache-2.0
/* Plots of a result of mona bench as SVG, the same ones as files and in its page. */
#ifndef BENCH_PLOTS_H
#define BENCH_PLOTS_H

#include <stdbool.h>
#include <stdio.h>

#include <cjson/cJSON.h>

typedef struct bench_plot {
    const char *name;                   /* name of the file, without .svg, and of the page's
                                           section */
    bool (*shows)(const cJSON *result); /* whether the result has what the plot shows */
    void (*draw)(FILE *f, const cJSON *result);
} bench_plot;

/* "frames", "histogram", "layers", "roofline", in this order; NULL past the last. */
const bench_plot *bench_plot_at(unsigned index);

/* Writes NAME.svg into a folder for every plot that the result has data for. Creates the folder if
 * necessary. False, with a message. */
bool bench_plots_save(const cJSON *result, const char *folder);

#endif
