// SPDX-License-Identifier: Apache-2.0
/* Metadata: the names and marks that containers have no room for.
 *
 * QuickTime's containers hold names in two ways: a fixed set that every player knows, or any, which
 * then have no room for a cover. */
#ifndef MONA_METADATA_SUPPORT_H
#define MONA_METADATA_SUPPORT_H

#include <stdbool.h>

#include <libavformat/avformat.h>

#include "pipeline/error.h"

/* The file's own tags need the second way, and there is no cover. */
bool metadata_support_any_name(const AVFormatContext *output);

/* Tells of tags and dispositions of output, about to be written as name, that will be lost: the
 * first of the file and of each stream. */
void metadata_support_tell_lost(const AVFormatContext *output, const char *name,
                                const pipeline_notes *notes);

#endif
