// SPDX-License-Identifier: Apache-2.0
#include "formats/operators.h"

#include <stdio.h>
#include <string.h>

#include "formats/compiler/import/importer.h"
#include "formats/reference/operators.h"

#define BIT(type) (1u << (type))

enum { ANY_COUNT = OPERATOR_ANY_COUNT };

/* Sets of element types. */
#define FLOAT32 BIT(ELEMENT_FLOAT32)
#define FLOATS (FLOAT32 | BIT(ELEMENT_FLOAT16) | BIT(ELEMENT_BFLOAT16) | BIT(ELEMENT_DOUBLE))
#define BYTES (BIT(ELEMENT_UINT8) | BIT(ELEMENT_INT8))
#define INTS                                                                                       \
    (BYTES | BIT(ELEMENT_UINT16) | BIT(ELEMENT_INT16) | BIT(ELEMENT_UINT32) | BIT(ELEMENT_INT32) | \
     BIT(ELEMENT_UINT64) | BIT(ELEMENT_INT64))
#define NUMBERS (FLOATS | INTS)
#define LOGIC BIT(ELEMENT_BOOL)
#define SMALL                                                                                      \
    (BIT(ELEMENT_FLOAT8E4M3FN) | BIT(ELEMENT_FLOAT8E4M3FNUZ) | BIT(ELEMENT_FLOAT8E5M2) |           \
     BIT(ELEMENT_FLOAT8E5M2FNUZ) | BIT(ELEMENT_FLOAT8E8M0) | BIT(ELEMENT_FLOAT4E2M1) |             \
     BIT(ELEMENT_UINT4) | BIT(ELEMENT_INT4) | BIT(ELEMENT_UINT2) | BIT(ELEMENT_INT2))
#define ANY (NUMBERS | LOGIC | SMALL)

