// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/save.h"

#include "apps/cli/options.h"
#include "pipeline/io/outfile.h"

bool save_file(const char *path, const char *input, const void *bytes, size_t size)
{
    pipeline_error error = {0};
    return outfile_save(path, input, bytes, size, &error) ||
           !cli_fail(EXIT_FAILED, "%s", error.text);
}
