// SPDX-License-Identifier: Apache-2.0
    .section .rodata.model, "a"
    .balign 64
    .global other_begin, other_end, wrong_begin, wrong_end
other_begin:
    .incbin "models/sr_x2_fast_anime.mona"
other_end:
    .balign 64
wrong_begin:
    .incbin "models/sr_x4_fast.mona"
wrong_end:
