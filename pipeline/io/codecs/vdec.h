// SPDX-License-Identifier: Apache-2.0
/* The chip's video decoder (VDEC). */
#ifndef VDEC_H
#define VDEC_H

#include "engine/mona_ascend.h"

typedef enum vdec_stream {
    VDEC_H265,
    VDEC_H264_BASELINE,
    VDEC_H264_MAIN,
    VDEC_H264_HIGH
} vdec_stream;

/* A channel of the decoder for one stream, 4:2:0 with 8 bits a sample and of one size. Only one
 * thread may use it at a time. */
typedef struct vdec vdec;

typedef struct vdec_picture {
    uint64_t number; /* of the frame that was sent */
    bool lost;       /* the decoder could not decode it: there are no samples */
} vdec_picture;

typedef enum vdec_result { VDEC_PICTURE, VDEC_MORE, VDEC_END } vdec_result;

/* MONA_ERR_UNSUPPORTED: the libraries or this size do not allow it, or all channels are in use. */
mona_status vdec_open(vdec **decoder, const mona_device *chip, vdec_stream stream, mona_size size);
/* Sends one frame, in Annex B format of H.264 or H.265, in decoding order. Call it after
 * vdec_receive() has returned VDEC_MORE; MONA_ERR_LIMIT: it has not. */
mona_status vdec_send(vdec *decoder, const void *coded, size_t bytes, uint64_t number);
void vdec_end(vdec *decoder); /* no more frames will be sent */
/* The next picture in display order, one for each frame; with VDEC_MORE and VDEC_END
 * there is none. MONA_ERR_DEVICE: the chip gave none in time, or was lost. */
mona_status vdec_receive(vdec *decoder, vdec_picture *picture, vdec_result *result);
/* Copies the picture received last to planes y, u and v. */
mona_status vdec_fetch(const vdec *decoder, uint8_t *const planes[3], const ptrdiff_t strides[3]);
void vdec_close(vdec *decoder); /* NULL is allowed */

#endif
