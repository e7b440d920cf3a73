// SPDX-License-Identifier: Apache-2.0
/* The vendor's libraries, found at run time: AscendCL (libascendcl.so), its media part
 * (libacl_dvpp.so), the runtime under it (libruntime.so) and the driver's telemetry (libdcmi.so).
 * None of them is needed to build mona. Names, arguments and values are the vendor's; every
 * function but those of DCMI returns 0 for success. */
#ifndef MONA_ASCEND_ACL_H
#define MONA_ASCEND_ACL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/aicore/program.h"
#include "engine/mona_ascend.h"

enum {
#define VALUE(name, vendor, value) name = (value),
#include "engine/ascend/values.inc"
#undef VALUE
};
enum { ASCEND_MAX_NAME = 128, ASCEND_MAX_DIMS = 128 };
enum { ASCEND_ELF_BINARY = 0x43554245 }; /* magic of a kernel for an AI Core */

/* aclmdlIODims, aclmdlBatch, aclmdlHW, rtDevBinary_t */
typedef struct ascend_dims {
    char name[ASCEND_MAX_NAME];
    size_t count;
    int64_t dims[ASCEND_MAX_DIMS];
} ascend_dims;
typedef struct ascend_batches {
    size_t count;
    uint64_t batches[ASCEND_MAX_DIMS];
} ascend_batches;
typedef struct ascend_sizes {
    size_t count;
    uint64_t height_width[ASCEND_MAX_DIMS][2];
} ascend_sizes;
typedef struct ascend_binary {
    uint32_t magic, version;
    const void *data;
    uint64_t bytes;
} ascend_binary;

struct aclvdecChannelDesc;
struct acldvppStreamDesc;
struct acldvppPicDesc;
struct aclvdecFrameConfig;
typedef unsigned ascend_stream_format, ascend_pixel_format;
typedef void ascend_decoded(struct acldvppStreamDesc *input, struct acldvppPicDesc *output,
                            void *user);
struct aclmdlDesc;
struct aclmdlDataset;
struct aclDataBuffer;
struct aclrtBinaryLoadOptions;
struct tagRtSmCtrl;
struct aclTensorDesc;
struct aclopAttr;
struct aclopKernelDesc;
typedef int ascend_choose(int inputs, const struct aclTensorDesc *const *input, int outputs,
                          const struct aclTensorDesc *const *output,
                          const struct aclopAttr *attributes, struct aclopKernelDesc *desc);

/* A function that the libraries here lack is NULL, if it is optional. */
typedef struct ascend_functions {
#define FUNCTION(library, need, since, result, name, arguments) result(*name) arguments;
#include "engine/ascend/functions.inc"
#undef FUNCTION
} ascend_functions;

extern ascend_functions ascend;

/* Loads the libraries, brings up the chip of this number and enters it, unless that is done. False:
 * mona_ascend_problem() says why. */
bool ascend_open(uint32_t number);
void ascend_close(uint32_t number);

/* Makes the chip that of the calling thread: functions that others call do it first, and all
 * below, those of AscendCL too, mean the chip that the thread entered last. False: the chip is not
 * open, or was lost. */
bool ascend_enter(uint32_t number);
uint32_t ascend_here(void); /* the number of that chip */

/* Whether the chip runs mona's own programs. False: mona_ascend_problem() says why. */
bool ascend_runs_programs(void);

/* Whether the chip stopped answering: nothing is tried any more. */
bool ascend_lost(void);

/* Whether this is an Atlas 200, where mona runs on the chip's own CPU: both use one memory, and
 * AscendCL copies nothing. The chip is open. */
bool ascend_on_chip(void);

/* MONA_OK if code is 0. Otherwise keeps what is known of it for mona_ascend_problem(), and returns
 * the status that fits. doing: "a frame cannot be sent". */
mona_status ascend_check(int code, const char *doing);

/* The seconds of mona_ascend_set_patience(). */
unsigned ascend_patience(void);

/* A block of the chip's memory: parts of it that calls of AscendCL use leave `ascend_room` bytes
 * between their starts, as aclrtMalloc does. */
mona_status ascend_allocate(size_t bytes, void **memory);
void ascend_free(void *memory);
static inline size_t ascend_room(size_t bytes)
{
    return ((bytes + 31) / 32 * 32 + 32 + 63) / 64 * 64;
}

/* Copies rows to memory of the chip, or from it, where they are `pitch` bytes apart; on a card
 * through pinned memory of the host. What lies between rows of the chip becomes anything. */
mona_status ascend_upload(void *to, size_t pitch, const void *from, ptrdiff_t stride,
                          size_t row_bytes, size_t rows);
mona_status ascend_download(void *to, ptrdiff_t stride, const void *from, size_t pitch,
                            size_t row_bytes, size_t rows);
/* Calls use with bytes of the chip, where the host reads them. */
typedef void ascend_reader(void *context, const uint8_t *bytes);
mona_status ascend_read(const void *from, size_t bytes, ascend_reader *use, void *context);
void ascend_free_staging(void);
/* Whether an address lies in a block of ascend_allocate() on this chip. */
bool ascend_owns(const void *memory);

/* Keeps a sentence of parts up to a NULL, unless one is kept already that was not asked for. */
void ascend_report(const char *const *parts);
#define ASCEND_REPORT(...) ascend_report((const char *const[]){__VA_ARGS__, NULL})
/* The same of what is not supported, which is its value. */
#define ASCEND_REFUSE(...) (ASCEND_REPORT(__VA_ARGS__), MONA_ERR_UNSUPPORTED)

/* Streams of the chip. One thread at a time uses each: it begins a step, enqueues it and waits. */

typedef struct ascend_stream {
    void *handle;
    void *reached;      /* event of a library that cannot stop waiting; NULL: this one can */
    void *marks[2];     /* events of a step that is watched, at its begin and end; NULL: none yet */
    mona_status failed; /* of a wait: what it was for may still run, so nothing may follow */
} ascend_stream;

/* The chip has been entered. If it fails, nothing is left to close. */
mona_status ascend_stream_open(ascend_stream *stream);
void ascend_stream_close(ascend_stream *stream); /* zeroed memory is allowed */

void ascend_step_begin(ascend_stream *stream);
/* Waits for what was enqueued since then. It gives the chip up after the time that
 * mona_ascend_set_patience() sets. doing: as for ascend_check(). */
mona_status ascend_step_end(ascend_stream *stream, mona_ascend_step step, const char *doing);

/* Launches kernels on the chip in the first way that the libraries support. */

/* Arguments of the kernel: addresses on the chip. on_chip: where a copy of them lies there. */
typedef struct ascend_task {
    uint64_t words, addresses;
    void *on_chip;
} ascend_task;

typedef struct ascend_kernel ascend_kernel;

/* Finds the kernel for a program, and makes it known to the chip, unless it is. */
mona_status ascend_register_kernel(const ac_program *program, const ascend_kernel **kernel);
void ascend_forget_kernels(void);

/* Enqueues it on both AI Cores. */
mona_status ascend_launch(const ascend_kernel *kernel, const ascend_task *task, void *stream);

#endif
