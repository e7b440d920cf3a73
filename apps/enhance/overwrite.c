// SPDX-License-Identifier: Apache-2.0
#include "apps/enhance/batch.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/cli/options.h"
#include "pipeline/io/sources/picture_list.h"
#include "pipeline/base/outfile.h"
#include "pipeline/io/outputs/segments.h"
#include "apps/cli/printable.h"

/* Whether any of a pattern's numbered pictures exists. */
static bool has_pictures(const char *pattern)
{
    picture_list list;
    const bool found =
        picture_list_open(&list, pattern, &(const pipeline_notes){0}, &(pipeline_error){0});
    picture_list_close(&list);
    return found;
}

/* If the output is the input, a folder or a device, it is refused elsewhere with a better
 * message. */
static bool would_be_lost(const char *output, const char *input)
{
    struct stat out;
    if (picture_pattern(output))
        return strcmp(output, input) != 0 && has_pictures(output);
    return !stat(output, &out) && S_ISREG(out.st_mode) && !outfile_is_same(output, input);
}

static bool ask(const char *output)
{
    char line[64];
    fputs("File '", stderr);
    printable_put(stderr, output);
    fputs("' exists. Overwrite? [y/N] ", stderr);
    return (fgets(line, sizeof line, stdin) && (*line == 'y' || *line == 'Y')) ||
           cli_fail(0, "%s: not overwritten", output);
}

bool overwrite_read(overwrite *answer, bool yes, bool no)
{
    *answer = yes ? OVERWRITE_YES : no ? OVERWRITE_NO : OVERWRITE_ASK;
    return !(yes && no) || cli_misuse("expected -y or -n, found both");
}

bool overwrite_allowed(overwrite answer, const char *output, const char *input, bool resume,
                       bool *keep)
{
    const bool any = answer == OVERWRITE_YES || !strcmp(output, "-");
    *keep = !any && !would_be_lost(output, input);
    if (any || *keep)
        return true;
    if (answer == OVERWRITE_NO)
        return cli_fail(0, "%s: exists already, and -n keeps it", output);
    if (resume && segments_exist(output))
        return true;
    if (strcmp(input, "-") != 0 && isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
        return ask(output);
    return cli_fail(0, "%s: exists already; -y would overwrite it", output);
}
