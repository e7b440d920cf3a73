// SPDX-License-Identifier: Apache-2.0
/* Runs a fuzz target on every file of the given folders, or of its corpus, and on some changes of
 * each, the target's own where it has a mutator; prints TAP.
 *
 * MONA_FUZZ_RUNS=N: on N changes of the files in turn, which are numbered from MONA_FUZZ_FIRST (0)
 * on, as fast as the target is, for nothing is learnt from them. A target that falls, or computes
 * for SLOW_SECONDS, says at which number. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "formats/file.h"
#include "tests/cases.h"
#include "tests/fuzz/fuzz.h"

enum {
    MAX_BYTES = 64 << 20,
    MADE = 200,
    DAMAGED = 16,
    ROOM = 2048, /* to grow by */
    MAX_FILES = 4096,
    SLOW_SECONDS = 60
};

static uint64_t runs, current;

static struct input {
    uint8_t *bytes;
    size_t size;
} inputs[MAX_FILES];
static size_t input_count;

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

/* changed: a copy of an input, with ROOM. */
static void run_changed(uint8_t *changed, size_t size, uint64_t seed)
{
    LLVMFuzzerTestOneInput(changed,
                           LLVMFuzzerCustomMutator
                               ? LLVMFuzzerCustomMutator(changed, size, size + ROOM, (unsigned)seed)
                               : damage(changed, size, seed));
}

static void change(const uint8_t *bytes, size_t size)
{
    uint8_t *changed = calloc(1, size + ROOM);
    const unsigned count = CASES(LLVMFuzzerCustomMutator ? MADE : DAMAGED);
    for (unsigned seed = 0; changed && seed < count; seed++) {
        memcpy(changed, bytes, size);
        run_changed(changed, size, seed);
    }
    free(changed);
}

/* ---- many changes --------------------------------------------------------------------------- */

static void fall(int number)
{
    char text[96];
    const int length = snprintf(text, sizeof text, "\nsignal %d: MONA_FUZZ_FIRST=%llu\n", number,
                                (unsigned long long)current);
    signal(number, SIG_DFL);
    if (write(STDERR_FILENO, text, (size_t)length) < 0 || number == SIGPROF)
        _exit(EXIT_FAILURE);
    raise(number);
}

static void run_many(void)
{
    static const int falls[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPROF};
    static const struct itimerval slow = {.it_value.tv_sec = SLOW_SECONDS};
    const char *first = getenv("MONA_FUZZ_FIRST");
    uint8_t *changed = NULL;
    size_t room = 0;
    for (size_t i = 0; i < sizeof falls / sizeof *falls; i++)
        signal(falls[i], fall);
    for (size_t i = 0; i < input_count; i++)
        room = inputs[i].size > room ? inputs[i].size : room;
    current = first ? strtoull(first, NULL, 10) : 0;
    changed = malloc(room + ROOM);
    for (const uint64_t end = current + runs; changed && input_count && current < end; current++) {
        const struct input *from = &inputs[current % input_count];
        uint64_t state = current;
        if (current % 64 == 0)
            setitimer(ITIMER_PROF, &slow, NULL);
        memcpy(changed, from->bytes, from->size);
        run_changed(changed, from->size, (uint64_t)fuzz_draw(&state) << 32 | fuzz_draw(&state));
    }
    free(changed);
}

/* ---- files ---------------------------------------------------------------------------------- */

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
        count++;
        if (runs && input_count < MAX_FILES) {
            inputs[input_count++] = (struct input){bytes, size};
            continue;
        }
        LLVMFuzzerTestOneInput(bytes, size);
        change(bytes, size);
        free(bytes);
    }
    if (folder)
        closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    char path[4096];
    const char *name = strrchr(argv[0], '_'), *asked = getenv("MONA_FUZZ_RUNS");
    unsigned count = 0;
    runs = asked ? strtoull(asked, NULL, 10) : 0;
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    snprintf(path, sizeof path, "tests/fuzz/corpus/%s", name ? name + 1 : "");
    for (int i = 1; i < argc; i++)
        count += replay_folder(argv[i]);
    if (argc == 1)
        count = replay_folder(path);
    if (runs)
        run_many();
    printf("%s 1 - %u files are read or refused\n1..1\n", count ? "ok" : "not ok", count);
    return count ? EXIT_SUCCESS : EXIT_FAILURE;
}
