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
    const char *rest = page_put_style(f, bench_page);
    const bench_plot *plot;
    for (unsigned i = 0; (plot = bench_plot_at(i)); i++) {
        rest = page_put_until(f, rest, "<!--PLOT-->");
        if (plot->shows(result))
            plot->draw(f, result);
    }
    rest = page_put_until(f, rest, "<!--DATA-->");
    return page_put_json(f, result) && fputs(rest, f) >= 0;
}

bool bench_page_save(const cJSON *result, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    bool good = f && put_page(f, result);
    if (f && (fclose(f) || !good))
        good = false;
    if (!good)
        cli_fail(0, "%s: out of memory for the page", path);
    good = good && save_file(path, NULL, text, size);
    free(text);
    return good;
}
