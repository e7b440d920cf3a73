// SPDX-License-Identifier: Apache-2.0
/* Peaks of the CPU. The loops use enough independent accumulators to hide the latency of an
 * instruction (4 to 5 cycles at two per cycle need 10; there are 12) and no memory, so only the
 * instruction's throughput limits them. */
#include "apps/devices/machine.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include "engine/run/device.h"
#include "pipeline/base/clock.h"

/* CACHE_BYTES read and as many written fit the second-level cache of every CPU that mona knows, but
 * not the first. */
enum { RUNS = 5, MAX_THREADS = 64, COPY_BYTES = 64 << 20, CACHE_BYTES = 96 << 10 };

typedef struct kernel {
    const char *instruction;
    double macs_per_pass;
    void (*run)(long passes);
} kernel;

#if defined(__x86_64__)
/* A pass executes one instruction on each of registers 2 to 13, with 0 and 1 as operands. It is
 * written in assembler so that the result does not depend on the compiler's register allocation. */
#define ON_TWELVE(op, r)                                                                           \
    op(r, "2") op(r, "3") op(r, "4") op(r, "5") op(r, "6") op(r, "7") op(r, "8") op(r, "9")        \
        op(r, "10") op(r, "11") op(r, "12") op(r, "13")
#define CLEAR(r, n) "vxorps %%" r n ", %%" r n ", %%" r n "\n\t"
#define DPBUSD(r, n) "vpdpbusd %%" r "0, %%" r "1, %%" r n "\n\t"
#define DPBUSD_VEX(r, n) "%{vex%} " DPBUSD(r, n)
#define FMA(r, n) "vfmadd231ps %%" r "0, %%" r "1, %%" r n "\n\t"
#define MADD(r, n)                                                                                 \
    "vpmaddwd %%" r "0, %%" r "1, %%" r "15\n\tvpaddd %%" r "15, %%" r n ", %%" r n "\n\t"
