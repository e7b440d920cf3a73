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

#endif
