// SPDX-License-Identifier: Apache-2.0
/* The devices that a job can be computed on. */
#ifndef MONA_JOB_DEVICES_H
#define MONA_JOB_DEVICES_H

#include "engine/mona_ascend.h"
#include "formats/error.h"
#include "mona.h"
#include "pipeline/base/error.h"
#include "pipeline/stages/stage_settings.h"

/* "auto" takes the first that answers. Ends with NULL. */
extern const mona_device *const devices_all[];

/* The device of this name, or several: "ascend:0,2" and "ascend:all" of a machine's chips,
 * "model310:4" modelled ones. On a chip, a model without a program for its frames gets one when it
 * is bound (session_binding.h). */
bool devices_find(const char *name, device_set *set, pipeline_error *error);

/* What to look for in place of this name: a chip that runs .om models alone does so with "auto",
 * too, where `model` is one. model: its file, or NULL. */
const char *devices_asked(const char *name, const char *model);

/* How many chips this machine has, or 1: whether they answer is another question. */
unsigned devices_chips(const mona_device *first);

/* "auto": what the chip cannot open, the host may. */
bool devices_or_host(const char *name);

/* Whether work on the device of this name goes through a driver of this machine. */
bool devices_has_driver(const char *name);

void devices_close(void);

/* The kernels that are looked for, if MONA_ASCEND_KERNEL does not say. */
#define ASCEND_KERNEL_FILES "mona_*.o"

/* Gives the device "ascend" what the environment says: MONA_ASCEND_KERNEL, the files that
 * make ascend-kernel wrote, separated by colons, and MONA_ASCEND_TIMEOUT, the seconds after which a
 * chip that does not answer is given up. They are read once. False: a file cannot be read. */
bool ascend_setup(format_error *error);

/* The files of the kernels that were found; NULL: there is none. */
const char *ascend_kernel_path(void);

#endif
