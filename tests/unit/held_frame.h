// SPDX-License-Identifier: Apache-2.0
/* A frame with memory of its own, which free(h.memory) releases. Included after cmocka.h. */
#ifndef MONA_TESTS_HELD_FRAME_H
#define MONA_TESTS_HELD_FRAME_H

#include "pipeline/stages/frame.h"
#include "pipeline/stages/session_binding.h"

typedef struct held {
    frame frame;
    uint8_t *memory;
} held;

static inline held open_frame(const frame_format *format)
{
    held h = {.memory = session_binding_allocate(frame_bytes(format))};
    assert_non_null(h.memory);
    frame_place(&h.frame, format, h.memory);
    return h;
}

#endif
