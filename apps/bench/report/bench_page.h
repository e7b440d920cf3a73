// SPDX-License-Identifier: Apache-2.0
/* A result of mona bench as an HTML page: bench.html with the result in it. */
#ifndef BENCH_PAGE_H
#define BENCH_PAGE_H

#include <stdbool.h>

#include <cjson/cJSON.h>

/* False, with a message. */
bool bench_page_save(const cJSON *result, const char *path);

#endif