/* Constant needs no row: its value is read along with the model. */
static const operator_row rows[] = {
    {"Abs", 6, 1, 1, NUMBERS, op_unary, false, import_abs, "any", import_array_unary, "any"},
    {"Add", 6, 2, 2, NUMBERS, op_binary, false, import_add,
     "two tensors of one shape, or with a constant a channel", import_array_binary, "any"},
    {"And", 6, 2, 2, LOGIC, op_compare, false, NULL, NULL, import_array_binary, "any"},
    {"ArgMax", 6, 1, 1, NUMBERS, op_arg, false, NULL, NULL, import_array_arg, "any"},
    {"ArgMin", 6, 1, 1, NUMBERS, op_arg, false, NULL, NULL, import_array_arg, "any"},
    {"Attention", 23, 3, 6, FLOATS, op_attention, true, import_attention,
     "without mask, of channels that come last", import_array_attention, "without mask"},
    {"AveragePool", 6, 1, 1, FLOATS, op_average_pool, true, import_average_pool, "1-D and 2-D",
     import_array_pool, "1-D to 3-D"},
    {"BatchNormalization", 6, 5, 5, FLOATS, op_batch_norm, false, import_batch_norm,
     "constant statistics, not in training", import_array_batch_norm, "any"},
    {"Cast", 6, 1, 1, ANY, op_cast, false, import_cast, "between float16, float32 and double",
     import_array_cast, "any types"},
    {"CastLike", 15, 2, 2, ANY, op_cast_like, false, NULL, NULL, import_array_cast, "any types"},
    {"Ceil", 6, 1, 1, FLOATS, op_unary, false, NULL, NULL, import_array_unary, "any"},
    {"Celu", 12, 1, 1, FLOATS, op_unary, false, NULL, NULL, import_array_unary, "any"},
    {"Clip", 6, 1, 3, NUMBERS, op_clip, false, import_clip, "constant bounds", import_array_clip,
     "any"},
    {"Concat", 6, 1, ANY_COUNT, ANY, op_concat, false, import_concat, "of channels",
     import_array_move, "any"},
    {"ConstantOfShape", 9, 1, 1, INTS, op_constant_of_shape, false, NULL, NULL, NULL, NULL},
    {"Conv", 6, 2, 3, FLOATS, op_conv, true, import_conv, "1-D and 2-D, constant weights",
     import_array_conv, "1-D to 3-D"},
    {"ConvInteger", 10, 2, 4, BYTES, op_conv_integer, true, NULL, NULL, import_array_conv_integer,
     "1-D to 3-D"},
    {"ConvTranspose", 6, 2, 3, FLOATS, op_conv_transpose, true, import_conv_transpose,
     "2-D, constant weights, strides up to 4 that divide the result", import_array_conv_transpose,
     "1-D to 3-D"},
    {"Cos", 7, 1, 1, FLOATS, op_unary, false, NULL, NULL, import_array_unary, "any"},
    {"DepthToSpace", 6, 1, 1, ANY, op_depth_to_space, false, import_depth_to_space,
     "CRD, or DCR after a convolution", import_array_move, "any"},
    {"DequantizeLinear", 10, 2, 3, ANY, op_dequantize, false, import_dequantize,
     "one scale for a map, as it was quantised", import_array_dequantize, "any"},
    {"Div", 6, 2, 2, NUMBERS, op_binary, false, import_div, "by a constant a channel",
     import_array_binary, "any"},
    {"Dropout", 6, 1, 3, FLOATS, op_dropout, false, import_identity, "passes its input on",
     import_array_move, "outside of training"},
    {"DynamicQuantizeLinear", 11, 1, 1, FLOAT32, op_dynamic_quantize, false, NULL, NULL,
     import_array_dynamic_quantize, "any"},
    {"Elu", 6, 1, 1, FLOATS, op_unary, false, import_function, "any", import_array_unary, "any"},
    {"Equal", 6, 2, 2, ANY, op_compare, false, NULL, NULL, import_array_binary, "any"},
    {"Erf", 9, 1, 1, NUMBERS, op_unary, false, NULL, NULL, import_array_unary, "any"},
    {"Exp", 6, 1, 1, FLOATS, op_unary, false, NULL, NULL, import_array_unary, "any"},
    {"Expand", 8, 2, 2, ANY, op_expand, false, NULL, NULL, import_array_move, "constant shape"},
    {"Flatten", 6, 1, 1, ANY, op_flatten, false, import_flatten,
     "the same numbers in the same order", import_array_reshape, "any"},
    {"Floor", 6, 1, 1, FLOATS, op_unary, false, NULL, NULL, import_array_unary, "any"},
    {"Gather", 6, 2, 2, ANY, op_gather, false, NULL, NULL, import_array_move, "any indices"},
    {"Gelu", 20, 1, 1, FLOATS, op_unary, false, import_function, "any", import_array_unary, "any"},
    {"Gemm", 6, 2, 3, NUMBERS, op_gemm, true, import_gemm,
     "of a constant and channels that come last, or a flattened map", import_array_gemm, "any"},
    {"GlobalAveragePool", 6, 1, 1, FLOATS, op_global_average_pool, false,
     import_global_average_pool, "1-D and 2-D", import_array_global_pool, "any"},
    {"GlobalMaxPool", 6, 1, 1, FLOATS, op_global_max_pool, false, import_global_max_pool,
     "1-D and 2-D", import_array_global_pool, "any"},
    {"Greater", 6, 2, 2, NUMBERS, op_compare, false, NULL, NULL, import_array_binary, "any"},
    {"GreaterOrEqual", 12, 2, 2, NUMBERS, op_compare, false, NULL, NULL, import_array_binary,
     "any"},
    {"GridSample", 16, 2, 2, FLOATS, op_grid_sample, true, NULL, NULL, import_array_grid_sample,
     "of images, linear or nearest"},
    {"GroupNormalization", 18, 3, 3, FLOATS, op_group_norm, false, NULL, NULL,
     import_array_group_norm, "any"},
    {"HardSigmoid", 6, 1, 1, FLOATS, op_unary, false, import_hard_sigmoid, "any",
     import_array_unary, "any"},
    {"HardSwish", 14, 1, 1, FLOATS, op_unary, false, import_function, "any", import_array_unary,
     "any"},
    {"Identity", 6, 1, 1, ANY, op_identity, false, import_identity, "passes its input on",
     import_array_reshape, "any"},
    {"If", 6, 3, 3, LOGIC, op_if, false, NULL, NULL, import_array_where, "branches of one shape"},
    {"InstanceNormalization", 6, 3, 3, FLOATS, op_instance_norm, false, NULL, NULL,
     import_array_group_norm, "any"},
    {"LayerNormalization", 17, 2, 3, FLOATS, op_layer_norm, true, import_layer_norm,
     "of channels that come last", import_array_layer_norm, "any"},
    {"LeakyRelu", 6, 1, 1, FLOATS, op_unary, false, import_leaky_relu, "any slope",
     import_array_unary, "any"},
    {"Less", 6, 2, 2, NUMBERS, op_compare, false, NULL, NULL, import_array_binary, "any"},
    {"LessOrEqual", 12, 2, 2, NUMBERS, op_compare, false, NULL, NULL, import_array_binary, "any"},
    {"Log", 6, 1, 1, FLOATS, op_unary, false, NULL, NULL, import_array_unary, "any"},
    {"LogSoftmax", 6, 1, 1, FLOATS, op_log_softmax, false, NULL, NULL, import_array_softmax, "any"},
    {"MatMul", 6, 2, 2, NUMBERS, op_matmul, true, import_mat_mul,
     "of a constant and channels that come last, or a flattened map", import_array_matmul, "any"},
    {"MatMulInteger", 10, 2, 4, BYTES, op_matmul_integer, true, NULL, NULL,
     import_array_matmul_integer, "any"},
    {"Max", 6, 1, ANY_COUNT, NUMBERS, op_variadic, false, import_max,
     "of two tensors, or with a constant number", import_array_variadic, "any"},
    {"MaxPool", 6, 1, 1, FLOATS | BYTES, op_max_pool, true, import_max_pool,
     "1-D and 2-D, the maxima alone", import_array_pool, "1-D to 3-D"},
    {"Mean", 6, 1, ANY_COUNT, FLOATS, op_variadic, false, NULL, NULL, import_array_variadic, "any"},
    {"Min", 6, 1, ANY_COUNT, NUMBERS, op_variadic, false, import_min,
     "of two tensors, or with a constant number", import_array_variadic, "any"},
    {"Mish", 18, 1, 1, FLOATS, op_unary, false, import_function, "any", import_array_unary, "any"},
    {"Mod", 10, 2, 2, NUMBERS, op_binary, false, NULL, NULL, import_array_binary, "any"},
    {"Mul", 6, 2, 2, NUMBERS, op_binary, false, import_mul,
     "two tensors of one shape, or with a constant a channel", import_array_binary, "any"},
    {"Neg", 6, 1, 1, NUMBERS, op_unary, false, import_neg, "any", import_array_unary, "any"},
    {"Not", 6, 1, 1, LOGIC, op_unary, false, NULL, NULL, import_array_unary, "any"},
    {"Or", 6, 2, 2, LOGIC, op_compare, false, NULL, NULL, import_array_binary, "any"},
    {"PRelu", 6, 2, 2, NUMBERS, op_prelu, false, import_prelu, "a constant slope a channel",
     import_array_prelu, "any"},
    {"Pad", 6, 1, 4, ANY, op_pad, false, import_pad, "constant, of height and width",
     import_array_move, "constant pads"},
    {"Pow", 6, 2, 2, NUMBERS, op_binary, false, NULL, NULL, import_array_binary, "any"},
    {"QLinearConv", 10, 8, 9, BYTES, op_qlinear_conv, true, import_qlinear_conv,
     "of a quantised map, as Conv", import_array_qlinear_conv, "1-D to 3-D"},
    {"QLinearMatMul", 10, 8, 8, BYTES, op_qlinear_matmul, true, import_qlinear_matmul,
     "of a flattened quantised map and a constant", import_array_qlinear_matmul, "any"},
    {"QuantizeLinear", 10, 2, 3, NUMBERS, op_quantize, false, import_quantize,
     "to 8 bits by one scale", import_array_quantize, "any"},
    {"Range", 11, 3, 3, NUMBERS, op_range, false, NULL, NULL, NULL, NULL},
    {"Reciprocal", 6, 1, 1, FLOATS, op_unary, false, NULL, NULL, import_array_unary, "any"},
    {"ReduceL1", 6, 1, 2, NUMBERS, op_reduce, false, NULL, NULL, import_array_reduce,
     "constant axes"},
    {"ReduceL2", 6, 1, 2, NUMBERS, op_reduce, false, NULL, NULL, import_array_reduce,
     "constant axes"},
    {"ReduceLogSum", 6, 1, 2, NUMBERS, op_reduce, false, NULL, NULL, import_array_reduce,
     "constant axes"},
    {"ReduceLogSumExp", 6, 1, 2, NUMBERS, op_reduce, false, NULL, NULL, import_array_reduce,
     "constant axes"},
    {"ReduceMax", 6, 1, 2, NUMBERS | LOGIC, op_reduce, false, NULL, NULL, import_array_reduce,
     "constant axes"},
    {"ReduceMean", 6, 1, 2, NUMBERS, op_reduce, false, import_reduce_mean, "over height and width",
     import_array_reduce, "constant axes"},
    {"ReduceMin", 6, 1, 2, NUMBERS | LOGIC, op_reduce, false, NULL, NULL, import_array_reduce,
     "constant axes"},
    {"ReduceProd", 6, 1, 2, NUMBERS, op_reduce, false, NULL, NULL, import_array_reduce,
     "constant axes"},
    {"ReduceSum", 6, 1, 2, NUMBERS, op_reduce, false, NULL, NULL, import_array_reduce,
     "constant axes"},
    {"ReduceSumSquare", 6, 1, 2, NUMBERS, op_reduce, false, NULL, NULL, import_array_reduce,
     "constant axes"},
    {"Relu", 6, 1, 1, NUMBERS, op_unary, false, import_relu, "any", import_array_unary, "any"},
    {"Reshape", 6, 2, 2, ANY, op_reshape, false, import_reshape,
     "the same numbers in the same order, or a part of depth-to-space", import_array_reshape,
     "constant shape"},
    {"Resize", 10, 1, 4, NUMBERS, op_resize, true, import_resize, "height and width",
     import_array_resize, "constant scales or sizes"},
    {"Round", 11, 1, 1, FLOATS, op_unary, false, NULL, NULL, import_array_unary, "any"},
    {"Selu", 6, 1, 1, FLOATS, op_unary, false, NULL, NULL, import_array_unary, "any"},
    {"Shape", 6, 1, 1, ANY, op_shape, false, NULL, NULL, NULL, NULL},
    {"Sigmoid", 6, 1, 1, FLOATS, op_unary, false, import_function, "any", import_array_unary,
     "any"},
    {"Sign", 9, 1, 1, NUMBERS, op_unary, false, NULL, NULL, import_array_unary, "any"},
    {"Sin", 7, 1, 1, FLOATS, op_unary, false, NULL, NULL, import_array_unary, "any"},
    {"Size", 6, 1, 1, ANY, op_size, false, NULL, NULL, NULL, NULL},
    {"Slice", 6, 1, 5, ANY, op_slice, false, import_slice,
     "of channels, or of rows and columns near the edges or in steps", import_array_move,
     "constant bounds"},
    {"Softmax", 6, 1, 1, FLOATS, op_softmax, false, NULL, NULL, import_array_softmax, "any"},
    {"Softplus", 6, 1, 1, FLOATS, op_unary, false, import_function, "any", import_array_unary,
     "any"},
    {"Softsign", 6, 1, 1, FLOATS, op_unary, false, NULL, NULL, import_array_unary, "any"},
    {"SpaceToDepth", 6, 1, 1, ANY, op_space_to_depth, false, import_space_to_depth,
     "of one plane of the input", import_array_move, "any"},
    {"Split", 6, 1, 2, ANY, op_split, false, import_split, "of channels", import_array_move,
     "constant sizes"},
    {"Sqrt", 6, 1, 1, FLOATS, op_unary, false, NULL, NULL, import_array_unary, "any"},
    {"Squeeze", 6, 1, 2, ANY, op_squeeze, false, import_squeeze,
     "the same numbers in the same order", import_array_reshape, "constant axes"},
    {"Sub", 6, 2, 2, NUMBERS, op_binary, false, import_sub,
     "two tensors of one shape, or with a constant a channel", import_array_binary, "any"},
    {"Sum", 6, 1, ANY_COUNT, FLOATS, op_variadic, false, import_add, "as Add",
     import_array_variadic, "any"},
    {"Swish", 24, 1, 1, FLOATS, op_unary, false, import_function, "with an alpha of 1",
     import_array_unary, "any"},
    {"Tanh", 6, 1, 1, FLOATS, op_unary, false, import_function, "any", import_array_unary, "any"},
    {"ThresholdedRelu", 10, 1, 1, FLOATS, op_unary, false, NULL, NULL, import_array_unary, "any"},
    {"Tile", 6, 2, 2, ANY, op_tile, false, NULL, NULL, import_array_move, "constant repeats"},
    {"TopK", 10, 2, 2, NUMBERS, op_top_k, true, NULL, NULL, import_array_top_k, "constant number"},
    {"Transpose", 6, 1, 1, ANY, op_transpose, false, import_transpose,
     "of channels to the end and back, or a part of depth-to-space or a channel shuffle",
     import_array_move, "any"},
    {"Unsqueeze", 6, 2, 2, ANY, op_unsqueeze, false, import_unsqueeze,
     "the same numbers in the same order", import_array_reshape, "constant axes"},
    {"Upsample", 7, 1, 2, NUMBERS, op_resize, true, import_resize, "as Resize", import_array_resize,
     "constant scales"},
    {"Where", 9, 3, 3, LOGIC, op_where, false, NULL, NULL, import_array_where, "any"},
    {"Xor", 6, 2, 2, LOGIC, op_compare, false, NULL, NULL, import_array_binary, "any"},
};

enum { ROW_COUNT = sizeof rows / sizeof *rows };

const operator_row *operator_at(size_t index)
{
    return index < ROW_COUNT ? &rows[index] : NULL;
}

const operator_row *operator_find(const char *name)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (!strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

void operator_types(uint32_t types, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int t = 0; t < ELEMENT_TYPE_COUNT; t++)
        if (types >> t & 1 && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     element_name(t));
}
