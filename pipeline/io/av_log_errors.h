// SPDX-License-Identifier: Apache-2.0
/* What libav's demuxers and decoders complain of while they go on: damage that no return value
 * shows. libav has one log for the whole process, and so this counts for the whole process. */
#ifndef MONA_AV_LOG_ERRORS_H
#define MONA_AV_LOG_ERRORS_H

#include <stddef.h>
#include <stdint.h>

/* Listens to libav's log from now on. Counts from 0 again. */
void av_log_errors_listen(void);

/* Errors so far. Any thread. */
uint64_t av_log_errors_count(void);

/* The first of them, in one line. Call when no other thread reads or decodes. */
void av_log_errors_first(char *text, size_t size);

#endif
