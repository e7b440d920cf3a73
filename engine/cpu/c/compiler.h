// SPDX-License-Identifier: Apache-2.0
/* Compiler features for vectorised files. A register block is an array whose indices are
 * constants once loops are fully unrolled; always_inline and UNROLL see to that, so that every
 * accumulator stays in a register. */
#ifndef MONA_CPU_COMPILER_H
#define MONA_CPU_COMPILER_H

#define INLINE static inline __attribute__((always_inline))

/* An operation on vectors that is one operation of the instruction set. */
#define BINARY(type, name, operation)                                                              \
    INLINE type name(type a, type b)                                                               \
    {                                                                                              \
        return operation(a, b);                                                                    \
    }

/* A case of a switch with a call that is compiled for this constant. */
#define CASE(constant, call)                                                                       \
    case constant:                                                                                 \
        call;                                                                                      \
        break

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 64")
#endif

/* Hides from the compiler how pointer p was computed. Where pixels are as far apart as steps, gcc
 * notices that an operand of one step is used again in a later one. It then keeps all of them in
 * registers, and runs out of registers. */
#define FORGET(p) __asm__("" : "+r"(p))

#endif
