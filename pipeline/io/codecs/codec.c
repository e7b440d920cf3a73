// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/codecs/codec.h"

#include <stdlib.h>
#include <string.h>

#include <libavutil/cpu.h>
#include <libavutil/pixdesc.h>

#include "pipeline/base/av_compat.h"
#include "pipeline/io/outputs/picture_writer.h"

static const char x26x_presets[] =
    "ultrafast,superfast,veryfast,faster,fast,medium,slow,slower,veryslow,placebo";

/* The default quality is nearly transparent, at a speed between the networks' and a tenth of it.
 * Lossless codecs make every frame independent, so that damage shows and does not spread.
 * libav takes 0 for SVT-AV1 as no quality at all, and the encoder then chooses a coarse one. */
/* clang-format off */
static const codec codecs[] = {
    {"h264", "libx264", AV_CODEC_ID_H264, .quality = "crf", 18, 0, 51,
     .preset = "preset", "medium", "superfast", x26x_presets, .low_latency = "tune=zerolatency",
     .even = true, .captions = CAPTIONS_BY_ENCODER},
    {"hevc", "libx265", AV_CODEC_ID_HEVC, .quality = "crf", 20, 0, 51,
     .preset = "preset", "medium", "ultrafast", x26x_presets,
     .options = "x265-params=log-level=none", .low_latency = "tune=zerolatency", .even = true,
     .captions = CAPTIONS_INSERTED},
    {"av1", "libsvtav1", AV_CODEC_ID_AV1, .quality = "crf", 28, 1, 63, .quality_whole = true,
     .preset = "preset", "8", "12", .preset_max = 13,
     .low_latency = "svtav1-params=pred-struct=1", .even = true, .waits = true},
    {"vp9", "libvpx-vp9", AV_CODEC_ID_VP9, .quality = "crf", 24, 0, 63, .quality_whole = true,
     .preset = "cpu-used", "3", "8", .preset_max = 8, .options = "deadline=good:row-mt=1",
     .low_latency = "deadline=realtime:lag-in-frames=0"},
    {"ffv1", "ffv1", AV_CODEC_ID_FFV1, .options = "level=3:slicecrc=1:g=1", .keeps = true},
    {"prores", "prores_ks", AV_CODEC_ID_PRORES, .options = "vendor=apl0"},
    {"rawvideo", "rawvideo", .id = AV_CODEC_ID_RAWVIDEO},
    {"gif", "gif", AV_CODEC_ID_GIF, .keeps = true, .colours = true},
    /* For numbered pictures, which picture_writer.h writes. */
    {"png", "png", .id = AV_CODEC_ID_PNG},
};
/* clang-format on */

enum { CODEC_COUNT = sizeof codecs / sizeof *codecs };

/* Other names, including those of encoders that mona does not use; codec.encoder writes the same
 * codec. */
static const struct {
    const char *name, *codec;
} others[] = {
    {"h265", "hevc"}, {"libaom-av1", "av1"}, {"librav1e", "av1"}, {"prores_aw", "prores"}};

const codec *codec_at(size_t i)
{
    return i < CODEC_COUNT ? &codecs[i] : NULL;
}

const codec *codec_find(const char *name)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(others[i].name, name))
            name = others[i].codec;
    for (int i = 0; i < CODEC_COUNT; i++)
        if (!strcmp(codecs[i].name, name) || !strcmp(codecs[i].encoder, name))
            return &codecs[i];
    return NULL;
}

/* Whether name is in names, a list separated by commas. */
static bool is_listed(const char *name, const char *names)
{
    size_t length = strlen(name);
    for (; *names; names += strcspn(names, ","), names += *names == ',')
        if (strcspn(names, ",") == length && !memcmp(names, name, length))
            return true;
    return false;
}

bool codec_takes_preset(const codec *c, const char *preset)
{
    char *end;
    if (c->preset_names)
        return is_listed(preset, c->preset_names);
    const long number = strtol(preset, &end, 10);
    return c->preset && end != preset && !*end && number >= 0 && number <= c->preset_max;
}

