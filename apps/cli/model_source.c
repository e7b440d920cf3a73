// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/model_source.h"

#include <stdlib.h>

#include "formats/file.h"
#include "models/embedded.h"
#include "apps/cli/options.h"

/* Far more than any network for frames; keeps a wrong file name from filling the memory. */
enum { MODEL_LIMIT = 1 << 30 };

static bool open_bytes(model_source *source, const uint8_t *bytes, size_t size)
{
    mona_status status = mona_model_open(&source->model.model, bytes, size);
    if (status)
        cli_fail(0, "%s: expected a .mona model, found: %s", source->model.name,
                 mona_status_text(status));
    return status == MONA_OK;
}

bool model_source_open(model_source *source, const char *name)
{
    const embedded_model *embedded = embedded_model_find(name);
    size_t size;
    format_error error = {0};
    *source = (model_source){.model.name = name};
    if (embedded)
        return open_bytes(source, embedded->begin, (size_t)(embedded->end - embedded->begin));
    if (!file_read(name, "a .mona model", MODEL_LIMIT, &source->bytes, &size, &error))
        return cli_fail(0, "%s", error.text);
    return open_bytes(source, source->bytes, size);
}

void model_source_close(model_source *source)
{
    free(source->bytes);
    source->bytes = NULL;
}
