// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/codecs/hdr.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <libavutil/mastering_display_metadata.h>
#include <libavutil/pixdesc.h>
#include <libavutil/stereo3d.h>

#include "pipeline/base/av_compat.h"
#include "pipeline/image/frame_convert.h"
#include "pipeline/image/pixels.h"
#include "pipeline/io/containers/container.h"

/* ---- carrying ------------------------------------------------------------------------------- */

static bool describe(AVStream *video, enum AVPacketSideDataType type, const AVFrame *first,
                     enum AVFrameSideDataType of)
{
    const AVFrameSideData *side = av_frame_get_side_data(first, of);
    if (!side || avstream_side_data(video, type, NULL))
        return true;
    uint8_t *data = avstream_new_side_data(video, type, side->size);
    if (data)
        memcpy(data, side->data, side->size);
    return data;
}

bool hdr_describe(AVStream *video, const AVFrame *first)
{
    return describe(video, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, first,
                    AV_FRAME_DATA_MASTERING_DISPLAY_METADATA) &&
           describe(video, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, first,
                    AV_FRAME_DATA_CONTENT_LIGHT_LEVEL) &&
           describe(video, AV_PKT_DATA_STEREO3D, first, AV_FRAME_DATA_STEREO3D);
}

static void add_pair(char *text, size_t room, const codec_display *d, const char *name,
                     AVRational a, AVRational b, double steps)
{
    const size_t used = strlen(text);
    snprintf(text + used, room - used, "%s(%.*f,%.*f)", name, d->digits, av_q2d(a) * steps,
             d->digits, av_q2d(b) * steps);
}

static void add_mastering(char *text, size_t room, const codec_display *d,
                          const AVMasteringDisplayMetadata *m)
{
    const double c = d->chromaticity;
    if (!m->has_primaries || !m->has_luminance)
        return;
    snprintf(text, room, "%s=", d->mastering);
    add_pair(text, room, d, "G", m->display_primaries[1][0], m->display_primaries[1][1], c);
    add_pair(text, room, d, "B", m->display_primaries[2][0], m->display_primaries[2][1], c);
    add_pair(text, room, d, "R", m->display_primaries[0][0], m->display_primaries[0][1], c);
    add_pair(text, room, d, "WP", m->white_point[0], m->white_point[1], c);
    add_pair(text, room, d, "L", m->max_luminance, m->min_luminance, d->luminance);
}

void hdr_option(char *option, size_t room, const AVStream *video, const codec *c)
{
    const codec_display *d = &c->display;
    const void *mastering = avstream_side_data(video, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, NULL);
    const AVContentLightMetadata *light =
        avstream_side_data(video, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, NULL);
    char display[256] = "", level[64] = "";
    *option = 0;
    if (d->key && mastering)
        add_mastering(display, sizeof display, d, mastering);
    if (d->key && light)
        snprintf(level, sizeof level, "%s=%u,%u", d->light, light->MaxCLL, light->MaxFALL);
    if (*display || *level)
        snprintf(option, room, "%s=%s%s%s", d->key, display, *display && *level ? ":" : "", level);
}

/* ---- checking ------------------------------------------------------------------------------- */

static bool has_colour(const AVCodecParameters *p)
{
    return p->color_primaries != AVCOL_PRI_UNSPECIFIED || p->color_trc != AVCOL_TRC_UNSPECIFIED ||
           p->color_space != AVCOL_SPC_UNSPECIFIED;
}

/* libav turns the primaries that most PNG files name, those of sRGB, into a display of its own. */
static bool is_srgb(const AVMasteringDisplayMetadata *m)
{
    static const double srgb[3][2] = {{0.64, 0.33}, {0.30, 0.60}, {0.15, 0.06}};
    const double rounding = 0.002;
    for (int i = 0; i < 3; i++)
        for (int axis = 0; axis < 2; axis++)
            if (!(fabs(av_q2d(m->display_primaries[i][axis]) - srgb[i][axis]) <= rounding))
                return false;
    return m->has_primaries && !m->has_luminance;
}

static bool has_display(const AVStream *video)
{
    const void *mastering = avstream_side_data(video, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, NULL);
    return (mastering && !is_srgb(mastering)) ||
           avstream_side_data(video, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, NULL);
}

/* Viewers assume that pictures are sRGB. Of primaries that a PNG names, newer versions of libav
 * make the stream's, if they are known ones, and older versions a display. */
static bool is_beyond_srgb(const AVStream *video)
{
    const AVCodecParameters *p = video->codecpar;
    return p->color_trc == AVCOL_TRC_SMPTE2084 || p->color_trc == AVCOL_TRC_ARIB_STD_B67 ||
           p->color_primaries == AVCOL_PRI_BT2020 || p->color_primaries == AVCOL_PRI_SMPTE431 ||
           p->color_primaries == AVCOL_PRI_SMPTE432 || has_display(video);
}

