/* Pages of HTML that carry their own data. */
#ifndef PAGE_H
#define PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include <cjson/cJSON.h>

/* Writes JSON inside an element of HTML: nothing in it looks like a tag. False: out of memory. */
bool page_put_json(FILE *f, const cJSON *document);

#endif
