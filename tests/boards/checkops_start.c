// SPDX-License-Identifier: Apache-2.0
/* Starts checkops on an emulated Cortex-M with newlib, which prints by semihosting, and gives it
 * what it wants of a system. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern uint32_t stack_top[], bss_begin[], bss_end[];
extern char heap_begin[], heap_end[];

int main(int argc, char **argv);
void initialise_monitor_handles(void); /* newlib's */
void reset(void);
void *_sbrk(ptrdiff_t bytes);

static long host(long call, void *argument)
{
    register long r0 __asm__("r0") = call;
    register void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt #0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void reset(void)
{
    static char line[256], *arguments[16];
    struct {
        char *text;
        uint32_t bytes;
    } command = {line, sizeof line};
    int count = 0;
    *(volatile uint32_t *)0xe000ed88 |= 0xfu << 20; /* floating point and vectors */
    __asm__ volatile("dsb\n\tisb");
    for (uint32_t *p = bss_begin; p < bss_end; p++)
        *p = 0;
    initialise_monitor_handles();
    host(0x15, &command); /* SYS_GET_CMDLINE */
    for (char *word = strtok(line, " "); word && count < 16; word = strtok(NULL, " "))
        arguments[count++] = word;
    exit(main(count, arguments));
}

static void fault(void)
{
    uint32_t block[2] = {0x20023, 1}; /* ADP_Stopped_RunTimeErrorUnknown */
    host(0x20, block);
}

__attribute__((section(".vectors"), used)) static void (*const vectors[8])(void) = {
    (void (*)(void))(void *)stack_top, reset, fault, fault, fault, fault, fault, fault};

void *_sbrk(ptrdiff_t bytes)
{
    static char *end = heap_begin;
    if (heap_end - end < bytes) {
        errno = ENOMEM;
        return (void *)-1;
    }
    end += bytes;
    return end - bytes;
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    *memory = memalign(alignment, bytes);
    return *memory ? 0 : ENOMEM;
}

/* checkops --bench asks for the time, which is not wanted here. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
    (void)clock;
    *t = (struct timespec){0};
    return 0;
}

void _init(void);
void _init(void) {}

void _fini(void);
void _fini(void) {}