bool hdr_is_dynamic(const AVFrame *frame)
{
    return av_frame_get_side_data(frame, AV_FRAME_DATA_DOVI_RPU_BUFFER) ||
           av_frame_get_side_data(frame, AV_FRAME_DATA_DYNAMIC_HDR_PLUS) ||
           av_frame_get_side_data(frame, AV_FRAME_DATA_DYNAMIC_HDR_VIVID);
}

static bool is_dynamic(const AVStream *video, const AVFrame *first)
{
    return avstream_side_data(video, AV_PKT_DATA_DOVI_CONF, NULL) || hdr_is_dynamic(first);
}

/* Whether the film's layout, two views in each frame or a sphere, has a place: with the container,
 * or for views that each frame tells, with the codec. */
static bool keeps_layout(const container *row, const codec *c, const AVStream *video,
                         const AVFrame *first)
{
    const AVStereo3D *views = avstream_side_data(video, AV_PKT_DATA_STEREO3D, NULL);
    if (row->layout)
        return true;
    return !avstream_side_data(video, AV_PKT_DATA_SPHERICAL, NULL) &&
           (!views || views->type == AV_STEREO3D_2D ||
            (c->views && av_frame_get_side_data(first, AV_FRAME_DATA_STEREO3D)));
}

/* Whether players would assume another range if none were told: they assume the full one of grey
 * alone. */
static bool has_range(const AVCodecParameters *p)
{
    return pixels_full_range(p->format, p->color_range) !=
           pixels_full_range(pixels_plain(p->format), AVCOL_RANGE_UNSPECIFIED);
}

static bool is_convertible(const AVCodecParameters *p)
{
    return av_pix_fmt_desc_get(p->format)->nb_components < 3 || frame_convert_knows(p->color_space);
}

static bool tells_colours(const AVOutputFormat *format, const codec *c)
{
    return c->tells_colours || container_row_of(format)->colours;
}

/* Describes what would be lost; NULL: nothing. What containers and codecs keep was measured with
 * libav 59. */
static const char *lost_property(const AVOutputFormat *format, const codec *c,
                                 const AVStream *video, const AVFrame *first)
{
    const container *row = container_row_of(format);
    const AVCodecParameters *p = video->codecpar;
    const bool says = tells_colours(format, c);
    const bool ranged = c->tells_range || row->range;
    const enum AVChromaLocation at = p->chroma_location;
    /* Players assume left, and y4m files always say middle. */
    const bool usual =
        at == AVCHROMA_LOC_UNSPECIFIED || at == AVCHROMA_LOC_LEFT || at == AVCHROMA_LOC_CENTER;
    const bool sited = c->siting == SITING_TOLD || row->siting ||
                       (c->siting == SITING_TOPLEFT_TOLD && at == AVCHROMA_LOC_TOPLEFT);
    if (is_dynamic(video, first))
        return "HDR metadata of every frame (HDR10+, HDR Vivid or Dolby Vision)";
    if (!keeps_layout(row, c, video, first))
        return "layout of 3D or 360 degrees";
    if (row->pictures || c->colours)
        return is_beyond_srgb(video) ? "colours, which are HDR or wider than sRGB"
               : !is_convertible(p)  ? "colours, as libswscale does not know their matrix"
                                     : NULL;
    if (!says && has_colour(p))
        return !ranged && has_range(p) ? "range, matrix, primaries and transfer of its colours"
                                       : "matrix, primaries and transfer of its colours";
    if (!ranged && has_range(p))
        return "range of samples";
    if (!says && has_display(video))
        return "mastering display and light level";
    if (!usual && !sited)
        return "place of its chroma samples";
    return NULL;
}

bool hdr_check(const AVOutputFormat *format, const codec *c, AVStream *video, const AVFrame *first,
               bool drop, const pipeline_notes *notes, pipeline_error *error)
{
    const char *lost = lost_property(format, c, video, first);
    const char *remedy = is_dynamic(video, first) ? "" : "; .mkv would";
    if (!lost)
        return true;
    if (container_row_of(format)->bare) {
        pipeline_note(notes, "%s stores only samples: whoever reads them must know the video's %s",
                      format->name, lost);
        return true;
    }
    if (!drop)
        return pipeline_fail(
            error,
            "%s as %s does not keep the video's %s%s (--drop-unsupported goes on without that)",
            c->name, format->name, lost, remedy);
    pipeline_note(notes, "left out: the video's %s", lost);
    /* A Dolby Vision configuration without the metadata would mislead a player. */
    avstream_remove_side_data(video, AV_PKT_DATA_DOVI_CONF);
    return true;
}

void hdr_tell_matrix(const AVOutputFormat *format, const codec *c, const AVStream *video,
                     enum AVColorSpace kept, const pipeline_notes *notes)
{
    const bool converted = container_row_of(format)->pictures || c->colours;
    if (kept != video->codecpar->color_space && !converted && !tells_colours(format, c))
        pipeline_note(notes,
                      "%s as %s does not tell that the matrix of the colours stays %s; of the "
                      "result's size players assume another",
                      c->name, format->name, av_color_space_name(kept));
}
