// SPDX-License-Identifier: Apache-2.0
#ifndef ATC_H
#define ATC_H

#include <stdbool.h>

#include "apps/cli/options.h"
#include "formats/compiler/compiler.h"

/* Lets the user's own ATC, the vendor's compiler, make an .om for the Ascend 310 of a network of
 * one input with 1 or 3 channels, for samples of 8 bits. sizes: where the model leaves the size
 * open; more than one: it takes each of them. range: the real value of the largest sample. False:
 * one line was printed. */
bool atc_compile(const char *input, const compiler *model, const char *output,
                 const option_list *sizes, double range);

#endif
