/* Metadata that QuickTime's containers hold in two ways: a fixed set of names that every player
 * knows, or any names, which then have no room for a cover. */
#ifndef MONA_TAGS_H
#define MONA_TAGS_H

#include <stdbool.h>

#include <libavformat/avformat.h>

#include "error.h"

/* The file's own tags need the second way, and there is no cover. */
bool tags_any_name(const AVFormatContext *output);

/* Tells which tags of output, about to be written as name, will be lost. */
void tags_tell_lost(const AVFormatContext *output, const char *name, const pipeline_notes *notes);

#endif
