// SPDX-License-Identifier: Apache-2.0
#include "pipeline/job/model_source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/mona_ascend.h"
#include "engine/mona_op.h"
#include "formats/file.h"
#include "formats/om.h"
#include "models/embedded.h"
#include "pipeline/job/option.h"

/* Far more than any network for frames needs; it keeps a wrong file name from filling the
 * memory. */
enum { MODEL_LIMIT = 1 << 30 };

static bool open_bytes(model_source *source, const uint8_t *bytes, size_t size,
                       const mona_kernel *const *kernels, pipeline_error *error)
{
    const mona_guard guard = {.kernels = kernels};
    const mona_status status = mona_model_open_guarded(&source->model.model, bytes, size, &guard);
    if (status == MONA_ERR_MAGIC && ends_in(source->model.name, ".onnx"))
        return pipeline_fail(error,
                             "%s: expected a .mona model, found ONNX; mona compile makes one of it",
                             source->model.name);
    if (status == MONA_ERR_KERNEL)
        return pipeline_fail(
            error,
            "%s: calls the kernel %s, which mona does not have: expected a program "
            "of yours that has it (mona_op.h), mona.Model(kernels=...) of Python, or --kernels",
            source->model.name, mona_model_missing_kernel(bytes, size, kernels));
    return !status || pipeline_fail(error, "%s: %s", source->model.name, mona_status_text(status));
}

/* A name without folder and suffix means a built-in network, unless there is such a file. */
static bool is_misspelt(const char *name)
{
    return !strpbrk(name, "/.") && access(name, F_OK);
}

static bool refuse_unknown(const char *name, pipeline_error *error)
{
    char text[SUGGEST_TEXT];
    suggestion s = suggest_for(name, strlen(name));
    for (size_t i = 0; i < embedded_model_count; i++)
        suggest_name(&s, embedded_models[i].name);
    return pipeline_fail(error, "%s: expected a .mona file or a built-in network, found neither%s",
                         name, suggest_text(&s, text, sizeof text));
}

bool model_source_open(model_source *source, const char *name, pipeline_error *error)
{
    return model_source_open_with(source, name, NULL, error);
}

bool model_source_open_with(model_source *source, const char *name,
                            const mona_kernel *const *kernels, pipeline_error *error)
{
    const embedded_model *embedded = embedded_model_find(name);
    format_error why = {0};
    *source = (model_source){.model.name = name};
    if (embedded)
        return open_bytes(source, embedded->begin, (size_t)(embedded->end - embedded->begin),
                          kernels, error);
    if (is_misspelt(name))
        return refuse_unknown(name, error);
    if (!file_map(name, "a .mona model", MODEL_LIMIT, &source->bytes, &source->size, &why))
        return pipeline_fail(error, "%s", why.text);
    return open_bytes(source, source->bytes, source->size, kernels, error);
}

bool model_source_open_om(model_source *source, const char *path, const mona_device *device,
                          pipeline_error *error)
{
    format_error why = {0};
    om_file om;
    *source = (model_source){.model.name = path};
    if (!mona_ascend_chip(device, 0))
        return pipeline_fail(
            error, "%s runs on an Ascend chip only: --device ascend-om says what is missing", path);
    if (!file_map(path, "an .om model", MODEL_LIMIT, &source->bytes, &source->size, &why))
        return pipeline_fail(error, "%s", why.text);
    source->model.om = source->bytes;
    source->model.om_bytes = source->size;
    return om_open(&om, source->bytes, source->model.om_bytes, &why) ||
           pipeline_fail(error, "%s: %s", path, why.text);
}

void model_source_close(model_source *source)
{
    file_release(source->bytes, source->size);
    source->bytes = NULL;
}
