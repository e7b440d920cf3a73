// SPDX-License-Identifier: Apache-2.0
/* The vendor's compiled models. */
#include "formats/om.h"
#include "tests/fuzz/fuzz.h"

static void read_text(const char *text, size_t length)
{
    unsigned sum = 0;
    for (size_t i = 0; i < length; i++)
        sum += (unsigned char)text[i];
    const volatile unsigned kept = sum;
    (void)kept;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    om_file om;
    om_attribute a;
    om_kernel k;
    format_error error = {0};
    if (!om_open(&om, data, size, &error))
        return 0;
    for (uint32_t i = 0; i < om.partition_count; i++)
        read_text((const char *)om.partitions[i].data, om.partitions[i].size);
    for (size_t at = 0; om_next_attribute(&om, &at, &a);) {
        read_text(a.name, a.name_length);
        read_text(a.text, a.text ? a.text_length : 0);
    }
    for (size_t at = 0; om_next_kernel(&om, &at, &k);)
        read_text(k.name, k.name_length + k.bytes);
    return 0;
}
