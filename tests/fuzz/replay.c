// SPDX-License-Identifier: Apache-2.0
/* Runs a fuzz target on every file of the given folders, or of its corpus, and on some changes of
 * each, the target's own where it has a mutator; prints TAP. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/file.h"
#include "tests/cases.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_BYTES = 64 << 20, MADE = 200, DAMAGED = 16, ROOM = 2048 /* to grow by */ };

/* Changes some bytes, or cuts the end off. */
static size_t damage(uint8_t *data, size_t size, uint64_t seed)
{
    static const uint8_t values[] = {0, 1, 127, 255};
    uint64_t state = seed;
    if (!size || seed % 4 == 0)
        return size ? fuzz_draw(&state) % size : 0;
    for (unsigned n = 1 + fuzz_draw(&state) % 4; n; n--) {
        const uint32_t value = fuzz_draw(&state);
        data[fuzz_draw(&state) % size] =
            value % 2 ? values[value / 2 % sizeof values] : (uint8_t)(value >> 8);
    }
    return size;
}

static void change(const uint8_t *bytes, size_t size)
{
    uint8_t *changed = calloc(1, size + ROOM);
    const unsigned count = CASES(LLVMFuzzerCustomMutator ? MADE : DAMAGED);
    for (unsigned seed = 0; changed && seed < count; seed++) {
        memcpy(changed, bytes, size);
        LLVMFuzzerTestOneInput(changed,
                               LLVMFuzzerCustomMutator
                                   ? LLVMFuzzerCustomMutator(changed, size, size + ROOM, seed)
                                   : damage(changed, size, seed));
    }
    free(changed);
}
/* Returns the number of files. */
static unsigned replay_folder(const char *path)
{
    DIR *folder = opendir(path);
    unsigned count = 0;
    for (struct dirent *e; folder && (e = readdir(folder));) {
        char file[4096];
        uint8_t *bytes;
        size_t size;
        format_error error = {0};
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        if (e->d_name[0] == '.')
            continue;
        if (!file_read(file, "a file", MAX_BYTES, &bytes, &size, &error)) {
            count += replay_folder(file);
            continue;
        }
        LLVMFuzzerTestOneInput(bytes, size);
        change(bytes, size);
        free(bytes);
        count++;
    }
    if (folder)
        closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    char path[4096];
    const char *name = strrchr(argv[0], '_');
    unsigned count = 0;
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    snprintf(path, sizeof path, "tests/fuzz/corpus/%s", name ? name + 1 : "");
    for (int i = 1; i < argc; i++)
        count += replay_folder(argv[i]);
    if (argc == 1)
        count = replay_folder(path);
    printf("%s 1 - %u files are read or refused\n1..1\n", count ? "ok" : "not ok", count);
    return count ? EXIT_SUCCESS : EXIT_FAILURE;
}
