// SPDX-License-Identifier: Apache-2.0
/* Numbers with units on the command line. */
#ifndef QUANTITY_H
#define QUANTITY_H

#include <stdbool.h>

/* "33.3ms", "800us" or "2s" (OPTION_DURATION), in milliseconds. False, with a message that names
 * the option. */
bool quantity_ms(const char *option, const char *text, double *ms);

/* "5%", or a number of per cent, as a share: 0.05. 0 or more. */
bool quantity_share(const char *option, const char *text, double *share);

#endif
