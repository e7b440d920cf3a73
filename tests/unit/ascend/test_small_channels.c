// SPDX-License-Identifier: Apache-2.0
/* Programs of a build without small channels (MONA_SMALL_CHANNELS, engine/target.h) have the bytes
 * of the host, and no load3d of small channels. */
#define MONA_SMALL_CHANNELS 0
#include "engine/target.c" /* in place of the library's */
#define REPLAY_EVERY 3
#include "tests/unit/ascend/test_replay.c"
