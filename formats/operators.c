#include "operators.h"

#include <stdio.h>
#include <string.h>

#include "compiler/importer.h"
#include "compiler/importer.h"
#include "reference/operators.h"

#define BIT(type) (1u << (type))

enum { ANY_COUNT = OPERATOR_ANY_COUNT };

/* Sets of element types. */
#define FLOAT32 BIT(ELEMENT_FLOAT32)
#define REALS (FLOAT32 | BIT(ELEMENT_FLOAT16) | BIT(ELEMENT_BFLOAT16) | BIT(ELEMENT_DOUBLE))
#define BYTES (BIT(ELEMENT_UINT8) | BIT(ELEMENT_INT8))
#define WHOLES                                                                                     \
    (BYTES | BIT(ELEMENT_UINT16) | BIT(ELEMENT_INT16) | BIT(ELEMENT_UINT32) | BIT(ELEMENT_INT32) | \
     BIT(ELEMENT_UINT64) | BIT(ELEMENT_INT64))
#define NUMBERS (REALS | WHOLES)
#define LOGIC BIT(ELEMENT_BOOL)
#define SMALL                                                                                      \
    (BIT(ELEMENT_FLOAT8E4M3FN) | BIT(ELEMENT_FLOAT8E4M3FNUZ) | BIT(ELEMENT_FLOAT8E5M2) |           \
     BIT(ELEMENT_FLOAT8E5M2FNUZ) | BIT(ELEMENT_FLOAT8E8M0) | BIT(ELEMENT_FLOAT4E2M1) |             \
     BIT(ELEMENT_UINT4) | BIT(ELEMENT_INT4) | BIT(ELEMENT_UINT2) | BIT(ELEMENT_INT2))
#define ANY (NUMBERS | LOGIC | SMALL)

