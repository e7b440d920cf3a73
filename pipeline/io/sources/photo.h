// SPDX-License-Identifier: Apache-2.0
/* A still picture as a film of one frame. Its planes are luma and chroma of full range and full
 * resolution, with enough bits that only the result is rounded. Clean pictures pass the denoiser
 * unchanged, so that the result is the same as without it. */
#ifndef MONA_PHOTO_H
#define MONA_PHOTO_H

#include <stdbool.h>

#include <libavutil/frame.h>

#include "pipeline/base/error.h"
#include "pipeline/image/orientation.h"
#include "pipeline/image/stills.h"
#include "pipeline/stages/frame.h"

typedef struct photo {
    const char *path, *result; /* the files; result NULL: there is no picture */
    const pipeline_notes *notes;
    still image;
    bool given; /* as a frame */
} photo;

/* Whether the result can hold the picture in this size. */
bool photo_check(const photo *p, mona_size size, pipeline_error *error);

frame_format photo_format(const photo *p);

/* What the picture takes while it is worked on, as it is and as a frame. */
size_t photo_bytes(const photo *p);

/* How viewers turn the picture. */
orientation photo_orientation(const photo *p);

/* Writes a frame that was made of the picture's, with its channels and its metadata. jpeg_quality,
 * threads: as in still_output. */
bool photo_write(photo *p, const AVFrame *whole, const AVFrame *made, unsigned jpeg_quality,
                 unsigned threads, pipeline_error *error);

#endif
