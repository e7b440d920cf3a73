// SPDX-License-Identifier: Apache-2.0
/* The engine's needs from an operating system: threads, locks and the CPU's features. posix.c is
 * the port for Unix-like systems. none.c is for bare metal: one thread, and commands run as they
 * are enqueued. No other file of the engine knows which one it is linked with. */
#ifndef MONA_PORT_H
#define MONA_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Instruction sets that the kernels have code for, and that this CPU and this system support. */
enum {
    MONA_CPU_AVX2 = 1 << 0,    /* with FMA and F16C */
    MONA_CPU_AVX512 = 1 << 1,  /* F, BW, DQ, VL and VNNI, and everything of MONA_CPU_AVX2 */
    MONA_CPU_AVXVNNI = 1 << 3, /* also everything of MONA_CPU_AVX2 */
    MONA_CPU_NEON = 1 << 2,
    MONA_CPU_DOTPROD = 1 << 4,     /* FEAT_DotProd, and everything of MONA_CPU_NEON */
    MONA_CPU_I8MM = 1 << 10,       /* FEAT_I8MM, FEAT_FP16, and everything of MONA_CPU_DOTPROD */
    MONA_CPU_DSP = 1 << 5,         /* 32-bit Arm controllers: the DSP instructions */
    MONA_CPU_MVE = 1 << 6,         /* the vector extension of ARMv8.1-M, for integers and floats */
    MONA_CPU_SPARE_PORTS = 1 << 7, /* more vector ports than multiply-adds can use */
    MONA_CPU_AMX = 1 << 8,         /* tiles of bytes; the system lets this process use them */
    MONA_CPU_RVV = 1 << 9,         /* RISC-V's vector extension 1.0, all of V */
};
uint32_t mona_port_cpu_features(void);
unsigned mona_port_cpu_count(void); /* CPUs that this process may use, at least 1 */
size_t mona_port_cache_bytes(void); /* size of a core's second-level cache; 0: unknown */

/* Objects in the caller's memory; sizes are checked by the port at compile time. */
typedef union mona_port_mutex {
    uint64_t align;
    uint8_t bytes[64];
} mona_port_mutex;
typedef union mona_port_condition {
    uint64_t align;
    uint8_t bytes[64];
} mona_port_condition;
typedef union mona_port_thread {
    uint64_t align;
    uint8_t bytes[16];
} mona_port_thread;

/* False: this port has no threads (none.c), or the system refused one. */
bool mona_port_has_threads(void);
bool mona_port_thread_start(mona_port_thread *thread, void *(*function)(void *), void *argument);
void mona_port_thread_join(mona_port_thread *thread);

void mona_port_mutex_init(mona_port_mutex *mutex);
void mona_port_mutex_destroy(mona_port_mutex *mutex);
void mona_port_lock(mona_port_mutex *mutex);
void mona_port_unlock(mona_port_mutex *mutex);

void mona_port_condition_init(mona_port_condition *condition);
void mona_port_condition_destroy(mona_port_condition *condition);
void mona_port_wait(mona_port_condition *condition, mona_port_mutex *mutex);
void mona_port_broadcast(mona_port_condition *condition);

/* Work for threads of the process's only pool; the caller keeps it in place while it is in the
 * pool. At most `seats` threads, 1 to 64, are in `work` at a time, each with its own seat, counted
 * from 0. */
typedef struct mona_port_job {
    void (*work)(struct mona_port_job *job, unsigned seat);
    unsigned seats;
    /* The pool's own: */
    unsigned invited; /* threads that may still come */
    uint64_t taken;   /* seats */
    struct mona_port_job *next;
} mona_port_job;

/* Adds a job, and threads until there are as many as it has seats. False: the system refuses
 * one. */
bool mona_port_pool_add(mona_port_job *job);
/* Idle threads go to work, and each returns by itself; it does not matter if none comes. */
void mona_port_pool_invite(mona_port_job *job);
/* Returns when no thread is at work on the job. Without jobs the pool has no threads. */
void mona_port_pool_remove(mona_port_job *job);

#endif
