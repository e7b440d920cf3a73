// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/report/bench_page.h"

#include <stdlib.h>

#include "apps/bench/report/bench_plots.h"
#include "apps/cli/options.h"
#include "apps/plot/page.h"
#include "apps/cli/save.h"

__asm__(".pushsection .rodata\nbench_page:\n.incbin \"apps/bench/report/bench.html\"\n.byte "
        "0\n.popsection\n");
extern const char bench_page[];

static bool put_page(FILE *f, const cJSON *result)
{
    const char *rest = bench_page;
    page_begin(f);
    const bench_plot *plot;
    for (unsigned i = 0; (plot = bench_plot_at(i)); i++) {
        rest = page_put_until(f, rest, "<!--PLOT-->");
        if (plot->shows(result))
            plot->draw(f, result);
    }
    return page_end(f, rest, result);
}

bool bench_page_save(const cJSON *result, const char *path)
{
    text_file t;
    text_file_begin(&t);
    return text_file_save(&t, t.f && put_page(t.f, result), path);
}
