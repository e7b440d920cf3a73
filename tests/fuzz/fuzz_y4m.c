// SPDX-License-Identifier: Apache-2.0
/* Reads YUV4MPEG2: what the fuzzer makes follows the name of the format. */
#include "tests/fuzz/sources.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char magic[] = "YUV4MPEG2 ";
    char path[FUZZ_PATH];
    uint8_t *film = malloc(sizeof magic + size);
    if (!film)
        return 0;
    memcpy(film, magic, sizeof magic - 1);
    if (size)
        memcpy(film + sizeof magic - 1, data, size);
    fuzz_save(path, "film.y4m", film, sizeof magic - 1 + size);
    fuzz_read_film(path, NULL, NULL);
    free(film);
    return 0;
}
