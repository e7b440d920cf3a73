// SPDX-License-Identifier: Apache-2.0
#ifndef ASCEND_SETUP_H
#define ASCEND_SETUP_H

#include "engine/mona_ascend.h"
#include "formats/error.h"

/* Where the replay kernel is looked for, if MONA_ASCEND_KERNEL does not say. */
#define ASCEND_KERNEL_FILE "mona_replay.o"

/* Gives the device "ascend" what the environment says: MONA_ASCEND_KERNEL, the file that make
 * ascend-kernel wrote, and MONA_ASCEND_TIMEOUT, the seconds after which a chip that does not answer
 * is given up. They are read once. False: the file cannot be read. */
bool ascend_setup(format_error *error);

/* The file of the kernel that was found; NULL: there is none. */
const char *ascend_kernel_path(void);

#endif
