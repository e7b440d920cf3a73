// SPDX-License-Identifier: Apache-2.0
#include "pipeline/video.h"

#include "pipeline/image/pixels.h"
#include "pipeline/io/containers/container.h"

/* The n-th best format for frames of pix_fmt: with as many bits, with more, with fewer.
 * AV_PIX_FMT_NONE: there is none. */
static enum AVPixelFormat nth_depth(enum AVPixelFormat pix_fmt, unsigned n)
{
    const unsigned bits = pixels_frame_format(pix_fmt, 1, 1).bits, more = PIXELS_MAX_BITS - bits;
    return pixels_with_bits(pix_fmt, n <= more ? bits + n : bits - (n - more));
}

enum AVPixelFormat codec_choice_depth(const codec *c, const AVOutputFormat *format,
                                      enum AVPixelFormat pix_fmt)
{
    for (unsigned n = 0; n <= PIXELS_MAX_BITS - 10; n++) {
        const enum AVPixelFormat held = nth_depth(pix_fmt, n);
        if (held != AV_PIX_FMT_NONE && codec_takes(c, format, held))
            return held;
    }
    return pix_fmt;
}

/* The codec that holds most bits of deep frames, in the order of codec_for. */
static const codec *codec_for_depth(const AVOutputFormat *format, enum AVPixelFormat pix_fmt)
{
    for (unsigned n = 0; n <= PIXELS_MAX_BITS - 10; n++) {
        const enum AVPixelFormat held = nth_depth(pix_fmt, n);
        const codec *c = held == AV_PIX_FMT_NONE ? NULL : codec_for(format, held);
        if (c && codec_takes(c, format, held))
            return c;
    }
    return codec_for(format, pix_fmt);
}

static bool suits(const codec *c, const AVOutputFormat *format, enum AVPixelFormat pix_fmt)
{
    return c && !container_row_of(format)->old && codec_fits(c, format) &&
           codec_takes(c, format, pix_fmt);
}

const codec *codec_choice(const job *s, const AVCodecParameters *p, bool deep,
                          const AVOutputFormat *format, enum AVPixelFormat pix_fmt)
{
    const codec *usual = codec_for(format, AV_PIX_FMT_NONE),
                *chosen = deep ? codec_for_depth(format, pix_fmt) : codec_for(format, pix_fmt);
    const codec *same = codec_modern(p->codec_id), *hevc = codec_find("hevc");
    const bool hdr = p->color_trc == AVCOL_TRC_SMPTE2084 || p->color_trc == AVCOL_TRC_ARIB_STD_B67;
    const char *preset = s->encoder.preset;
    const bool follows =
        suits(same, format, pix_fmt) && (!preset || codec_takes_preset(same, preset));
    const bool shows = !follows && hdr && suits(hevc, format, pix_fmt);
    chosen = follows ? same : shows ? hevc : chosen;
    if (chosen != usual)
        pipeline_note(&s->notes, "%s: encoded as %s (-c chooses another), %s%s", s->output,
                      chosen->name,
                      follows ? "like the input"
                      : shows ? "for HDR"
                              : "which can hold ",
                      follows || shows ? "" : pixels_name(pix_fmt));
    return chosen;
}
