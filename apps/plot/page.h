// SPDX-License-Identifier: Apache-2.0
/* Pages of HTML that contain their own data. */
#ifndef MONA_PAGE_H
#define MONA_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include <cjson/cJSON.h>

/* Writes a page up to a mark, which must be in it. Returns what follows the mark. */
const char *page_put_until(FILE *f, const char *page, const char *mark);
/* Writes what all pages begin with; the page's own style comes next. */
void page_begin(FILE *f);
/* Writes the rest of a page, with the data and the script that all pages share (page.js) at
 * <!--DATA-->, before the page's own. False: out of memory. */
bool page_end(FILE *f, const char *rest, const cJSON *data);

#endif
