// SPDX-License-Identifier: Apache-2.0
/* QEMU's "virt" board with a RISC-V core in machine mode, of 32 or 64 bits: 16550 serial port, the
 * core's timer (CLINT), and a device that ends the emulator. */
#include "apps/firmware/board.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define BYTE(address) (*(volatile uint8_t *)(uintptr_t)(address))
#define UART_DATA BYTE(0x10000000)
#define UART_STATUS BYTE(0x10000005)
#define TIME_LOW REGISTER(0x0200bff8)
#define TIME_HIGH REGISTER(0x0200bffc)
#define ALARM_LOW REGISTER(0x02004000)
#define ALARM_HIGH REGISTER(0x02004004)
#define FINISHER REGISTER(0x00100000)

enum {
    UART_EMPTY = 1 << 5,
    TIMER_INTERRUPT = 7,
    INTERRUPTS = 1 << 3,  /* mstatus.MIE */
    FLOATS = 1 << 13,     /* mstatus.FS: initial */
    VECTORS_ON = 1 << 9,  /* mstatus.VS: initial */
    FINISH_WELL = 0x5555, /* or, with a status above it: */
    FINISH_ILL = 0x3333,
};

const uint32_t board_clock_hertz = 10000000;

static uint32_t period; /* of lines, in ticks */
static uint64_t next;

void board_start(void);
void board_mark_stack(void);
void board_trap(void);

extern uint32_t bss_begin[], bss_end[]; /* of the linker script */

/* The core enters at the first byte of the image. */
__asm__(".section .text.start, \"ax\"\n"
        ".global _start\n"
        "_start:\n"
        "    la sp, stack_top\n"
        "    j board_start\n"
        ".text\n");

/* ---- time ------------------------------------------------------------------------------------ */

static uint64_t now(void)
{
    uint32_t high, low;
    do {
        high = TIME_HIGH;
        low = TIME_LOW;
    } while (high != TIME_HIGH);
    return (uint64_t)high << 32 | low;
}

/* The halves are written one by one; none of the values between lies before `when`. */
static void set_alarm(uint64_t when)
{
    ALARM_LOW = UINT32_MAX;
    ALARM_HIGH = (uint32_t)(when >> 32);
    ALARM_LOW = (uint32_t)when;
}

void board_start_lines(uint32_t microseconds)
{
    period = microseconds * (board_clock_hertz / 1000000);
    next = now() + period;
    set_alarm(period ? next : UINT64_MAX);
}

/* Machine mode takes traps here: the timer, or a fault. */
__attribute__((interrupt, aligned(4))) void board_trap(void)
{
    intptr_t cause;
    uintptr_t address;
    __asm__ volatile("csrr %0, mcause\n\tcsrr %1, mepc" : "=r"(cause), "=r"(address));
    if (cause >= 0 || (cause & 0xff) != TIMER_INTERRUPT) {
        board_print("fault %x at %x\n", (uint32_t)cause, (uint32_t)address);
        board_exit(3);
    }
    next += period;
    set_alarm(period ? next : UINT64_MAX);
    if (period)
        line_interrupt();
}

uint32_t board_clock(void)
{
    return TIME_LOW;
}

/* wfi ends at an interrupt that is masked, too, so none is missed between look and sleep. */
void board_wait(const volatile uint32_t *count, uint32_t seen)
{
    while (*count == seen) {
        __asm__ volatile("csrci mstatus, %0" : : "i"(INTERRUPTS) : "memory");
        if (*count == seen)
            __asm__ volatile("wfi");
        __asm__ volatile("csrsi mstatus, %0" : : "i"(INTERRUPTS) : "memory");
    }
}

/* ---- start and end --------------------------------------------------------------------------- */

void board_start(void)
{
    __asm__ volatile("csrs mstatus, %0" : : "r"(FLOATS) : "memory");
#ifdef MONA_RVV
    __asm__ volatile("csrs mstatus, %0" : : "r"(VECTORS_ON) : "memory");
#endif
    for (uint32_t *p = bss_begin; p < bss_end; p++)
        *p = 0;
    board_mark_stack();
    board_start_lines(0);
    __asm__ volatile("csrw mtvec, %0\n\tcsrw mie, %1\n\tcsrsi mstatus, %2"
                     :
                     : "r"(board_trap), "r"(1 << TIMER_INTERRUPT), "i"(INTERRUPTS)
                     : "memory");
    board_exit(firmware_main());
}

void board_put(char c)
{
    while (!(UART_STATUS & UART_EMPTY))
        ;
    UART_DATA = (uint8_t)c;
}

_Noreturn void board_exit(int status)
{
    for (;;)
        FINISHER = status ? (uint32_t)status << 16 | FINISH_ILL : FINISH_WELL;
}
