// SPDX-License-Identifier: Apache-2.0
/* Port for bare metal: one thread, so there is nothing to lock and nothing to wait for. Link it
 * instead of posix.c; streams then run each command as it is enqueued. */
#include "engine/port/port.h"

/* The CPU features that the compiler targets. */
uint32_t mona_port_cpu_features(void)
{
    uint32_t features = 0;
#ifdef __ARM_NEON
    features |= MONA_CPU_NEON;
#endif
#if defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD)
    features |= MONA_CPU_DOTPROD;
#endif
#if defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD) &&                                      \
    defined(__ARM_FEATURE_MATMUL_INT8) && defined(__ARM_FEATURE_FP16_VECTOR_ARITHMETIC)
    features |= MONA_CPU_I8MM;
#endif
#ifdef __ARM_FEATURE_MVE
    features |= MONA_CPU_MVE;
#endif
#ifdef __ARM_FEATURE_DSP
    features |= MONA_CPU_DSP;
#endif
#if defined(__riscv_v) || defined(MONA_RVV)
    features |= MONA_CPU_RVV;
#endif
    return features;
}

unsigned mona_port_cpu_count(void)
{
    return 1;
}

size_t mona_port_cache_bytes(void)
{
    return 0;
}

bool mona_port_has_threads(void)
{
    return false;
}

bool mona_port_thread_start(mona_port_thread *thread, void *(*function)(void *), void *argument)
{
    (void)thread, (void)function, (void)argument;
    return false;
}

void mona_port_thread_join(mona_port_thread *thread)
{
    (void)thread;
}

void mona_port_mutex_init(mona_port_mutex *mutex)
{
    (void)mutex;
}

void mona_port_mutex_destroy(mona_port_mutex *mutex)
{
    (void)mutex;
}

void mona_port_lock(mona_port_mutex *mutex)
{
    (void)mutex;
}

void mona_port_unlock(mona_port_mutex *mutex)
{
    (void)mutex;
}

void mona_port_condition_init(mona_port_condition *condition)
{
    (void)condition;
}

void mona_port_condition_destroy(mona_port_condition *condition)
{
    (void)condition;
}

void mona_port_wait(mona_port_condition *condition, mona_port_mutex *mutex)
{
    (void)condition, (void)mutex;
}

void mona_port_broadcast(mona_port_condition *condition)
{
    (void)condition;
}

bool mona_port_pool_add(mona_port_job *job)
{
    (void)job;
    return false;
}

void mona_port_pool_invite(mona_port_job *job)
{
    (void)job;
}

void mona_port_pool_remove(mona_port_job *job)
{
    (void)job;
}
