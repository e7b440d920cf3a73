// SPDX-License-Identifier: Apache-2.0
#include "pipeline/base/av_library.h"

#include <libavcodec/avcodec.h>
#include <libavfilter/avfilter.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/log.h>
#include <libswscale/swscale.h>

bool av_library_at(unsigned i, av_library *library)
{
    const av_library all[] = {
        {"libavformat", avformat_version()}, {"libavcodec", avcodec_version()},
        {"libavutil", avutil_version()},     {"libavfilter", avfilter_version()},
        {"libswscale", swscale_version()},
    };
    const bool found = i < sizeof all / sizeof *all;
    if (found)
        *library = all[i];
    return found;
}

const char *av_library_licence(void)
{
    return avcodec_license();
}

void av_library_quiet(void)
{
    av_log_set_level(AV_LOG_QUIET);
}
