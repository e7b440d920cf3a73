/* What AVX2 and AVX-512 files need of a compiler. Register blocks are arrays indexed by constants
 * after full unrolling; always_inline and these two keep every accumulator in a register. */
#ifndef AC_X86_H
#define AC_X86_H

#include <immintrin.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 64")
#endif

/* Makes gcc update accumulator v in place: left alone it renames each one per iteration, which
 * takes twice the registers, and spills. */
#define KEEP_IN_PLACE(v) __asm__("" : "+v"(v))

/* Hides how pointer p came about. Where pixels lie as far apart as steps, gcc sees that one step's
 * operand is another's later on and keeps them all in registers, which it does not have. */
#define FORGET(p) __asm__("" : "+r"(p))

#endif
