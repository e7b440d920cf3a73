// SPDX-License-Identifier: Apache-2.0
/* The images of a folder, for mona eval. */
#ifndef MONA_IMAGE_SET_H
#define MONA_IMAGE_SET_H

#include <stdbool.h>
#include <stddef.h>

typedef struct image_set {
    const char *folder;
    char **names; /* sorted */
    size_t count;
} image_set;

/* Collects the PNG and JPEG files of a folder; if there are pairs as in published sets, whose names
 * end in HR and LR, only those in HR. list: a text file with the names of the images to use, one a
 * line; or NULL. False: there are none, or a listed one is missing; one line was printed. A zeroed
 * or opened set may be closed. */
bool image_set_open(image_set *set, const char *folder, const char *list);
void image_set_close(image_set *set);

#endif
