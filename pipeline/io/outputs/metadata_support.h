// SPDX-License-Identifier: Apache-2.0
/* Metadata names and marks that containers cannot store.
 *
 * QuickTime's containers store either a fixed set of names that every player knows, or any names
 * but then no cover. */
#ifndef MONA_METADATA_SUPPORT_H
#define MONA_METADATA_SUPPORT_H

#include <stdbool.h>

#include <libavformat/avformat.h>

#include "pipeline/base/error.h"

/* Whether the file's own tags need the second way and there is no cover. */
bool metadata_support_any_name(const AVFormatContext *output);

/* Reports the tags and dispositions that will be lost when output is written as name: the first one
 * of the file and of each stream. */
void metadata_support_tell_lost(const AVFormatContext *output, const char *name,
                                const pipeline_notes *notes);

#endif
