// SPDX-License-Identifier: Apache-2.0
#include "apps/compile/onnx_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/job/option.h"
#include "formats/compiler/import/import.h"
#include "formats/file.h"
#include "apps/cli/printable.h"

enum { MAX_PATH = 4096, MAX_NAME = 128 };

/* Parses NAME=N and copies the name to text. */
static bool parse_dim(const char *item, char *text, onnx_dim *dim)
{
    const char *equals = strrchr(item, '=');
    const size_t length = equals ? (size_t)(equals - item) : 0;
    char *end = NULL;
    const long size = equals ? strtol(equals + 1, &end, 10) : 0;
    if (!length || length >= MAX_NAME || *end || size < 1 || size > TENSOR_MAX_COUNT)
        return cli_misuse("--dim: expected NAME=N with N from 1, found '%s'", item);
    memcpy(text, item, length);
    text[length] = 0;
    *dim = (onnx_dim){text, size};
    return true;
}

/* "." if the path has no folder. */
static bool folder_of(const char *path, char *folder)
{
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= MAX_PATH)
        return cli_fail(0, "%.60s...: the path is too long", path);
    snprintf(folder, MAX_PATH, "%.*s", slash ? (int)(length ? length : 1) : 1, slash ? path : ".");
    return true;
}

static bool has_dim(const onnx_graph *model, const char *name, suggestion *s)
{
    for (uint32_t i = 0; i < model->input_count; i++)
        for (uint32_t d = 0; d < model->inputs[i].rank; d++) {
            if (!strcmp(model->inputs[i].dim_names[d], name))
                return true;
            suggest_name(s, model->inputs[i].dim_names[d]);
        }
    return false;
}

/* Writes the names of the inputs' dimensions, each once, as far as there is room. */
static void list_dims(const onnx_graph *model, char *text, size_t size)
{
    enum { MOST = 8 };
    const char *names[MOST];
    size_t count = 0, used = 0;
    snprintf(text, size, "none has a name");
    for (uint32_t i = 0; i < model->input_count; i++)
        for (uint32_t d = 0; d < model->inputs[i].rank; d++) {
            const char *name = model->inputs[i].dim_names[d];
            size_t k = 0;
            while (k < count && strcmp(names[k], name) != 0)
                k++;
            if (!*name || k < count || count == MOST || used >= size)
                continue;
            names[count++] = name;
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "they are ", name);
        }
}

/* Whether the model has the dimensions that --dim sets. */
static bool check_dims(const onnx_graph *model, const char *path, const onnx_read_options *options)
{
    for (size_t i = 0; i < options->dim_count; i++) {
        char names[256], text[SUGGEST_TEXT];
        const char *name = options->dims[i].name;
        suggestion s = suggest_for(name, strlen(name));
        if (has_dim(model, name, &s))
            continue;
        list_dims(model, names, sizeof names);
        return cli_misuse("%s: --dim: no dimension of an input is called '%s'; %s%s", path, name,
                          names, suggest_text(&s, text, sizeof text));
    }
    return true;
}

bool onnx_source_read(onnx_graph *model, const char *path, const option_list *dims,
                      format_error *refusal)
{
    char names[OPTION_LIST_MAX][MAX_NAME], folder[MAX_PATH];
    onnx_dim sizes[OPTION_LIST_MAX];
    onnx_read_options options = {.folder = folder,
                                 .dims = sizes,
                                 .kernels = kernels_all(),
                                 .kernels_run = kernels_run(),
                                 .kernels_apart = kernels_apart()};
    options.patterns = kernels_patterns(&options.pattern_count);
    format_error error = {0};
    uint8_t *bytes;
    size_t size;
    for (size_t i = 0; dims && i < dims->count; i++)
        if (!parse_dim(dims->items[i], names[i], &sizes[options.dim_count++]))
            return false;
    if (!folder_of(path, folder))
        return false;
    if (!file_read(path, "an ONNX model", ONNX_MAX_BYTES, &bytes, &size, &error))
        return cli_fail(0, "%s", error.text);
    const bool ok = onnx_graph_read(model, bytes, size, &options, &error);
    free(bytes);
    if (!ok && refusal)
        return format_fail(refusal, "%s", error.text);
    if (!ok)
        return cli_fail(0, "%s: %s", path, error.text);
    if (check_dims(model, path, &options))
        return true;
    onnx_graph_free(model);
    return false;
}

/* Sets height and width of every image among the inputs, which is one if the model leaves that
 * open. */
static bool set_size(onnx_graph *model, const char *path, const char *text)
{
    enum { IMAGES, ROWS = 2, COLUMNS, RANK };
    mona_size size;
    if (!options_size(text, MONA_MAX_SIDE, &size))
        return false;
    const uint32_t width = size.width, height = size.height;
    for (uint32_t i = 0; i < model->input_count; i++) {
        const onnx_input *input = &model->inputs[i];
        if (input->rank != RANK)
            continue;
        const int64_t rows = input->dims[ROWS], columns = input->dims[COLUMNS];
        if ((rows > 0 && rows != height) || (columns > 0 && columns != width))
            return cli_fail(
                0, "%s: input '%s' is %" PRId64 "x%" PRId64 " in the model, --size asks for %ux%u",
                path, model->values[input->value].name, columns, rows, width, height);
        if (input->dims[IMAGES] < 0)
            onnx_graph_set_dim(model, i, IMAGES, 1);
        onnx_graph_set_dim(model, i, ROWS, height);
        onnx_graph_set_dim(model, i, COLUMNS, width);
    }
    return true;
}

