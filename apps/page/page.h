// SPDX-License-Identifier: Apache-2.0
/* Pages of HTML that contain their own data, draw it themselves, and load nothing. */
#ifndef MONA_PAGE_H
#define MONA_PAGE_H

#include <stdbool.h>

#include <cjson/cJSON.h>

typedef enum page_kind { PAGE_BENCH, PAGE_COMPARE, PAGE_COMPILE } page_kind;

/* Writes a page, which appears only when it is complete. data NULL: there was no memory for it.
 * False: one line was printed. */
bool page_save(page_kind kind, const cJSON *data, const char *path);

#endif
