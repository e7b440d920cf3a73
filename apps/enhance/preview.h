// SPDX-License-Identifier: Apache-2.0
/* What mona enhance would do or has done, to look at. */
#ifndef MONA_PREVIEW_H
#define MONA_PREVIEW_H

#include <stdbool.h>

#include "pipeline/enhance.h"
#include "apps/enhance/progress.h"

/* Enhances the frame at settings->start as the whole run would, encoder and all, and writes its
 * left half as it was, enlarged by bicubic interpolation, beside its right half as it becomes, as
 * the PNG settings->output. Prints one line and gives false when it cannot. */
bool preview_write(const enhance_settings *settings);

/* After a run: compares the input, enlarged, with the output and writes report.h's page about it
 * under path. shown: what was seen of the run. */
bool preview_page(const enhance_settings *settings, const enhance_report *report,
                  const progress *shown, const char *path);

#endif
