// SPDX-License-Identifier: Apache-2.0
#include "formats/mona_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/file.h"

void mona_writer_free(mona_writer *w)
{
    free(w->tensors.bytes);
    free(w->ops.bytes);
    free(w->strings.bytes);
    free(w->data.bytes);
    free(w->names);
    *w = (mona_writer){0};
}

/* Appends size bytes; bytes NULL: zeros. */
static void append(mona_writer *w, mona_writer_section *s, const void *bytes, size_t size)
{
    if (size > UINT32_MAX || s->size + size > UINT32_MAX)
        w->failed = true; /* offsets have 32 bits */
    if (w->failed || !size)
        return;
    if (s->size + size > s->room) {
        const size_t room = (s->size + size) * 2;
        uint8_t *moved = realloc(s->bytes, room);
        w->failed = !moved;
        if (!moved)
            return;
        s->bytes = moved;
        s->room = room;
    }
    if (bytes)
        memcpy(s->bytes + s->size, bytes, size);
    else
        memset(s->bytes + s->size, 0, size);
    s->size += size;
}

/* The size with padding after it. */
static size_t padded(size_t size)
{
    return (size + MONA_FILE_ALIGNMENT - 1) / MONA_FILE_ALIGNMENT * MONA_FILE_ALIGNMENT;
}

/* Where the offset of a text is in the table of names, or where it belongs. */
static size_t name_slot(const mona_writer *w, const char *text)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (const char *c = text; *c; c++)
        hash = (hash ^ (uint8_t)*c) * 16777619u;
    size_t at = hash & (w->name_room - 1);
    while (w->names[at] && strcmp((const char *)w->strings.bytes + w->names[at], text))
        at = (at + 1) & (w->name_room - 1);
    return at;
}

/* Keeps half of the table of names free. */
static bool make_name_room(mona_writer *w)
{
    if (w->name_count < w->name_room / 2)
        return true;
    uint32_t *old = w->names;
    const size_t old_room = w->name_room;
    w->name_room = old_room ? 2 * old_room : 64;
    w->names = calloc(w->name_room, sizeof *w->names);
    for (size_t i = 0; i < old_room && w->names; i++)
        if (old[i])
            w->names[name_slot(w, (const char *)w->strings.bytes + old[i])] = old[i];
    free(old);
    return w->names;
}

uint32_t mona_writer_string(mona_writer *w, const char *text)
{
    if (!w->strings.size)
        append(w, &w->strings, "", 1); /* offset 0 is "" */
    if (!text[0] || w->failed)
        return 0;
    w->failed = !make_name_room(w);
    if (w->failed)
        return 0;
    const size_t slot = name_slot(w, text), offset = w->strings.size;
    if (w->names[slot])
        return w->names[slot];
    append(w, &w->strings, text, strlen(text) + 1);
    w->names[slot] = (uint32_t)offset;
    w->name_count++;
    return (uint32_t)offset;
}

static const mona_file_header *header_of(const uint8_t *file)
{
    return (const mona_file_header *)(const void *)file;
}

void mona_writer_start_from(mona_writer *w, const uint8_t *file)
{
    const mona_file_header *h = header_of(file);
    append(w, &w->data, file + h->data_offset, (size_t)h->data_bytes);
    w->inherited = w->data.size;
}

/* The position of these bytes in the inherited data, or its end. */
static size_t find_inherited(const mona_writer *w, const void *bytes, size_t size)
{
    for (size_t at = 0; size <= w->inherited && at <= w->inherited - size;
         at += MONA_FILE_ALIGNMENT)
        if (!memcmp(w->data.bytes + at, bytes, size))
            return at;
    return w->inherited;
}

uint32_t mona_writer_data(mona_writer *w, const void *bytes, size_t size)
{
    const size_t found = w->failed ? w->inherited : find_inherited(w, bytes, size);
    if (found < w->inherited)
        return (uint32_t)found;
    append(w, &w->data, NULL, padded(w->data.size) - w->data.size);
    const size_t offset = w->data.size;
    append(w, &w->data, bytes, size);
    return (uint32_t)offset;
}

/* The first version in which there are such tensors. */
static uint32_t version_of(const mona_file_tensor *t)
{
    const bool padded = !t->array && mona_is_padded(t->padding);
    return padded    ? MONA_FILE_VERSION_PADDING
           : t->zero ? MONA_FILE_VERSION_ZEROS
                     : MONA_FILE_VERSION;
}

uint32_t mona_writer_tensor(mona_writer *w, const mona_file_tensor *tensor)
{
    append(w, &w->tensors, tensor, sizeof *tensor);
    const uint32_t version = version_of(tensor);
    w->version = version > w->version ? version : w->version;
    return w->tensor_count++;
}

void mona_writer_op(mona_writer *w, const mona_file_op *op)
{
    append(w, &w->ops, op, sizeof *op);
    w->op_count++;
}

/* Copies a section to *at and moves *at past it and its padding; returns where it begins. */
static uint64_t place(uint8_t *base, size_t *at, const mona_writer_section *s)
{
    const size_t begin = *at;
    if (s->size)
        memcpy(base + begin, s->bytes, s->size);
    *at += padded(s->size);
    return begin;
}

