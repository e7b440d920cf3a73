// SPDX-License-Identifier: Apache-2.0
#include "formats/om.h"

#include <inttypes.h>
#include <string.h>

enum {
    HEADER_BYTES = 256,
    KERNEL_MAGIC = 0x5d776efd,
    MODEL_DEF = 0,
    TBE_KERNELS = 3,
    ATTRIBUTES = 11, /* field of the model's definition */
};

static uint64_t number_at(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)p[i] << 8 * i;
    return value;
}

static void copy_text(char *to, const uint8_t *from, size_t size)
{
    memcpy(to, from, size);
    to[size] = 0;
}

/* ---- header and partitions ------------------------------------------------------------------ */

static bool read_header(om_file *om, format_error *error)
{
    const uint8_t *h = om->bytes;
    if (om->size < HEADER_BYTES + 4 || memcmp(h, "IMOD", 4))
        return format_fail(error, "not an .om model: expected IMOD and a header of 256 bytes");
    const uint64_t head = number_at(h + 4, 4), wide = number_at(h + 184, 8);
    const uint64_t length = wide ? wide : number_at(h + 76, 4);
    if (head != HEADER_BYTES)
        return format_fail(error, "has a header of %" PRIu64 " bytes; expected 256", head);
    if (length != om->size - HEADER_BYTES)
        return format_fail(error,
                           "says that %" PRIu64 " bytes follow its header; there are %zu: cut off "
                           "or changed",
                           length, om->size - HEADER_BYTES);
    om->version = (uint32_t)number_at(h + 8, 4);
    om->encrypted = h[80];
    om->kind = h[82];
    copy_text(om->name, h + 84, sizeof om->name - 1);
    copy_text(om->platform, h + 160, sizeof om->platform - 1);
    return true;
}

/* The table's numbers are naturally aligned: one of 64 bits follows four bytes of padding. */
static bool read_partitions(om_file *om, format_error *error)
{
    const size_t width = number_at(om->bytes + 184, 8) ? 8 : 4, entry = 3 * width;
    const size_t table = HEADER_BYTES + width;
    const uint64_t count = number_at(om->bytes + HEADER_BYTES, 4);
    if (table > om->size || count > OM_MAX_PARTITIONS || count * entry > om->size - table)
        return format_fail(error, "has %" PRIu64 " partitions; at most %d fit", count,
                           OM_MAX_PARTITIONS);
    const size_t base = table + (size_t)count * entry;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *p = om->bytes + table + i * entry;
        const uint64_t offset = number_at(p + width, (unsigned)width);
        const uint64_t size = number_at(p + 2 * width, (unsigned)width);
        if (offset > om->size - base || size > om->size - base - offset)
            return format_fail(error, "partition %u lies outside the file", i);
        om->partitions[i] =
            (om_partition){(uint32_t)number_at(p, 4), om->bytes + base + offset, (size_t)size};
    }
    om->partition_count = (uint32_t)count;
    return true;
}

bool om_open(om_file *om, const uint8_t *bytes, size_t size, format_error *error)
{
    *om = (om_file){.bytes = bytes, .size = size};
    return read_header(om, error) && read_partitions(om, error);
}

const char *om_partition_name(uint32_t type)
{
    static const char *const names[] = {
        "MODEL_DEF",          "WEIGHTS_DATA",     "TASK_INFO",         "TBE_KERNELS",
        "CUST_AICPU_KERNELS", "SO_BINS",          "FLOW_MODEL",        "FLOW_SUBMODEL",
        "MODEL_INOUT_INFO",   "STATIC_TASK_DESC", "DYNAMIC_TASK_DESC", "TASK_PARAM",
        "TILING_DATA"};
    return type < sizeof names / sizeof *names ? names[type] : "unknown";
}

static om_partition partition_of(const om_file *om, uint32_t type)
{
    for (uint32_t i = 0; i < om->partition_count; i++)
        if (om->partitions[i].type == type)
            return om->partitions[i];
    return (om_partition){0};
}

