/* SPDX-License-Identifier: Apache-2.0
 * For each function of on_demand.inc one of its name, which goes on where its slot says. At first
 * that is `open`, which sets the slot; all registers that can hold arguments are as before then. */
#include <cet.h>

#define FUNCTION(name, library)                                                                                        \
    .globl name;                                                                                                       \
    .hidden name;                                                                                                      \
    .type name, @function;                                                                                             \
    name: _CET_ENDBR;                                                                                                  \
    jmp *slot_##name(%rip);                                                                                            \
    first_##name: _CET_ENDBR;                                                                                          \
    leaq slot_##name(%rip), %r11;                                                                                      \
    jmp open;                                                                                                          \
    .pushsection .data;                                                                                                \
    slot_##name: .quad first_##name;                                                                                   \
    .popsection;

    .data
    .balign 8
    .globl on_demand_slots
    .hidden on_demand_slots
on_demand_slots:

    .text
#include "on_demand.inc"

/* Called with the stack 8 bytes from a multiple of 16, as functions are; r11: the slot. */
open:
    .cfi_startproc
    pushq %rax
    pushq %rdi
    pushq %rsi
    pushq %rdx
    pushq %rcx
    pushq %r8
    pushq %r9
    pushq %r11
    subq $136, %rsp
    .cfi_def_cfa_offset 208
    movups %xmm0, (%rsp)
    movups %xmm1, 16(%rsp)
    movups %xmm2, 32(%rsp)
    movups %xmm3, 48(%rsp)
    movups %xmm4, 64(%rsp)
    movups %xmm5, 80(%rsp)
    movups %xmm6, 96(%rsp)
    movups %xmm7, 112(%rsp)
    movq %r11, %rdi
    call on_demand_open
    movl %eax, %r10d
    movups (%rsp), %xmm0
    movups 16(%rsp), %xmm1
    movups 32(%rsp), %xmm2
    movups 48(%rsp), %xmm3
    movups 64(%rsp), %xmm4
    movups 80(%rsp), %xmm5
    movups 96(%rsp), %xmm6
    movups 112(%rsp), %xmm7
    addq $136, %rsp
    popq %r11
    popq %r9
    popq %r8
    popq %rcx
    popq %rdx
    popq %rsi
    popq %rdi
    popq %rax
    testb %r10b, %r10b
    jz nothing
    jmp *(%r11)
nothing:
    xorl %eax, %eax
    ret
    .cfi_endproc

    .section .note.GNU-stack, "", @progbits
