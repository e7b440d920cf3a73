// SPDX-License-Identifier: Apache-2.0
/* Programs have the host's bytes whichever way a chip reads what documents leave open (machine.h),
 * each by itself and all together. The first models have biases of fp16: colour and
 * denoise_balanced. */
#define REPLAY_FIRST 1
#define REPLAY_END 7
#define REPLAY_READINGS                                                                            \
    {                                                                                              \
        CCE_SMALL_BY_CONTROL, CCE_BEYOND_THE_ROW, CCE_ONE_VECTOR, CCE_ROWS_BEHIND, CCE_MINUS_ZERO, \
            CCE_EVERY_READING                                                                      \
    }
#include "tests/unit/ascend/test_replay.c"
