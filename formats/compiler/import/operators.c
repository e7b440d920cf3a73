// SPDX-License-Identifier: Apache-2.0
#include "formats/compiler/import/operators.h"

#include <string.h>

#include "formats/compiler/import/importer.h"

#define ROW(name, since, min, max, types, function, whole, map, maps, array, arrays, attributes,   \
            images, integers, code)                                                                \
    {name,   whole,           import_##map,        maps,       import_array_##array,               \
     arrays, images_##images, INTEGERS_##integers, MONA_##code},
#define import_none NULL
#define import_array_none NULL
#define images_none NULL
#define MONA_NONE_CODE 0

static const operator_row rows[] = {
#include "formats/operators.inc"
};

const operator_row operator_kernel = {
    .name = "kernel",
    .import = import_kernel,
    .array = import_array_kernel,
    .integers = INTEGERS_casts,
};

const operator_row *operator_at(size_t index)
{
    return index < sizeof rows / sizeof *rows ? &rows[index] : NULL;
}

const operator_row *operator_find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}
