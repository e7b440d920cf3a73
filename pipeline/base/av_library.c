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
        {"libavformat", LIBAVFORMAT_VERSION_INT}, {"libavcodec", LIBAVCODEC_VERSION_INT},
        {"libavutil", LIBAVUTIL_VERSION_INT},     {"libavfilter", LIBAVFILTER_VERSION_INT},
        {"libswscale", LIBSWSCALE_VERSION_INT},
    };
    const bool found = i < sizeof all / sizeof *all;
    if (found)
        *library = all[i];
    return found;
}

const char *av_library_licence(void)
{
    return avutil_license();
}

const char *av_library_release(void)
{
    return av_version_info();
}

void av_library_quiet(void)
{
    av_log_set_level(AV_LOG_QUIET);
}
