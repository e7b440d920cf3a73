// SPDX-License-Identifier: Apache-2.0
/* Reads and writes the metadata of pictures. */
#include <stdlib.h>

#include "pipeline/image/picture_kind.h"
#include "pipeline/image/metadata.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const picture_kind kinds[] = {PICTURE_PNG, PICTURE_JPEG};
    const pipeline_notes quiet = {0};
    picture_metadata m;
    pipeline_error unused = {0};
    if (!picture_libraries(&unused))
        abort();
    volatile bool whole = jpeg_check("a picture", data, size, &unused);
    (void)whole;
    if (metadata_read(&m, data, size) && metadata_orientation(&m) > 1)
        metadata_set_upright(&m);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        metadata_bytes written;
        metadata_fit(&m, kinds[i], 3, "a picture", &quiet);
        if (metadata_write(&written, &m, kinds[i]))
            free(written.data);
    }
    metadata_free(&m);
    return 0;
}
