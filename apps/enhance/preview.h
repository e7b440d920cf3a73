// SPDX-License-Identifier: Apache-2.0
/* Pictures and pages that show the results of mona enhance, before or after a run. */
#ifndef MONA_PREVIEW_H
#define MONA_PREVIEW_H

#include <stdbool.h>

#include "pipeline/enhance.h"
#include "apps/enhance/progress.h"

/* Enhances the frame at settings->input.start, or a still picture, as the whole run would,
 * including encoding. Writes the PNG settings->output: the part that changes most, on the left of
 * the input, enlarged by bicubic interpolation, on the right of the result. False: one line was
 * printed. */
bool preview_write(const job *settings);

/* After a run: compares the input, enlarged, with the output, and writes a page about it (report.h)
 * under path. shown: the progress of the run. */
bool preview_page(const job *settings, const enhance_report *report, const progress *shown,
                  const char *path);

#endif
