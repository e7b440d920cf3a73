// SPDX-License-Identifier: Apache-2.0
/* A mona without video has no FFmpeg libraries. */
#include "pipeline/base/av_library.h"

bool av_library_at(unsigned i, av_library *library)
{
    (void)i, (void)library;
    return false;
}

const char *av_library_release(void)
{
    return "";
}

const char *av_library_licence(void)
{
    return "";
}

void av_library_quiet(void) {}
