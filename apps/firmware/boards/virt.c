// SPDX-License-Identifier: Apache-2.0
/* QEMU's "virt" board with an ARMv8-A core: PL011 serial port, GICv2, the core's timer. */
#include "apps/firmware/board.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define UART_DATA REGISTER(0x09000000)
#define UART_FLAGS REGISTER(0x09000018)
#define GIC_CONTROL REGISTER(0x08000000)
#define GIC_ENABLE REGISTER(0x08000100)
#define GIC_CPU_CONTROL REGISTER(0x08010000)
#define GIC_CPU_PRIORITY REGISTER(0x08010004)
#define GIC_CPU_ACKNOWLEDGE REGISTER(0x0801000c)
#define GIC_CPU_END REGISTER(0x08010010)

enum { UART_FULL = 1 << 5, TIMER_INTERRUPT = 30 };

const uint32_t board_clock_hertz = 62500000;

static uint32_t period; /* of lines, in ticks */
static uint64_t next;

void board_init(void);
void board_interrupt(void);
_Noreturn void board_fault(uint64_t cause, uint64_t address);

void board_init(void)
{
    GIC_CONTROL = 1;
    GIC_ENABLE = 1u << TIMER_INTERRUPT;
    GIC_CPU_PRIORITY = 0xff;
    GIC_CPU_CONTROL = 1;
}

static uint64_t now(void)
{
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntpct_el0" : "=r"(ticks));
    return ticks;
}

static void set_timer(uint64_t when, uint64_t enabled)
{
    __asm__ volatile("msr cntp_cval_el0, %0\n\tmsr cntp_ctl_el0, %1\n\tisb"
                     :
                     : "r"(when), "r"(enabled));
}

void board_start_lines(uint32_t microseconds)
{
    period = microseconds * (board_clock_hertz / 500000) / 2;
    next = now() + period;
    set_timer(next, microseconds != 0);
}

void board_interrupt(void)
{
    const uint32_t interrupt = GIC_CPU_ACKNOWLEDGE;
    if ((interrupt & 1023) == TIMER_INTERRUPT) {
        next += period;
        set_timer(next, period != 0);
        line_interrupt();
    }
    GIC_CPU_END = interrupt;
}

/* wfi ends at an interrupt that is masked, too, so none is missed between look and sleep. */
void board_wait(const volatile uint32_t *count, uint32_t seen)
{
    while (*count == seen) {
        __asm__ volatile("msr daifset, #2" : : : "memory");
        if (*count == seen)
            __asm__ volatile("wfi");
        __asm__ volatile("msr daifclr, #2" : : : "memory");
    }
}

uint32_t board_clock(void)
{
    return (uint32_t)now();
}

void board_put(char c)
{
    while (UART_FLAGS & UART_FULL)
        ;
    UART_DATA = (uint8_t)c;
}

/* Semihosting: SYS_EXIT with ADP_Stopped_ApplicationExit. */
_Noreturn void board_exit(int status)
{
    const uint64_t block[2] = {0x20026, (uint64_t)status};
    register uint64_t call __asm__("x0") = 0x18;
    register const uint64_t *argument __asm__("x1") = block;
    for (;;)
        __asm__ volatile("hlt #0xf000" : : "r"(call), "r"(argument) : "memory");
}

_Noreturn void board_fault(uint64_t cause, uint64_t address)
{
    board_print("fault %x at %x\n", (uint32_t)cause, (uint32_t)address);
    board_exit(3);
}
