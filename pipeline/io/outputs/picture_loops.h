// SPDX-License-Identifier: Apache-2.0
/* How often a GIF or an animated PNG is shown. */
#ifndef MONA_PICTURE_LOOPS_H
#define MONA_PICTURE_LOOPS_H

/* Repeats after the first time, as libav's GIF writer counts: -1: none, 0: without end.
 * `otherwise`: the file is neither, or cannot be read twice. */
int picture_loops(const char *path, int otherwise);

#endif
