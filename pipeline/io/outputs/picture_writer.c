// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/outputs/picture_writer.h"

#include <libavutil/pixdesc.h>

#include "pipeline/io/sources/picture_list.h"
#include "pipeline/image/picture_planes.h"
#include "pipeline/image/still_codec.h"
#include "pipeline/image/stills.h"

const AVOutputFormat *picture_writer_format(void)
{
    return av_guess_format("image2", NULL, NULL);
}

bool picture_writer_check(const char *pattern, int pix_fmt, pipeline_error *error)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(pix_fmt);
    const picture_kind kind = still_kind(pattern);
    if (kind == PICTURE_NONE)
        return pipeline_fail(error, STILL_NAMES, pattern);
    if (kind == PICTURE_JPEG && (d->comp[0].depth > 8 || d->flags & AV_PIX_FMT_FLAG_ALPHA))
        return pipeline_fail(error,
                             "%s: JPEG holds 8 bits without alpha, the video is %s; use .png",
                             pattern, d->name);
    return kind != PICTURE_WEBP || d->comp[0].depth == 8 ||
           pipeline_fail(error, "%s: WebP holds 8 bits, the video is %s; use .png", pattern,
                         d->name);
}

/* What lies beside the pixels of the picture that this one was made of. Frames of PNGs are turned
 * only on request. */
static bool take_metadata(picture_writer *w, still *image, const char *input, const char *name,
                          pipeline_error *error)
{
    const pipeline_notes silent = {0};
    picture_metadata *m = &image->metadata;
    if (!still_read_metadata(m, input, error))
        return false;
    if (w->upright || m->kind != PICTURE_PNG)
        metadata_set_upright(m);
    metadata_set_size(m, (mona_size){image->width, image->height});
    metadata_fit(m, still_kind(name), image->channels, name, w->notes ? w->notes : &silent);
    w->notes = NULL;
    return true;
}

static bool write(picture_writer *w, const AVFrame *picture, const still_output *output,
                  pipeline_error *error)
{
    still image = {0};
    const bool good =
        still_of_frame(&image, picture, error) &&
        (!output->input || take_metadata(w, &image, output->input, output->path, error)) &&
        still_write(&image, NULL, output, error);
    still_free(&image);
    return good;
}

bool picture_writer_put(picture_writer *w, const AVFrame *frame, pipeline_error *error)
{
    char name[4096], input[4096];
    const uint32_t number = w->by_time ? w->first + (uint32_t)frame->pts : w->next++;
    if (!picture_name(name, sizeof name, w->pattern, number))
        return pipeline_fail(error, "%s: the name is too long", w->pattern);
    const bool guarded = w->input && picture_name(input, sizeof input, w->input, number);
    AVFrame *picture = picture_of_planes(frame, error);
    const bool good = picture && write(w, picture,
                                       &(still_output){name, guarded ? input : NULL,
                                                       w->jpeg_quality, w->threads, w->keep},
                                       error);
    av_frame_free(&picture);
    return good;
}
