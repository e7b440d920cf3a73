#include "embedded.h"

#include <string.h>

/* The assembler places each file in read-only data, aligned as mona_model_open wants it. */
#define EMBED(name)                                                                                \
    __asm__(".pushsection .rodata\n.balign 64\nembedded_" #name ":\n.incbin \"models/" #name       \
            ".mona\"\nembedded_" #name "_end:\n.byte 0\n.popsection\n");                           \
    extern const uint8_t embedded_##name[], embedded_##name##_end[]

EMBED(sr_x2_fast);
EMBED(sr_x2_fast_video);
EMBED(sr_x2_balanced);
EMBED(denoise_fast);
EMBED(bicubic_x2);

#define ENTRY(name)                                                                                \
    {                                                                                              \
#name, embedded_##name, embedded_##name##_end                                              \
    }

const embedded_model embedded_models[] = {ENTRY(sr_x2_fast), ENTRY(sr_x2_fast_video),
                                          ENTRY(sr_x2_balanced), ENTRY(denoise_fast),
                                          ENTRY(bicubic_x2)};
const size_t embedded_model_count = sizeof embedded_models / sizeof *embedded_models;

const embedded_model *embedded_model_find(const char *name)
{
    for (size_t i = 0; i < embedded_model_count; i++)
        if (!strcmp(embedded_models[i].name, name))
            return &embedded_models[i];
    return NULL;
}