/* ---- protobuf ------------------------------------------------------------------------------- */

typedef struct field {
    uint64_t number, value; /* value: of integers */
    const uint8_t *data;    /* of fields with a length; else NULL */
    size_t size;
} field;

static bool read_varint(const uint8_t *p, size_t size, size_t *at, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && *at < size; shift += 7) {
        const uint8_t byte = p[(*at)++];
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* Reads the field at *at of a message, if it is of a kind that current encoders write. */
static bool next_field(const uint8_t *p, size_t size, size_t *at, field *f)
{
    uint64_t key, length;
    *f = (field){0};
    if (!read_varint(p, size, at, &key))
        return false;
    f->number = key >> 3;
    switch (key & 7) {
    case 0:
        return read_varint(p, size, at, &f->value);
    case 2:
        if (!read_varint(p, size, at, &length) || length > size - *at)
            return false;
        f->data = p + *at;
        f->size = (size_t)length;
        *at += f->size;
        return true;
    case 1:
    case 5:
        if (size - *at < ((key & 7) == 1 ? 8u : 4u))
            return false;
        *at += (key & 7) == 1 ? 8 : 4;
        return true;
    }
    return false;
}

/* ---- attributes ----------------------------------------------------------------------------- */

enum { ENTRY_NAME = 1, ENTRY_VALUE = 2, VALUE_TEXT = 2, VALUE_NUMBER = 3 };

/* Reads an attribute's value: a text or a number. */
static bool read_value(const field *value, om_attribute *a)
{
    field f;
    for (size_t at = 0; next_field(value->data, value->size, &at, &f);)
        if (f.number == VALUE_TEXT && f.data) {
            a->text = (const char *)f.data;
            a->text_length = f.size;
            return true;
        } else if (f.number == VALUE_NUMBER && !f.data) {
            a->number = (int64_t)f.value;
            return true;
        }
    return false;
}

static bool read_entry(const field *entry, om_attribute *a)
{
    field f;
    bool valued = false;
    *a = (om_attribute){0};
    for (size_t at = 0; next_field(entry->data, entry->size, &at, &f);) {
        if (f.number == ENTRY_NAME && f.data) {
            a->name = (const char *)f.data;
            a->name_length = f.size;
        } else if (f.number == ENTRY_VALUE && f.data) {
            valued = read_value(&f, a);
        }
    }
    return a->name && valued;
}

bool om_next_attribute(const om_file *om, size_t *at, om_attribute *attribute)
{
    const om_partition p = partition_of(om, MODEL_DEF);
    field f;
    while (!om->encrypted && next_field(p.data, p.size, at, &f))
        if (f.number == ATTRIBUTES && f.data && read_entry(&f, attribute))
            return true;
    return false;
}

/* ---- kernels -------------------------------------------------------------------------------- */

bool om_next_kernel(const om_file *om, size_t *at, om_kernel *kernel)
{
    enum { RECORD = 12, MACHINE = 18, ELF_BYTES = 52 };
    const om_partition p = partition_of(om, TBE_KERNELS);
    if (p.size < RECORD || *at > p.size - RECORD || number_at(p.data + *at, 4) != KERNEL_MAGIC)
        return false;
    const uint64_t name = number_at(p.data + *at + 4, 4), bytes = number_at(p.data + *at + 8, 4);
    const size_t left = p.size - *at - RECORD;
    if (name > left || bytes > left - name)
        return false;
    const uint8_t *binary = p.data + *at + RECORD + name;
    const bool elf = bytes >= ELF_BYTES && !memcmp(binary, "\177ELF", 4);
    *kernel = (om_kernel){.name = (const char *)p.data + *at + RECORD,
                          .name_length = (size_t)name,
                          .bytes = (size_t)bytes,
                          .machine = elf ? (unsigned)number_at(binary + MACHINE, 2) : 0};
    *at += RECORD + (size_t)(name + bytes);
    return true;
}
