// SPDX-License-Identifier: Apache-2.0
/* What calibration reads in a mona without video: no pictures and no clips, only arrays. */
#include <stdlib.h>

#include "apps/compile/calibration.h"

bool picture_libraries(pipeline_error *error)
{
    (void)error;
    return true;
}

bool still_is_image(const char *path)
{
    (void)path;
    return false;
}

bool still_read(still *image, const char *path, const still_wish *wish, pipeline_error *error)
{
    (void)image, (void)wish;
    return pipeline_fail(error, "%s: this mona was built without pictures and video", path);
}

void still_free(still *image)
{
    free(image->pixels);
    *image = (still){0};
}

bool calibration_add_clip(calibration *c, const char *path)
{
    (void)c;
    return cli_fail(0,
                    "%s: expected a .npy array or a folder of them; this mona was built without "
                    "pictures and video",
                    path);
}
