// SPDX-License-Identifier: Apache-2.0
/* Pictures of a result of mona bench, as SVG: the same in files of their own and in its page. */
#ifndef BENCH_PLOTS_H
#define BENCH_PLOTS_H

#include <stdbool.h>
#include <stdio.h>

#include <cjson/cJSON.h>

typedef struct bench_plot {
    const char *name;                   /* of the file, without .svg, and of the page's section */
    bool (*shows)(const cJSON *result); /* whether the result has what it takes */
    void (*draw)(FILE *f, const cJSON *result);
} bench_plot;

/* "frames", "histogram", "layers", "roofline", "gantt", in this order; NULL past the last. */
const bench_plot *bench_plot_at(unsigned index);

/* Writes NAME.svg for every picture that the result has into a folder, which is made if it is not
 * there. False, with a message. */
bool bench_plots_save(const cJSON *result, const char *folder);

#endif
