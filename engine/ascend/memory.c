// SPDX-License-Identifier: Apache-2.0
/* The chip's memory, and copies to and from it. */
#include "engine/ascend/acl.h"

#include <stdatomic.h>

#include "engine/libc.h"
#include "engine/port/library.h"

/* ---- blocks ---------------------------------------------------------------------------------- */

enum { BLOCKS = 256 };

static struct {
    atomic_flag busy;
    struct {
        uint8_t *begin; /* NULL: unused */
        size_t bytes;
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

mona_status ascend_allocate(size_t bytes, void **memory)
{
    *memory = NULL;
    if (!ascend_enter())
        return MONA_ERR_DEVICE;
    void *made = NULL;
    const mona_status status =
        ascend_check(ascend.aclrtMalloc(&made, bytes, ASCEND_HUGE_PAGES_FIRST),
                     "memory of the chip cannot be reserved");
    if (status)
        return status;
    lock_blocks();
    const size_t i = find_block(NULL);
    if (i < BLOCKS) {
        blocks.block[i].begin = made;
        blocks.block[i].bytes = bytes;
    }
    atomic_flag_clear(&blocks.busy);
    if (i == BLOCKS) {
        ascend.aclrtFree(made);
        return MONA_ERR_LIMIT;
    }
    *memory = made;
    return MONA_OK;
}

void ascend_free(void *memory)
{
    if (!memory)
        return;
    lock_blocks();
    const size_t i = find_block(memory);
    if (i < BLOCKS)
        blocks.block[i].begin = NULL;
    atomic_flag_clear(&blocks.busy);
    if (ascend_enter())
        ascend.aclrtFree(memory);
}

/* ---- pinned memory of the host --------------------------------------------------------------- */

/* Only pinned memory is copied at the bus's full speed. Each copy borrows a buffer; as many are kept
 * as copies ran at a time, each as large as the largest copy that took it. */
enum { BUFFERS = 16 };

typedef struct staging {
    atomic_flag taken;
    void *memory;
    size_t bytes;
} staging;

static staging buffers[BUFFERS];

static void give_back(staging *b)
{
    atomic_flag_clear(&b->taken);
}

/* Enters the chip and takes a buffer of at least so many bytes. If it fails, none is taken. */
static mona_status borrow(size_t bytes, staging **found)
{
    staging *b = buffers;
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
        give_back(b);
    else
        b->bytes = bytes;
    return status;
}

void ascend_free_staging(void)
{
    for (staging *b = buffers; b < buffers + BUFFERS; b++) {
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

/* On a module the chip's memory is cached and coherent: the CPU's own copy will do. */
static mona_status copy_here(uint8_t *to, ptrdiff_t to_stride, const uint8_t *from,
                             ptrdiff_t from_stride, size_t row_bytes, size_t rows)
{
    if (!ascend_enter())
        return MONA_ERR_DEVICE;
    copy_rows(to, to_stride, from, from_stride, row_bytes, rows);
    return MONA_OK;
}

mona_status ascend_upload(void *to, const void *from, ptrdiff_t stride, size_t row_bytes,
                          size_t rows)
{
    staging *b;
    const size_t bytes = row_bytes * rows;
    if (ascend_on_chip())
        return copy_here(to, (ptrdiff_t)row_bytes, from, stride, row_bytes, rows);
    mona_status status = borrow(bytes, &b);
    if (status)
        return status;
    copy_rows(b->memory, (ptrdiff_t)row_bytes, from, stride, row_bytes, rows);
    status = ascend_check(ascend.aclrtMemcpy(to, bytes, b->memory, bytes, ASCEND_TO_DEVICE),
                          "a frame cannot be sent to the chip");
    give_back(b);
    return status;
}

mona_status ascend_download(void *to, ptrdiff_t stride, const void *from, size_t row_bytes,
                            size_t rows)
{
    staging *b;
    const size_t bytes = row_bytes * rows;
    if (ascend_on_chip())
        return copy_here(to, stride, from, (ptrdiff_t)row_bytes, row_bytes, rows);
    mona_status status = borrow(bytes, &b);
    if (status)
        return status;
    status = ascend_check(ascend.aclrtMemcpy(b->memory, bytes, from, bytes, ASCEND_TO_HOST),
                          "a frame cannot be fetched from the chip");
    if (!status)
        copy_rows(to, stride, b->memory, (ptrdiff_t)row_bytes, row_bytes, rows);
    give_back(b);
    return status;
}
