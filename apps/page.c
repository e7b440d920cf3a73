#include "page.h"

#include <stdlib.h>
#include <string.h>

bool page_put_json(FILE *f, const cJSON *document)
{
    char *text = document ? cJSON_PrintUnformatted(document) : NULL;
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
