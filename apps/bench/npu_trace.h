// SPDX-License-Identifier: Apache-2.0
/* The activity of model310's pipes over time: recorded from a session, written as a trace. All of
 * it is modelled. */
#ifndef MONA_NPU_TRACE_H
#define MONA_NPU_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/model310/modelled.h"

typedef struct npu_trace {
    ac_model_event *events;
    size_t count, capacity;
    bool full; /* events were left out: out of memory, or more than a trace viewer can show */
} npu_trace;

/* For mona_session_observe; the observer is a zeroed timeline. */
void npu_trace_record(void *trace, const ac_model_event *event);
void npu_trace_free(npu_trace *t);

/* Chrome trace format, which Perfetto and chrome://tracing open: a process for each core, a thread
 * for each pipe, an arrow from every set_flag to its wait_flag. False: not written, errno says why.
 */
bool npu_trace_write(const npu_trace *t, const char *path, double clock_mhz);

#endif
