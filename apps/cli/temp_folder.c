// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/save.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/cli/options.h"
#include "pipeline/base/stop.h"

/* Registers a new folder for removal if a signal ends the process. */
static bool make_folder(char *path)
{
    stop_hold();
    const bool made = mkdtemp(path);
    if (made)
        stop_removes(path, NULL);
    stop_release();
    return made;
}

const char *temp_folder_root(void)
{
    const char *root = getenv("TMPDIR");
    return root && *root ? root : "/tmp";
}

bool temp_folder_open(temp_folder *t)
{
    const int length = snprintf(t->path, sizeof t->path, "%s/mona-XXXXXX", temp_folder_root());
    if (length >= (int)sizeof t->path)
        errno = ENAMETOOLONG;
    else if (make_folder(t->path))
        return true;
    cli_fail(EXIT_FAILED, "%s: cannot create a temporary folder: %s", t->path, strerror(errno));
    t->path[0] = 0;
    return false;
}

void temp_folder_close(temp_folder *t)
{
    DIR *folder = t->path[0] ? opendir(t->path) : NULL;
    const struct dirent *entry;
    char name[TEMP_FOLDER_PATH + sizeof entry->d_name];
    while (folder && (entry = readdir(folder))) {
        snprintf(name, sizeof name, "%s/%s", t->path, entry->d_name);
        unlink(name);
    }
    if (folder)
        closedir(folder);
    if (t->path[0]) {
        rmdir(t->path);
        stop_keeps(t->path);
    }
    *t = (temp_folder){0};
}
