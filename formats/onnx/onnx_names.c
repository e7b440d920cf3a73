// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx/onnx_names.h"

#include <stdlib.h>
#include <string.h>

typedef struct onnx_name {
    const char *name; /* NULL: an empty slot */
    uint32_t value;
} onnx_name;

/* FNV-1a. */
static uint32_t hash(const char *name)
{
    uint32_t h = 2166136261u;
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * 16777619u;
    return h;
}

/* The slot that has this name, or the empty one where it belongs. */
static onnx_name *find_slot(const onnx_names *names, const char *name)
{
    uint32_t at = hash(name) & (names->room - 1);
    while (names->slots[at].name && strcmp(names->slots[at].name, name))
        at = (at + 1) & (names->room - 1);
    return &names->slots[at];
}

uint32_t onnx_names_find(const onnx_names *names, const char *name)
{
    const onnx_name *slot = names->room ? find_slot(names, name) : NULL;
    return slot && slot->name ? slot->value : UINT32_MAX;
}

static bool grow(onnx_names *names)
{
    onnx_names larger = {.room = names->room ? names->room * 2 : 256, .count = names->count};
    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (uint32_t i = 0; i < names->room; i++)
        if (names->slots[i].name)
            *find_slot(&larger, names->slots[i].name) = names->slots[i];
    free(names->slots);
    *names = larger;
    return true;
}

bool onnx_names_add(onnx_names *names, const char *name, uint32_t value)
{
    if (names->count >= names->room / 2 && !grow(names))
        return false;
    *find_slot(names, name) = (onnx_name){name, value};
    names->count++;
    return true;
}

void onnx_names_free(onnx_names *names)
{
    free(names->slots);
    *names = (onnx_names){0};
}
