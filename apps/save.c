#include "save.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "pipeline/outfile.h"

bool save_file(const char *path, const char *input, const void *bytes, size_t size)
{
    pipeline_error error = {0};
    outfile out;
    if (!outfile_open(&out, path, NULL, input, &error))
        return !cli_fail(EXIT_FAILED, "%s", error.text);
    FILE *file = fopen(out.part, "wb");
    bool ok = file && fwrite(bytes, 1, size, file) == size;
    if (file && fclose(file))
        ok = false;
    if (!ok) {
        cli_fail(EXIT_FAILED, "%s: cannot be written: %s", path, strerror(errno));
        outfile_discard(&out);
        return false;
    }
    return outfile_commit(&out, &error) || !cli_fail(EXIT_FAILED, "%s", error.text);
}
