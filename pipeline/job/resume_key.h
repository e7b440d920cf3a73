// SPDX-License-Identifier: Apache-2.0
/* Describes a run's work, so that a resumed run can tell whether it is the same. */
#ifndef MONA_RESUME_KEY_H
#define MONA_RESUME_KEY_H

#include "pipeline/base/error.h"
#include "pipeline/job/job.h"

/* One line with everything that the encoded frames depend on: the programs and libraries that make
 * them, and each given field whose row says CHANGES_BYTES, as words: " --crf=20". A file that is
 * read, as the input, counts by its bytes: " --input=@..." (file_identity.h). The caller frees it.
 * NULL: *error says why the work could not be told from other work. */
char *resume_key(const job *j, pipeline_error *error);

/* The same fields with the full names of files, so that a later run can do the work from anywhere.
 * The caller frees it. */
char *resume_words(const job *j, pipeline_error *error);

/* Sets the fields of a job with nothing but its defaults. They point to words, which is changed. */
bool resume_words_read(job *j, char *words, pipeline_error *error);

#endif
