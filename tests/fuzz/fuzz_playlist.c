// SPDX-License-Identifier: Apache-2.0
/* Reads playlists as --allow playlist does: beside the list lie a film of a segment (a.ts) and
 * another list (b.m3u8). */
#include "tests/fuzz/sources.h"

#include "formats/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char other[] =
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n";
    static uint8_t *film;
    static size_t film_bytes;
    char path[FUZZ_PATH];
    format_error error = {0};
    if (!film &&
        !file_read("tests/fuzz/corpus/source/a.ts", "a film", 1 << 20, &film, &film_bytes, &error))
        abort();
    fuzz_save(path, "a.ts", film, film_bytes);
    fuzz_save(path, "b.m3u8", (const uint8_t *)other, sizeof other - 1);
    fuzz_save(path, "list.m3u8", data, size);
    fuzz_read_film(path, NULL, "hls");
    return 0;
}
