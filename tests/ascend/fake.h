// SPDX-License-Identifier: Apache-2.0
/* A strict stand-in for the vendor's libraries: real streams with a thread each, memory that the
 * host cannot touch, and a refusal for whatever the documents forbid. Where the vendor is lenient
 * (memory freed twice, handles that are none), it is not. See tests/ascend/README.md for its
 * knobs. */
#ifndef FAKE_H
#define FAKE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define API __attribute__((visibility("default")))

enum {
    BAD_ARGUMENT = 100000,
    NOT_INITIALISED = 100001,
    REPEATED_INIT = 100002,
    CANNOT_PARSE = 100012,
    REPEATED_END = 100037,
    BAD_PARAMETER = 107000,
    NO_SUCH_CHIP = 107001,
    NO_CONTEXT = 107002,
    FOREIGN_STREAM = 107003,
    NO_HANDLE = 107017,
    UNSUPPORTED = 207000,
    NO_MEMORY = 207001,
    INTERNAL = 507000,
    MODEL_FAILED = 507011,
    CORE_EXCEPTION = 507015,
    REGISTERED = 507028,
    TIMED_OUT = 507046,
    CONNECTION_LOST = 507901,
};

#pragma GCC visibility push(default) /* for libacl_dvpp.so */

/* ---- knobs: FAKE_ASCEND="name=value,..." */
long fake_knob(const char *name, long otherwise);
const char *fake_knob_text(const char *name, const char *otherwise);

/* Remembers a sentence for aclGetRecentErrMsg(), and returns the code. */
int fake_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line about the program's own mistakes: to stderr, and the process fails in the end. */
void fake_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* 0, or what the knobs say that this call of a function answers. */
int fake_failing(const char *function);
/* The same, or the code for a call at this moment: not initialised, no context, connection lost. */
#define fake_ready() fake_ready_for(__func__)
int fake_ready_for(const char *function);
/* Whether knobs that make something fail mean the chip of this thread: `chip` is its number, or is
 * not given. */
bool fake_fails_here(void);
/* Counts commands of each chip; from number `lost` on the connection is gone. */
bool fake_lost(void);

/* ---- memory */
bool fake_is_module(void); /* where the host uses the chip's memory */
enum { FAKE_MEMORY = 1 << 30 };
uint8_t *fake_base(void);                           /* addresses of the chip begin here */
uint8_t *fake_memory(const void *at, size_t bytes); /* for the chip; NULL: not inside one block */
uint8_t *fake_whole_memory(void);
bool fake_is_chip(const void *at);

/* ---- streams */
typedef int fake_work(void *argument); /* returns 0 or a code */
/* Runs work on a stream's thread; the argument is freed afterwards. */
int fake_enqueue(void *stream, const char *what, fake_work *work, void *argument);

/* A span of time on a line of the trace. */
uint64_t fake_now(void);
void fake_trace(const char *line, const char *what, uint64_t begin);
void fake_delay(const char *knob);

/* ---- reports, which the thread with that id (pthread_t) fetches */
void fake_subscribe(uint64_t thread, long count); /* count -1: ends it */
void fake_report(uint64_t thread, void (*deliver)(void *argument), void *argument);

/* What is still held. */
extern atomic_long fake_held_models, fake_held_objects;

#pragma GCC visibility pop

#endif
