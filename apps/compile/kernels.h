// SPDX-License-Identifier: Apache-2.0
/* The kernels that a model which is compiled may call (--kernels): their interfaces, as
 * mona.kernel writes them. */
#ifndef MONA_KERNELS_H
#define MONA_KERNELS_H

#include "engine/mona_op.h"
#include "formats/error.h"

/* Reads all files in the folder whose names end in .kernel. NULL is no folder. */
bool kernels_read(const char *folder, format_error *error);
/* A list that ends with NULL. They cannot be run. */
const mona_kernel *const *kernels_all(void);
/* Opens a model that may call them. */
mona_status kernels_open(mona_model *model, const void *bytes, size_t size);

/* MONA_TYPE_COUNT: no type is called so. */
mona_type type_named(const char *name);

#endif
