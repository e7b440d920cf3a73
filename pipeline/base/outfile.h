// SPDX-License-Identifier: Apache-2.0
/* Output files that appear under their name only when they are complete.
 *
 * The bytes go to NAME.mona.part in the same folder, with NAME cut where that would be too long.
 * The file is locked. A run that finds it unlocked knows that its owner is dead and removes it; a
 * run that finds it locked uses NAME.mona2.part. outfile_commit flushes the bytes to disk and
 * renames the file; outfile_discard removes it, and so does a signal (stop.h). Until the rename, an
 * existing NAME stays as it was. If NAME is a symbolic link, it stays one: the file that it leads
 * to is written, in that file's own folder. */
#ifndef MONA_OUTFILE_H
#define MONA_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/base/error.h"

typedef struct outfile {
    const char *name; /* as given; must outlive the outfile */
    char *target;     /* the file that name leads to */
    char *part;       /* the path to write to until the commit; NULL: nothing to remove */
    int lock;         /* of the part */
    bool keep;        /* as given */
} outfile;

/* Creates the empty temporary file under the path part, on the same file system (NULL: named as
 * above). Refuses a folder, a device or a pipe as name, and a name for the same file as input
 * (NULL: there is no input). keep: the commit replaces no file that got the name meanwhile. */
bool outfile_open(outfile *file, const char *name, const char *part, const char *input, bool keep,
                  pipeline_error *error);

/* The path to which a name leads through symbolic links, whether the file exists or not. The caller
 * frees it. NULL: out of memory. */
char *outfile_target(const char *name);

/* What follows the last slash of a path, a part of it. */
const char *outfile_base_name(const char *path);

/* Whether two names lead to one regular file, or, if there are none yet, would. */
bool outfile_is_same(const char *a, const char *b);

/* Call it after everything has been written and closed. If it fails, the temporary file is removed
 * too; if it keeps another file, it fails, and the result gets the free name that error says. */
bool outfile_commit(outfile *file, pipeline_error *error);

/* Flushes what the folder of this path calls its files to disk. If that fails it is no error: some
 * file systems cannot sync a folder, and the files are complete either way. */
void outfile_sync_folder(const char *path);

/* Opens, writes and commits a file with these bytes. */
bool outfile_save(const char *name, const char *input, const void *bytes, size_t size,
                  pipeline_error *error);

/* Removes the temporary file, if there is one. */
void outfile_discard(outfile *file);

/* Checks that the disk has room for an output. */

/* Compares bytes with the free space where path will lie. Too little is an error if bytes is exact,
 * and a note if it is an estimate: "... but WHAT 1.6 MiB". If the free space is unknown, there is
 * no complaint. */
bool disk_space_check(const char *path, uint64_t bytes, bool exact, const char *what,
                      const pipeline_notes *notes, pipeline_error *error);

#endif
