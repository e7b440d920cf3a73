// SPDX-License-Identifier: Apache-2.0
#include "apps/page/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/json_output.h"
#include "apps/cli/save.h"

__asm__(".pushsection .rodata\n"
        "page_head:\n.incbin \"apps/page/page.html\"\n.byte 0\n"
        "page_script:\n.incbin \"apps/page/page.js\"\n.byte 0\n"
        "page_bench:\n.incbin \"apps/page/bench.html\"\n.byte 0\n"
        "page_compare:\n.incbin \"apps/page/compare.html\"\n.byte 0\n"
        "page_compile:\n.incbin \"apps/page/compile.html\"\n.byte 0\n.popsection\n");
extern const char page_head[], page_script[], page_bench[], page_compare[], page_compile[];

/* Writes JSON inside an element of HTML, so that nothing in it looks like a tag. */
static bool put_json(FILE *f, const cJSON *document)
{
    char *text = json_text(document, false);
    for (const char *at = text; at && *at;) {
        const size_t length = strcspn(at, "<");
        fwrite(at, 1, length, f);
        at += length;
        if (*at && *at++)
            fputs("\\u003c", f);
    }
    free(text);
    return text;
}

/* The data and the script that all pages share come before the page's own script. */
static bool put_page(FILE *f, const char *body, const cJSON *data)
{
    static const char mark[] = "<!--DATA-->";
    const char *rest = strstr(body, mark);
    fprintf(f, "%s%.*s<script type=\"application/json\" id=\"data\">", page_head,
            (int)(rest - body), body);
    const bool good = put_json(f, data);
    fprintf(f, "</script>\n<script>\n%s%s", page_script, rest + sizeof mark - 1);
    return good;
}

bool page_save(page_kind kind, const cJSON *data, const char *path)
{
    static const char *const bodies[] = {
        [PAGE_BENCH] = page_bench, [PAGE_COMPARE] = page_compare, [PAGE_COMPILE] = page_compile};
    text_file t;
    text_file_begin(&t);
    return text_file_save(&t, t.f && put_page(t.f, bodies[kind], data), path);
}
