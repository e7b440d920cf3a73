// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/tiff_tags.h"

enum { HEAD = 8, ENTRY = 12, BYTE = 1, SHORT = 3, LONG = 4 };

static uint32_t get16(const tiff *t, size_t at)
{
    const uint8_t *p = t->data + at;
    return t->big ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

static uint32_t get32(const tiff *t, size_t at)
{
    return t->big ? get16(t, at) << 16 | get16(t, at + 2) : get16(t, at + 2) << 16 | get16(t, at);
}

void tiff_put16(uint8_t *at, bool big, uint32_t value)
{
    at[!big] = (uint8_t)(value >> 8);
    at[big] = (uint8_t)value;
}

void tiff_put32(uint8_t *at, bool big, uint32_t value)
{
    tiff_put16(at + (big ? 0 : 2), big, value >> 16);
    tiff_put16(at + (big ? 2 : 0), big, value & 0xffff);
}

bool tiff_open(tiff *t, const uint8_t *data, size_t size)
{
    *t = (tiff){.data = data, .size = size, .big = size && data[0] == 'M'};
    if (size < HEAD)
        return false;
    t->first = get32(t, 4);
    return true;
}

uint32_t tiff_entries(const tiff *t, uint32_t directory)
{
    if (directory < HEAD || directory > t->size - 2)
        return 0;
    const uint32_t count = get16(t, directory);
    const size_t room = (t->size - 2 - directory) / ENTRY;
    return count < room ? count : (uint32_t)room;
}

bool tiff_entry_at(const tiff *t, uint32_t directory, uint32_t i, tiff_entry *e)
{
    static const uint8_t bytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};
    const size_t at = (size_t)directory + 2 + (size_t)i * ENTRY;
    *e = (tiff_entry){.tag = get16(t, at), .type = get16(t, at + 2), .count = get32(t, at + 4)};
    const uint64_t size = e->type < sizeof bytes ? (uint64_t)e->count * bytes[e->type] : 0;
    e->at = size > 4 ? get32(t, at + 8) : at + 8;
    e->size = (size_t)size;
    return size && size <= t->size && e->at <= t->size - size;
}

bool tiff_is_cut_off(const tiff *t, uint32_t directory)
{
    const uint32_t count = tiff_entries(t, directory);
    tiff_entry e;
    bool cut = !count || get16(t, directory) > count;
    for (uint32_t i = 0; i < count && !cut; i++)
        cut = !tiff_entry_at(t, directory, i, &e) && e.size;
    return cut;
}

bool tiff_find(const tiff *t, uint32_t directory, unsigned tag, tiff_entry *e)
{
    const uint32_t count = tiff_entries(t, directory);
    for (uint32_t i = 0; i < count; i++)
        if (tiff_entry_at(t, directory, i, e) && e->tag == tag)
            return true;
    return false;
}

uint32_t tiff_number(const tiff *t, const tiff_entry *e, uint32_t i)
{
    if (i >= e->count)
        return 0;
    return e->type == BYTE    ? t->data[e->at + i]
           : e->type == SHORT ? get16(t, e->at + 2 * (size_t)i)
           : e->type == LONG  ? get32(t, e->at + 4 * (size_t)i)
                              : 0;
}

uint32_t tiff_value(const tiff *t, uint32_t directory, unsigned tag, uint32_t otherwise)
{
    tiff_entry e;
    return tiff_find(t, directory, tag, &e) ? tiff_number(t, &e, 0) : otherwise;
}

void tiff_put_number(uint8_t *data, const tiff *t, const tiff_entry *e, uint32_t value)
{
    if (e->type == SHORT)
        tiff_put16(data + e->at, t->big, value);
    else if (e->type == LONG)
        tiff_put32(data + e->at, t->big, value);
}

uint32_t tiff_next(const tiff *t, uint32_t directory)
{
    const size_t at = (size_t)directory + 2 + (size_t)tiff_entries(t, directory) * ENTRY;
    return directory >= HEAD && at + 4 <= t->size ? get32(t, at) : 0;
}
