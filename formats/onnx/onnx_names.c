// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_graph.h"

#include <stdlib.h>
#include <string.h>

/* In a table that is at most half full, ordinary names are this far from their place with a
 * probability of 2^-70. A model with names that were chosen to collide is refused. */
enum { MAX_PROBES = 256 };

typedef struct onnx_name {
    const char *name; /* NULL: an empty slot */
    uint32_t hash, value;
} onnx_name;

/* FNV-1a, with a final step that makes the low bits depend on all others. */
static uint32_t hash_of(const char *name)
{
    uint32_t h = 2166136261u;
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * 16777619u;
    return (h ^ h >> 15) * 0x2c1b3c6du;
}

/* The slot with this name, or the empty one where it belongs; NULL: none within MAX_PROBES. */
static onnx_name *find_slot(const onnx_names *names, const char *name, uint32_t hash)
{
    for (uint32_t i = 0; i < MAX_PROBES; i++) {
        onnx_name *slot = &names->slots[(hash + i) & (names->room - 1)];
        if (!slot->name || (slot->hash == hash && !strcmp(slot->name, name)))
            return slot;
    }
    return NULL;
}

uint32_t onnx_names_find(const onnx_names *names, const char *name)
{
    const onnx_name *slot = names->room ? find_slot(names, name, hash_of(name)) : NULL;
    return slot && slot->name ? slot->value : UINT32_MAX;
}

static bool put(onnx_names *names, onnx_name new, format_error *error)
{
    onnx_name *slot = find_slot(names, new.name, new.hash);
    if (!slot)
        return format_fail(error,
                           "more than %d names of values, '%.40s' among them, have nearly the same "
                           "hash; rename them",
                           MAX_PROBES, new.name);
    *slot = new;
    return true;
}

static bool grow(onnx_names *names, format_error *error)
{
    onnx_names larger = {.room = names->room ? names->room * 2 : 256, .count = names->count};
    larger.slots = calloc(larger.room, sizeof *larger.slots);
    bool ok = larger.slots ? true : format_fail(error, "out of memory");
    for (uint32_t i = 0; ok && i < names->room; i++)
        ok = !names->slots[i].name || put(&larger, names->slots[i], error);
    free(ok ? names->slots : larger.slots);
    if (ok)
        *names = larger;
    return ok;
}

bool onnx_names_add(onnx_names *names, const char *name, uint32_t value, format_error *error)
{
    if (names->count >= names->room / 2 && !grow(names, error))
        return false;
    if (!put(names, (onnx_name){name, hash_of(name), value}, error))
        return false;
    names->count++;
    return true;
}

void onnx_names_free(onnx_names *names)
{
    free(names->slots);
    *names = (onnx_names){0};
}
