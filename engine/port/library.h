// SPDX-License-Identifier: Apache-2.0
/* Shared libraries, a clock and sleep: operating system services beyond port.h, for a device behind
 * a vendor's driver. posix_library.c is linked only with such a device. */
#ifndef MONA_PORT_LIBRARY_H
#define MONA_PORT_LIBRARY_H

#include <stdint.h>

/* Loads a library, or finds it loaded, with its symbols visible to libraries loaded later. NULL:
 * there is none, or it needs something that is missing. It stays loaded. */
void *mona_port_library(const char *name);
/* Why mona_port_library() returned NULL; by the same thread, until its next call. */
const char *mona_port_library_error(void);
/* NULL: the library has no such symbol. */
void *mona_port_symbol(void *library, const char *name);

uint64_t mona_port_milliseconds(void); /* of a clock that never goes back */
void mona_port_pause(unsigned microseconds);
uint64_t mona_port_thread_id(void); /* the calling thread's, as libraries name it; not 0 */

#endif
