// SPDX-License-Identifier: Apache-2.0
#include "apps/plot/page.h"

#include <stdlib.h>
#include <string.h>

#include "apps/cli/json_output.h"

__asm__(".pushsection .rodata\n"
        "page_head:\n.incbin \"apps/plot/page.html\"\n.byte 0\n"
        "page_script:\n.incbin \"apps/plot/page.js\"\n.byte 0\n.popsection\n");
extern const char page_head[], page_script[];

const char *page_put_until(FILE *f, const char *page, const char *mark)
{
    const char *at = strstr(page, mark);
    fwrite(page, 1, (size_t)(at - page), f);
    return at + strlen(mark);
}

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

void page_begin(FILE *f)
{
    fputs(page_head, f);
}

bool page_end(FILE *f, const char *rest, const cJSON *data)
{
    rest = page_put_until(f, rest, "<!--DATA-->");
    fputs("<script type=\"application/json\" id=\"data\">", f);
    const bool good = put_json(f, data);
    fprintf(f, "</script>\n<script>\n%s", page_script);
    return good && fputs(rest, f) >= 0;
}