#define KERNEL(name, op, r)                                                                        \
    static void name(long passes)                                                                  \
    {                                                                                              \
        __asm__ volatile(                                                                          \
            CLEAR("ymm", "0") CLEAR("ymm", "1")                                                    \
                ON_TWELVE(CLEAR, "ymm") "1:\n\t" ON_TWELVE(op, r) "dec %0\n\tjnz 1b\n\tvzeroupper" \
            : "+r"(passes)                                                                         \
            :                                                                                      \
            : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",        \
              "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm15");                                \
    }

KERNEL(vnni512, DPBUSD, "zmm")
KERNEL(fma512, FMA, "zmm")
KERNEL(vnni256, DPBUSD_VEX, "ymm")
KERNEL(madd256, MADD, "ymm")
KERNEL(fma256, FMA, "ymm")

/* A pass multiplies full tiles of zeros, with four tiles of sums. */
__attribute__((target("amx-tile,amx-int8"))) static void tiles(long passes)
{
    static const struct {
        uint8_t palette, reserved[15];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } shapes = {
        .palette = 1,
        .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
        .rows = {16, 16, 16, 16, 16, 16, 16, 16},
    };
    __asm__ volatile("ldtilecfg %1\n\t"
                     "1:\n\t"
                     "tdpbusd %%tmm6, %%tmm4, %%tmm0\n\t"
                     "tdpbusd %%tmm7, %%tmm4, %%tmm1\n\t"
                     "tdpbusd %%tmm6, %%tmm5, %%tmm2\n\t"
                     "tdpbusd %%tmm7, %%tmm5, %%tmm3\n\t"
                     "dec %0\n\t"
                     "jnz 1b\n\t"
                     "tilerelease"
                     : "+r"(passes)
                     : "m"(shapes)
                     : "cc");
}

/* Tiles are usable once the engine has asked the system for them. */
static bool has_tiles(void)
{
    return !strcmp(mona_device_host.isa(NULL)->name, "amx");
}

/* Not every compiler's __builtin_cpu_supports knows AVX-VNNI. */
static bool has_avxvnni(void)
{
    unsigned a, b, c, d;
    return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) &&
           (a & 1 << 4);
}
#elif defined(__aarch64__)
/* The same on registers 2 to 13, and 14 to 25 for 16-bit products. */
#define ON_TWELVE(op)                                                                              \
    op("2", "14") op("3", "15") op("4", "16") op("5", "17") op("6", "18") op("7", "19")            \
        op("8", "20") op("9", "21") op("10", "22") op("11", "23") op("12", "24") op("13", "25")
#define CLEAR(n, t) "movi v" n ".4s, #0\n\t"
/* sdot v<n>.4s, v0.16b, v1.16b, which assemblers for plain ARMv8-A refuse. */
#define DOT(n, t) ".inst 0x4e819400 + " n "\n\t"
#define FMA(n, t) "fmla v" n ".4s, v0.4s, v1.4s\n\t"
#define PRODUCTS(n, t)                                                                             \
    "smull v" t ".8h, v0.8b, v1.8b\n\tsmlal2 v" t ".8h, v0.16b, v1.16b\n\t"                        \
    "sadalp v" n ".4s, v" t ".8h\n\t"
#define KERNEL(name, op)                                                                           \
    static void name(long passes)                                                                  \
    {                                                                                              \
        __asm__ volatile(CLEAR("0", ) CLEAR("1", )                                                 \
                             ON_TWELVE(CLEAR) "1:\n\t" ON_TWELVE(op) "subs %0, %0, #1\n\tb.ne 1b"  \
                         : "+r"(passes)                                                            \
                         :                                                                         \
                         : "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9",       \
                           "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19",   \
                           "v20", "v21", "v22", "v23", "v24", "v25");                              \
    }

KERNEL(dot128, DOT)
KERNEL(products128, PRODUCTS)
KERNEL(fma128, FMA)
#endif

/* For any CPU: the compiler's code for plain C. */
static void plain_int8(long passes)
{
    int32_t acc[64] = {0};
    int16_t a[64] = {0};
    for (long p = 0; p < passes; p++) {
        for (int i = 0; i < 64; i++)
            acc[i] += a[i] * (int16_t)p;
        __asm__ volatile("" : "+m"(acc), "+m"(a));
    }
}

static void plain_fp32(long passes)
{
    float acc[64] = {0}, a[64] = {0};
    for (long p = 0; p < passes; p++) {
        for (int i = 0; i < 64; i++)
            acc[i] += a[i] * 0.5f;
        __asm__ volatile("" : "+m"(acc), "+m"(a));
    }
}

static kernel int8_kernel(void)
{
#if defined(__x86_64__)
    if (has_tiles())
        return (kernel){"tdpbusd", 4 * 16 * 16 * 64, tiles};
    if (__builtin_cpu_supports("avx512vnni"))
        return (kernel){"vpdpbusd zmm", 12 * 64, vnni512};
    if (has_avxvnni())
        return (kernel){"vpdpbusd ymm", 12 * 32, vnni256};
    if (__builtin_cpu_supports("avx2"))
        return (kernel){"vpmaddwd ymm", 12 * 16, madd256};
#elif defined(__aarch64__)
    if (getauxval(AT_HWCAP) & HWCAP_ASIMDDP)
        return (kernel){"sdot", 12 * 16, dot128};
    return (kernel){"smull, smlal, sadalp", 12 * 16, products128};
#endif
    return (kernel){"C", 64, plain_int8};
}

static kernel fp32_kernel(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return (kernel){"vfmadd zmm", 12 * 16, fma512};
    if (__builtin_cpu_supports("fma"))
        return (kernel){"vfmadd ymm", 12 * 8, fma256};
#elif defined(__aarch64__)
    return (kernel){"fmla", 12 * 4, fma128};
#endif
    return (kernel){"C", 64, plain_fp32};
}

/* ---- timing ---------------------------------------------------------------------------------- */

typedef struct task {
    void (*run)(long passes);
    long passes;
    uint8_t *from, *to; /* for copies, if run is NULL */
    size_t bytes;
} task;

static void *perform(void *argument)
{
    const task *t = argument;
    if (t->run)
        t->run(t->passes);
    else
        for (long p = 0; p < t->passes; p++)
            memcpy(t->to, t->from, t->bytes);
    return NULL;
}

/* Runs one task per thread. Returns the time until all are done; 0: a thread could not be
 * started. */
static double time_tasks(task *tasks, unsigned threads)
{
    pthread_t ids[MAX_THREADS];
    const uint64_t start = clock_ns();
    unsigned started = 1;
    while (started < threads && !pthread_create(&ids[started], NULL, perform, &tasks[started]))
        started++;
    perform(&tasks[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(ids[i], NULL);
    return started == threads ? 1e-9 * (double)(clock_ns() - start) : 0;
}

/* Passes per second in the fastest of RUNS runs of 10 to 20 ms; 0: a thread could not be
 * started. */
static double passes_per_second(const task *model, unsigned threads)
{
    task tasks[MAX_THREADS];
    long passes = 1;
    double best = 0;
    for (int run = 0; run < RUNS;) {
        for (unsigned i = 0; i < threads; i++) {
            tasks[i] = *model;
            tasks[i].passes = passes;
            if (!model->run) {
                tasks[i].from += i * model->bytes;
                tasks[i].to += i * model->bytes;
            }
        }
        const double time = time_tasks(tasks, threads);
        if (time <= 0)
            return 0;
        if (time < 0.01) {
            passes *= 2;
            continue;
        }
        run++;
        best = (double)passes * threads / time > best ? (double)passes * threads / time : best;
    }
    return best;
}

bool peak_measure(unsigned threads, peak *result)
{
    threads = threads < 1 ? 1 : threads > MAX_THREADS ? MAX_THREADS : threads;
    const kernel int8 = int8_kernel(), fp32 = fp32_kernel();
    uint8_t *memory = malloc(2 * (size_t)COPY_BYTES);
    if (!memory)
        return false;
    memset(memory, 1, 2 * (size_t)COPY_BYTES);
    const task multiply8 = {.run = int8.run}, multiply32 = {.run = fp32.run};
    const task copy = {.from = memory, .to = memory + COPY_BYTES, .bytes = COPY_BYTES / threads};
    task near_copy = copy;
    near_copy.bytes = CACHE_BYTES;
    *result = (peak){
        .int8_instruction = int8.instruction,
        .fp32_instruction = fp32.instruction,
        .int8_gmac_per_s = 1e-9 * int8.macs_per_pass * passes_per_second(&multiply8, threads),
        .fp32_gmac_per_s = 1e-9 * fp32.macs_per_pass * passes_per_second(&multiply32, threads),
        .copy_gb_per_s = 1e-9 * (double)copy.bytes * passes_per_second(&copy, threads),
        .cache_copy_gb_per_s =
            1e-9 * (double)near_copy.bytes * passes_per_second(&near_copy, threads),
    };
    result->fp16_gmac_per_s = result->fp32_gmac_per_s;
    free(memory);
    return result->int8_gmac_per_s > 0 && result->fp32_gmac_per_s > 0 && result->copy_gb_per_s > 0;
}