bool mona_writer_finish(mona_writer *w, const char *name, uint32_t input_count,
                        uint32_t output_count, uint8_t **bytes, size_t *size, format_error *error)
{
    const uint32_t name_offset = mona_writer_string(w, name);
    const uint32_t producer = mona_writer_string(w, "mona " MONA_VERSION);
    mona_file_header h = {
        .magic = MONA_FILE_MAGIC,
        .version = w->version ? w->version : MONA_FILE_VERSION,
        .input_count = input_count,
        .output_count = output_count,
        .tensor_count = w->tensor_count,
        .op_count = w->op_count,
        .name = name_offset,
        .producer = producer,
        .strings_bytes = w->strings.size,
        .data_bytes = w->data.size,
    };
    if (w->tensor_count > MONA_MAX_TENSORS || w->op_count > MONA_MAX_OPS)
        return format_fail(error,
                           "the model needs %u tensors and %u operators; at most %d and %d fit",
                           w->tensor_count, w->op_count, MONA_MAX_TENSORS, MONA_MAX_OPS);
    const size_t total = sizeof h + padded(w->tensors.size) + padded(w->ops.size) +
                         padded(w->strings.size) + padded(w->data.size);
    uint8_t *base = w->failed ? NULL : file_alloc(total);
    if (!base)
        return format_fail(error, "the model is too large, or memory ran out");
    size_t at = sizeof h;
    h.file_bytes = total;
    h.tensors_offset = place(base, &at, &w->tensors);
    h.ops_offset = place(base, &at, &w->ops);
    h.strings_offset = place(base, &at, &w->strings);
    h.data_offset = place(base, &at, &w->data);
    memcpy(base, &h, sizeof h);
    h.crc32 = mona_crc32(0, base, total); /* the field itself counts as zero */
    memcpy(base, &h, sizeof h);
    *bytes = base;
    *size = total;
    return true;
}

static mona_file_header *header_at(uint8_t *base, uint64_t at)
{
    return (mona_file_header *)(void *)(base + at);
}

/* The size of a file without its data, which the last file holds for all. */
static size_t bytes_before_data(const uint8_t *file)
{
    return (size_t)header_of(file)->data_offset;
}

/* Moves a header with its sections from the beginning of its own file to `at` in this one. */
static mona_file_header *move_header(uint8_t *base, size_t at, const uint8_t *file)
{
    memcpy(base + at, file, bytes_before_data(file));
    mona_file_header *h = header_at(base, at);
    h->tensors_offset += at;
    h->ops_offset += at;
    h->strings_offset += at;
    h->crc32 = 0;
    return h;
}

bool mona_writer_join(uint8_t *const *files, size_t count, uint8_t **bytes, size_t *size,
                      format_error *error)
{
    const mona_file_header *last = header_of(files[count - 1]);
    size_t heads = 0;
    for (size_t i = 0; i < count; i++)
        heads += bytes_before_data(files[i]);
    const size_t data_bytes = (size_t)last->data_bytes, total = heads + padded(data_bytes);
    uint8_t *base = total < UINT32_MAX ? file_alloc(total) : NULL;
    if (!base)
        return format_fail(error, "the model is too large, or memory ran out");
    for (size_t i = 0, at = 0; i < count; i++) {
        mona_file_header *h = move_header(base, at, files[i]);
        h->file_bytes = total;
        h->data_offset = heads;
        h->data_bytes = data_bytes;
        at += bytes_before_data(files[i]);
        h->next = i + 1 < count ? at : 0;
    }
    memcpy(base + heads, files[count - 1] + last->data_offset, data_bytes);
    header_at(base, 0)->crc32 = mona_crc32(0, base, total);
    *bytes = base;
    *size = total;
    return true;
}

/* ---- programs ------------------------------------------------------------------------------- */

/* Writes the file size of every header. */
static void set_file_bytes(uint8_t *base, uint64_t size)
{
    for (uint64_t at = 0, next = 1; next; at = next) {
        header_at(base, at)->file_bytes = size;
        next = header_at(base, at)->next;
    }
}

bool mona_writer_add_programs(const uint8_t *file, uint64_t header,
                              const mona_writer_program *programs, size_t count, uint8_t **bytes,
                              size_t *size, format_error *error)
{
    const mona_file_header *old = header_of(file + header);
    const size_t begin = padded((size_t)old->file_bytes);
    size_t at = begin + (old->program_count + count) * sizeof(mona_file_program), total = at;
    for (size_t i = 0; i < count; i++)
        total += padded(programs[i].size);
    uint8_t *base = file_alloc(total);
    if (!base)
        return format_fail(error, "out of memory");
    memcpy(base, file, (size_t)old->file_bytes);
    mona_file_header *h = header_at(base, header);
    mona_file_program *list = (mona_file_program *)(void *)(base + begin);
    const mona_file_program *there =
        (const mona_file_program *)(const void *)(file + old->programs_offset);
    h->programs_offset = begin;
    h->program_count = 0;
    for (uint32_t i = 0; i < old->program_count; i++)
        if (there[i].bytes)
            list[h->program_count++] = there[i];
    for (size_t i = 0; i < count; at += padded(programs[i++].size)) {
        mona_file_program *p = &list[h->program_count++];
        snprintf(p->target, sizeof p->target, "%s", programs[i].target);
        p->offset = at;
        p->bytes = programs[i].size;
        memcpy(base + at, programs[i].bytes, programs[i].size);
    }
    set_file_bytes(base, total);
    header_at(base, 0)->crc32 = 0;
    header_at(base, 0)->crc32 = mona_crc32(0, base, total);
    *bytes = base;
    *size = total;
    return true;
}

void mona_writer_set_release(uint8_t *file, uint32_t release)
{
    mona_file_header *h = header_at(file, 0);
    h->release = release;
    h->crc32 = 0;
    h->crc32 = mona_crc32(0, file, (size_t)h->file_bytes);
}
