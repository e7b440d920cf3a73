// SPDX-License-Identifier: Apache-2.0
/* The functions that the examples need from a board; boards/ has one file for each kind. */
#ifndef FIRMWARE_BOARD_H
#define FIRMWARE_BOARD_H

#include <stdint.h>

/* Calls line_interrupt() every `microseconds` from an interrupt. 0: no more. */
void board_start_lines(uint32_t microseconds);
void line_interrupt(void);

/* Sleeps until *count differs from `seen`. An interrupt changes it. */
void board_wait(const volatile uint32_t *count, uint32_t seen);

/* A counter of board_clock_hertz, which wraps. */
uint32_t board_clock(void);
extern const uint32_t board_clock_hertz;

/* The most that the stack ever took, and all that it has, in bytes. */
uint32_t board_stack_used(void), board_stack_bytes(void);

void board_put(char c);                    /* to the serial port */
_Noreturn void board_exit(int status);     /* ends the emulator */
void board_print(const char *format, ...); /* %s, %u, %d, %x (8 digits), of 32 bits */
int firmware_main(void);                   /* what the start-up code calls */

#endif
