// SPDX-License-Identifier: Apache-2.0
/* The row kernels in portable C, which any CPU runs. */
#include "engine/cpu/c/rows.h"

const ac_isa ac_isa_c = {
    .name = "c",
    .conv_scratch = AC_SCRATCH,
    .conv_row = ac_c_conv_row,
    .depthwise_row = ac_c_depthwise_row,
    .pack_row = ac_c_pack_row,
    .unpack_row = ac_c_unpack_row,
    .resize_row = ac_c_resize_row,
    .elementwise_row = ac_c_elementwise_row,
    .function_row = ac_c_function_row,
    .normalise_row = ac_c_normalise_row,
    .attention_row = ac_c_attention_row,
    .luma_row = ac_c_luma_row,
    .chroma_row = ac_c_chroma_row,
};
