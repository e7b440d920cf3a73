// SPDX-License-Identifier: Apache-2.0
#include "apps/verify/image_set.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/cli/options.h"
#include "pipeline/image/stills.h"

/* Whether the name ends so before its suffix. */
static bool stem_ends_in(const char *name, const char *end)
{
    const char *dot = strrchr(name, '.');
    const size_t stem = dot ? (size_t)(dot - name) : strlen(name), tail = strlen(end);
    return stem >= tail && !memcmp(name + stem - tail, end, tail);
}

static bool add(image_set *set, const char *name)
{
    char **names = realloc(set->names, (set->count + 1) * sizeof *names);
    if (names)
        set->names = names;
    char *copy = names ? strdup(name) : NULL;
    if (!copy)
        return cli_fail(0, "out of memory");
    names[set->count++] = copy;
    return true;
}

static bool add_folder(image_set *set)
{
    DIR *folder = opendir(set->folder);
    bool good =
        folder || cli_fail(0, "%s: expected a folder of images: %s", set->folder, strerror(errno));
    const struct dirent *entry;
    while (good && (entry = readdir(folder)))
        if (still_can_write(entry->d_name)) /* it has the suffix of an image */
            good = add(set, entry->d_name);
    if (folder)
        closedir(folder);
    return good;
}

static bool add_listed(image_set *set, const char *list)
{
    FILE *file = fopen(list, "r");
    if (!file)
        return cli_fail(0, "%s: cannot be read: %s", list, strerror(errno));
    char line[512], path[4096];
    bool good = true;
    while (good && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = 0;
        snprintf(path, sizeof path, "%s/%s", set->folder, line);
        if (line[0])
            good = access(path, R_OK) ? cli_fail(0, "%s: expected the image that %s names: %s",
                                                 path, list, strerror(errno))
                                      : add(set, line);
    }
    fclose(file);
    return good;
}

static bool has_pairs(const image_set *set)
{
    bool high = false, low = false;
    for (size_t i = 0; i < set->count; i++) {
        high = high || stem_ends_in(set->names[i], "HR");
        low = low || stem_ends_in(set->names[i], "LR");
    }
    return high && low;
}

static void keep_high(image_set *set)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++)
        if (stem_ends_in(set->names[i], "HR"))
            set->names[kept++] = set->names[i];
        else
            free(set->names[i]);
    set->count = kept;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool image_set_open(image_set *set, const char *folder, const char *list)
{
    *set = (image_set){.folder = folder};
    if (!(list ? add_listed(set, list) : add_folder(set)))
        return false;
    if (has_pairs(set))
        keep_high(set);
    if (!set->count)
        return cli_fail(0, "%s: expected images (.png, .jpg, .jpeg), found none",
                        list ? list : folder);
    qsort(set->names, set->count, sizeof *set->names, by_name);
    return true;
}

void image_set_close(image_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->names[i]);
    free(set->names);
    *set = (image_set){0};
}
