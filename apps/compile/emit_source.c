// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/programs.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/options.h"
#include "apps/cli/printable.h"
#include "apps/cli/save.h"
#include "formats/compiler/program/emit_c.h"
#include "pipeline/base/outfile.h"

enum { MAX_NAME = 64 };

/* NAME of a path that ends in NAME.c. What begins with mona is the library's: mona.h, or
 * mona_session_open of a file mona_session.c. */
static bool name_of(const char *path, char name[MAX_NAME])
{
    const char *file = outfile_base_name(path);
    const size_t length = strlen(file);
    if (length < 3 || length - 2 >= MAX_NAME || strcmp(file + length - 2, ".c") ||
        isdigit((unsigned char)*file) || !strncmp(file, "mona", 4))
        return false;
    snprintf(name, MAX_NAME, "%.*s", (int)length - 2, file);
    return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == length - 2;
}

bool emit_source_check(const char *output)
{
    char name[MAX_NAME];
    return name_of(output, name) ||
           cli_misuse("--emit c: expected -o NAME.c, with a name of lower-case letters, digits and "
                      "underscores that begins with neither a digit nor mona, found %s",
                      output);
}

bool emit_source(const char *model_name, const mona_model *model, const char *output,
                 const char *target, const char *size)
{
    const mona_tensor_info input = mona_model_input(model, 0);
    char name[MAX_NAME], *header = NULL, *source = NULL, *path = strdup(output);
    emit_c_request request = {.target = target, .name = name, .size = {input.width, input.height}};
    format_error error = {0};
    bool ok = path && name_of(output, name);
    if (ok && size)
        ok = options_size(size, MONA_MAX_SIDE, &request.size);
    else if (ok && !request.size.width)
        ok = cli_fail(0,
                      "%s: the model takes frames of any size, and C is written for one: expected "
                      "--size WxH",
                      model_name);
    if (ok && !emit_c(model, &request, &header, &source, &error))
        ok = cli_fail(0, "%s at %ux%u: %s", model_name, request.size.width, request.size.height,
                      error.text);
    ok = ok && save_file(output, source, strlen(source));
    if (ok) {
        path[strlen(path) - 1] = 'h';
        ok = save_file(path, header, strlen(header));
    }
    if (ok) {
        printable_print(stdout, "%s, %s: C for %s at %ux%u", output, path, target,
                        request.size.width, request.size.height);
        putchar('\n');
    }
    free(header);
    free(source);
    free(path);
    return ok;
}
