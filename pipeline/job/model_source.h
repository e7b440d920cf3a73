// SPDX-License-Identifier: Apache-2.0
/* The models that a command works with: files, or those embedded in the binary. */
#ifndef MONA_MODEL_SOURCE_H
#define MONA_MODEL_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pipeline/stages/stage.h"

/* Whether a file's name has this suffix. */
static inline bool ends_in(const char *name, const char *suffix)
{
    const size_t length = strlen(name), wanted = strlen(suffix);
    return length >= wanted && !strcmp(name + length - wanted, suffix);
}

typedef struct model_source {
    named_model model;
    uint8_t *bytes; /* of a file (file_map); NULL: embedded */
    size_t size;
} model_source;

/* Opens the embedded model of that name or, if there is none, the .mona file at that path. False:
 * it cannot be used. A zeroed or opened source is closed by model_source_close. */
bool model_source_open(model_source *source, const char *name, pipeline_error *error);

/* Reads a model of the vendor's compiler, which only the devices ascend and ascend-om run. */
bool model_source_open_om(model_source *source, const char *path, const mona_device *device,
                          pipeline_error *error);

/* model_source_open() for models that call these kernels: a list that ends with NULL. */
bool model_source_open_with(model_source *source, const char *name,
                            const struct mona_kernel *const *kernels, pipeline_error *error);

void model_source_close(model_source *source);

/* Whether it is a file, or there is none. Of a folder of kernels no pipe is waited for. */
bool kernel_file(const char *path, pipeline_error *error);

/* The code of the kernel `name`: NAME.so beside the file NAME.kernel at this path. NULL: there is
 * no such library, or it is none of that kernel, which *error says. It stays loaded. */
const struct mona_kernel *kernel_code(const char *path, const char *name, pipeline_error *error);

/* The kernels of a folder, as python3 -m mona.kernel --build writes them: a list that ends with
 * NULL. */
enum { KERNELS_MAX = 64 };
bool kernel_folder(const struct mona_kernel *list[KERNELS_MAX + 1], const char *folder,
                   pipeline_error *error);

#endif
