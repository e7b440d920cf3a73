// SPDX-License-Identifier: Apache-2.0
/* EXIF: what it says about the picture that it belongs to. */
#ifndef MONA_EXIF_H
#define MONA_EXIF_H

#include "mona.h"
#include "pipeline/image/metadata_bytes.h"
#include "pipeline/image/tiff_tags.h"

/* 1 to 8. 1: the picture is upright, or there is no orientation. */
unsigned exif_orientation(const metadata_bytes *exif);

void exif_set_upright(metadata_bytes *exif);

/* Corrects the sizes that are stored, if any. */
void exif_set_size(metadata_bytes *exif, mona_size size);

/* Collects what a TIFF says about its picture besides the pixels. False: out of memory. */
bool exif_of_tiff(metadata_bytes *exif, const tiff *file);

#endif
