// SPDX-License-Identifier: Apache-2.0
/* JPEG by libjpeg. Each strip is coded as a picture of its own, whose coded data are joined: before each
 * row of blocks but the first comes a restart, after which decoders know nothing of what was before.
 * Restarts are counted from 0 to 7, so with a multiple of 8 rows of blocks in each strip the one between
 * strips is number 7. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#include "pipeline/image/jpeg_segments.h"
#include "pipeline/image/still_encode.h"
#include "pipeline/image/strips.h"

enum { BLOCK_ROWS = 8, HALVED_UP_TO = 90, BEHIND_JFIF = 20 };

typedef struct coder {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr destination;
    jmp_buf failed;
    metadata_bytes *bytes;
    uint8_t *pixels;
} coder;

static void fail(j_common_ptr jpeg)
{
    coder *c = jpeg->client_data;
    longjmp(c->failed, 1);
}

static void ignore(j_common_ptr jpeg)
{
    (void)jpeg;
}

/* ---- where the bytes go --------------------------------------------------------------------- */

static boolean add_room(j_compress_ptr jpeg)
{
    enum { ROOM = 1 << 16 };
    coder *c = jpeg->client_data;
    if (!metadata_append(c->bytes, NULL, ROOM))
        ERREXIT1(jpeg, JERR_OUT_OF_MEMORY, 0);
    c->destination.next_output_byte = c->bytes->data + c->bytes->size - ROOM;
    c->destination.free_in_buffer = ROOM;
    return TRUE;
}

static void begin_output(j_compress_ptr jpeg)
{
    add_room(jpeg);
}

static void end_output(j_compress_ptr jpeg)
{
    coder *c = jpeg->client_data;
    c->bytes->size -= c->destination.free_in_buffer;
}

/* ---- a strip -------------------------------------------------------------------------------- */

static uint32_t strip_rows(const still_encoding *e)
{
    const bool halved = e->jpeg_quality <= HALVED_UP_TO && e->image->channels == 3;
    return BLOCK_ROWS * DCTSIZE * (halved ? 2 : 1);
}

static void set_up(coder *c, const still_encoding *e, uint32_t rows)
{
    struct jpeg_compress_struct *jpeg = &c->jpeg;
    jpeg->image_width = e->image->width;
    jpeg->image_height = rows;
    jpeg->input_components = (int)e->image->channels;
    jpeg->in_color_space = e->image->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, (int)e->jpeg_quality, TRUE);
    jpeg->comp_info[0].h_samp_factor = jpeg->comp_info[0].v_samp_factor =
        strip_rows(e) > BLOCK_ROWS * DCTSIZE ? 2 : 1;
    jpeg->restart_in_rows = 1;
}

static void compress(coder *c, const still_encoding *e, uint32_t first, uint32_t rows)
{
    const size_t row = (size_t)e->image->width * e->image->channels;
    set_up(c, e, rows);
    jpeg_start_compress(&c->jpeg, TRUE);
    still_encode_rows(e, first, rows, c->pixels);
    for (uint32_t y = 0; y < rows; y++)
        jpeg_write_scanlines(&c->jpeg, &(JSAMPROW){c->pixels + y * row}, 1);
    jpeg_finish_compress(&c->jpeg);
}

static bool code(coder *c, const still_encoding *e, uint32_t first, uint32_t rows)
{
    c->pixels = malloc((size_t)rows * e->image->width * e->image->channels);
    c->jpeg.err = jpeg_std_error(&c->errors);
    c->jpeg.client_data = c;
    c->errors.error_exit = fail;
    c->errors.output_message = ignore;
    if (!c->pixels || setjmp(c->failed))
        return false;
    jpeg_create_compress(&c->jpeg);
    c->destination = (struct jpeg_destination_mgr){.init_destination = begin_output,
                                                   .empty_output_buffer = add_room,
                                                   .term_destination = end_output};
    c->jpeg.dest = &c->destination;
    compress(c, e, first, rows);
    return true;
}

/* ---- joining -------------------------------------------------------------------------------- */

/* The first strip's head becomes that of the whole picture; of the others only the coded data stay. */
static bool join(const still_encoding *e, uint32_t i, metadata_bytes *bytes, bool last)
{
    enum { SOF0 = 0xc0, RST7 = 0xd7 };
    jpeg_segment segment = {0};
    for (size_t at = 0; segment.code != MARKER_SOS;) {
        if (!jpeg_segment_next(&segment, bytes->data, bytes->size, &at))
            return false;
        uint8_t *height = bytes->data + (segment.data - bytes->data) + 1; /* after the depth */
        if (segment.code == SOF0) {
            height[0] = (uint8_t)(e->image->height >> 8);
            height[1] = (uint8_t)e->image->height;
        }
    }
    if (!last)
        bytes->data[bytes->size - 1] = RST7; /* in place of the end of the picture */
    if (i) {
        const size_t head = (size_t)(segment.data + segment.size - bytes->data);
        bytes->size -= head;
        memmove(bytes->data, bytes->data + head, bytes->size);
    }
    return true;
}

static bool make(const void *context, uint32_t i, metadata_bytes *bytes)
{
    const still_encoding *e = context;
    const uint32_t rows = strip_rows(e), first = i * rows, left = e->image->height - first;
    coder c = {.bytes = bytes};
    const bool good = code(&c, e, first, left < rows ? left : rows);
    jpeg_destroy_compress(&c.jpeg);
    free(c.pixels);
    return good && join(e, i, bytes, left <= rows);
}

static bool put(void *context, uint32_t i, metadata_bytes *bytes)
{
    const still_encoding *e = context;
    const size_t head = i ? 0 : BEHIND_JFIF;
    return (i || (e->write(e->to, bytes->data, head) &&
                  e->write(e->to, e->metadata.data, e->metadata.size))) &&
           e->write(e->to, bytes->data + head, bytes->size - head);
}

bool jpeg_encode(const still_encoding *e)
{
    const uint32_t rows = strip_rows(e);
    const strips s = {(e->image->height + rows - 1) / rows, e->threads, make, put, (void *)e};
    return strips_encode(&s);
}
