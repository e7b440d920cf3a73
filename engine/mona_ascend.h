// SPDX-License-Identifier: Apache-2.0
/* The Ascend 310 through the vendor's libraries (libmona-ascend.a). They are looked for at run
 * time; without them the device does not answer. */
#ifndef MONA_ASCEND_H
#define MONA_ASCEND_H

#include "mona.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* Runs the AI Core programs of models (mona compile --target ascend310). */
extern const mona_device mona_device_ascend;
/* Any Ascend chip, for mona_om alone: plans for it are refused. */
extern const mona_device mona_device_ascend_om;

/* Those are a machine's first chip. The others: kind is one of the two, number counts from 0, and
 * mona_device_query() tells whether the chip is there. NULL: no machine has so many. */
enum { MONA_ASCEND_CHIPS = 32 };
const mona_device *mona_ascend_chip(const mona_device *kind, unsigned number);

/* Adds a kernel, as the vendor's compiler builds it (make ascend-kernel): the replay kernel, or one
 * that was written for a program, which that runs with then. An ELF file in memory, which must not
 * change until the device is closed. Add all before opening sessions that run programs. false:
 * there are as many as there may be. */
enum { MONA_ASCEND_KERNELS = 16 };
bool mona_ascend_add_kernel(const void *elf, size_t bytes);
/* Whether one of them is this mona's replay kernel, so that any program runs. */
bool mona_ascend_has_replay_kernel(void);

/* Sets bit 63 of CTRL in every program that is opened from now on: a chip may need it to load
 * small channels (apps/ascend/first_light.sh finds out). */
void mona_ascend_set_small_channels_bit(bool on);

/* Why the chip does not answer, or what failed on it last: one sentence without a full stop that
 * says what to do if that is known. "" if nothing has failed. Valid until the next failure. */
const char *mona_ascend_problem(void);
void mona_ascend_forget(void); /* sets it to "", unless that chip was lost */
/* The same of one chip alone. */
const char *mona_ascend_problem_of(const mona_device *chip);

/* Facts about the chip and the libraries. The chip must answer. */
typedef struct mona_ascend_info {
    const char *soc;     /* "Ascend310"; NULL: unnamed */
    bool runs_programs;  /* mona's own: the chip is an Ascend 310 */
    int32_t acl[3];      /* version of the AscendCL interface */
    uint32_t chips;      /* in this machine */
    bool on_chip;        /* this is an Atlas 200: host and chip share their memory */
    const char *missing; /* an optional function that the libraries lack; NULL: none */
    const char *since;   /* the first CANN release that has it */
    char driver[64];     /* version; "": unknown */
    /* What the chip's video decoder lacks, a function or the library; NULL: nothing. */
    const char *no_video;
} mona_ascend_info;

mona_status mona_ascend_query(const mona_device *chip, mona_ascend_info *info);

/* Seconds after which a chip that does not answer is given up (default 30). */
void mona_ascend_set_patience(unsigned seconds);

/* Health and power level, for which mona_telemetry has no place; -1: unknown. */
typedef struct mona_ascend_health {
    int health; /* 0 good, 1 warning, 2 alarm, 3 critical */
    int level;
} mona_ascend_health;

mona_status mona_ascend_health_of(const mona_device *chip, mona_ascend_health *health);

/* A step on the chip, timed by its own clock, in milliseconds since mona_ascend_watch(). Several
 * threads may call the watcher at once. */
typedef enum mona_ascend_step {
    MONA_ASCEND_UPLOAD,
    MONA_ASCEND_RUN,
    MONA_ASCEND_DOWNLOAD
} mona_ascend_step;
typedef void mona_ascend_watcher(void *context, mona_ascend_step step, double begin, double end);

/* Reports every later step of one chip to `seen`; NULL: to none. The chip must be open and no step
 * running. */
mona_status mona_ascend_watch(const mona_device *chip, mona_ascend_watcher *seen, void *context);

/* ---- compiled models of the vendor (.om) ---------------------------------------------------- */

enum { MONA_OM_SLOTS = 4, MONA_OM_DIMS = 6 };

typedef struct mona_om_tensor {
    const char *name;
    bool input;
    mona_type type;
    unsigned rank;
    uint32_t dims[MONA_OM_DIMS];
    bool channels_last; /* dims are N, H, W, C */
    size_t bytes;
} mona_om_tensor;

/* A model on the chip, with MONA_OM_SLOTS sets of inputs and outputs in its memory. If there is
 * enough memory it is loaded twice, for even and for odd slots, so that one frame can be sent while
 * two are computed and a fourth is fetched. */
typedef struct mona_om mona_om;

size_t mona_om_bytes(void); /* of a mona_om, which the caller provides */
/* bytes: of the file; on a card, needed only during the call. batch, frame: used if the model
 * leaves them open; 0: its first. MONA_ERR_UNSUPPORTED: a tensor has a type that mona lacks, or
 * there are more than MONA_MAX_IO; MONA_ERR_SHAPE: not compiled for this batch or size. */
mona_status mona_om_open(mona_om *om, const mona_device *chip, const void *bytes, size_t size,
                         uint32_t batch, mona_size frame);
void mona_om_close(mona_om *om);
unsigned mona_om_input_count(const mona_om *om);
unsigned mona_om_output_count(const mona_om *om);
mona_om_tensor mona_om_input(const mona_om *om, unsigned index);
mona_om_tensor mona_om_output(const mona_om *om, unsigned index);

/* A tensor in host memory, as rows of row_bytes, a divisor of its bytes; on the chip the rows have
 * no gaps between them. */
typedef struct mona_om_rows {
    void *data;
    ptrdiff_t stride;
    size_t row_bytes;
} mona_om_rows;

/* The three steps of a frame in a slot, for all of the model's inputs or outputs. These must stay
 * in place until the last step: on a module the model itself reads and writes those that lie in the
 * chip's memory without gaps. Each step returns when it is done; threads may work on different
 * slots at once. */
mona_status mona_om_upload(mona_om *om, unsigned slot, const mona_om_rows *inputs);
mona_status mona_om_run(mona_om *om, unsigned slot, const mona_om_rows *outputs);
mona_status mona_om_download(mona_om *om, unsigned slot, const mona_om_rows *outputs);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
