// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/containers/media_file.h"

#include <libavutil/avstring.h>

#include "pipeline/base/av_compat.h"

/* A trait that is forgotten does not compile. */
#define READER(name_, called_, list_, below_, pattern_, bursts_, drops_last_, index_, unsized_,    \
               headers_, ends_, nested_)                                                           \
    {                                                                                              \
        .name = name_, .called = called_, .list = list_, .below = below_, .pattern = pattern_,     \
        .bursts = bursts_, .drops_last = drops_last_, .index = index_, .unsized = unsized_,        \
        .headers = headers_, .ends = ends_, .nested = nested_                                      \
    }

enum { o = false, X = true };

static const reader rows[] = {
    /* list, below, pattern, bursts, drops_last, index, unsized, headers, ends,
     * nested */
    READER("hls", "a playlist", X, X, o, X, o, o, o, o, o, o),
    READER("dash", "a manifest of DASH", X, o, o, X, o, o, o, o, o, o),
    READER("webm_dash_manifest", "a manifest of DASH", X, o, o, o, o, o, o, o, o, o),
    READER("imf", "a playlist of IMF", X, o, o, o, o, o, o, o, o, o),
    READER("concat", "a list of files (ffconcat)", X, o, o, o, o, o, o, o, o, o),
    READER("sdp", "a description of a stream (SDP)", X, o, o, o, o, o, o, o, o, o),
    /* libav renders plain text as a terminal would. */
    READER("tty", "text", o, o, o, o, o, o, o, o, o, o),
    READER("image2", NULL, o, o, X, o, o, o, o, o, o, o),
    READER("yuv4mpegpipe", NULL, o, o, o, o, X, o, o, o, o, o),
    READER("mov", NULL, o, o, o, o, o, X, o, o, X, o),
    READER("matroska", NULL, o, o, o, o, o, o, o, o, X, X),
    READER("asf", NULL, o, o, o, o, o, o, o, o, X, o),
    READER("nut", NULL, o, o, o, o, o, o, o, o, X, o),
    READER("flv", NULL, o, o, o, o, o, o, o, X, o, o),
    READER("webp_pipe", NULL, o, o, o, o, o, o, X, o, o, o),
    READER(NULL, NULL, o, o, o, o, o, o, o, o, o, o),
};

const reader *reader_of(const AVInputFormat *format)
{
    const reader *row = rows;
    while (row->name && !av_match_name(row->name, format->name))
        row++;
    return row;
}

int64_t media_length(const AVFormatContext *media)
{
    const int64_t origin = avformat_origin(media);
    if (media->duration <= 0) /* a picture has no reader either */
        return 0;
    return reader_of(media->iformat)->ends && origin > 0 && origin < media->duration
               ? media->duration - origin
               : media->duration;
}
