// SPDX-License-Identifier: Apache-2.0
/* Metadata: the names and marks for which containers have no room.
 *
 * QuickTime's containers store names in one of two ways: a fixed set that every player knows, or
 * any names, which leaves no room for a cover. */
#ifndef MONA_METADATA_SUPPORT_H
#define MONA_METADATA_SUPPORT_H

#include <stdbool.h>

#include <libavformat/avformat.h>

#include "pipeline/error.h"

/* Whether the file's own tags need the second way and there is no cover. */
bool metadata_support_any_name(const AVFormatContext *output);

/* Reports the tags and dispositions that will be lost when output is written as name: the first one
 * of the file and of each stream. */
void metadata_support_tell_lost(const AVFormatContext *output, const char *name,
                                const pipeline_notes *notes);

#endif
