// SPDX-License-Identifier: Apache-2.0
/* The timeline of a pipeline (bench_pipeline.h) in Chrome's trace format, which Perfetto and
 * chrome://tracing open: a thread for every step, an arrow along every frame. */
#ifndef PIPELINE_TRACE_H
#define PIPELINE_TRACE_H

#include <stdbool.h>

#include <cjson/cJSON.h>

/* False, with a message. */
bool pipeline_trace_save(const cJSON *result, const char *path);

#endif
