// SPDX-License-Identifier: Apache-2.0
// Start-up for ARMv8-A at EL1, as QEMU's "virt" enters it: floating point, a map of memory with
// caches, which unaligned access and exclusive access need, and interrupts.
    .section .text.start, "ax"
    .global board_start
board_start:
    mrs     x0, mpidr_el1           // further cores sleep
    and     x0, x0, #0xff
    cbnz    x0, sleep
    mov     x0, #3 << 20            // CPACR_EL1.FPEN: floating point and SIMD
    msr     cpacr_el1, x0
    isb
    ldr     x0, =stack_top
    mov     sp, x0
    ldr     x0, =bss_begin
    ldr     x1, =bss_end
clear:
    cmp     x0, x1
    b.hs    cleared
    stp     xzr, xzr, [x0], #16
    b       clear
cleared:
    ldr     x0, =0xff00             // attributes: 0 device, 1 normal memory with write-back caches
    msr     mair_el1, x0
    ldr     x0, =0x280803520        // TCR_EL1: 4 GiB of addresses, pages of 4 KiB, cached walks
    msr     tcr_el1, x0
    ldr     x0, =memory_map
    msr     ttbr0_el1, x0
    dsb     ish
    isb
    mrs     x0, sctlr_el1
    mov     x1, #0x1005             // map, data cache, instruction cache
    orr     x0, x0, x1
    msr     sctlr_el1, x0
    isb
    ldr     x0, =vectors
    msr     vbar_el1, x0
    bl      board_mark_stack
    bl      board_init
    msr     daifclr, #2             // interrupts
    bl      firmware_main
    bl      board_exit
sleep:
    wfi
    b       sleep

    .macro each_of op               // stores or loads what a function need not keep
    \op     x0, x1, [sp]
    \op     x2, x3, [sp, #16]
    \op     x4, x5, [sp, #32]
    \op     x6, x7, [sp, #48]
    \op     x8, x9, [sp, #64]
    \op     x10, x11, [sp, #80]
    \op     x12, x13, [sp, #96]
    \op     x14, x15, [sp, #112]
    \op     x16, x17, [sp, #128]
    \op     x18, x30, [sp, #144]
    .endm

// The handler uses no vector registers (it is built with -mgeneral-regs-only).
interrupt:
    sub     sp, sp, #176
    each_of stp
    bl      board_interrupt
    each_of ldp
    add     sp, sp, #176
    eret

fault:
    mrs     x0, esr_el1
    mrs     x1, elr_el1
    bl      board_fault

    .balign 2048
vectors:                            // 16 entries of 128 bytes; the sixth is the interrupt
    .rept 5
    b       fault
    .balign 128
    .endr
    b       interrupt
    .balign 128
    .rept 10
    b       fault
    .balign 128
    .endr

    .balign 4096
memory_map:                         // blocks of 1 GiB: devices, then memory
    .quad   0x0060000000000401
    .quad   0x0000000040000705
    .quad   0, 0
