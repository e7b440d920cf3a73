// SPDX-License-Identifier: Apache-2.0
#include "pipeline/job/devices.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/file.h"

enum { MAX_KERNEL_BYTES = 16 << 20 };

static char found[4096];

/* Beside the program, where a build leaves it, or in lib/mona of where it is installed. */
static bool look(const char *folder_of_program)
{
    static const char *const places[] = {"/", "/../lib/mona/"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(found, sizeof found, "%s%s" ASCEND_KERNEL_FILE, folder_of_program, places[i]);
        if (!access(found, R_OK))
            return true;
    }
    found[0] = 0;
    return false;
}

static bool find_kernel(void)
{
    char program[4000];
    const char *named = getenv("MONA_ASCEND_KERNEL");
    if (named) {
        snprintf(found, sizeof found, "%s", named);
        return true;
    }
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return false;
    program[length] = 0;
    *strrchr(program, '/') = 0;
    return look(program);
}

static format_error problem;
static bool ready;

/* Leaves *number as it is where the variable is not set or empty. */
static bool read_number(const char *variable, unsigned least, unsigned most, unsigned *number)
{
    const char *text = getenv(variable);
    char rest;
    return !text || !*text ||
           (sscanf(text, "%9u%c", number, &rest) == 1 && *number >= least && *number <= most) ||
           format_fail(&problem, "%s: expected a whole number from %u to %u, found '%s'", variable,
                       least, most, text);
}

static bool read_kernels(void)
{
    char paths[sizeof found], *rest;
    format_error why = {0};
    if (!find_kernel())
        return true;
    memcpy(paths, found, sizeof paths);
    for (char *path = strtok_r(paths, ":", &rest); path; path = strtok_r(NULL, ":", &rest)) {
        uint8_t *bytes; /* kept until the program ends */
        size_t size;
        if (!file_read(path, "a kernel", MAX_KERNEL_BYTES, &bytes, &size, &why))
            return format_fail(&problem, "MONA_ASCEND_KERNEL: %s", why.text);
        if (!mona_ascend_add_kernel(bytes, size))
            return format_fail(&problem,
                               "MONA_ASCEND_KERNEL: expected %d files at most, separated by colons",
                               MONA_ASCEND_KERNELS);
    }
    return true;
}

static void set_up(void)
{
    unsigned timeout = 0, bit = 0;
    ready = read_number("MONA_ASCEND_TIMEOUT", 1, 86400, &timeout) &&
            read_number("MONA_ASCEND_CTRL63", 0, 1, &bit) && read_kernels();
    if (timeout)
        mona_ascend_set_patience(timeout);
    mona_ascend_set_small_channels_bit(bit);
}

bool ascend_setup(format_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_up);
    if (!ready)
        *error = problem;
    return ready;
}

const char *ascend_kernel_path(void)
{
    return found[0] ? found : NULL;
}
