// SPDX-License-Identifier: Apache-2.0
/* What vectorised files need of a compiler. Register blocks are arrays indexed by constants after
 * full unrolling; always_inline and UNROLL keep every accumulator in a register. */
#ifndef AC_COMPILER_H
#define AC_COMPILER_H

#define INLINE static inline __attribute__((always_inline))

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 64")
#endif

/* Hides how pointer p came about. Where pixels lie as far apart as steps, gcc sees that one step's
 * operand is another's later on and keeps them all in registers, which it does not have. */
#define FORGET(p) __asm__("" : "+r"(p))

#endif
