// SPDX-License-Identifier: Apache-2.0
/* Pages of HTML that contain their own data. */
#ifndef MONA_PAGE_H
#define MONA_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include <cjson/cJSON.h>

/* Writes a page up to a mark, which must be in it. Returns what follows the mark. */
const char *page_put_until(FILE *f, const char *page, const char *mark);
/* Writes a page up to where its style belongs, and the style that all pages share. Returns the
 * rest. */
const char *page_put_style(FILE *f, const char *page);
/* Writes JSON inside an element of HTML, so that nothing in it looks like a tag. False: out of
 * memory. */
bool page_put_json(FILE *f, const cJSON *document);

#endif
