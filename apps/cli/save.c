// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/save.h"

#include <stdlib.h>

#include "apps/cli/options.h"
#include "pipeline/base/outfile.h"

bool save_file(const char *path, const void *bytes, size_t size)
{
    pipeline_error error = {0};
    return outfile_save(path, NULL, bytes, size, &error) || cli_fail(0, "%s", error.text);
}

void text_file_begin(text_file *t)
{
    *t = (text_file){0};
    t->f = open_memstream(&t->text, &t->size);
}

bool text_file_save(text_file *t, bool complete, const char *path)
{
    const bool whole = t->f && !fclose(t->f) && complete;
    const bool saved =
        whole ? save_file(path, t->text, t->size) : cli_fail(0, "%s: out of memory", path);
    free(t->text);
    return saved;
}
