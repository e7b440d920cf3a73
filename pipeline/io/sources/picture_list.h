// SPDX-License-Identifier: Apache-2.0
/* Numbered pictures as one video: "frames/%04d.png". */
#ifndef MONA_PICTURE_LIST_H
#define MONA_PICTURE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libavformat/avformat.h>

#include "pipeline/base/error.h"
#include "pipeline/image/picture_kind.h"

typedef struct picture_list {
    const char *pattern;
    uint32_t *numbers; /* of the pictures that exist, ascending */
    size_t count, next;
} picture_list;

/* Whether the name has one %d or %0Nd in its last part, ends like a picture's, and is not the name
 * of an existing file. */
bool picture_pattern(const char *name);

/* Writes the pattern with number n in place of its %d. False: longer than size. */
bool picture_name(char *name, size_t size, const char *pattern, uint32_t n);

/* Finds the existing pictures. It is an error if there are none; missing ones in between are
 * reported in a note. Whether it succeeds or not, picture_list_close releases what there is. */
bool picture_list_open(picture_list *list, const char *pattern, const pipeline_notes *notes,
                       pipeline_error *error);

/* Refuses the picture in a packet if libav would decode it wrongly without a word. info: all 0
 * unless it is a TIFF. */
bool picture_list_check(const char *name, const AVPacket *packet, tiff_info *info,
                        pipeline_error *error);

/* A zeroed list is allowed. */
void picture_list_close(picture_list *list);

/* Tells a file from another one that may take its place. */

enum { FILE_IDENTITY_TEXT = 96 };

/* Writes a word made of the file's size, its time, and a hash of its beginning and its end; of
 * numbered pictures (picture_list.h), of how many there are, and a hash of all that of each. False:
 * it is none that can be read, and *error says why. */
bool file_identity(char text[FILE_IDENTITY_TEXT], const char *path, pipeline_error *error);

#endif
