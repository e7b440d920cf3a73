// SPDX-License-Identifier: Apache-2.0
/* Port for Unix-like systems: POSIX threads, cpuid. */
#include "engine/port/port.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#elif (defined(__aarch64__) || defined(__ARM_NEON)) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#elif defined(__riscv) && defined(__linux__)
#include <sys/auxv.h>
#endif

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(mona_port_mutex), "mutex size");
_Static_assert(sizeof(pthread_cond_t) <= sizeof(mona_port_condition), "condition size");
_Static_assert(sizeof(pthread_t) <= sizeof(mona_port_thread), "thread size");

#if defined(__x86_64__)
/* Register state that the system saves on a context switch. An instruction set whose state it does
 * not save is unusable. */
static uint64_t enabled_state(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static bool ask_for_state(int request, int component)
{
#ifdef __linux__
    return !syscall(SYS_arch_prctl, request, component);
#else
    (void)request, (void)component;
    return false;
#endif
}

/* AMD's Zen 5 and later: four ports for vectors, of which two multiply. */
static bool has_spare_ports(void)
{
    enum { ZEN_5 = 0x1a };
    unsigned a, b, c, d;
    if (!__get_cpuid(0, &a, &b, &c, &d) || b != signature_AMD_ebx || c != signature_AMD_ecx)
        return false;
    return __get_cpuid(1, &a, &b, &c, &d) && (a >> 8 & 0xf) + (a >> 20 & 0xff) >= ZEN_5;
}

/* Tiles are a process's only after it has asked for them. */
static bool has_tiles(uint64_t state)
{
    enum { STATE_TILES = 0x60000, XTILEDATA = 18, REQUEST = 0x1023 };
    const unsigned needed = 1u << 24 | 1u << 25; /* AMX-TILE and AMX-INT8 */
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & needed) == needed &&
           (state & STATE_TILES) == STATE_TILES && ask_for_state(REQUEST, XTILEDATA);
}

static uint32_t ask_cpu(void)
{
    enum { STATE_AVX = 0x06, STATE_AVX512 = 0xe6, LEAF_7_1_AVXVNNI = 1 << 4 };
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return 0;
    const bool fma_f16c = (c & bit_FMA) && (c & bit_F16C);
    const uint64_t state = enabled_state();
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return 0;
    uint32_t features = 0;
    if ((b & bit_AVX2) && fma_f16c && (state & STATE_AVX) == STATE_AVX)
        features |= MONA_CPU_AVX2;
    const unsigned avx512 = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
    if (features && (b & avx512) == avx512 && (c & bit_AVX512VNNI) &&
        (state & STATE_AVX512) == STATE_AVX512)
        features |= MONA_CPU_AVX512;
    if ((features & MONA_CPU_AVX512) && has_tiles(state))
        features |= MONA_CPU_AMX;
    if (has_spare_ports())
        features |= MONA_CPU_SPARE_PORTS;
    if (features && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & LEAF_7_1_AVXVNNI))
        features |= MONA_CPU_AVXVNNI;
    return features;
}

/* Asked only once: in a virtual machine each cpuid takes tens of microseconds. */
uint32_t mona_port_cpu_features(void)
{
    enum { ASKED = 1 << 30 };
    static _Atomic uint32_t known;
    if (!known)
        known = ask_cpu() | ASKED;
    return known & ~(uint32_t)ASKED;
}
#elif defined(__aarch64__)
uint32_t mona_port_cpu_features(void)
{
    uint32_t features = MONA_CPU_NEON;
#if defined(__linux__)
    enum { NEEDED = HWCAP_ASIMDDP | HWCAP_ASIMDHP };
    if (getauxval(AT_HWCAP) & HWCAP_ASIMDDP)
        features |= MONA_CPU_DOTPROD;
    if ((getauxval(AT_HWCAP) & NEEDED) == NEEDED && (getauxval(AT_HWCAP2) & HWCAP2_I8MM))
        features |= MONA_CPU_I8MM;
#endif
    return features;
}
#elif defined(__ARM_NEON) && defined(__linux__)
uint32_t mona_port_cpu_features(void)
{
    enum { NEEDED = HWCAP_NEON | HWCAP_VFPv4 };
    return (getauxval(AT_HWCAP) & NEEDED) == NEEDED ? MONA_CPU_NEON : 0;
}
#elif defined(__riscv) && defined(__linux__)
uint32_t mona_port_cpu_features(void)
{
    return getauxval(AT_HWCAP) >> ('V' - 'A') & 1 ? MONA_CPU_RVV : 0;
}
#else
uint32_t mona_port_cpu_features(void)
{
    return 0;
}
#endif

unsigned mona_port_cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        return 1;
    const int count = CPU_COUNT(&set);
    return count > 0 ? (unsigned)count : 1;
}

size_t mona_port_cache_bytes(void)
{
#ifdef _SC_LEVEL2_CACHE_SIZE
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? (size_t)bytes : 0;
#else
    return 0;
#endif
}

bool mona_port_has_threads(void)
{
    return true;
}

bool mona_port_thread_start(mona_port_thread *thread, void *(*function)(void *), void *argument)
{
    return !pthread_create((pthread_t *)(void *)thread, NULL, function, argument);
}

void mona_port_thread_join(mona_port_thread *thread)
{
    pthread_join(*(pthread_t *)(void *)thread, NULL);
}

void mona_port_mutex_init(mona_port_mutex *mutex)
{
    pthread_mutex_init((pthread_mutex_t *)mutex, NULL);
}

void mona_port_mutex_destroy(mona_port_mutex *mutex)
{
    pthread_mutex_destroy((pthread_mutex_t *)mutex);
}

void mona_port_lock(mona_port_mutex *mutex)
{
    pthread_mutex_lock((pthread_mutex_t *)mutex);
}

void mona_port_unlock(mona_port_mutex *mutex)
{
    pthread_mutex_unlock((pthread_mutex_t *)mutex);
}

void mona_port_condition_init(mona_port_condition *condition)
{
    pthread_cond_init((pthread_cond_t *)condition, NULL);
}

void mona_port_condition_destroy(mona_port_condition *condition)
{
    pthread_cond_destroy((pthread_cond_t *)condition);
}

void mona_port_wait(mona_port_condition *condition, mona_port_mutex *mutex)
{
    pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex);
}

void mona_port_broadcast(mona_port_condition *condition)
{
    pthread_cond_broadcast((pthread_cond_t *)condition);
}
