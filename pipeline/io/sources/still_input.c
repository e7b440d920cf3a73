// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/sources/source.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/image/picture_planes.h"
#include "pipeline/stages/frame.h"
#include "pipeline/stages/sample.h"
#include "pipeline/stages/session_binding.h"
#include "pipeline/io/sources/input.h"

/* Viewers turn a JPEG as its EXIF says, but few turn a PNG. */
static bool suit_result(still_input *p, const pipeline_notes *notes, pipeline_error *error)
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

/* Reads the head of the picture, or all of it where the head does not say enough, and tells what
 * the result cannot hold of it. */
static bool still_input_open(still_input *p, const char *path, const input_settings *settings,
                             const pipeline_notes *notes, pipeline_error *error)
{
    const char *result = settings->still_result;
    *p = (still_input){.path = path,
                       .result = result,
                       .keep = settings->keep_result,
                       .wish = {.max_pixels = settings->max_pixels, .notes = notes}};
    if (!still_can_write(result))
        return pipeline_fail(error, STILL_NAMES, result);
    if (still_is_animated(path))
        pipeline_note(
            notes,
            "%s: animated; only its first picture is used, because the output is a single one",
            path);
    return (still_read_head(&p->image, path) || still_read(&p->image, path, &p->wish, error)) &&
           suit_result(p, notes, error);
}

bool still_input_check(const still_input *p, mona_size size, pipeline_error *error)
{
    const still result = {.width = size.width,
                          .height = size.height,
                          .channels = p->image.channels,
                          .depth = p->image.depth};
    return still_check(p->result, &result, error);
}

/* Alpha is stored in plane 3, so a frame with alpha has four planes. */
frame_format still_input_format(const still_input *p)
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

size_t still_input_bytes(const still_input *p)
{
    const frame_format format = still_input_format(p);
    return frame_bytes(&format) +
           (size_t)p->image.width * p->image.height * still_pixel_bytes(&p->image);
}

orientation still_input_orientation(const still_input *p)
{
    return orientation_of_exif(metadata_orientation(&p->image.metadata));
}

/* ---- reading -------------------------------------------------------------------------------- */

static void release(void *opaque, uint8_t *memory)
{
    (void)opaque;
    free(memory);
}

