// SPDX-License-Identifier: Apache-2.0
/* Programs have the host's bytes whichever way a chip reads what documents leave open (machine.h).
 * The first models have biases of fp16: colour, denoise_balanced. */
#define REPLAY_FIRST 1
#define REPLAY_END 7
#define REPLAY_READINGS (CCE_SMALL_BY_CONTROL | CCE_BEYOND_THE_ROW)
#include "tests/unit/ascend/test_replay.c"
