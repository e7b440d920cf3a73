// SPDX-License-Identifier: Apache-2.0
#include "pipeline/job/devices.h"

#include <dirent.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/file.h"

enum { MAX_KERNEL_BYTES = 16 << 20 };

static char found[4096]; /* files, separated by colons */

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

static bool read_kernel(const char *path)
{
    uint8_t *bytes; /* kept until the program ends */
    size_t size;
    format_error why = {0};
    const size_t at = strlen(found);
    snprintf(found + at, sizeof found - at, "%s%s", at ? ":" : "", path);
    if (!file_read(path, "a kernel", MAX_KERNEL_BYTES, &bytes, &size, &why))
        return format_fail(&problem, "MONA_ASCEND_KERNEL: %s", why.text);
    if (mona_ascend_add_kernel(bytes, size))
        return true;
    free(bytes);
    return format_fail(&problem,
                       "%s: expected at most %d kernels, found more: remove some, or name "
                       "those to take in MONA_ASCEND_KERNEL",
                       path, MONA_ASCEND_KERNELS);
}

static int is_kernel(const struct dirent *entry)
{
    return !fnmatch(ASCEND_KERNEL_FILES, entry->d_name, 0);
}

static bool read_folder(const char *folder)
{
    struct dirent **entries;
    char path[8192];
    const int count = scandir(folder, &entries, is_kernel, alphasort);
    bool ok = true;
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        ok = ok && read_kernel(path);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return ok;
}

/* Those that are named; else those beside the program, where a build leaves them, or in lib/mona of
 * where it is installed. */
static bool read_kernels(void)
{
    char text[4096], folder[4200], *rest;
    const char *named = getenv("MONA_ASCEND_KERNEL");
    bool ok = true;
    if (named) {
        snprintf(text, sizeof text, "%s", named);
        for (char *path = strtok_r(text, ":", &rest); path && ok; path = strtok_r(NULL, ":", &rest))
            ok = read_kernel(path);
        return ok;
    }
    const ssize_t length = readlink("/proc/self/exe", text, sizeof text - 1);
    if (length <= 0)
        return true;
    text[length] = 0;
    *strrchr(text, '/') = 0;
    snprintf(folder, sizeof folder, "%s/../lib/mona", text);
    return read_folder(text) && (found[0] || read_folder(folder));
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
