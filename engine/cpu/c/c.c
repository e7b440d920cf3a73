// SPDX-License-Identifier: Apache-2.0
/* The row kernels in portable C, which any CPU runs. */
#include "engine/cpu/c/rows.h"

MONA_TABLE(c);
