// SPDX-License-Identifier: Apache-2.0
/* Errors that libav's demuxers and decoders log while they go on: damage that no return value
 * shows. libav has one log for the whole process, so the count is for the whole process too. */
#ifndef MONA_AV_LOG_ERRORS_H
#define MONA_AV_LOG_ERRORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts to listen to libav's log, and to count from 0, unless counting is paused. */
void av_log_errors_listen(void);

/* From now on, nothing of the log is printed. */
void av_log_errors_silence(void);

/* The number of errors so far. May be called from any thread. */
uint64_t av_log_errors_count(void);

/* While paused, errors are not counted: of what is read again, or decoded only because other frames
 * refer to it. */
void av_log_errors_pause(bool paused);

/* The first of them, as one line. Call it when no other thread reads or decodes. */
void av_log_errors_first(char *text, size_t size);

#endif
