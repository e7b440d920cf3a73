// SPDX-License-Identifier: Apache-2.0
#include "pipeline/base/sandbox.h"
#include "pipeline/image/picture_kind.h"
#include "pipeline/monavideo.h"

const char *mona_video_confine(const char *const *reads, const char *const *writes)
{
    picture_libraries(&(pipeline_error){0});
    sandbox walls = sandbox_begin(false);
    for (; reads && *reads; reads++)
        sandbox_reads(&walls, *reads);
    for (; writes && *writes; writes++)
        sandbox_writes(&walls, *writes);
    sandbox_enter(&walls);
    return sandbox_raised();
}
