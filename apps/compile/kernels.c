// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/onnx_source.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/file.h"
#include "pipeline/job/model_source.h"

enum { MOST_KERNELS = 64, MOST_BYTES = 1 << 12, MOST_OPERANDS = 2 * MONA_KERNEL_OPERANDS };

typedef struct described {
    mona_kernel kernel;
    char name[MONA_KERNEL_NAME + 1];
    mona_kernel_operand operands[MOST_OPERANDS];
} described;

/* Of the command, which compiles one model. */
static described descriptions[MOST_KERNELS];
static const mona_kernel *list[MOST_KERNELS + 1];
static size_t count;

/* The command has the interface of a kernel, not its code; nothing is run with it. */
static void has_no_code(const mona_kernel_call *call)
{
    (void)call;
}

mona_type type_named(const char *name)
{
    int t = 0;
    while (t < MONA_TYPE_COUNT && strcmp(name, mona_type_name((mona_type)t)))
        t++;
    return (mona_type)t;
}

/* A line "input NAME TYPE planes P cell H W around Y X" or "input NAME TYPE table N". */
static bool parse_operand(described *d, const char *line)
{
    char side[8], type[4];
    unsigned planes, h, w, y, x, elements;
    const uint32_t index = d->kernel.inputs + d->kernel.outputs;
    mona_kernel_operand *o = &d->operands[index];
    if (index == MOST_OPERANDS || sscanf(line, "%7s %*s %3s", side, type) != 2 ||
        (o->type = type_named(type)) == MONA_TYPE_COUNT)
        return false;
    const bool input = !strcmp(side, "input");
    if (sscanf(line, "%*s %*s %*s planes %9u cell %9u %9u around %9u %9u", &planes, &h, &w, &y,
               &x) == 5 &&
        planes <= MONA_KERNEL_ROWS && h <= MONA_KERNEL_CELL && w <= MONA_KERNEL_CELL &&
        y <= MONA_KERNEL_AROUND && x <= MONA_KERNEL_AROUND) {
        o->planes = planes;
        o->cell_rows = (uint8_t)h, o->cell_columns = (uint8_t)w;
        o->around_rows = (uint8_t)y, o->around_columns = (uint8_t)x;
    } else if (sscanf(line, "%*s %*s %*s table %9u", &elements) == 1)
        o->elements = elements;
    else
        return false;
    input ? d->kernel.inputs++ : d->kernel.outputs++;
    return (input && !d->kernel.outputs) || !strcmp(side, "output");
}

static bool parse(described *d, char *text)
{
    char *rest = text;
    for (char *line; (line = strtok_r(rest, "\n", &rest));)
        if (!d->name[0] ? sscanf(line, "kernel %127s", d->name) != 1 : !parse_operand(d, line))
            return false;
    d->kernel.name = d->name;
    d->kernel.operands = d->operands;
    d->kernel.row = has_no_code;
    return mona_kernel_sound(&d->kernel);
}

static bool read_one(const char *path, format_error *error)
{
    uint8_t *bytes;
    size_t size;
    if (count == MOST_KERNELS)
        return format_fail(error, "%s: expected up to %d kernels, found more", path, MOST_KERNELS);
    if (!file_read(path, "a kernel's interface", MOST_BYTES, &bytes, &size, error))
        return false;
    char text[MOST_BYTES + 1];
    memcpy(text, bytes, size);
    text[size] = 0;
    free(bytes);
    if (!parse(&descriptions[count], text))
        return format_fail(
            error, "%s: expected a kernel's interface, which python3 -m mona.kernel writes", path);
    list[count] = &descriptions[count].kernel;
    count++;
    return true;
}

bool kernels_read(const char *folder, format_error *error)
{
    if (!folder)
        return true;
    DIR *d = opendir(folder);
    if (!d)
        return format_fail(error, "%s: expected a folder with kernels, found none", folder);
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(d));) {
        char path[4096];
        if (!ends_in(e->d_name, ".kernel") ||
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name) >= (int)sizeof path)
            continue;
        ok = read_one(path, error);
    }
    closedir(d);
    return ok && (count || format_fail(error,
                                       "%s: expected files *.kernel, which python3 -m mona.kernel "
                                       "writes; found none",
                                       folder));
}

const mona_kernel *const *kernels_all(void)
{
    return count ? list : NULL;
}

mona_status kernels_open(mona_model *model, const void *bytes, size_t size)
{
    const mona_guard guard = {.kernels = kernels_all()};
    return mona_model_open_guarded(model, bytes, size, &guard);
}
