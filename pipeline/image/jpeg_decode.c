// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/still_codec.h"

#include <setjmp.h>
#include <stdlib.h>

#include "pipeline/image/libraries.h"

enum { MAX_SCANS = 500 }; /* files of a few KB can have thousands, each over the whole picture */

typedef struct reader {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf failed;
} reader;

static void fail(j_common_ptr jpeg)
{
    reader *r = jpeg->client_data;
    longjmp(r->failed, 1);
}

/* Any complaint counts: what libjpeg fills in for missing data looks like a picture. */
static void listen(j_common_ptr jpeg, int level)
{
    if (level < 0)
        fail(jpeg);
}

static void limit_scans(j_common_ptr jpeg)
{
    const reader *r = jpeg->client_data;
    if (r->jpeg.input_scan_number > MAX_SCANS)
        fail(jpeg);
}

/* Reads up to the first scan, and chooses what the pixels become. */
static bool begin(reader *r, const uint8_t *file, size_t size, unsigned channels)
{
    struct jpeg_decompress_struct *jpeg = &r->jpeg;
    libjpeg.jpeg_CreateDecompress(jpeg, JPEG_LIB_VERSION, sizeof *jpeg);
    jpeg->progress = &r->progress;
    libjpeg.jpeg_mem_src(jpeg, file, size);
    libjpeg.jpeg_read_header(jpeg, TRUE);
    if (jpeg->jpeg_color_space == JCS_UNKNOWN)
        return false;
    jpeg->out_color_space = jpeg->num_components == 4                    ? JCS_CMYK
                            : jpeg->num_components == 1 && channels != 3 ? JCS_GRAYSCALE
                                                                         : JCS_RGB;
    return true;
}

/* Adobe's files hold the light that inks leave, others the inks. */
static void rgb_of_inks(uint8_t *to, const uint8_t *inks, size_t pixels, bool light)
{
    const uint8_t flip = light ? 0 : 255;
    for (size_t x = 0; x < pixels; x++, to += 3, inks += 4)
        for (int c = 0; c < 3; c++)
            to[c] = (uint8_t)(((inks[c] ^ flip) * (inks[3] ^ flip) + 127) / 255);
}

static void read_pixels(reader *r, const still *image)
{
    struct jpeg_decompress_struct *jpeg = &r->jpeg;
    const size_t row = (size_t)image->width * image->channels;
    libjpeg.jpeg_start_decompress(jpeg);
    const bool inks = jpeg->out_color_space == JCS_CMYK;
    JSAMPARRAY line =
        inks ? jpeg->mem->alloc_sarray((j_common_ptr)jpeg, JPOOL_IMAGE, 4 * jpeg->output_width, 1)
             : NULL;
    while (jpeg->output_scanline < jpeg->output_height) {
        uint8_t *to = image->pixels + jpeg->output_scanline * row;
        libjpeg.jpeg_read_scanlines(jpeg, inks ? line : &to, 1);
        if (inks)
            rgb_of_inks(to, line[0], image->width, jpeg->saw_Adobe_marker);
    }
    libjpeg.jpeg_finish_decompress(jpeg);
}

/* A decompressor that is only cleared can be destroyed. */
static bool read_all(reader *r, still *image, const uint8_t *file, size_t size, unsigned channels,
                     bool head)
{
    r->jpeg.err = libjpeg.jpeg_std_error(&r->errors);
    r->jpeg.client_data = r;
    r->errors.error_exit = fail;
    r->errors.emit_message = listen;
    if (setjmp(r->failed) || !begin(r, file, size, channels))
        return false;
    image->width = r->jpeg.image_width;
    image->height = r->jpeg.image_height;
    image->channels = r->jpeg.out_color_space == JCS_GRAYSCALE ? 1 : 3;
    if (head)
        return true;
    image->pixels = malloc((size_t)image->width * image->height * image->channels);
    if (!image->pixels)
        return false;
    read_pixels(r, image);
    return true;
}

static bool read_some(still *image, const uint8_t *file, size_t size, unsigned channels, bool head)
{
    reader r = {.progress = {.progress_monitor = limit_scans}};
    const bool good = read_all(&r, image, file, size, channels, head);
    libjpeg.jpeg_destroy_decompress(&r.jpeg);
    if (!good) {
        free(image->pixels);
        image->pixels = NULL;
    }
    return good;
}

bool jpeg_read_head(still *image, const uint8_t *file, size_t size)
{
    return read_some(image, file, size, 0, true);
}

bool jpeg_decode(still *image, const uint8_t *file, size_t size, unsigned channels)
{
    return read_some(image, file, size, channels, false);
}