/* Constant needs no row: its value is read with the model. */
static const operator_row rows[] = {
    {"Abs", 6, 1, 1, NUMBERS, op_unary, false, import_abs, "any"},
    {"Add", 6, 2, 2, NUMBERS, op_binary, false, import_add,
     "two tensors of one shape, or with a constant a channel"},
    {"And", 6, 2, 2, LOGIC, op_compare, false, NULL, NULL},
    {"ArgMax", 6, 1, 1, NUMBERS, op_arg, false, NULL, NULL},
    {"ArgMin", 6, 1, 1, NUMBERS, op_arg, false, NULL, NULL},
    {"AveragePool", 6, 1, 1, REALS, op_average_pool, true, import_average_pool, "1-D and 2-D"},
    {"BatchNormalization", 6, 5, 5, REALS, op_batch_norm, false, import_batch_norm,
     "constant statistics, not in training"},
    {"Cast", 6, 1, 1, ANY, op_cast, false, import_cast, "between float16, float32 and double"},
    {"CastLike", 15, 2, 2, ANY, op_cast_like, false, NULL, NULL},
    {"Ceil", 6, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"Celu", 12, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"Clip", 6, 1, 3, NUMBERS, op_clip, false, import_clip, "constant bounds"},
    {"Concat", 6, 1, ANY_COUNT, ANY, op_concat, false, import_concat, "of channels"},
    {"ConstantOfShape", 9, 1, 1, WHOLES, op_constant_of_shape, false, NULL, NULL},
    {"Conv", 6, 2, 3, REALS, op_conv, true, import_conv, "1-D and 2-D, constant weights"},
    {"ConvInteger", 10, 2, 4, BYTES, op_conv_integer, true, NULL, NULL},
    {"ConvTranspose", 6, 2, 3, REALS, op_conv_transpose, true, import_conv_transpose,
     "2-D, constant weights, stride 1"},
    {"Cos", 7, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"DepthToSpace", 6, 1, 1, ANY, op_depth_to_space, false, import_depth_to_space,
     "CRD, or DCR after a convolution"},
    {"DequantizeLinear", 10, 2, 3, ANY, op_dequantize, false, NULL, NULL},
    {"Div", 6, 2, 2, NUMBERS, op_binary, false, import_div, "by a constant a channel"},
    {"Dropout", 6, 1, 3, REALS, op_dropout, false, import_identity, "passes its input on"},
    {"DynamicQuantizeLinear", 11, 1, 1, FLOAT32, op_dynamic_quantize, false, NULL, NULL},
    {"Elu", 6, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"Equal", 6, 2, 2, ANY, op_compare, false, NULL, NULL},
    {"Erf", 9, 1, 1, NUMBERS, op_unary, false, NULL, NULL},
    {"Exp", 6, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"Expand", 8, 2, 2, ANY, op_expand, false, NULL, NULL},
    {"Flatten", 6, 1, 1, ANY, op_flatten, false, import_flatten,
     "the same numbers in the same order"},
    {"Floor", 6, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"Gather", 6, 2, 2, ANY, op_gather, false, NULL, NULL},
    {"Gelu", 20, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"Gemm", 6, 2, 3, NUMBERS, op_gemm, true, import_gemm, "of a flattened map and a constant"},
    {"GlobalAveragePool", 6, 1, 1, REALS, op_global_average_pool, false, import_global_average_pool,
     "1-D and 2-D"},
    {"GlobalMaxPool", 6, 1, 1, REALS, op_global_max_pool, false, import_global_max_pool,
     "1-D and 2-D"},
    {"Greater", 6, 2, 2, NUMBERS, op_compare, false, NULL, NULL},
    {"GreaterOrEqual", 12, 2, 2, NUMBERS, op_compare, false, NULL, NULL},
    {"GroupNormalization", 18, 3, 3, REALS, op_group_norm, false, NULL, NULL},
    {"HardSigmoid", 6, 1, 1, REALS, op_unary, false, import_hard_sigmoid, "any"},
    {"HardSwish", 14, 1, 1, REALS, op_unary, false, import_hard_swish, "any"},
    {"Identity", 6, 1, 1, ANY, op_identity, false, import_identity, "passes its input on"},
    {"InstanceNormalization", 6, 3, 3, REALS, op_instance_norm, false, NULL, NULL},
    {"LayerNormalization", 17, 2, 3, REALS, op_layer_norm, false, NULL, NULL},
    {"LeakyRelu", 6, 1, 1, REALS, op_unary, false, import_leaky_relu, "any slope"},
    {"Less", 6, 2, 2, NUMBERS, op_compare, false, NULL, NULL},
    {"LessOrEqual", 12, 2, 2, NUMBERS, op_compare, false, NULL, NULL},
    {"Log", 6, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"LogSoftmax", 6, 1, 1, REALS, op_log_softmax, false, NULL, NULL},
    {"MatMul", 6, 2, 2, NUMBERS, op_matmul, true, import_mat_mul,
     "of a flattened map and a constant"},
    {"MatMulInteger", 10, 2, 4, BYTES, op_matmul_integer, true, NULL, NULL},
    {"Max", 6, 1, ANY_COUNT, NUMBERS, op_variadic, false, import_max,
     "of two tensors, or with a constant number"},
    {"MaxPool", 6, 1, 1, REALS | BYTES, op_max_pool, true, import_max_pool,
     "1-D and 2-D, the maxima alone"},
    {"Mean", 6, 1, ANY_COUNT, REALS, op_variadic, false, NULL, NULL},
    {"Min", 6, 1, ANY_COUNT, NUMBERS, op_variadic, false, import_min,
     "of two tensors, or with a constant number"},
    {"Mish", 18, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"Mod", 10, 2, 2, NUMBERS, op_binary, false, NULL, NULL},
    {"Mul", 6, 2, 2, NUMBERS, op_binary, false, import_mul,
     "two tensors of one shape, or with a constant a channel"},
    {"Neg", 6, 1, 1, NUMBERS, op_unary, false, import_neg, "any"},
    {"Not", 6, 1, 1, LOGIC, op_unary, false, NULL, NULL},
    {"Or", 6, 2, 2, LOGIC, op_compare, false, NULL, NULL},
    {"PRelu", 6, 2, 2, NUMBERS, op_prelu, false, import_prelu, "a constant slope a channel"},
    {"Pad", 6, 1, 4, ANY, op_pad, false, import_pad, "constant, of height and width"},
    {"Pow", 6, 2, 2, NUMBERS, op_binary, false, NULL, NULL},
    {"QLinearConv", 10, 8, 9, BYTES, op_qlinear_conv, true, NULL, NULL},
    {"QLinearMatMul", 10, 8, 8, BYTES, op_qlinear_matmul, true, NULL, NULL},
    {"QuantizeLinear", 10, 2, 3, NUMBERS, op_quantize, false, NULL, NULL},
    {"Range", 11, 3, 3, NUMBERS, op_range, false, NULL, NULL},
    {"Reciprocal", 6, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"ReduceL1", 6, 1, 2, NUMBERS, op_reduce, false, NULL, NULL},
    {"ReduceL2", 6, 1, 2, NUMBERS, op_reduce, false, NULL, NULL},
    {"ReduceLogSum", 6, 1, 2, NUMBERS, op_reduce, false, NULL, NULL},
    {"ReduceLogSumExp", 6, 1, 2, NUMBERS, op_reduce, false, NULL, NULL},
    {"ReduceMax", 6, 1, 2, NUMBERS | LOGIC, op_reduce, false, NULL, NULL},
    {"ReduceMean", 6, 1, 2, NUMBERS, op_reduce, false, import_reduce_mean, "over height and width"},
    {"ReduceMin", 6, 1, 2, NUMBERS | LOGIC, op_reduce, false, NULL, NULL},
    {"ReduceProd", 6, 1, 2, NUMBERS, op_reduce, false, NULL, NULL},
    {"ReduceSum", 6, 1, 2, NUMBERS, op_reduce, false, NULL, NULL},
    {"ReduceSumSquare", 6, 1, 2, NUMBERS, op_reduce, false, NULL, NULL},
    {"Relu", 6, 1, 1, NUMBERS, op_unary, false, import_relu, "any"},
    {"Reshape", 6, 2, 2, ANY, op_reshape, false, import_reshape,
     "the same numbers in the same order, or a part of depth-to-space"},
    {"Resize", 10, 1, 4, NUMBERS, op_resize, true, import_resize, "height and width"},
    {"Round", 11, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"Selu", 6, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"Shape", 6, 1, 1, ANY, op_shape, false, NULL, NULL},
    {"Sigmoid", 6, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"Sign", 9, 1, 1, NUMBERS, op_unary, false, NULL, NULL},
    {"Sin", 7, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"Size", 6, 1, 1, ANY, op_size, false, NULL, NULL},
    {"Slice", 6, 1, 5, ANY, op_slice, false, import_slice, "of channels"},
    {"Softmax", 6, 1, 1, REALS, op_softmax, false, NULL, NULL},
    {"Softplus", 6, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"Softsign", 6, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"SpaceToDepth", 6, 1, 1, ANY, op_space_to_depth, false, import_space_to_depth,
     "of one plane of the input"},
    {"Split", 6, 1, 2, ANY, op_split, false, import_split, "of channels"},
    {"Sqrt", 6, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"Squeeze", 6, 1, 2, ANY, op_squeeze, false, import_squeeze,
     "the same numbers in the same order"},
    {"Sub", 6, 2, 2, NUMBERS, op_binary, false, import_sub,
     "two tensors of one shape, or with a constant a channel"},
    {"Sum", 6, 1, ANY_COUNT, REALS, op_variadic, false, import_add, "as Add"},
    {"Swish", 24, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"Tanh", 6, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"ThresholdedRelu", 10, 1, 1, REALS, op_unary, false, NULL, NULL},
    {"Tile", 6, 2, 2, ANY, op_tile, false, NULL, NULL},
    {"Transpose", 6, 1, 1, ANY, op_transpose, false, import_transpose,
     "as a part of depth-to-space"},
    {"Unsqueeze", 6, 2, 2, ANY, op_unsqueeze, false, import_unsqueeze,
     "the same numbers in the same order"},
    {"Upsample", 7, 1, 2, NUMBERS, op_resize, true, import_resize, "as Resize"},
    {"Where", 9, 3, 3, LOGIC, op_where, false, NULL, NULL},
    {"Xor", 6, 2, 2, LOGIC, op_compare, false, NULL, NULL},
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
