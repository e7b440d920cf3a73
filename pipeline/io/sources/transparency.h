// SPDX-License-Identifier: Apache-2.0
/* Whether a film shows anything behind it. GIFs and palettes always can, but few do. */
#ifndef MONA_TRANSPARENCY_H
#define MONA_TRANSPARENCY_H

#include <stdbool.h>

#include <libavformat/avformat.h>

#include "pipeline/io/sources/source.h"

/* Whether the format can hold alpha, but does not tell whether there is any. */
bool transparency_is_open(const AVCodecParameters *video);

/* Decodes a file of such a format until a pixel is not opaque, or of numbered pictures the first
 * one. Data that can be read only once counts as opaque. */
bool transparency_find(const source_kind *kind, const input_settings *settings,
                       const AVStream *video);

#endif
