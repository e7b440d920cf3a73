// SPDX-License-Identifier: Apache-2.0
/* Reads films of any container. */
#include "tests/fuzz/sources.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    fuzz_save(path, "film", data, size);
    fuzz_read_film(path, NULL, NULL);
    return 0;
}
