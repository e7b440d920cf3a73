// SPDX-License-Identifier: Apache-2.0
/* A still picture as a film of one frame. Its planes are luma and chroma of full range and full
 * resolution, with enough bits that only the result is rounded. Clean pictures pass the denoiser
 * unchanged, so that the result is the same as without it. */
#ifndef MONA_STILL_INPUT_H
#define MONA_STILL_INPUT_H

#include <stdbool.h>

#include <libavutil/frame.h>

#include "pipeline/base/error.h"
#include "pipeline/image/orientation.h"
#include "pipeline/image/stills.h"
#include "pipeline/stages/frame.h"

typedef struct still_input {
    const char *path, *result; /* the files; result NULL: there is no picture */
    const pipeline_notes *notes;
    still image;
    bool given; /* as a frame */
} still_input;

/* Whether the result can hold the picture in this size. */
bool still_input_check(const still_input *p, mona_size size, pipeline_error *error);

frame_format still_input_format(const still_input *p);

/* What the picture takes while it is worked on, as it is and as a frame. */
size_t still_input_bytes(const still_input *p);

/* How viewers turn the picture. */
orientation still_input_orientation(const still_input *p);

/* Writes a frame that was made of the picture's, with its channels and its metadata. jpeg_quality,
 * threads: as in still_output. */
bool still_input_write(still_input *p, const AVFrame *whole, const AVFrame *made,
                       unsigned jpeg_quality, unsigned threads, pipeline_error *error);

#endif
