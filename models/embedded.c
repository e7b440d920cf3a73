// SPDX-License-Identifier: Apache-2.0
#include "models/embedded.h"

#include <string.h>

/* build/gen/models.inc has a line MODEL(name) for every .mona file in this folder. The assembler
 * places each in read-only data with the alignment that mona_model_open needs. */
#define MODEL(name)                                                                                \
    __asm__(".pushsection .rodata\n.balign 64\nembedded_" #name ":\n.incbin \"models/" #name       \
            ".mona\"\nembedded_" #name "_end:\n.byte 0\n.popsection\n");                           \
    extern const uint8_t embedded_##name[], embedded_##name##_end[];
#include "models.inc"
#undef MODEL

#define MODEL(name) {#name, embedded_##name, embedded_##name##_end},
const embedded_model embedded_models[] = {
#include "models.inc"
};
const size_t embedded_model_count = sizeof embedded_models / sizeof *embedded_models;

const embedded_model *embedded_model_find(const char *name)
{
    for (size_t i = 0; i < embedded_model_count; i++)
        if (!strcmp(embedded_models[i].name, name))
            return &embedded_models[i];
    return NULL;
}
