// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/confine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/options.h"

static bool read_line(policy *p, const char *path, unsigned number, char *line,
                      pipeline_error *error)
{
    char word[16], value[128], rest, where[512];
    line[strcspn(line, "#\n")] = 0;
    const int words = sscanf(line, "%15s %127s %c", word, value, &rest);
    if (words <= 0)
        return true;
    snprintf(where, sizeof where, "%s, line %u", path, number);
    if (words == 2 && !strcmp(word, "limit"))
        return limits_read(&p->limits, where, value, error);
    if (words == 2 && !strcmp(word, "allow") && !strcmp(value, "playlist"))
        return p->playlist = true;
    if (words == 2 && !strcmp(word, "sandbox") && !strcmp(value, "required"))
        return p->sandbox = true;
    return pipeline_misuse(error,
                           "%s: expected 'limit LIST', 'allow playlist' or 'sandbox required', "
                           "found '%s'",
                           where, line);
}

static bool read_policy(policy *p, const char *path, pipeline_error *error)
{
    char line[256];
    FILE *file = fopen(path, "re");
    p->given = true;
    if (!file)
        return pipeline_misuse(error, "MONA_POLICY: %s: cannot be read: %s", path, strerror(errno));
    bool good = true;
    for (unsigned number = 1; good && fgets(line, sizeof line, file); number++)
        good = read_line(p, path, number, line, error);
    if (good && ferror(file))
        good = pipeline_misuse(error, "MONA_POLICY: %s: cannot be read", path);
    fclose(file);
    return good;
}

const policy *policy_of_service(void)
{
    static policy read;
    const char *path = getenv("MONA_POLICY");
    pipeline_error error = {0};
    if (path && *path && !read.given && !read_policy(&read, path, &error))
        exit(cli_fail_of(&error));
    return &read;
}
