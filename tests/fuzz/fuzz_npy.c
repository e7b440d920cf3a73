// SPDX-License-Identifier: Apache-2.0
/* NumPy's arrays. */
#include "formats/npy.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    npy_array a;
    format_error error = {0};
    if (!npy_parse(&a, data, size, &error))
        return 0;
    volatile double sum = 0;
    for (uint64_t i = 0; i < a.count && i < 4096; i++)
        sum += npy_value(&a, i);
    (void)sum;
    return 0;
}
