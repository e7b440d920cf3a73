// SPDX-License-Identifier: Apache-2.0
    .section .rodata.model, "a"
    .balign 64
    .global model_begin, model_end
model_begin:
    .incbin "models/sr_x2_fast.mona"
model_end:
