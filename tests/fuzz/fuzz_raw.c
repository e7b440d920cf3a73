// SPDX-License-Identifier: Apache-2.0
/* Reads frames without a header: the first line says what they are (--raw), the rest is samples. */
#include "tests/fuzz/sources.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH], line[64] = {0};
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    if (!end || (size_t)(end - data) >= sizeof line)
        return 0;
    memcpy(line, data, (size_t)(end - data));
    fuzz_save(path, "film.raw", end + 1, size - (size_t)(end + 1 - data));
    fuzz_read_film(path, line, NULL);
    return 0;
}
