// SPDX-License-Identifier: Apache-2.0
/* Arm's MPS2 with a Cortex-M4 (AN386), M7 (AN500) and M33 (AN505), and MPS3 with a Cortex-M55
 * (AN547), as QEMU emulates them: CMSDK serial port, SysTick. The start-up code is C, as the core
 * loads the stack pointer itself. UART and HERTZ come from the Makefile. */
#include "apps/firmware/board.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define UART_DATA REGISTER(UART)
#define UART_STATE REGISTER(UART + 4)
#define UART_CONTROL REGISTER(UART + 8)
#define UART_DIVISOR REGISTER(UART + 16)
#define TICK_CONTROL REGISTER(0xe000e010)
#define TICK_RELOAD REGISTER(0xe000e014)
#define TICK_VALUE REGISTER(0xe000e018)
#define INTERRUPT_STATE REGISTER(0xe000ed04)
#define COPROCESSORS REGISTER(0xe000ed88)
#define FAULT_STATUS REGISTER(0xe000ed28)

const uint32_t board_clock_hertz = HERTZ;

enum { LONGEST_TICK = (1 << 24) - 1, TICK_PENDING = 1 << 26 };

void board_start(void);
void board_mark_stack(void);
_Noreturn void board_fault(void);
void board_tick(void);

extern uint32_t bss_begin[], bss_end[], stack_top[]; /* of the linker script */

/* Exceptions 1 to 15. */
__attribute__((section(".text.start"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))(void *)stack_top,
    board_start,
    board_fault,
    board_fault,
    board_fault,
    board_fault,
    board_fault,
    board_fault,
    [15] = board_tick,
};

/* ---- time ------------------------------------------------------------------------------------ */

/* The counter runs down from `reload` in every tick, and a line comes with every tick. */
static volatile uint32_t ticks;
static uint32_t reload;
static volatile uint32_t lines;

static void set_tick(uint32_t counts)
{
    reload = counts - 1;
    TICK_RELOAD = reload;
    TICK_VALUE = 0;
    TICK_CONTROL = 7; /* the core's clock, interrupts */
}

void board_start_lines(uint32_t microseconds)
{
    lines = microseconds != 0;
    set_tick(lines ? microseconds * (board_clock_hertz / 1000000) : LONGEST_TICK);
}

void board_tick(void)
{
    ticks++;
    if (lines)
        line_interrupt();
}

/* A tick ends when the counter is at 0, from where it begins again with `reload`. Its interrupt may
 * be yet to come. */
uint32_t board_clock(void)
{
    uint32_t before, gone, value, pending;
    do {
        before = ticks;
        value = TICK_VALUE;
        pending = INTERRUPT_STATE & TICK_PENDING;
    } while (before != ticks);
    gone = value ? reload + 1 - value : 0;
    return (before + (pending && gone < reload / 2)) * (reload + 1) + gone;
}

/* wfi ends at an interrupt that is masked, too, so none is missed between look and sleep. */
void board_wait(const volatile uint32_t *count, uint32_t seen)
{
    while (*count == seen) {
        __asm__ volatile("cpsid i" : : : "memory");
        if (*count == seen)
            __asm__ volatile("wfi");
        __asm__ volatile("cpsie i" : : : "memory");
    }
}

/* ---- start and end --------------------------------------------------------------------------- */

void board_start(void)
{
    COPROCESSORS |= 0xfu << 20; /* floating point and vectors */
    __asm__ volatile("dsb\n\tisb");
    for (uint32_t *p = bss_begin; p < bss_end; p++)
        *p = 0;
    board_mark_stack();
    UART_DIVISOR = 16;
    UART_CONTROL = 1;
    board_start_lines(0);
    board_exit(firmware_main());
}

void board_put(char c)
{
    while (UART_STATE & 1)
        ;
    UART_DATA = (uint8_t)c;
}

/* Semihosting: SYS_EXIT_EXTENDED with ADP_Stopped_ApplicationExit. */
_Noreturn void board_exit(int status)
{
    const uint32_t block[2] = {0x20026, (uint32_t)status};
    register uint32_t call __asm__("r0") = 0x20;
    register const uint32_t *argument __asm__("r1") = block;
    for (;;)
        __asm__ volatile("bkpt #0xab" : : "r"(call), "r"(argument) : "memory");
}

_Noreturn void board_fault(void)
{
    board_print("fault %x\n", FAULT_STATUS);
    board_exit(3);
}
