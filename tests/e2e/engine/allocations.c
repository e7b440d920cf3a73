// SPDX-License-Identifier: Apache-2.0
/* Preloaded into mona: counts calls of malloc, free and similar functions from the mona binary
 * itself, not from its libraries. At the end the number is written to the file that
 * MONA_ALLOCATIONS names. */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* glibc's own names of the functions replaced here. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static uintptr_t code_begin, code_end;
static atomic_ulong calls;

/* The first object is the program. */
static int find_code(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
            code_begin = object->dlpi_addr + segment->p_vaddr;
            code_end = code_begin + segment->p_memsz;
        }
    }
    return 1;
}

__attribute__((constructor)) static void begin(void)
{
    dl_iterate_phdr(find_code, NULL);
}

__attribute__((destructor)) static void end(void)
{
    const char *name = getenv("MONA_ALLOCATIONS");
    FILE *file = name ? fopen(name, "w") : NULL;
    if (file) {
        fprintf(file, "%lu\n", atomic_load(&calls));
        fclose(file);
    }
}

static void count(const void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    if (at >= code_begin && at < code_end)
        atomic_fetch_add(&calls, 1);
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t size)
{
    count(CALLER);
    return __libc_malloc(size);
}

void *calloc(size_t items, size_t size)
{
    count(CALLER);
    return __libc_calloc(items, size);
}

void *realloc(void *memory, size_t size)
{
    count(CALLER);
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count(CALLER);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    count(CALLER);
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

void free(void *memory)
{
    count(CALLER);
    __libc_free(memory);
}
