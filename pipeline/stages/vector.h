// SPDX-License-Identifier: Apache-2.0
/* Functions over samples, compiled for the vectors of the CPU at hand: AVX2 where it has them, else
 * those that the build assumes. Both have the same results, since they compute in integers. */
#ifndef MONA_VECTOR_H
#define MONA_VECTOR_H

#include <stdatomic.h>
#include <string.h>

extern atomic_bool vector_unwanted;

/* cpu: the instruction set that networks are held to; NULL: the best. With "c", functions use none
 * that the build does not assume. */
static inline void vector_hold(const char *cpu)
{
    atomic_store(&vector_unwanted, cpu && !strcmp(cpu, "c"));
}

#if defined(__x86_64__)
#define VECTOR_DEFINE(give, type, name, parameters, arguments)                                     \
    __attribute__((target("avx2"), flatten)) static type name##_avx2 parameters                    \
    {                                                                                              \
        give name##_any arguments;                                                                 \
    }                                                                                              \
    type name parameters                                                                           \
    {                                                                                              \
        give __builtin_cpu_supports("avx2") &&                                                     \
                !atomic_load_explicit(&vector_unwanted, memory_order_relaxed)                      \
            ? name##_avx2 arguments                                                                \
            : name##_any arguments;                                                                \
    }
#else
#define VECTOR_DEFINE(give, type, name, parameters, arguments)                                     \
    type name parameters                                                                           \
    {                                                                                              \
        give name##_any arguments;                                                                 \
    }
#endif

/* Defines `name`, which calls name##_any, a static function of this file with the same parameters.
 * What that calls in this file is compiled twice too. */
#define VECTOR_FUNCTION(type, name, parameters, arguments)                                         \
    VECTOR_DEFINE(return, type, name, parameters, arguments)
#define VECTOR_PROCEDURE(name, parameters, arguments)                                              \
    VECTOR_DEFINE(, void, name, parameters, arguments)

#endif
