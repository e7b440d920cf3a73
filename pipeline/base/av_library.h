// SPDX-License-Identifier: Apache-2.0
/* The FFmpeg libraries. */
#ifndef MONA_AV_LIBRARY_H
#define MONA_AV_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct av_library {
    const char *name;
    unsigned version; /* major << 16 | minor << 8 | micro */
} av_library;

/* Library i of those that mona was built with; false: there are no more. */
bool av_library_at(unsigned i, av_library *library);
/* The release that this process runs with, such as "5.1.9". "": none. */
const char *av_library_release(void);
/* Such as "GPL version 3 or later"; it then covers a program with these libraries inside. */
const char *av_library_licence(void);
/* mona reports libav's errors in its own messages. */
void av_library_quiet(void);

/* Errors that libav's demuxers, decoders and bitstream filters log while they go on: damage that no
 * return value shows. libav has one log for the whole process, so the count is for the whole
 * process too. */

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

/* The size of the last frame, since listening began, that a decoder refused since it has more
 * pixels than the decoder's max_pixels. False: there was none. */
bool av_log_errors_size(uint32_t *width, uint32_t *height);

#endif
