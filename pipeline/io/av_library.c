// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/av_library.h"

#include <libavcodec/avcodec.h>
#include <libavfilter/avfilter.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libswscale/swscale.h>

av_library av_library_at(unsigned i)
{
    const av_library all[AV_LIBRARY_COUNT] = {
        {"libavformat", avformat_version()}, {"libavcodec", avcodec_version()},
        {"libavutil", avutil_version()},     {"libavfilter", avfilter_version()},
        {"libswscale", swscale_version()},
    };
    return all[i];
}
