// SPDX-License-Identifier: Apache-2.0
/* A model from the vendor's compiler: its tensors (om_tensors.c), memory (om.c) and frames
 * (om_run.c). */
#ifndef MONA_ASCEND_OM_H
#define MONA_ASCEND_OM_H

#include <stdatomic.h>

#include "engine/ascend/acl.h"

enum { MAX_TENSORS = MONA_MAX_IO + 1 }; /* a model of several batches or sizes has one more input */

typedef struct data_set {
    struct aclmdlDataset *set[2]; /* of inputs, of outputs */
    struct aclDataBuffer *buffer[2][MAX_TENSORS];
    uint8_t *at[2][MAX_TENSORS]; /* the slot's own memory */
} data_set;

/* The vendor's models must not run on two streams at a time, so each load has one. */
typedef struct model_load {
    atomic_flag busy;
    uint32_t model;
    bool loaded;
    void *memory;
    ascend_stream stream;
} model_load;

enum { LOADS = 2 };

struct mona_om {
    uint32_t chip;
    model_load loads[LOADS];
    unsigned load_count;
    uint8_t *memory;
    struct aclmdlDesc *desc;
    unsigned count[2];
    size_t hidden; /* index of the input that tells batch or size; MAX_TENSORS: none */
    mona_om_tensor tensor[2][MONA_MAX_IO];
    size_t room[2][MAX_TENSORS]; /* of the largest batch or size */
    ascend_dims dims[2][MONA_MAX_IO];
    data_set slots[MONA_OM_SLOTS];
};

typedef struct om_choice {
    uint64_t batch, most_batch, height, width, most_pixels;
} om_choice;

/* Reads what om->desc says. */
mona_status om_read_desc(mona_om *om);
/* Chooses a batch and a size, 0: the first that the model was compiled for, and sets all dims. */
mona_status om_bind_model(mona_om *om, uint32_t batch, mona_size size, om_choice *choice);

#endif
