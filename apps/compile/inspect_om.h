// SPDX-License-Identifier: Apache-2.0
/* The vendor's compiled models (formats/om.h), for mona inspect. */
#ifndef MONA_INSPECT_OM_H
#define MONA_INSPECT_OM_H

#include <cjson/cJSON.h>

/* "file", "format", "model", "version", "encrypted", "platform", "bytes"; "soc_version" and
 * "command_line" if the file has them; the arrays "partitions", "attributes", "kernels". NULL: one
 * line was printed. */
cJSON *inspect_om(const char *path);
void inspect_om_print(const cJSON *document);

#endif
