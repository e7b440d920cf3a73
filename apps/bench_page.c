#include "bench_page.h"

#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "page.h"
#include "save.h"

__asm__(".pushsection .rodata\nbench_page:\n.incbin \"apps/bench.html\"\n.byte 0\n.popsection\n");
extern const char bench_page[];

static bool put_page(FILE *f, const cJSON *result)
{
    static const char mark[] = "<!--DATA-->";
    const char *at = strstr(bench_page, mark);
    fwrite(bench_page, 1, (size_t)(at - bench_page), f);
    return page_put_json(f, result) && fputs(at + strlen(mark), f) >= 0;
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
