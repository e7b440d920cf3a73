// SPDX-License-Identifier: Apache-2.0
/* Two slots for a model that is replaced in the field: see update.c. */
#ifndef FIRMWARE_UPDATE_H
#define FIRMWARE_UPDATE_H

#include "mona.h"

typedef struct update_slot {
    _Alignas(MONA_ALIGNMENT) uint8_t model[12 * 1024];
    uint32_t size;
    uint64_t tag; /* of the model, by the key */
} update_slot;

/* The slot that is not in use, where an update is put. */
update_slot *update_free_slot(void);

/* Uses the update from now on if it is good, and the status says why it is not. Runs a frame. */
mona_status update_commit(const uint64_t key[2], const uint8_t *frame, uint8_t *result);

/* Runs a frame with the model in use: 64x32 bytes to 128x64. */
mona_status update_frame(const uint64_t key[2], const uint8_t *frame, uint8_t *result);

/* SipHash-2-4. */
uint64_t update_tag(const uint64_t key[2], const void *data, size_t size);

#endif