/* A compiled model takes frames of one size or of any: one side alone would be lost. A side that
 * has a name and a size got it from --dim. */
static bool check_sides(const onnx_graph *model, const char *path)
{
    enum { ROWS = 2, COLUMNS };
    for (uint32_t i = 0; i < model->input_count; i++) {
        const onnx_input *input = &model->inputs[i];
        if (!graph_input_is_map(input) || (input->dims[ROWS] < 0) == (input->dims[COLUMNS] < 0))
            continue;
        const uint32_t open = input->dims[ROWS] < 0 ? ROWS : COLUMNS, set = ROWS + COLUMNS - open;
        if (input->dim_names[set][0])
            return cli_misuse(
                "%s: --dim sets one side of frames, '%s', and leaves the other, '%s', "
                "open: expected both, or --size",
                path, input->dim_names[set], input->dim_names[open]);
    }
    return true;
}

/* Gives open dims of inputs the sizes that the arrays have; sides that an array lacks are 1. */
static void take_shapes(onnx_graph *model, const input_array *arrays, size_t count)
{
    for (uint32_t i = 0; i < model->input_count && i < count; i++) {
        const onnx_input *input = &model->inputs[i];
        const npy_array *a = &arrays[i].array;
        for (uint32_t k = 0; k < input->rank; k++) {
            const uint32_t missing = input->rank > a->rank ? input->rank - a->rank : 0;
            if (input->dims[k] < 0 && a->rank <= input->rank)
                onnx_graph_set_dim(model, i, k, k < missing ? 1 : (int64_t)a->shape[k - missing]);
        }
    }
}

static bool shapes_suit(const onnx_graph *model, const char *path, const input_array *arrays,
                        size_t count)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < model->input_count && i < count; i++) {
        const onnx_input *input = &model->inputs[i];
        uint64_t dims[TENSOR_MAX_RANK];
        uint32_t k = 0;
        for (; k < input->rank && input->dims[k] > 0; k++)
            dims[k] = (uint64_t)input->dims[k];
        ok = k < input->rank ||
             array_suits(&arrays[i].array, path, model->values[input->value].name, dims, k);
    }
    return ok;
}

static void warn(const char *path, const char *text)
{
    fputs("warning: ", stderr);
    printable_put(stderr, path);
    fputs(": ", stderr);
    printable_put(stderr, text);
    fputc('\n', stderr);
}

static void print_warnings(const compiler *c, const char *path)
{
    const char *warning;
    char text[64];
    unsigned more;
    for (unsigned i = 0; (warning = compiler_warning(c, i, &more)); i++)
        warn(path, warning);
    snprintf(text, sizeof text, "%u more warnings", more);
    if (more)
        warn(path, text);
}

/* Takes the model over. */
static compiler *open_graph(onnx_graph *model, const char *path, const fusion_switches *fusion,
                            bool one_image)
{
    format_error error = {0};
    compiler *c = one_image ? compiler_open_image(model, fusion, &error)
                            : compiler_open_graph(model, fusion, &error);
    onnx_graph_free(model);
    if (!c)
        cli_fail(EXIT_FAILED, "%s: %s", path, error.text);
    else
        print_warnings(c, path);
    return c;
}

/* Whether an input becomes a map, of one image or of each of a batch. */
static bool is_of_images(const onnx_input *input)
{
    onnx_input one = *input;
    if (one.rank == 4 && one.dims[0] > 1)
        one.dims[0] = 1;
    return graph_input_is_map(&one);
}

/* Makes the network take samples. */
static bool normalise(onnx_graph *model, const char *path, const calibration_feed *feed)
{
    bool ok = true;
    for (uint32_t i = 0; ok && feed && feed->inside && i < model->input_count; i++) {
        const onnx_input *input = &model->inputs[i];
        if (is_of_images(input))
            ok = onnx_graph_normalise(model, i, feed->mean, feed->deviation,
                                      input->dims[1] == 3 && !calibration_feed_alike(feed) ? 3 : 1);
    }
    return ok || cli_fail(0, "%s: out of memory", path);
}

/* An array takes the network's own numbers, whatever the samples stand for. */
static bool takes_samples(const compiler *c, const char *path, const calibration_feed *feed)
{
    for (unsigned i = 0; feed && feed->inside && i < compiler_input_count(c); i++)
        if (compiler_input(c, i).array)
            return cli_fail(0,
                            "%s: --mean and --deviation are for images, and input '%s' runs on "
                            "arrays",
                            path, compiler_input(c, i).name);
    return true;
}

compiler *onnx_source_compiler(const char *path, const option_list *dims, const char *size,
                               const fusion_switches *fusion, const calibration_feed *feed,
                               bool one_image)
{
    onnx_graph model;
    compiler *c = NULL;
    if (!onnx_source_read(&model, path, dims, NULL))
        return NULL;
    if ((size ? set_size(&model, path, size) : check_sides(&model, path)) &&
        normalise(&model, path, feed))
        c = open_graph(&model, path, fusion, one_image);
    else
        onnx_graph_free(&model);
    if (!c || takes_samples(c, path, feed))
        return c;
    compiler_close(c);
    return NULL;
}

compiler *onnx_source_for(const char *path, const input_array *arrays, size_t count, bool one_image)
{
    onnx_graph model;
    if (!onnx_source_read(&model, path, NULL, NULL))
        return NULL;
    take_shapes(&model, arrays, count);
    if (!shapes_suit(&model, path, arrays, count)) {
        onnx_graph_free(&model);
        return NULL;
    }
    return open_graph(&model, path, NULL, one_image);
}
