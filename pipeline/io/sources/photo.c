// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/sources/photo.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/image/alpha.h"
#include "pipeline/image/colour.h"
#include "pipeline/stages/range.h"
#include "pipeline/stages/sample.h"
#include "pipeline/stages/session_binding.h"

/* Viewers turn a JPEG as its EXIF says, but few turn a PNG. */
static bool fit(photo *p, const pipeline_notes *notes, pipeline_error *error)
{
    still *image = &p->image;
    const picture_kind kind = still_kind(p->result);
    if (kind != PICTURE_PNG && image->depth == 16) {
        pipeline_note(notes, "%s: %s holds 8 of the picture's 16 bits", p->result,
                      kind == PICTURE_JPEG ? "JPEG" : "WebP");
        still_make_shallow(image);
    }
    metadata_fit(&image->metadata, kind, image->channels, p->result, notes);
    return kind == PICTURE_JPEG || image->metadata.kind == kind || still_turn_upright(image, error);
}

bool photo_open(photo *p, const char *path, const char *result, const pipeline_notes *notes,
                pipeline_error *error)
{
    *p = (photo){.path = path, .result = result, .notes = notes};
    if (!still_can_write(result))
        return pipeline_fail(error, STILL_NAMES, result);
    if (still_is_animated(path))
        pipeline_note(
            notes,
            "%s: animated; only its first picture is used, because the output is a single one",
            path);
    return (still_read_head(&p->image, path) || still_read(&p->image, path, 0, notes, error)) &&
           fit(p, notes, error);
}

bool photo_check(const photo *p, mona_size size, pipeline_error *error)
{
    const still result = {.width = size.width,
                          .height = size.height,
                          .channels = p->image.channels,
                          .depth = p->image.depth};
    return still_check(p->result, &result, error);
}

/* Alpha is stored in plane 3, so a frame with alpha has four planes. */
frame_format photo_format(const photo *p)
{
    const bool alpha = p->image.channels % 2 == 0, colour = p->image.channels >= 3;
    return (frame_format){.width = p->image.width,
                          .height = p->image.height,
                          .planes = alpha    ? 4
                                    : colour ? 3
                                             : 1,
                          .bits = p->image.depth == 16 ? 16 : RANGE_BITS,
                          .multiple = 1};
}

orientation photo_orientation(const photo *p)
{
    return orientation_of_exif(metadata_orientation(&p->image.metadata));
}

/* ---- reading -------------------------------------------------------------------------------- */

static void release(void *opaque, uint8_t *memory)
{
    (void)opaque;
    free(memory);
}

bool photo_read(photo *p, AVFrame *f, pipeline_error *error)
{
    still *image = &p->image;
    frame planes;
    p->given = true;
    if (!image->pixels) {
        const pipeline_notes said = {0};
        still_free(image);
        if (!still_read(image, p->path, 0, p->notes, error) || !fit(p, &said, error))
            return false;
    }
    const frame_format format = photo_format(p);
    uint8_t *memory = session_binding_allocate(frame_bytes(&format));
    f->buf[0] = memory ? av_buffer_create(memory, frame_bytes(&format), release, NULL, 0) : NULL;
    if (!f->buf[0])
        return free(memory), pipeline_fail(error, "out of memory");
    frame_place(&planes, &format, memory);
    colour_split(&planes, image);
    if (format.planes == 4 && !alpha_spread_planes(&planes))
        return pipeline_fail(error, "out of memory");
    f->width = (int)format.width;
    f->height = (int)format.height;
    f->color_range = AVCOL_RANGE_JPEG;
    f->format = AV_PIX_FMT_NONE; /* libav has no name for RANGE_BITS */
    for (unsigned i = 0; i < format.planes; i++) {
        f->data[i] = planes.data[i];
        f->linesize[i] = (int)planes.stride[i];
    }
    return true;
}

/* ---- writing -------------------------------------------------------------------------------- */

static frame planes_of(const photo *p, const AVFrame *f)
{
    frame planes = {.format = photo_format(p)};
    planes.format.width = (uint32_t)f->width;
    planes.format.height = (uint32_t)f->height;
    for (unsigned i = 0; i < planes.format.planes; i++) {
        planes.data[i] = f->data[i];
        planes.stride[i] = f->linesize[i];
    }
    return planes;
}

/* Colours of 16 bits are not restored exactly, so if the size is the same, the change of `whole`, as
 * split from the picture, is added to the picture's samples. */
static bool add_change(still *image, const photo *p, const AVFrame *whole)
{
    const size_t samples = (size_t)image->width * image->height * image->channels;
    const frame planes = planes_of(p, whole);
    still same = p->image;
    if (image->depth != 16 || image->width != same.width || image->height != same.height)
        return true;
    same.pixels = malloc(samples * sizeof(uint16_t));
    if (!same.pixels)
        return false;
    colour_join(&same, &planes);
    for (ptrdiff_t i = 0; i < (ptrdiff_t)samples; i++) {
        const int sum = plane_sample(p->image.pixels, i, true) +
                        plane_sample(image->pixels, i, true) - plane_sample(same.pixels, i, true);
        put_plane_sample(image->pixels, i, sum < 0 ? 0 : sum > UINT16_MAX ? UINT16_MAX : sum, true);
    }
    free(same.pixels);
    return true;
}

/* In the same size, hidden pixels keep their own colours, which were replaced while work was done. */
static void restore_hidden(still *image, const photo *p)
{
    const still *from = &p->image;
    const size_t bytes = still_pixel_bytes(from), alpha = from->channels - 1;
    const size_t pixels = (size_t)image->width * image->height;
    if (from->channels % 2 || image->width != from->width || image->height != from->height)
        return;
    for (size_t i = 0; i < pixels; i++)
        if (!plane_sample(from->pixels, (ptrdiff_t)(i * from->channels + alpha), from->depth == 16))
            memcpy(image->pixels + i * bytes, from->pixels + i * bytes, bytes);
}

bool photo_write(photo *p, const AVFrame *whole, const AVFrame *made, unsigned jpeg_quality,
                 pipeline_error *error)
{
    const frame planes = planes_of(p, made);
    still image = p->image; /* the metadata stays the picture's */
    image.width = planes.format.width;
    image.height = planes.format.height;
    image.pixels = malloc((size_t)image.width * image.height * still_pixel_bytes(&image));
    if (!image.pixels)
        return pipeline_fail(error, "out of memory");
    colour_join(&image, &planes);
    metadata_set_size(&image.metadata, (mona_size){image.width, image.height});
    bool good = add_change(&image, p, whole) || pipeline_fail(error, "out of memory");
    if (good)
        restore_hidden(&image, p);
    good = good && still_write(&image, p->result, p->path, jpeg_quality, error);
    free(image.pixels);
    p->image.metadata = image.metadata; /* its XMP may have moved */
    return good;
}

void photo_close(photo *p)
{
    still_free(&p->image);
}
