// SPDX-License-Identifier: Apache-2.0
/* The devices that a job can be computed on. */
#ifndef MONA_JOB_DEVICES_H
#define MONA_JOB_DEVICES_H

#include "mona.h"
#include "pipeline/base/error.h"

/* "auto" takes the first that answers. Ends with NULL. */
extern const mona_device *const devices_all[];

/* The device of this name. On a chip, a model without a program for its frames gets one when it is
 * bound (session_binding.h). NULL: there is none. */
const mona_device *devices_find(const char *name, pipeline_error *error);

/* "auto": what the chip cannot open, the host may. */
bool devices_or_host(const char *name);

/* Whether work on the device of this name goes through a driver of this machine. */
bool devices_has_driver(const char *name);

void devices_close(void);

#endif