const codec *codec_modern(enum AVCodecID id)
{
    const bool modern = id == AV_CODEC_ID_HEVC || id == AV_CODEC_ID_AV1 || id == AV_CODEC_ID_VP9;
    return modern ? codec_find(avcodec_get_name(id)) : NULL;
}

bool codec_fits(const codec *c, const AVOutputFormat *format)
{
    if (c->id == AV_CODEC_ID_PNG || picture_writer_is(format))
        return c->id == AV_CODEC_ID_PNG && picture_writer_is(format);
    /* y4m takes uncoded frames. */
    if (format->video_codec == AV_CODEC_ID_WRAPPED_AVFRAME)
        return c->id == AV_CODEC_ID_RAWVIDEO;
    /* These writers do not report what they support. */
    if (is_listed(format->name, "mpegts,rtp_mpegts,hls,rtsp"))
        return c->id == AV_CODEC_ID_H264 || c->id == AV_CODEC_ID_HEVC;
    /* QuickTime's writer reports these as supported, but refuses them. */
    if (!strcmp(format->name, "mov") && (c->id == AV_CODEC_ID_VP9 || c->id == AV_CODEC_ID_AV1))
        return false;
    return avformat_query_codec(format, c->id, FF_COMPLIANCE_EXPERIMENTAL) == 1;
}

/* Raw samples are identified by a tag. libav writes some tags that its readers do not know, and
 * QuickTime's grey is a different format. */
static bool has_raw_tag(const AVOutputFormat *format, enum AVPixelFormat pix_fmt)
{
    const bool mov = !strcmp(format->name, "mov");
    const struct AVCodecTag *const known[] = {avformat_get_riff_video_tags(), NULL};
    const unsigned tag = avcodec_pix_fmt_to_codec_tag(pix_fmt);
    if (mov && av_pix_fmt_desc_get(pix_fmt)->nb_components < 3)
        return false;
    if (mov || !strcmp(format->name, "avi"))
        return tag && av_codec_get_id(known, tag) == AV_CODEC_ID_RAWVIDEO;
    return tag || !strcmp(format->name, "rawvideo");
}

bool codec_takes(const codec *c, const AVOutputFormat *format, enum AVPixelFormat pix_fmt)
{
    const bool alpha = av_pix_fmt_desc_get(pix_fmt)->flags & AV_PIX_FMT_FLAG_ALPHA;
    if (c->id == AV_CODEC_ID_PNG) /* picture_writer.h converts */
        return true;
    /* Alpha of VP9 lies beside the frames, for which others have no place. */
    if (c->id == AV_CODEC_ID_VP9 && alpha && !is_listed(format->name, "matroska,webm"))
        return false;
    if (c->id == AV_CODEC_ID_RAWVIDEO && format->video_codec != AV_CODEC_ID_WRAPPED_AVFRAME &&
        !has_raw_tag(format, pix_fmt))
        return false;
    const AVCodec *libav = avcodec_find_encoder_by_name(c->encoder);
    if (c->colours)
        return true;
    const enum AVPixelFormat *known = libav ? avcodec_formats(libav) : NULL;
    while (known && *known != AV_PIX_FMT_NONE && *known != pix_fmt)
        known++;
    return !known || *known == pix_fmt;
}

const codec *codec_for(const AVOutputFormat *format, enum AVPixelFormat pix_fmt)
{
    const codec *first = NULL;
    for (int i = 0; i < CODEC_COUNT; i++) {
        /* Others hold 256 colours, too, but nobody expects that of them. */
        const bool few = codecs[i].colours && format->video_codec != codecs[i].id;
        if (few || !codec_fits(&codecs[i], format))
            continue;
        if (pix_fmt == AV_PIX_FMT_NONE || codec_takes(&codecs[i], format, pix_fmt))
            return &codecs[i];
        first = first ? first : &codecs[i];
    }
    return first;
}

int codec_threads(unsigned wanted, int height)
{
    enum { MAX = 16, ROWS_EACH = 32 };
    return wanted ? (int)wanted : FFMAX(FFMIN3(av_cpu_count(), MAX, height / ROWS_EACH), 1);
}