/* Makes the frame, of still_input_format. */
static bool still_input_read(still_input *p, AVFrame *f, pipeline_error *error)
{
    still *image = &p->image;
    frame planes;
    p->given = true;
    if (!image->pixels) {
        const pipeline_notes said = {0};
        still_free(image);
        if (!still_read(image, p->path, &p->wish, error) || !suit_result(p, &said, error))
            return false;
    }
    const frame_format format = still_input_format(p);
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

static frame planes_of(const still_input *p, const AVFrame *f)
{
    frame planes = {.format = still_input_format(p)};
    planes.format.width = (uint32_t)f->width;
    planes.format.height = (uint32_t)f->height;
    for (unsigned i = 0; i < planes.format.planes; i++) {
        planes.data[i] = f->data[i];
        planes.stride[i] = f->linesize[i];
    }
    return planes;
}

typedef struct joining {
    const still_input *p;
    frame made, whole;
    bool same_size; /* as the picture's */
} joining;

/* Pixels of one row, from pixel x of row y on. */
typedef struct piece {
    uint32_t x, y, count;
    uint8_t *pixels;
} piece;

enum { PIECE = 256 };

static void join_piece(const still *image, const frame *from, const piece *at)
{
    still to = {.width = at->count,
                .height = 1,
                .channels = image->channels,
                .depth = image->depth,
                .pixels = at->pixels};
    frame part = *from;
    for (unsigned i = 0; i < part.format.planes; i++)
        part.data[i] += at->y * part.stride[i] + (ptrdiff_t)(at->x * sizeof(uint16_t));
    colour_join(&to, &part);
}

static const uint8_t *source_of(const still_input *p, const piece *at)
{
    return p->image.pixels +
           ((size_t)at->y * p->image.width + at->x) * still_pixel_bytes(&p->image);
}

/* Colours of 16 bits are not restored exactly, so if the size is the same, the change of
 * `whole`, as split from the picture, is added to the picture's samples. */
static void add_change(const still *image, const joining *j, const piece *at)
{
    uint16_t same[4 * PIECE];
    const uint8_t *source = source_of(j->p, at);
    join_piece(image, &j->whole, &(piece){at->x, at->y, at->count, (uint8_t *)same});
    for (ptrdiff_t i = 0; i < (ptrdiff_t)at->count * image->channels; i++) {
        const int sum = plane_sample(source, i, true) + plane_sample(at->pixels, i, true) - same[i];
        put_plane_sample(at->pixels, i, sum < 0 ? 0 : sum > UINT16_MAX ? UINT16_MAX : sum, true);
    }
}

/* In the same size, hidden pixels keep their own colours, which were replaced while work was
 * done. */
static void restore_hidden(const still *image, const joining *j, const piece *at)
{
    const size_t bytes = still_pixel_bytes(image), alpha = image->channels - 1;
    const uint8_t *source = source_of(j->p, at);
    for (size_t i = 0; i < at->count; i++)
        if (!plane_sample(source, (ptrdiff_t)(i * image->channels + alpha), image->depth == 16))
            memcpy(at->pixels + i * bytes, source + i * bytes, bytes);
}

static void join_rows(const void *from, const still *image, uint32_t first, uint32_t count,
                      uint8_t *to)
{
    const joining *j = from;
    for (uint32_t y = first; y < first + count; y++)
        for (uint32_t x = 0; x < image->width; x += PIECE) {
            const uint32_t left = image->width - x;
            const piece at = {x, y, left < PIECE ? left : PIECE, to};
            join_piece(image, &j->made, &at);
            if (j->same_size && image->depth == 16)
                add_change(image, j, &at);
            if (j->same_size && image->channels % 2 == 0)
                restore_hidden(image, j, &at);
            to += at.count * still_pixel_bytes(image);
        }
}

bool still_input_write(still_input *p, const AVFrame *whole, const AVFrame *made,
                       unsigned jpeg_quality, unsigned threads, pipeline_error *error)
{
    const joining j = {p, planes_of(p, made), planes_of(p, whole),
                       (uint32_t)made->width == p->image.width &&
                           (uint32_t)made->height == p->image.height};
    still image = p->image; /* the metadata stays the picture's */
    image.width = (uint32_t)made->width;
    image.height = (uint32_t)made->height;
    metadata_set_size(&image.metadata, (mona_size){image.width, image.height});
    const bool good =
        still_write(&image, &(still_source){join_rows, &j},
                    &(still_output){p->result, p->path, jpeg_quality, threads, p->keep}, error);
    p->image.metadata = image.metadata; /* its XMP may have moved */
    return good;
}

/* ---- as a source ----------------------------------------------------------------------------- */

static bool is_still(const input_settings *settings)
{
    return settings->still_result;
}

/* A stream of one frame, and without packets. */
static bool open_source(source *s, const input_settings *settings, pipeline_error *error)
{
    s->described.coded =
        (AVCodecParameters){.codec_type = AVMEDIA_TYPE_UNKNOWN, .format = AV_PIX_FMT_NONE};
    s->described.video = (AVStream){.codecpar = &s->described.coded,
                                    .time_base = {1, 90000},
                                    .start_time = AV_NOPTS_VALUE,
                                    .duration = AV_NOPTS_VALUE,
                                    .nb_frames = 1};
    s->described.streams[0] = &s->described.video;
    s->described.format = (AVFormatContext){.start_time = AV_NOPTS_VALUE,
                                            .duration = AV_NOPTS_VALUE,
                                            .nb_streams = 1,
                                            .streams = s->described.streams};
    s->format = &s->described.format;
    return still_input_open(&s->still, s->path, settings, s->notes, error);
}

static input_result read_frame(source *s, AVFrame *frame, pipeline_error *error)
{
    return s->still.given                              ? INPUT_END
           : still_input_read(&s->still, frame, error) ? INPUT_FRAME
                                                       : INPUT_FAILED;
}

static int no_packet(source *s, AVPacket *packet)
{
    (void)s, (void)packet;
    return AVERROR_EOF;
}

static void close_source(source *s)
{
    still_free(&s->still.image);
}

const source_kind source_still = {is_still, open_source,  no_packet, read_frame, NULL,
                                  NULL,     close_source, false,     false};
