// SPDX-License-Identifier: Apache-2.0
/* Reads numbered pictures as a film: the same one three times, the last of them behind a gap. */
#include "tests/fuzz/sources.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"p01.png", "p02.png", "p07.png"};
    char path[FUZZ_PATH];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fuzz_save(path, names[i], data, size);
    fuzz_path(path, "p%02d.png");
    fuzz_read_film(path, NULL, NULL);
    return 0;
}
