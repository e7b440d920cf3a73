// SPDX-License-Identifier: Apache-2.0
/* Files of the MP4 and QuickTime family of which a part is missing, as after a download that broke
 * off. */
#ifndef MONA_CUT_OFF_H
#define MONA_CUT_OFF_H

#include <stdbool.h>

#include "pipeline/base/error.h"

/* Whether the file's own lengths say that its end is missing, or there is no index in it, without
 * which nothing can be read. If so, an error says it. */
bool cut_off_found(const char *path, pipeline_error *error);

#endif
