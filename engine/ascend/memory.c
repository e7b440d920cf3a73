// SPDX-License-Identifier: Apache-2.0
/* The chip's memory, and copies to and from it. */
#include "engine/ascend/acl.h"

#include <stdatomic.h>

#include "engine/libc.h"
#include "engine/port/library.h"

/* ---- blocks ---------------------------------------------------------------------------------- */

enum { BLOCKS = 2048 };

static struct {
    atomic_flag busy;
    struct {
        uint8_t *begin; /* NULL: unused */
        size_t bytes;
        uint32_t chip;
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
                     : begin && blocks.block[i].chip == ascend_here() && address >= begin &&
                           address < begin + blocks.block[i].bytes)
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
    void *made = *memory = NULL;
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
        blocks.block[i].chip = ascend_here();
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
    if (ascend_enter(ascend_here()))
        ascend.aclrtFree(memory);
}

/* ---- pinned memory of the host --------------------------------------------------------------- */

/* Only pinned memory is copied at the bus's full speed. Each copy borrows a buffer; as many are
 * kept as copies ran at a time, each as large as the largest copy that took it. */
enum { BUFFERS = 16 };

typedef struct staging {
    atomic_flag taken;
    void *memory;
    size_t bytes;
    ascend_stream stream;
} staging;

static staging buffers[MONA_ASCEND_CHIPS][BUFFERS];

/* A copy whose wait failed may still be under way: destroying its stream waits for it, unless the
 * chip is lost. */
static void give_back(staging *b, mona_status status)
{
    if (status && !ascend_lost())
        ascend_stream_close(&b->stream);
    atomic_flag_clear(&b->taken);
}

static mona_status enlarge(staging *b, size_t bytes)
{
    if (b->memory)
        ascend.aclrtFreeHost(b->memory);
    b->bytes = 0;
    b->memory = NULL;
    const mona_status status = ascend_check(ascend.aclrtMallocHost(&b->memory, bytes),
                                            "memory for copies cannot be reserved");
    b->bytes = status ? 0 : bytes;
    return status;
}

/* Takes a buffer of at least so many bytes. If it fails, none is taken. */
static mona_status borrow(size_t bytes, staging **found)
{
    staging *first = buffers[ascend_here()], *b = first;
    if (ascend_lost())
        return MONA_ERR_DEVICE;
    while (atomic_flag_test_and_set(&b->taken))
        if (++b == first + BUFFERS) {
            b = first;
            mona_port_pause(100);
        }
    *found = b;
    mona_status status = b->stream.handle ? MONA_OK : ascend_stream_open(&b->stream);
    if (!status && b->bytes < bytes)
        status = enlarge(b, bytes);
    if (status)
        give_back(b, status);
    return status;
}

void ascend_free_staging(void)
{
    staging *first = buffers[ascend_here()];
    for (staging *b = first; b < first + BUFFERS; b++) {
        ascend_stream_close(&b->stream);
        if (b->memory)
            ascend.aclrtFreeHost(b->memory);
        b->memory = NULL;
        b->bytes = 0;
    }
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* On a module the chip's memory is cached and coherent: the CPU's own copies will do. */

static const char sending[] = "a frame cannot be sent to the chip";
static const char fetching[] = "a frame cannot be fetched from the chip";

static void copy_rows(uint8_t *to, ptrdiff_t to_stride, const uint8_t *from, ptrdiff_t from_stride,
                      size_t row_bytes, size_t rows)
{
    for (size_t y = 0; y < rows; y++)
        memcpy(to + (ptrdiff_t)y * to_stride, from + (ptrdiff_t)y * from_stride, row_bytes);
}

/* From the first row's first byte to the last row's last one. */
static size_t bytes_of_rows(size_t pitch, size_t row_bytes, size_t rows)
{
    return rows ? pitch * (rows - 1) + row_bytes : 0;
}

mona_status ascend_upload(void *to, size_t pitch, const void *from, ptrdiff_t stride,
                          size_t row_bytes, size_t rows)
{
    staging *b;
    const size_t bytes = bytes_of_rows(pitch, row_bytes, rows);
    if (ascend_on_chip() && !ascend_lost()) {
        copy_rows(to, (ptrdiff_t)pitch, from, stride, row_bytes, rows);
        return MONA_OK;
    }
    mona_status status = borrow(bytes, &b);
    if (status)
        return status;
    copy_rows(b->memory, (ptrdiff_t)pitch, from, stride, row_bytes, rows);
    ascend_step_begin(&b->stream);
    status = ascend_check(
        ascend.aclrtMemcpyAsync(to, bytes, b->memory, bytes, ASCEND_TO_DEVICE, b->stream.handle),
        sending);
    if (!status)
        status = ascend_step_end(&b->stream, MONA_ASCEND_UPLOAD, sending);
    give_back(b, status);
    return status;
}

mona_status ascend_read(const void *from, size_t bytes, ascend_reader *use, void *context)
{
    staging *b;
    if (ascend_on_chip() && !ascend_lost()) {
        use(context, from);
        return MONA_OK;
    }
    mona_status status = borrow(bytes, &b);
    if (status)
        return status;
    ascend_step_begin(&b->stream);
    status = ascend_check(
        ascend.aclrtMemcpyAsync(b->memory, bytes, from, bytes, ASCEND_TO_HOST, b->stream.handle),
        fetching);
    if (!status)
        status = ascend_step_end(&b->stream, MONA_ASCEND_DOWNLOAD, fetching);
    if (!status)
        use(context, b->memory);
    give_back(b, status);
    return status;
}

typedef struct target {
    uint8_t *to;
    ptrdiff_t stride;
    size_t pitch, row_bytes, rows;
} target;

static void fill_rows(void *context, const uint8_t *bytes)
{
    const target *t = context;
    copy_rows(t->to, t->stride, bytes, (ptrdiff_t)t->pitch, t->row_bytes, t->rows);
}

mona_status ascend_download(void *to, ptrdiff_t stride, const void *from, size_t pitch,
                            size_t row_bytes, size_t rows)
{
    target t = {to, stride, pitch, row_bytes, rows};
    return ascend_read(from, bytes_of_rows(pitch, row_bytes, rows), fill_rows, &t);
}
