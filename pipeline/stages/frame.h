// SPDX-License-Identifier: Apache-2.0
/* Frames in memory: up to four planes. */
#ifndef MONA_FRAME_H
#define MONA_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mona.h"

enum { FRAME_MAX_PLANES = 4 }; /* luma, two of chroma, alpha */

/* The format of a frame. Planes 1 and 2 are smaller by 1 << shift_x across and 1 << shift_y down;
 * planes 0 and 3 have full size. width and height are those of the picture. Stored sizes are padded
 * to a multiple that makes chroma planes whole and that grows with the frame: 35 rows are stored as
 * 36, and their enlargement by 2 as 72 for 70. */
typedef struct frame_format {
    uint32_t width, height;
    unsigned planes;           /* 1, 3 or 4 */
    unsigned shift_x, shift_y; /* 0, 0: 4:4:4; 1, 0: 4:2:2; 1, 1: 4:2:0 */
    unsigned bits;             /* of a sample; samples of more than 8 are stored in 16 */
    uint32_t multiple;         /* stored sizes are multiples of it; set by chain_open */
} frame_format;

typedef struct frame {
    frame_format format;
    uint8_t *data[FRAME_MAX_PLANES];
    ptrdiff_t stride[FRAME_MAX_PLANES]; /* bytes, positive */
} frame;

static inline bool frame_is_420(const frame_format *format)
{
    return format->planes >= 3 && format->shift_x == 1 && format->shift_y == 1;
}

/* Bytes of a stored sample. */
static inline size_t frame_sample_bytes(const frame_format *format)
{
    return format->bits > 8 ? 2 : 1;
}

/* The first sample of a row of a plane. */
static inline uint8_t *frame_row(const frame *f, unsigned plane, size_t y)
{
    return f->data[plane] + (ptrdiff_t)y * f->stride[plane];
}

/* The size of a plane without padding. Sizes of chroma planes are rounded up. */
mona_size frame_shown_size(const frame_format *format, unsigned plane);

/* The stored size of a plane. */
mona_size frame_plane_size(const frame_format *format, unsigned plane);

/* The bytes of all planes of a frame; a multiple of MONA_ALIGNMENT. */
size_t frame_bytes(const frame_format *format);

/* Places a frame in memory[0, frame_bytes), which must be aligned to MONA_ALIGNMENT. */
void frame_place(frame *f, const frame_format *format, uint8_t *memory);

/* Copies a plane without padding and repeats its last column and row into the padding. Strides are
 * in bytes. */
void frame_fill_plane(frame *f, unsigned plane, const uint8_t *source, ptrdiff_t source_stride);

/* Whether samples of more than 8 bits lie in the low bits, as those of P010 do not. */
bool frame_samples_fit(const frame_format *format, unsigned plane, const uint8_t *source,
                       ptrdiff_t source_stride);

/* The padding alone. */
void frame_pad_plane(const frame *f, unsigned plane);

/* Sets count samples of a row. */
void frame_set_samples(void *row, const frame_format *format, unsigned value, size_t count);

/* The plane as a buffer for the engine. */
mona_buffer frame_buffer(const frame *f, unsigned plane);

/* Enqueues a copy of a plane with its padding between frames of the same format. */
mona_status frame_copy_plane(mona_stream *stream, const frame *in, const frame *out,
                             unsigned plane);

/* Memory for frames that the CPU and a device both use: the device's own if the host can use that
 * too, so that frames need no copies. */

typedef struct frame_memory {
    uint8_t *bytes;            /* zeros at first, aligned to MONA_ALIGNMENT */
    const mona_device *device; /* whose it is; NULL: the host's */
} frame_memory;

/* device NULL: the host. False: there is not enough. */
bool frame_memory_open(frame_memory *memory, const mona_device *device, size_t bytes);
/* Zeroed memory is allowed. */
void frame_memory_close(frame_memory *memory);

/* Converts luma between full range and studio range, for networks that know only the latter.
 *
 * A value of v steps of 8 bits becomes 16 + 219 / 255 v, in RANGE_BITS: fp16 holds these exactly,
 * and they are fine enough that full range of 10 bits is restored without loss. */

enum { RANGE_BITS = MONA_MAX_DEPTH };

/* Converts plane 0 between frames whose planes have the same stored size. Each frame has its own
 * number of bits. */
void range_to_studio(const frame *to, const frame *from);
void range_to_full(const frame *to, const frame *from);

#endif
