// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/codecs/codec.h"

#include <stdlib.h>
#include <string.h>

#include <libavutil/cpu.h>
#include <libavutil/pixdesc.h>

#include "pipeline/base/av_compat.h"
#include "pipeline/io/containers/container.h"

static const char x26x_presets[] =
    "ultrafast,superfast,veryfast,faster,fast,medium,slow,slower,veryslow,placebo";

/* The default quality is nearly transparent, at a speed between the networks' and a tenth of it.
 * Lossless codecs make every frame independent, so that damage shows and does not spread.
 * libav takes 0 for SVT-AV1 as no quality at all, and the encoder then chooses a coarse one. */
/* clang-format off */
static const codec codecs[] = {
    {"h264", "libx264", AV_CODEC_ID_H264, .quality = "crf", 18, 0, 51,
     .preset = "preset", "medium", "superfast", x26x_presets, .low_latency = "tune=zerolatency",
     .even = true, .captions = CAPTIONS_BY_ENCODER, .chroma = PICTURE_420,
     .tells_colours = true, .tells_range = true, .siting = SITING_TOLD, .views = true,
     .fields = true, .display = {"x264-params", "mastering-display", "cll", 50000, 10000, 0}},
    {"hevc", "libx265", AV_CODEC_ID_HEVC, .quality = "crf", 20, 0, 51,
     .preset = "preset", "medium", "ultrafast", x26x_presets,
     .options = "x265-params=log-level=none", .low_latency = "tune=zerolatency", .even = true,
     .hangs = true, .modern = true, .captions = CAPTIONS_INSERTED, .chroma = PICTURE_420,
     .tells_colours = true, .tells_range = true, .siting = SITING_TOLD,
     .display = {"x265-params", "master-display", "max-cll", 50000, 10000, 0},
     /* With it, x265 4.1 writes outside its memory where frames are narrower than its blocks. */
     .narrow = "x265-params=no-cutree=1"},
    {"av1", "libsvtav1", AV_CODEC_ID_AV1, .quality = "crf", 28, 1, 63, .quality_whole = true,
     .preset = "preset", "8", "12", .preset_max = 13,
     .low_latency = "svtav1-params=pred-struct=1", .even = true, .waits = true,
     .hangs = true, .modern = true, .chroma = PICTURE_420,
     .tells_colours = true, .tells_range = true, .siting = SITING_TOPLEFT_TOLD,
     .display = {"svtav1-params", "mastering-display", "content-light", 1, 1, 5}},
    {"vp9", "libvpx-vp9", AV_CODEC_ID_VP9, .quality = "crf", 24, 0, 63, .quality_whole = true,
     .preset = "cpu-used", "3", "8", .preset_max = 8, .options = "deadline=good:row-mt=1",
     .low_latency = "deadline=realtime:lag-in-frames=0", .modern = true, .chroma = PICTURE_420,
     .tells_range = true},
    {"ffv1", "ffv1", AV_CODEC_ID_FFV1, .options = "level=3:slicecrc=1:g=1", .keeps = true,
     .fields = true},
    {"prores", "prores_ks", AV_CODEC_ID_PRORES, .options = "vendor=apl0",
     .chroma = PICTURE_422_10, .fields = true},
    {"rawvideo", "rawvideo", AV_CODEC_ID_RAWVIDEO, .samples = true},
    {"gif", "gif", AV_CODEC_ID_GIF, .keeps = true, .colours = true},
    {"png", "png", AV_CODEC_ID_PNG, .pictures = true},
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
    for (int i = 0; i < CODEC_COUNT; i++)
        if (codecs[i].id == id && codecs[i].modern)
            return &codecs[i];
    return NULL;
}

bool codec_fits(const codec *c, const AVOutputFormat *format)
{
    return container_holds_id(format, c->id) &&
           (!c->pictures || container_row_of(format)->pictures);
}

static bool takes_raw(container_raw raw, enum AVPixelFormat pix_fmt)
{
    const struct AVCodecTag *const known[] = {avformat_get_riff_video_tags(), NULL};
    const unsigned tag = avcodec_pix_fmt_to_codec_tag(pix_fmt);
    if (raw == RAW_ANY || raw == RAW_TAGGED)
        return tag || raw == RAW_ANY;
    return (raw != RAW_COLOURS || av_pix_fmt_desc_get(pix_fmt)->nb_components >= 3) && tag &&
           av_codec_get_id(known, tag) == AV_CODEC_ID_RAWVIDEO;
}

bool codec_takes(const codec *c, const AVOutputFormat *format, enum AVPixelFormat pix_fmt)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(pix_fmt);
    const bool alpha = d->flags & AV_PIX_FMT_FLAG_ALPHA;
    const bool tall = d->log2_chroma_w < d->log2_chroma_h; /* 4:4:0, which mp4 cannot tell */
    if (c->pictures)                                       /* picture_writer.h converts */
        return true;
    const container *row = container_row_of(format);
    if (c->id == AV_CODEC_ID_VP9 && ((alpha && !row->alpha) || (tall && row->quicktime)))
        return false;
    if (c->samples && !takes_raw(row->raw, pix_fmt))
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
