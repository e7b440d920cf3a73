// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/options.h"

#include <string.h>

#include "pipeline/base/outfile.h"

const char *const *files_of(const option *o, const void *values, size_t *count)
{
    const void *field = (const char *)values + o->field;
    const option_list *list = field;
    const char *const *path = field;
    if (o->kind == OPTION_FILES) {
        *count = list->count;
        return list->items;
    }
    *count = o->kind == OPTION_FILE && *path;
    return path;
}

/* `-` is no file. */
static bool is_same(const char *a, const char *b)
{
    return strcmp(a, "-") && strcmp(b, "-") && outfile_is_same(a, b);
}

static bool refuse_input(const option *o, const char *path)
{
    return cli_fail(0, "%s %s: the output is the input; expected another name", o->name, path);
}

/* Whether the path that option o writes to is none of the other option's. */
static bool is_apart(const option *o, const char *const *path, const option *other,
                     const void *values)
{
    size_t count;
    const char *const *paths = files_of(other, values, &count);
    for (size_t i = 0; i < count; i++)
        if (&paths[i] != path && is_same(*path, paths[i]))
            return other->written ? cli_fail(0, "%s and %s: expected two files, found %s for both",
                                             o->name, other->name, *path)
                                  : refuse_input(o, *path);
    return true;
}

static bool is_apart_from_all(const command *line, const void *values, const char *const *operands,
                              const option *o, const char *const *path)
{
    for (; *operands; operands++)
        if (is_same(*path, *operands))
            return refuse_input(o, *path);
    option other;
    for (size_t i = 0; options_at(line, i, &other); i++)
        if (!is_apart(o, path, &other, values))
            return false;
    return true;
}

bool files_apart(const command *line, const void *values, const char *const *operands)
{
    option o;
    for (size_t i = 0; options_at(line, i, &o); i++) {
        size_t count;
        const char *const *paths = files_of(&o, values, &count);
        for (size_t k = 0; o.written && k < count; k++)
            if (!is_apart_from_all(line, values, operands, &o, &paths[k]))
                return false;
    }
    return true;
}
