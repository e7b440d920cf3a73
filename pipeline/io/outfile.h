// SPDX-License-Identifier: Apache-2.0
/* Output files that appear under their name only when they are complete.
 *
 * The bytes go to NAME.mona.part in the same folder, NAME cut where that would be too long. The file is
 * locked: a run that finds it unlocked knows that its run is dead and removes it, one that finds it
 * locked takes NAME.mona2.part. outfile_commit makes the bytes durable and renames; outfile_discard
 * removes them, and so does a signal (stop.h). Until the rename an existing NAME stays as it was. A NAME
 * that is a symbolic link stays one: the file it leads to, in that file's folder, is what is written. */
#ifndef MONA_OUTFILE_H
#define MONA_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "pipeline/error.h"

typedef struct outfile {
    const char *name; /* as given; must outlive the outfile */
    char *target;     /* the file that name leads to */
    char *part;       /* where to write until it is committed; NULL: nothing to remove */
    int lock;         /* of the part */
} outfile;

/* Creates the empty temporary file, called part on the same file system (NULL: see above). Refuses
 * a folder, a device or a pipe under the name, and a name that is the same file as input (NULL:
 * there is none). */
bool outfile_open(outfile *file, const char *name, const char *part, const char *input,
                  pipeline_error *error);

/* The path of the file that a name leads to by symbolic links, whether the file exists or not. The
 * caller frees it. NULL: out of memory. */
char *outfile_target(const char *name);

/* Call after everything is written and closed. On failure the temporary file is gone too. */
bool outfile_commit(outfile *file, pipeline_error *error);

/* All of it at once: a file of these bytes under the name. */
bool outfile_save(const char *name, const char *input, const void *bytes, size_t size,
                  pipeline_error *error);

/* Removes the temporary file, if there is one. */
void outfile_discard(outfile *file);

#endif
