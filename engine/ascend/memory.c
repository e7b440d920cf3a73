// SPDX-License-Identifier: Apache-2.0
/* The chip's memory, and copies to and from it. */
#include "engine/ascend/acl.h"

#include <stdatomic.h>

#include "engine/libc.h"
#include "engine/port/library.h"

/* ---- blocks ---------------------------------------------------------------------------------- */

enum { BLOCKS = 512 };

static struct {
    atomic_flag busy;
    struct {
        uint8_t *begin; /* NULL: unused */
        size_t bytes;
        bool media;
    } block[BLOCKS];
} blocks = {.busy = ATOMIC_FLAG_INIT};

static void lock_blocks(void)
{
    while (atomic_flag_test_and_set(&blocks.busy))
        mona_port_pause(50);
}

/* The block of an address; its index is BLOCKS if there is none. NULL finds an unused one. */
static size_t find_block(const uint8_t *address)
{
    size_t i = 0;
    for (; i < BLOCKS; i++) {
        const uint8_t *begin = blocks.block[i].begin;
        if (!address ? !begin
                     : begin && address >= begin && address < begin + blocks.block[i].bytes)
            break;
    }
    return i;
}

bool ascend_owns(const void *memory)
{
    lock_blocks();
    const bool owns = find_block(memory) < BLOCKS;
    atomic_flag_clear(&blocks.busy);
    return owns;
}

static void release(void *memory, bool media)
{
    if (media)
        ascend.acldvppFree(memory);
    else
        ascend.aclrtFree(memory);
}

static mona_status allocate(size_t bytes, void **memory, bool media)
{
    *memory = NULL;
    if (!ascend_enter())
        return MONA_ERR_DEVICE;
    void *made = NULL;
    const mona_status status =
        ascend_check(media ? ascend.acldvppMalloc(&made, bytes)
                           : ascend.aclrtMalloc(&made, bytes, ASCEND_HUGE_PAGES_FIRST),
                     "memory of the chip cannot be reserved");
    if (status)
        return status;
    lock_blocks();
    const size_t i = find_block(NULL);
    if (i < BLOCKS) {
        blocks.block[i].begin = made;
        blocks.block[i].bytes = bytes;
        blocks.block[i].media = media;
    }
    atomic_flag_clear(&blocks.busy);
    if (i == BLOCKS) {
        release(made, media);
        return MONA_ERR_LIMIT;
    }
    *memory = made;
    return MONA_OK;
}

mona_status ascend_allocate(size_t bytes, void **memory)
{
    return allocate(bytes, memory, false);
}

mona_status ascend_allocate_media(size_t bytes, void **memory)
{
    return allocate(bytes, memory, true);
}

void ascend_free(void *memory)
{
    if (!memory)
        return;
    lock_blocks();
    const size_t i = find_block(memory);
    const bool media = i < BLOCKS && blocks.block[i].media;
    if (i < BLOCKS)
        blocks.block[i].begin = NULL;
    atomic_flag_clear(&blocks.busy);
    if (ascend_enter())
        release(memory, media);
}

/* ---- pinned memory of the host --------------------------------------------------------------- */

/* Only pinned memory is copied at the bus's full speed. Each copy borrows a buffer; as many are kept
 * as copies ran at a time, each as large as the largest copy that took it. */
enum { BUFFERS = 16 };

struct ascend_staging {
    atomic_flag taken;
    void *memory;
    size_t bytes;
};

static ascend_staging buffers[BUFFERS];

void ascend_give_back(ascend_staging *b)
{
    atomic_flag_clear(&b->taken);
}

void *ascend_staging_memory(const ascend_staging *b)
{
    return b->memory;
}

mona_status ascend_borrow(size_t bytes, ascend_staging **found)
{
    ascend_staging *b = buffers;
    if (!ascend_enter())
        return MONA_ERR_DEVICE;
    while (atomic_flag_test_and_set(&b->taken))
        if (++b == buffers + BUFFERS) {
            b = buffers;
            mona_port_pause(100);
        }
    *found = b;
    if (b->bytes >= bytes)
        return MONA_OK;
    if (b->memory)
        ascend.aclrtFreeHost(b->memory);
    b->bytes = 0;
    b->memory = NULL;
    const mona_status status = ascend_check(ascend.aclrtMallocHost(&b->memory, bytes),
                                            "memory for copies cannot be reserved");
    if (status)
        ascend_give_back(b);
    else
        b->bytes = bytes;
    return status;
}

void ascend_free_staging(void)
{
    for (ascend_staging *b = buffers; b < buffers + BUFFERS; b++) {
        if (b->memory)
            ascend.aclrtFreeHost(b->memory);
        b->memory = NULL;
        b->bytes = 0;
    }
}

/* ---- copies ---------------------------------------------------------------------------------- */

static void copy_rows(uint8_t *to, ptrdiff_t to_stride, const uint8_t *from, ptrdiff_t from_stride,
                      size_t row_bytes, size_t rows)
{
    for (size_t y = 0; y < rows; y++)
        memcpy(to + (ptrdiff_t)y * to_stride, from + (ptrdiff_t)y * from_stride, row_bytes);
}

mona_status ascend_upload(void *to, const void *from, ptrdiff_t stride, size_t row_bytes,
                          size_t rows)
{
    ascend_staging *b;
    const size_t bytes = row_bytes * rows;
    mona_status status = ascend_borrow(bytes, &b);
    if (status)
        return status;
    copy_rows(b->memory, (ptrdiff_t)row_bytes, from, stride, row_bytes, rows);
    status = ascend_check(ascend.aclrtMemcpy(to, bytes, b->memory, bytes, ASCEND_TO_DEVICE),
                          "a frame cannot be sent to the chip");
    ascend_give_back(b);
    return status;
}

mona_status ascend_download(void *to, ptrdiff_t stride, const void *from, size_t row_bytes,
                            size_t rows)
{
    ascend_staging *b;
    const size_t bytes = row_bytes * rows;
    mona_status status = ascend_borrow(bytes, &b);
    if (status)
        return status;
    status = ascend_check(ascend.aclrtMemcpy(b->memory, bytes, from, bytes, ASCEND_TO_HOST),
                          "a frame cannot be fetched from the chip");
    if (!status)
        copy_rows(to, stride, b->memory, (ptrdiff_t)row_bytes, row_bytes, rows);
    ascend_give_back(b);
    return status;
}
