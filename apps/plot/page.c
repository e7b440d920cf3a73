// SPDX-License-Identifier: Apache-2.0
#include "apps/plot/page.h"

#include <stdlib.h>
#include <string.h>

#include "apps/cli/json_output.h"

__asm__(
    ".pushsection .rodata\npage_style:\n.incbin \"apps/plot/page.css\"\n.byte 0\n.popsection\n");
extern const char page_style[];

const char *page_put_until(FILE *f, const char *page, const char *mark)
{
    const char *at = strstr(page, mark);
    fwrite(page, 1, (size_t)(at - page), f);
    return at + strlen(mark);
}

const char *page_put_style(FILE *f, const char *page)
{
    const char *rest = page_put_until(f, page, "/*STYLE*/\n");
    fputs(page_style, f);
    return rest;
}

bool page_put_json(FILE *f, const cJSON *document)
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
