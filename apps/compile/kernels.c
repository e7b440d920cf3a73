// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/kernel_interface.h"
#include "apps/compile/onnx_source.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/file.h"
#include "pipeline/job/model_source.h"

enum { MOST_KERNELS = KERNELS_MAX, MOST_BYTES = 1 << 18 };

/* Of the command, which compiles one model. */
static described descriptions[MOST_KERNELS];
static const mona_kernel *list[MOST_KERNELS + 1];
static size_t count, with_code;
static bool apart;
static onnx_graph graphs[MOST_KERNELS];
static onnx_pattern pattern_list[MOST_KERNELS];
static uint32_t pattern_count;

mona_type type_named(const char *name)
{
    int t = 0;
    while (t < MONA_TYPE_COUNT && strcmp(name, mona_type_name((mona_type)t)))
        t++;
    return (mona_type)t;
}

static bool is_file(const char *path, format_error *error)
{
    pipeline_error why = {0};
    return kernel_file(path, &why) || format_fail(error, "%s", why.text);
}

/* The code of a kernel, if there is any. */
static bool load(described *d, const char *path, format_error *error)
{
    pipeline_error why = {0};
    const mona_kernel *k = kernel_code(path, d->name, &why);
    if (!k)
        return !why.text[0] || format_fail(error, "%s", why.text);
    if (!mona_kernel_sound(k) || k->inputs != d->kernel.inputs || k->outputs != d->kernel.outputs ||
        memcmp(k->operands, d->operands, (k->inputs + k->outputs) * sizeof *k->operands) != 0)
        return format_fail(
            error, "%s: expected a library of this kernel beside it, found one with other operands",
            path);
    d->kernel.row = k->row;
    with_code++;
    return true;
}

/* What it may replace, NAME.onnx beside NAME.kernel. */
static bool read_pattern(const described *d, const char *path, format_error *error)
{
    char file[4096];
    uint8_t *bytes;
    size_t size;
    snprintf(file, sizeof file, "%.*s.onnx", (int)(strlen(path) - strlen(".kernel")), path);
    if (access(file, F_OK))
        return true;
    onnx_graph *g = &graphs[pattern_count];
    format_error why = {0};
    if (!is_file(file, error) ||
        !file_read(file, "a pattern", ONNX_MAX_BYTES, &bytes, &size, error))
        return false;
    const bool ok = onnx_graph_read(g, bytes, size, NULL, &why);
    free(bytes);
    if (!ok)
        return format_fail(error, "%s: %s", file, why.text);
    if (g->input_count != d->kernel.inputs || g->output_count != 1 || d->kernel.outputs != 1 ||
        g->value_count > ONNX_PATTERN_VALUES)
        return format_fail(error,
                           "%s: expected the %u inputs of the kernel, one output of both and up to "
                           "%d values, found %u, %u and %u",
                           file, d->kernel.inputs, ONNX_PATTERN_VALUES, g->input_count,
                           g->output_count, g->value_count);
    pattern_list[pattern_count++] = (onnx_pattern){&d->kernel, g};
    return true;
}

static bool read_one(const char *path, format_error *error)
{
    uint8_t *bytes;
    size_t size;
    if (count == MOST_KERNELS)
        return format_fail(error, "%s: expected up to %d kernels, found more", path, MOST_KERNELS);
    if (!is_file(path, error) ||
        !file_read(path, "a kernel's interface", MOST_BYTES, &bytes, &size, error))
        return false;
    char *text = calloc(size + 1, 1);
    if (text)
        memcpy(text, bytes, size);
    free(bytes);
    const bool whole_text = text && kernel_interface_whole(text);
    const bool sound = whole_text && kernel_interface_read(&descriptions[count], text);
    free(text);
    if (!whole_text)
        return format_fail(error,
                           "%s: expected a kernel's interface as python3 -m mona.kernel wrote it, "
                           "found one without its checksum",
                           path);
    if (!sound)
        return format_fail(
            error, "%s: expected a kernel's interface, which python3 -m mona.kernel writes", path);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(descriptions[i].name, descriptions[count].name))
            return format_fail(error, "%s: expected one kernel %s in the folder, found two", path,
                               descriptions[count].name);
    list[count] = &descriptions[count].kernel;
    described *d = &descriptions[count++];
    return load(d, path, error) && read_pattern(d, path, error);
}

static bool read_all(const char *folder, format_error *error)
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

void kernels_keep_apart(void)
{
    apart = true;
}

bool kernels_apart(void)
{
    return apart;
}

bool kernels_run(void)
{
    return count && with_code == count;
}

const onnx_pattern *kernels_patterns(uint32_t *patterns)
{
    *patterns = pattern_count;
    return pattern_list;
}

const mona_kernel *const *kernels_all(void)
{
    return count ? list : NULL;
}

bool kernels_list(const char *folder)
{
    format_error error = {0};
    return read_all(folder, &error) || cli_fail(0, "--kernels: %s", error.text);
}

bool kernels_load(const char *folder)
{
    return kernels_list(folder) &&
           (!folder || kernels_run() ||
            cli_fail(0,
                     "--kernels: %s: expected their code, which python3 -m mona.kernel --build "
                     "writes",
                     folder));
}

bool kernels_model(model_source *source, const char *name)
{
    pipeline_error error = {0};
    return model_source_open_with(source, name, kernels_all(), &error) || !cli_fail_of(&error);
}

mona_status kernels_open(mona_model *model, const void *bytes, size_t size)
{
    const mona_guard guard = {.kernels = kernels_all()};
    return mona_model_open_guarded(model, bytes, size, &guard);
}
