// SPDX-License-Identifier: Apache-2.0
/* Loads .mona models: each file as it is, and with a corrected checksum, since no change would get
 * past that otherwise. Models that load are run (run_model.h). */
#include <string.h>

#include "tests/fuzz/mona_mutator.h"
#include "tests/fuzz/run_model.h"
#include "tests/seal.h"
#include "tests/user_kernels.h"

static void survive(const uint8_t *bytes, size_t size)
{
    mona_model model;
    const mona_guard guard = {.kernels = user_kernels};
    if (!mona_model_open_guarded(&model, bytes, size, &guard))
        fuzz_run_model(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = session_binding_allocate(size + 1);
    if (!bytes)
        return 0;
    if (size)
        memcpy(bytes, data, size);
    survive(bytes, size);
    if (size >= sizeof(mona_file_header)) {
        seal(bytes, size);
        survive(bytes, size);
    }
    free(bytes);
    return 0;
}

/* For every second input, libFuzzer's own changes. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    if (LLVMFuzzerMutate && seed % 2)
        return LLVMFuzzerMutate(data, size, room);
    mutate_model(data, size, seed);
    return size;
}
