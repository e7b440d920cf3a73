// SPDX-License-Identifier: Apache-2.0
#include "pipeline/base/av_library.h"

#include <stdlib.h>

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

/* SVT-AV1 has no other switch for the lines that it prints. This library is loaded before main() in
 * most programs, when no thread reads the environment. */
__attribute__((constructor)) static void quiet_av1(void)
{
    setenv("SVT_LOG", "-1", 0);
}

void av_library_quiet(void)
{
    av_log_set_level(AV_LOG_QUIET);
}
