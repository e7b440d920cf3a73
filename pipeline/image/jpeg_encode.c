// SPDX-License-Identifier: Apache-2.0
/* JPEG by libjpeg. Each strip is coded as a picture of its own, whose coded data are joined:
 * before each row of blocks but the first comes a restart, after which decoders know nothing of
 * what was before. Restarts are counted from 0 to 7, so with a multiple of 8 rows of blocks in
 * each strip the one between strips is number 7. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/image/picture_kind.h"
#include "pipeline/image/libraries.h"
#include "pipeline/image/still_codec.h"

#include <jerror.h>

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

/* ---- codes ---------------------------------------------------------------------------------- */

/* Codes for a quality above HALVED_UP_TO, from the coefficients of enlarged photographs and a
 * rendered film at 92 and 95; those of the standard, which are for a lower quality, make 2 to 3 %
 * more of them. How many codes there are with 0 to 16 bits, and what they stand for: those of luma,
 * then of chroma. */
static const struct codes {
    uint8_t bits[17], symbols[256];
} dc_codes[] = {{{0, 0, 0, 6, 3, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                 {0x00, 0x03, 0x04, 0x05, 0x06, 0x07, 0x01, 0x02, 0x08, 0x09, 0x0a, 0x0b}},
                {{0, 0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0},
                 {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b}}},
  ac_codes[] = {
      {{0, 0, 1, 3, 3, 2, 4, 4, 3, 5, 4, 6, 4, 0, 1, 1, 121},
       {0x01, 0x02, 0x03, 0x04, 0x00, 0x05, 0x11, 0x06, 0x12, 0x07, 0x21, 0x31, 0x41, 0x08, 0x13,
        0x22, 0x51, 0x14, 0x32, 0x61, 0x09, 0x15, 0x42, 0x71, 0x81, 0x23, 0x52, 0x91, 0xa1, 0x0a,
        0x16, 0x33, 0x62, 0xb1, 0xc1, 0x24, 0x43, 0x72, 0xd1, 0xf0, 0x17, 0x34, 0x82, 0xe1, 0x18,
        0x25, 0x38, 0x53, 0x75, 0x92, 0xb2, 0xd2, 0xf1, 0x19, 0x35, 0x37, 0x39, 0x55, 0x56, 0x63,
        0x73, 0x76, 0x94, 0xa2, 0xb3, 0xb4, 0x1a, 0x26, 0x36, 0x44, 0x57, 0x74, 0x93, 0x95, 0xb5,
        0xc2, 0x45, 0x46, 0x54, 0x64, 0x65, 0x66, 0x77, 0xa3, 0xa4, 0xd3, 0x27, 0x28, 0x29, 0x83,
        0x84, 0x96, 0x3a, 0x47, 0x58, 0x85, 0xc3, 0x78, 0xa5, 0xd4, 0xe2, 0x2a, 0x48, 0x67, 0xb6,
        0xc4, 0x86, 0xc5, 0xd5, 0xe3, 0x49, 0x4a, 0x59, 0x5a, 0x68, 0x69, 0x6a, 0x79, 0x7a, 0x87,
        0x88, 0x89, 0x8a, 0x97, 0x98, 0x99, 0x9a, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb7, 0xb8, 0xb9,
        0xba, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe4, 0xe5, 0xe6, 0xe7,
        0xe8, 0xe9, 0xea, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa}},
      {{0, 0, 2, 1, 3, 4, 0, 4, 2, 7, 7, 1, 1, 1, 2, 0, 127},
       {0x00, 0x01, 0x02, 0x03, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x06, 0x13, 0x41, 0x51, 0x22,
        0x61, 0x07, 0x14, 0x32, 0x71, 0x81, 0xa1, 0xf0, 0x23, 0x42, 0x91, 0xb1, 0xc1, 0xd1, 0xe1,
        0x15, 0x52, 0xf1, 0x33, 0x08, 0x16, 0x24, 0x62, 0x35, 0x36, 0x43, 0x53, 0x82, 0xa2, 0x17,
        0x34, 0x72, 0xb2, 0xc2, 0xe2, 0x25, 0x73, 0x92, 0xd4, 0x44, 0x54, 0x63, 0x64, 0x74, 0x83,
        0x84, 0x94, 0xa3, 0xb3, 0xc3, 0xd2, 0xe3, 0xc4, 0xd3, 0x18, 0x93, 0x26, 0x27, 0x37, 0x65,
        0xa4, 0xb4, 0x45, 0x85, 0xf2, 0x09, 0x0a, 0x19, 0x1a, 0x28, 0x29, 0x2a, 0x38, 0x39, 0x3a,
        0x46, 0x47, 0x48, 0x49, 0x4a, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x66, 0x67, 0x68, 0x69,
        0x6a, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x95, 0x96, 0x97,
        0x98, 0x99, 0x9a, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba,
        0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9, 0xda, 0xe4, 0xe5, 0xe6,
        0xe7, 0xe8, 0xe9, 0xea, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa}}};

static void set_codes(JHUFF_TBL *table, const struct codes *codes)
{
    memcpy(table->bits, codes->bits, sizeof codes->bits);
    memcpy(table->huffval, codes->symbols, sizeof codes->symbols);
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
    libjpeg.jpeg_set_defaults(jpeg);
    libjpeg.jpeg_set_quality(jpeg, (int)e->jpeg_quality, TRUE);
    for (int i = 0; e->jpeg_quality > HALVED_UP_TO && i < 2; i++) {
        set_codes(jpeg->dc_huff_tbl_ptrs[i], &dc_codes[i]);
        set_codes(jpeg->ac_huff_tbl_ptrs[i], &ac_codes[i]);
    }
    jpeg->comp_info[0].h_samp_factor = jpeg->comp_info[0].v_samp_factor =
        strip_rows(e) > BLOCK_ROWS * DCTSIZE ? 2 : 1;
    jpeg->restart_in_rows = 1;
    unsigned unit;
    uint32_t x, y;
    if (density_to_jfif(&unit, &x, &y, &e->image->metadata.density)) {
        jpeg->density_unit = (UINT8)unit;
        jpeg->X_density = (UINT16)x;
        jpeg->Y_density = (UINT16)y;
    }
}

static void compress_strip(coder *c, const still_encoding *e, uint32_t first, uint32_t rows)
{
    const size_t row = (size_t)e->image->width * e->image->channels;
    set_up(c, e, rows);
    libjpeg.jpeg_start_compress(&c->jpeg, TRUE);
    still_encode_rows(e, first, rows, c->pixels);
    for (uint32_t y = 0; y < rows; y++)
        libjpeg.jpeg_write_scanlines(&c->jpeg, &(JSAMPROW){c->pixels + y * row}, 1);
    libjpeg.jpeg_finish_compress(&c->jpeg);
}

static bool code(coder *c, const still_encoding *e, uint32_t first, uint32_t rows)
{
    c->pixels = malloc((size_t)rows * e->image->width * e->image->channels);
    c->jpeg.err = libjpeg.jpeg_std_error(&c->errors);
    c->jpeg.client_data = c;
    c->errors.error_exit = fail;
    c->errors.output_message = ignore;
    if (!c->pixels || setjmp(c->failed))
        return false;
    libjpeg.jpeg_CreateCompress(&c->jpeg, JPEG_LIB_VERSION, sizeof c->jpeg);
    c->destination = (struct jpeg_destination_mgr){.init_destination = begin_output,
                                                   .empty_output_buffer = add_room,
                                                   .term_destination = end_output};
    c->jpeg.dest = &c->destination;
    compress_strip(c, e, first, rows);
    return true;
}

/* ---- joining -------------------------------------------------------------------------------- */

/* The first strip's head becomes that of the whole picture; of the others only the coded data
 * stay. */
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
    libjpeg.jpeg_destroy_compress(&c.jpeg);
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
