// SPDX-License-Identifier: Apache-2.0
/* The operators' inputs and the values of their attributes, for test_attributes.c.
 *
 * operands, with spaces between them:
 *   x:1,6,8  floats from -1 to 1, computed       c:6,1,1  the same, constant
 *   p:1,6,8  from 1/4 to 5/4                     k:6      the same, constant
 *   n:2,3    integers from 0 to 3, computed      i=1,-1   constant integers; i=3! a single one
 *   b:2,3    booleans, computed                  f=0.5    constant floats; f=0.5! a single one
 *   u:1,6,8  bytes, computed                     q:4,6    constant bytes; q=128! a single one
 *   s:4,6    constant signed bytes               -        left out
 * attributes, with ; between them, and | between values, of which - stands for its absence and one
 * that ends in ! must be refused:
 *   i:axis=1|-1   l:pads=1,1|0,2   f:alpha=0.5   F:scales=1,2   s:mode=DCR|CRD
 * The first values are those that an attribute has while another one changes. */
#ifndef MONA_TESTS_ATTRIBUTE_CASES_H
#define MONA_TESTS_ATTRIBUTE_CASES_H

typedef enum case_kind {
    SMOOTH,
    STEPS,     /* small errors before it become large ones */
    ROUGH,     /* the same, a little */
    QUANTISED, /* results may be one step off, which is 0.5 once dequantised */
} case_kind;

typedef struct op_case {
    const char *op, *operands, *attributes;
    int opset;
    case_kind kind;
    int outputs; /* 0: one */
} op_case;

#define MAP "x:1,12,8,12"
#define SAME MAP " " MAP
#define CUBE "x:1,8,8,8" /* in which one axis may be taken for another */
#define ARRAY "x:3,4,5"
#define WINDOW "l:pads=1,1,1,1|0,0,0,0|0,1,2,0|2,0,1,1|-;l:strides=1,1|2,2|1,3|-;"

/* Of every rank. */
#define UNARY(op, attributes, kind)                                                                \
    {op, MAP, attributes, 20, kind, 0}, {op, ARRAY, attributes, 20, kind, 0},                      \
    {                                                                                              \
        op, "x:7", attributes, 20, kind, 0                                                         \
    }
#define POSITIVE(op)                                                                               \
    {op, "p:1,12,8,12", "", 20, ROUGH, 0},                                                         \
    {                                                                                              \
        op, "p:3,4,5", "", 20, ROUGH, 0                                                            \
    }
/* Between operands of the same and of other shapes; and as operator set 6 had them. a, b: kinds of
 * the operands; c: of a constant. */
#define BINARY(op, a, b, c, kind)                                                                  \
    {op, a ":1,12,8,12 " b ":1,12,8,12", "", 18, kind, 0},                                         \
        {op, a ":1,12,8,12 " b ":1,1,8,12", "", 18, kind, 0},                                      \
        {op, a ":1,12,8,12 " b ":1,12,1,1", "", 18, kind, 0},                                      \
        {op, a ":1,12,8,12 " c ":12,1,1", "", 18, kind, 0},                                        \
        {op, a ":1,12,8,12 " c ":12", "", 18, kind, 0},                                            \
        {op, c ":12,1,1 " b ":1,12,8,12", "", 18, kind, 0},                                        \
        {op, a ":1,8,8,8 " b ":1,8,8,8", "", 18, kind, 0},                                         \
        {op, a ":1,8,8,8 " c ":8,1,1", "", 18, kind, 0},                                           \
        {op, a ":1,8,8,8 " c ":8", "", 18, kind, 0},                                               \
        {op, a ":1,8,8,8 " c ":8", "i:broadcast=1;i:axis=1|2|-", 6, kind, 0},                      \
        {op, a ":3,4,5 " b ":4,1", "", 18, kind, 0},                                               \
        {op, a ":1,12,8,5 " c ":12", "i:broadcast=1;i:axis=1|-3!", 6, kind, 0},                    \
        {op, a ":1,4,8,12 " c ":8,12", "i:broadcast=1;i:axis=2|-", 6, kind, 0},                    \
    {                                                                                              \
        op, a ":1,12,8,12 " b ":1,12,8,12", "i:broadcast=0|-|1", 6, kind, 0                        \
    }
#define LOGIC(op)                                                                                  \
    {op, "b:3,4,5 b:3,4,5", "", 18, STEPS, 0}, {op, "b:3,4,5 b:4,1", "", 18, STEPS, 0},            \
    {                                                                                              \
        op, "b:3,4,5 b:4", "i:broadcast=1|0!;i:axis=1|-!", 6, STEPS, 0                             \
    }
#define ARG(op)                                                                                    \
    {op, ARRAY, "i:axis=0|1|-1|-;i:keepdims=1|0|-;i:select_last_index=0|1|-", 13, STEPS, 0},       \
    {                                                                                              \
        op, MAP, "i:axis=1|3|-2;i:keepdims=1|0;i:select_last_index=0|1", 13, STEPS, 0              \
    }
#define REDUCE(op, x, kind)                                                                        \
    {op, x ":3,4,5", "l:axes=1|0,2|-1|-;i:keepdims=1|0|-", 11, kind, 0},                           \
        {op, x ":1,12,8,12", "l:axes=2,3|1|-1,-2|1,2,3;i:keepdims=1|0", 11, kind, 0},              \
        {op, x ":1,8,8,8", "l:axes=2,3|1|3|1,2;i:keepdims=1|0", 11, kind, 0},                      \
        {op, x ":1,12,8,12 i=2,3", "i:keepdims=1|0;i:noop_with_empty_axes=0|1", 18, kind, 0},      \
    {                                                                                              \
        op, x ":3,4,5", "i:noop_with_empty_axes=0|1|-;i:keepdims=1|0", 18, kind, 0                 \
    }
#define SOFTMAX(op)                                                                                \
    {op, ARRAY, "i:axis=-1|0|1|-", 13, SMOOTH, 0}, {op, MAP, "i:axis=1|2|-1", 13, SMOOTH, 0},      \
        {op, CUBE, "i:axis=1|2|-1", 13, SMOOTH, 0},                                                \
    {                                                                                              \
        op, ARRAY, "i:axis=1|2|-", 11, SMOOTH, 0                                                   \
    }
#define VARIADIC(op)                                                                               \
    {op, SAME, "", 18, SMOOTH, 0}, {op, SAME " " MAP, "", 18, SMOOTH, 0},                          \
        {op, CUBE " " CUBE, "", 18, SMOOTH, 0}, {op, MAP, "", 18, SMOOTH, 0},                      \
        {op, "x:3,4,5 x:4,1 x:5", "", 18, SMOOTH, 0},                                              \
    {                                                                                              \
        op, MAP " f=0.25!", "", 18, SMOOTH, 0                                                      \
    }

static const op_case op_cases[] = {
    UNARY("Abs", "", SMOOTH),
    BINARY("Add", "x", "x", "c", SMOOTH),
    LOGIC("And"),
    ARG("ArgMax"),
    ARG("ArgMin"),
    {"Attention", "x:2,6,12 x:2,7,12 x:2,7,12",
     "i:q_num_heads=3;i:kv_num_heads=3;f:scale=0.5|-;i:is_causal=0|1!|-;f:softcap=0|2!|-;"
     "i:qk_matmul_output_mode=0|1|-;i:softmax_precision=1|-",
     23, SMOOTH, 0},
    {"Attention", "x:1,6,8 x:1,7,4 x:1,7,4", "i:q_num_heads=4;i:kv_num_heads=2|2", 23, SMOOTH, 0},
    {"Attention", "x:1,2,6,4 x:1,2,7,4 x:1,2,7,4", "i:is_causal=0|1!", 23, SMOOTH, 0},
    {"AveragePool", MAP,
     "l:kernel_shape=3,3|4,3;" WINDOW "i:ceil_mode=0|1|-;i:count_include_pad=0|1|-;"
     "l:dilations=1,1|2,1|-",
     19, SMOOTH, 0},
    {"AveragePool", MAP,
     "l:kernel_shape=3,3|2,4;s:auto_pad=SAME_UPPER|SAME_LOWER|VALID;l:strides=1,1|2,3;"
     "i:count_include_pad=0|1",
     18, SMOOTH, 0},
    {"AveragePool", "x:1,4,20", "l:kernel_shape=3;l:pads=1,1|0,2;l:strides=1|2", 18, SMOOTH, 0},
    {"AveragePool", "x:2,3,5,6,4",
     "l:kernel_shape=2,3,2;l:pads=0,1,1,1,1,0|-;i:count_include_pad=0|1", 18, SMOOTH, 0},
    {"BatchNormalization", MAP " c:12 c:12 c:12 k:12",
     "f:epsilon=1e-5|0.1|-;i:training_mode=0|1;f:momentum=0.9|0.5|-", 15, SMOOTH, 0},
    {"BatchNormalization", "x:3,4,5 c:4 c:4 c:4 k:4", "f:epsilon=0.1|-", 15, SMOOTH, 0},
    {"BatchNormalization", MAP " c:12 c:12 c:12 k:12", "i:is_test=1|0;i:spatial=1|0!", 6, SMOOTH,
     0},
    {"BatchNormalization", CUBE " c:8 c:8 c:8 k:8", "f:epsilon=0.1", 15, SMOOTH, 0},
    {"Cast", MAP, "i:to=1|10|11", 18, SMOOTH, 0},
    {"Cast", ARRAY, "i:to=1|6|7|9|10|11|3", 18, STEPS, 0},
    {"Cast", "n:3,4", "i:to=1|6|9;i:saturate=1|0", 19, STEPS, 0},
    {"Cast", ARRAY, "i:to=10;s:round_mode=up|down", 24, STEPS, 0},
    {"CastLike", ARRAY " c:1", "i:saturate=1|0", 19, SMOOTH, 0},
    {"CastLike", ARRAY " i=1", "", 19, STEPS, 0},
    {"CastLike", ARRAY " c:1", "s:round_mode=up|down", 24, SMOOTH, 0},
    UNARY("Ceil", "", STEPS),
    UNARY("Celu", "f:alpha=1|0.5|-", SMOOTH),
    {"Clip", MAP " f=-0.25! f=0.5!", "", 18, SMOOTH, 0},
    {"Clip", MAP " f=-0.25!", "", 18, SMOOTH, 0},
    {"Clip", MAP " - f=0.5!", "", 18, SMOOTH, 0},
    {"Clip", ARRAY " f=-0.25! f=0.5!", "", 18, SMOOTH, 0},
    {"Clip", MAP, "f:min=-0.25|0.25|-;f:max=0.5|0.75|-", 6, SMOOTH, 0},
    {"Concat", SAME, "i:axis=1|-3|0|2|3", 18, SMOOTH, 0},
    {"Concat", MAP " x:1,5,8,12 x:1,3,8,12", "i:axis=1|-3", 18, SMOOTH, 0},
    {"Concat", MAP " c:1,5,8,12", "i:axis=1|-3", 18, SMOOTH, 0},
    {"Concat", CUBE " " CUBE, "i:axis=1|2|3|-1", 18, SMOOTH, 0},
    {"Concat", ARRAY " " ARRAY, "i:axis=0|1|-1", 18, SMOOTH, 0},
    {"Conv", MAP " c:6,12,3,3 c:6",
     WINDOW "l:dilations=1,1|2,1|2,2|-;i:group=1|-;l:kernel_shape=3,3|-;s:auto_pad=NOTSET|-", 18,
     SMOOTH, 0},
    {"Conv", MAP " c:12,4,3,2", WINDOW "i:group=3;l:dilations=1,1|1,2|2,2", 18, SMOOTH, 0},
    {"Conv", MAP " c:12,1,3,3 c:12", WINDOW "i:group=12;l:dilations=1,1|1,2", 18, SMOOTH, 0},
    {"Conv", MAP " c:24,1,3,3", WINDOW "i:group=12", 18, SMOOTH, 0},
    {"Conv", MAP " c:6,12,3,2",
     "s:auto_pad=SAME_UPPER|SAME_LOWER|VALID;l:strides=1,1|2,2|1,3;l:dilations=1,1|2,2", 18, SMOOTH,
     0},
    {"Conv", "x:1,6,20 c:4,6,3", "l:pads=1,1|0,2;l:strides=1|2;l:dilations=1|2", 18, SMOOTH, 0},
    {"Conv", "x:2,4,5,6,4 c:3,4,2,3,3", "l:pads=0,1,1,1,1,0|-;l:strides=1,1,1|2,1,2", 18, SMOOTH,
     0},
    {"Conv", MAP " x:6,12,3,3", "l:pads=1,1,1,1|-;l:strides=1,1|2,1", 18, SMOOTH, 0},
    {"ConvInteger", "u:1,4,8,9 q:3,4,3,3 q=128!",
     "l:pads=1,1,1,1|0,1,2,0|-;l:strides=1,1|2,1;l:dilations=1,1|2,1;i:group=1|-;"
     "l:kernel_shape=3,3|-",
     18, STEPS, 0},
    {"ConvInteger", "u:1,4,8,9 q:4,2,3,3 q=3!", "i:group=2;s:auto_pad=SAME_UPPER|SAME_LOWER|VALID",
     18, STEPS, 0},
    {"ConvTranspose", "x:1,12,6,5 c:12,4,3,3 c:4",
     "l:strides=2,2|1,1|3,3|2,1|-;l:pads=0,0,0,0|1,1,1,1|0,1,1,0;l:output_padding=0,0|1,1|-;"
     "l:dilations=1,1|2,2|-;i:group=1|-;l:kernel_shape=3,3|-",
     18, SMOOTH, 0},
    {"ConvTranspose", "x:1,12,6,5 c:12,4,2,2", "l:strides=2,2;i:group=1|3", 18, SMOOTH, 0},
    {"ConvTranspose", "x:1,12,6,5 c:12,1,4,4", "l:strides=2,2;l:pads=1,1,1,1;i:group=12", 18,
     SMOOTH, 0},
    {"ConvTranspose", "x:1,12,6,5 c:12,4,3,3",
     "l:strides=2,2;s:auto_pad=SAME_UPPER|SAME_LOWER|VALID", 18, SMOOTH, 0},
    {"ConvTranspose", "x:1,12,6,5 c:12,4,3,3", "l:strides=2,2;l:output_shape=12,10|13,11|12,11", 18,
     SMOOTH, 0},
    {"ConvTranspose", "x:1,6,7 c:6,4,3", "l:strides=2|1;l:pads=1,0|-;l:output_padding=0|1", 18,
     SMOOTH, 0},
    UNARY("Cos", "", SMOOTH),
    {"CumSum", ARRAY " i=1!", "i:exclusive=0|1|-;i:reverse=0|1|-", 14, SMOOTH, 0},
    {"CumSum", "n:3,4,5 i=-1!", "i:exclusive=1|0;i:reverse=1|0", 14, STEPS, 0},
    {"DepthToSpace", MAP, "i:blocksize=2|1;s:mode=DCR|CRD|-", 13, SMOOTH, 0},
    {"DepthToSpace", "x:1,36,4,6", "i:blocksize=3|2|6;s:mode=DCR|CRD", 13, SMOOTH, 0},
    {"DepthToSpace", "x:2,8,4,6", "i:blocksize=2;s:mode=DCR|CRD", 13, SMOOTH, 0},
    {"DequantizeLinear", "u:1,12,8,12 f=0.0078125! q=128!", "i:axis=1|-", 21, SMOOTH, 0},
    {"DequantizeLinear", "u:3,4,5 k:4 q:4", "i:axis=1|-2;i:output_dtype=1|-", 23, SMOOTH, 0},
    {"DequantizeLinear", "u:4,6 k:2,6 q:2,6", "i:axis=0;i:block_size=2|2", 21, SMOOTH, 0},
    {"DequantizeLinear", "u:4,6 k:4 q:4", "i:axis=0;i:block_size=0|-", 21, SMOOTH, 0},
    BINARY("Div", "x", "p", "k", ROUGH),
    {"Dropout", MAP, "f:ratio=0.5|0.1|-;i:is_test=1|0|-", 6, SMOOTH, 0},
    {"Dropout", ARRAY, "i:seed=1|2", 13, SMOOTH, 0},
    {"DynamicQuantizeLinear", ARRAY, "", 18, STEPS, 3},
    {"Einsum", MAP " c:6,12", "s:equation=bchw,dc->bdhw|bchw,dc->hwbd|bchw,dc|bchw,ac->bw", 18,
     SMOOTH, 0},
    {"Einsum", "x:2,3,4 x:2,4,5",
     "s:equation=bij,bjk->bik|bij,bjk->kib|bij,bjk|bij,bjk->b|bij,cjk->bcik", 18, SMOOTH, 0},
    {"Einsum", "x:2,3,4 x:2,3,4", "s:equation=abc,abc->|abc,abc->abc|abc,abc->ca|abc,abc->b", 18,
     SMOOTH, 0},
    {"Einsum", "x:3,4,5", "s:equation=abc->cab|abc->b|cba|abc -> ac|a...->a!|aab->b!", 18, SMOOTH,
     0},
    {"Einsum", "x:3,4,5",
     "s:equation=abc->d!|ab->a!|abc->abca!|abc,a->b!|,abc->a!|ABCDEFGH->xyz!|abc->ABCDEFGHIJKL!",
     18, SMOOTH, 0},
    {"Einsum", "x:1,2,1,2,1,2,1,2 x:1,2,1,2,1,2,1,2",
     "s:equation=abcdefgh,abcdefgh->|abcdefgh,ijklmnop->qrstuvwx!", 18, SMOOTH, 0},
    UNARY("Elu", "f:alpha=1|0.5|-", SMOOTH),
    BINARY("Equal", "x", "x", "c", STEPS),
    UNARY("Erf", "", SMOOTH),
    UNARY("Exp", "", SMOOTH),
    {"Expand", "x:1,4,1 i=3,4,5", "", 18, SMOOTH, 0},
    {"Expand", "x:1,12,1,1 i=1,12,8,12", "", 18, SMOOTH, 0},
    {"Flatten", MAP, "i:axis=1|0|2|-1|4|-", 18, SMOOTH, 0},
    {"Flatten", ARRAY, "i:axis=1|2", 18, SMOOTH, 0},
    UNARY("Floor", "", STEPS),
    {"Gather", MAP " i=1,0,2", "i:axis=1|2|-1|-!", 18, SMOOTH, 0},
    {"Gather", CUBE " i=1,0,2", "i:axis=1|2|-1", 18, SMOOTH, 0},
    {"Gather", ARRAY " n:2,3", "i:axis=1|2|-1", 18, SMOOTH, 0},
    {"Gather", ARRAY " i=1!", "i:axis=0|1|-1|-", 18, SMOOTH, 0},
    {"Gather", ARRAY " i=1!", "f:axis=1!", 18, SMOOTH, 0},
    {"Gather", ARRAY " i=1!", "l:axis=1,2!", 18, SMOOTH, 0},
    {"GatherElements", "x:4,4,5 n:4,4,5", "i:axis=1|0|-1|-", 13, SMOOTH, 0},
    {"GatherND", "x:4,4,5 n:4,1", "i:batch_dims=0|1|-", 13, SMOOTH, 0},
    {"GatherND", "x:4,4,5 n:2,3,2", "", 13, SMOOTH, 0},
    UNARY("Gelu", "s:approximate=none|tanh|-", SMOOTH),
    {"Gemm", "x:4,6 c:6,5 c:5", "f:alpha=1|0.5|-;f:beta=1|2|-;i:transA=0|-;i:transB=0|-", 13,
     SMOOTH, 0},
    {"Gemm", "x:6,4 c:5,6 c:4,1", "i:transA=1;i:transB=1;f:alpha=1|0.5;f:beta=1|2", 13, SMOOTH, 0},
    {"Gemm", "x:1,24 c:5,24 c:5", "i:transB=1;f:alpha=1|0.5;f:beta=1|2|0", 13, SMOOTH, 0},
    {"Gemm", "x:4,6 x:6,5 c:5", "f:alpha=1|0.5;i:broadcast=1|0", 6, SMOOTH, 0},
    {"GlobalAveragePool", MAP, "", 18, SMOOTH, 0},
    {"GlobalAveragePool", "x:2,3,4,2,3", "", 18, SMOOTH, 0},
    {"GlobalMaxPool", MAP, "", 18, SMOOTH, 0},
    {"GlobalMaxPool", "x:2,3,7", "", 18, SMOOTH, 0},
    BINARY("Greater", "x", "x", "c", STEPS),
    {"GreaterOrEqual", SAME, "", 18, STEPS, 0},
    {"GridSample", MAP " x:1,4,5,2",
     "s:mode=linear|nearest|cubic!|-;s:padding_mode=zeros|border|reflection|-;i:align_corners=0|1|"
     "-",
     20, STEPS, 0},
    {"GroupNormalization", MAP " c:12 c:12",
     "i:num_groups=3|12|1;f:epsilon=1e-5|0.1|-;i:stash_type=1|-", 21, SMOOTH, 0},
    UNARY("HardSigmoid", "f:alpha=0.2|0.5|-;f:beta=0.5|0.25|-", SMOOTH),
    UNARY("HardSwish", "", SMOOTH),
    UNARY("Identity", "", SMOOTH),
    {"InstanceNormalization", MAP " c:12 c:12", "f:epsilon=1e-5|0.1|-", 18, SMOOTH, 0},
    {"IsInf", ARRAY, "i:detect_negative=1|0|-;i:detect_positive=1|0|-", 20, STEPS, 0},
    {"IsNaN", ARRAY, "", 20, STEPS, 0},
    {"LRN", MAP, "i:size=3|1|4|24|25!;f:alpha=2|1e-4|-;f:beta=0.75|0.5|-;f:bias=1|2|-", 13, SMOOTH,
     0},
    {"LRN", "x:3,5", "i:size=3|2", 13, SMOOTH, 0},
    {"LayerNormalization", "x:1,6,12 c:12 c:12",
     "i:axis=-1|2|-;f:epsilon=1e-5|0.1|-;i:stash_type=1|-", 18, SMOOTH, 0},
    {"LayerNormalization", CUBE " c:8 c:8", "i:axis=-1|3", 18, SMOOTH, 0},
    {"InstanceNormalization", CUBE " c:8 c:8", "", 18, SMOOTH, 0},
    {"LayerNormalization", "x:1,6,12 c:12", "i:axis=-1|2|-;f:epsilon=1e-5|0.1", 18, SMOOTH, 0},
    {"LayerNormalization", "x:3,4,5 c:4,5 c:4,5", "i:axis=-2|1", 18, SMOOTH, 0},
    UNARY("LeakyRelu", "f:alpha=0.25|0.01|-|1.5|-0.5", SMOOTH),
    {"LeakyRelu", ARRAY, "i:alpha=1!", 20, SMOOTH, 0},
    {"LeakyRelu", ARRAY, "F:alpha=0.5,0.25!", 20, SMOOTH, 0},
    BINARY("Less", "x", "x", "c", STEPS),
    {"LessOrEqual", SAME, "", 18, STEPS, 0},
    POSITIVE("Log"),
    SOFTMAX("LogSoftmax"),
    {"LpNormalization", ARRAY, "i:axis=-1|0|1|-;i:p=2|1|-|3!", 18, SMOOTH, 0},
    {"MatMul", "x:1,6,12 c:12,5", "", 18, SMOOTH, 0},
    {"MatMul", CUBE " c:8,8", "", 18, SMOOTH, 0},
    {"MatMul", "x:1,8,8 c:8,8", "", 18, SMOOTH, 0},
    {"MatMul", "x:2,3,4 x:2,4,5", "", 18, SMOOTH, 0},
    {"MatMul", "x:1,24 c:24,5", "", 18, SMOOTH, 0},
    {"MatMul", "c:3,4 x:4,5", "", 18, SMOOTH, 0},
    {"MatMulInteger", "u:3,4 q:4,5 q=128! q=3!", "", 18, STEPS, 0},
    VARIADIC("Max"),
    {"MaxPool", MAP,
     "l:kernel_shape=3,3|4,3;" WINDOW "i:ceil_mode=0|1|-;l:dilations=1,1|2,1|-;i:storage_order=0|-",
     18, SMOOTH, 0},
    {"MaxPool", MAP,
     "l:kernel_shape=3,3|2,4;s:auto_pad=SAME_UPPER|SAME_LOWER|VALID;l:strides=1,1|2,3", 18, SMOOTH,
     0},
    {"MaxPool", "x:1,4,6,7", "l:kernel_shape=2,3;i:storage_order=0|1;l:strides=2,2|1,1", 18, STEPS,
     2},
    {"MaxPool", "x:2,4,20", "l:kernel_shape=3;l:pads=1,1|0,2;l:strides=1|2", 18, SMOOTH, 0},
    VARIADIC("Mean"),
    {"MeanVarianceNormalization", MAP, "l:axes=0,2,3|2,3|1|-", 13, SMOOTH, 0},
    VARIADIC("Min"),
    UNARY("Mish", "", SMOOTH),
    {"Mod", "x:3,4,5 p:3,4,5", "i:fmod=1|1", 18, STEPS, 0},
    {"Mod", "n:3,4,5 i=2!", "i:fmod=0|1|-", 18, STEPS, 0},
    BINARY("Mul", "x", "x", "c", SMOOTH),
    UNARY("Neg", "", SMOOTH),
    {"Not", "b:3,4,5", "", 18, STEPS, 0},
    {"OneHot", "n:3,4 i=4 f=0.5,2", "i:axis=-1|0|1|-", 11, STEPS, 0},
    {"OneHot", "p:3,4,5 i=2! f=0.5,2", "i:axis=-1|1", 11, STEPS, 0},
    LOGIC("Or"),
    {"PRelu", MAP " c:12,1,1", "", 18, SMOOTH, 0},
    {"PRelu", MAP " c:1", "", 18, SMOOTH, 0},
    {"PRelu", MAP " c:12", "", 6, SMOOTH, 0},
    {"PRelu", CUBE " c:8,1,1", "", 18, SMOOTH, 0},
    {"PRelu", CUBE " c:8", "", 18, SMOOTH, 0},
    {"PRelu", CUBE " c:8", "", 6, SMOOTH, 0},
    {"PRelu", ARRAY " c:4,1", "", 18, SMOOTH, 0},
    {"Pad", MAP " i=0,0,1,2,0,0,3,0", "s:mode=constant|reflect|edge|wrap|-", 19, SMOOTH, 0},
    {"Pad", MAP " i=0,0,1,2,0,0,3,0 f=0.5!", "s:mode=constant|-", 19, SMOOTH, 0},
    {"Pad", MAP " i=0,2,0,0,0,1,0,0", "s:mode=constant|reflect|edge", 19, SMOOTH, 0},
    {"Pad", MAP " i=0,0,-1,2,0,0,3,-2", "s:mode=constant|edge", 19, SMOOTH, 0},
    {"Pad", MAP " i=1,2,0,3 - i=2,-1", "s:mode=constant|reflect", 19, SMOOTH, 0},
    {"Pad", ARRAY, "l:pads=0,1,2,1,0,0|1,1,1,1,1,1;s:mode=constant|reflect|edge;f:value=0.5|-", 10,
     SMOOTH, 0},
    BINARY("Pow", "p", "x", "k", ROUGH),
    {"QLinearConv", "u:1,4,8,9 f=0.03125! q=128! s:6,4,3,3 k:6 s=0! f=0.5! q=120!",
     "l:pads=1,1,1,1|0,1,2,0|-;l:strides=1,1|2,1;l:dilations=1,1|2,1;i:group=1|-;l:kernel_shape=3,"
     "3|-",
     18, QUANTISED, 0},
    {"QLinearConv", "u:1,4,8,9 f=0.03125! q=128! s:4,2,3,3 k:4 s=0! f=0.5! q=120!",
     "i:group=2;s:auto_pad=SAME_UPPER|SAME_LOWER|VALID", 18, QUANTISED, 0},
    {"QLinearMatMul", "u:3,4 f=0.03125! q=128! q:4,5 f=0.0625! q=100! f=0.5! q=120!", "", 18,
     QUANTISED, 0},
    {"QLinearMatMul", "u:1,24 f=0.03125! q=128! q:24,5 f=0.0625! q=100! f=0.5! q=120!", "", 18,
     QUANTISED, 0},
    {"QuantizeLinear", MAP " f=0.0078125! q=128!", "i:axis=1|-;i:saturate=1|0", 19, STEPS, 0},
    {"QuantizeLinear", "x:3,4,5 k:4 q:4", "i:axis=1|-2", 19, STEPS, 0},
    {"QuantizeLinear", "x:4,6 k:2,6 q:2,6", "i:axis=0;i:block_size=2|2", 21, STEPS, 0},
    {"QuantizeLinear", "x:4,6 k:4 -", "i:axis=0;i:output_dtype=2|3|-;i:block_size=0|-", 21, STEPS,
     0},
    {"QuantizeLinear", "x:4,6 k:4 -", "i:axis=0;i:precision=1|-", 23, STEPS, 0},
    POSITIVE("Reciprocal"),
    REDUCE("ReduceL1", "x", SMOOTH),
    REDUCE("ReduceL2", "x", SMOOTH),
    REDUCE("ReduceLogSum", "p", ROUGH),
    REDUCE("ReduceLogSumExp", "x", SMOOTH),
    REDUCE("ReduceMax", "x", SMOOTH),
    REDUCE("ReduceMean", "x", SMOOTH),
    REDUCE("ReduceMin", "x", SMOOTH),
    {"ReduceProd", "p:3,4,5", "l:axes=1|0,2|-1|-;i:keepdims=1|0|-", 11, ROUGH, 0},
    {"ReduceProd", "p:1,8,2,3 i=2,3", "i:keepdims=1|0;i:noop_with_empty_axes=0|1", 18, ROUGH, 0},
    {"ReduceProd", "p:3,2,2", "i:noop_with_empty_axes=0|1|-", 18, ROUGH, 0},
    REDUCE("ReduceSum", "x", SMOOTH),
    REDUCE("ReduceSumSquare", "x", SMOOTH),
    UNARY("Relu", "", SMOOTH),
    {"Reshape", MAP " i=1,6,16,12", "i:allowzero=0|1|-", 18, SMOOTH, 0},
    {"Reshape", MAP " i=0,-1", "i:allowzero=0|-", 18, SMOOTH, 0},
    {"Reshape", MAP " i=0,0,96", "i:allowzero=0|-", 18, SMOOTH, 0},
    {"Reshape", CUBE " i=1,8,64", "", 18, SMOOTH, 0},
    {"Reshape", CUBE " i=1,64,8", "", 18, SMOOTH, 0},
    {"Reshape", CUBE " i=1,4,16,8", "", 18, SMOOTH, 0},
    {"Reshape", ARRAY " i=5,-1", "", 18, SMOOTH, 0},
#define RULES                                                                                      \
    "s:coordinate_transformation_mode=half_pixel|pytorch_half_pixel|align_corners|asymmetric|"     \
    "half_pixel_symmetric|tf_half_pixel_for_nn|-;"
    {"Resize", MAP " - f=1,1,2,2",
     "s:mode=nearest|linear|cubic|-;" RULES "s:nearest_mode=round_prefer_floor|round_prefer_ceil|"
     "floor|ceil|-;f:cubic_coeff_a=-0.75|-0.5|-;"
     "i:exclude_outside=0|1|-;f:extrapolation_value=0|0.5",
     18, STEPS, 0},
    {"Resize", MAP " - f=1,1,1.5,0.75",
     "s:mode=linear|cubic|nearest;" RULES "i:antialias=0|1|-;i:exclude_outside=0|1", 18, STEPS, 0},
    {"Resize", MAP " - f=1,1,0.5,0.6666667",
     "s:mode=nearest|linear|cubic;" RULES "s:nearest_mode=floor|ceil|round_prefer_ceil", 18, STEPS,
     0},
    {"Resize", MAP " - - i=1,12,13,18",
     "s:mode=linear|cubic|nearest;" RULES
     "s:keep_aspect_ratio_policy=stretch|not_larger|not_smaller|-",
     18, STEPS, 0},
    {"Resize", MAP " - f=2,3 -", "l:axes=2,3|3,2|-1,-2;s:mode=linear|nearest", 18, STEPS, 0},
    {"Resize", MAP " f=0,0,0.1,0.2,1,1,0.8,0.9 - i=1,12,6,7",
     "s:coordinate_transformation_mode=tf_crop_and_resize;s:mode=linear|cubic;"
     "f:extrapolation_value=0|0.5",
     18, STEPS, 0},
    {"Resize", MAP " f=1,1,2,3", "s:mode=nearest|linear", 10, STEPS, 0},
    {"Resize", CUBE " - f=1,1,2,1", "s:mode=nearest|linear", 13, STEPS, 0},
    {"Resize", "x:3,4,5 - f=1,2,1.5", "s:mode=linear|nearest", 18, STEPS, 0},
    UNARY("Round", "", STEPS),
    {"ScatterElements", "x:7 i=1,-1,3 x:3", "i:axis=0|-1|-;s:reduction=none|-|add!", 18, SMOOTH, 0},
    {"ScatterND", "x:4,5 i=2 x:5", "s:reduction=none|-|add!", 18, SMOOTH, 0},
    UNARY("Selu", "f:alpha=1.6732632|1|-;f:gamma=1.050701|2|-", SMOOTH),
    UNARY("Shrink", "f:bias=0|0.25|-;f:lambd=0.5|0.25|-", STEPS),
    UNARY("Sigmoid", "", SMOOTH),
    UNARY("Sign", "", STEPS),
    UNARY("Sin", "", SMOOTH),
    {"Slice", MAP " i=2 i=9 i=1", "", 13, SMOOTH, 0},
    {"Slice", MAP " i=0 i=9223372036854775807 i=1 i=2", "", 13, SMOOTH, 0},
    {"Slice", MAP " i=1,1 i=-1,100 i=2,3 i=1,2", "", 13, SMOOTH, 0},
    {"Slice", MAP " i=-1 i=-100 i=3 i=-1", "", 13, SMOOTH, 0},
    {"Slice", CUBE " i=2 i=7 i=1", "", 13, SMOOTH, 0},
    {"Slice", CUBE, "l:starts=2;l:ends=7|-1;l:axes=1|2|3|-2", 9, SMOOTH, 0},
    {"Slice", ARRAY, "l:starts=1,0|0,1;l:ends=3,-1|2,4;l:axes=1,2|0,2|-", 9, SMOOTH, 0},
    {"Slice", MAP, "l:starts=2|0|-7;l:ends=9|100|-1;l:axes=1|-3", 9, SMOOTH, 0},
    SOFTMAX("Softmax"),
    UNARY("Softplus", "", SMOOTH),
    UNARY("Softsign", "", SMOOTH),
    {"SpaceToDepth", "x:1,3,8,12", "i:blocksize=2|4|1", 13, SMOOTH, 0},
    {"SpaceToDepth", "x:1,1,8,12", "i:blocksize=2|4", 13, SMOOTH, 0},
    {"SpaceToDepth", "x:2,3,8,12", "i:blocksize=2|4", 13, SMOOTH, 0},
    {"Split", MAP " i=5,7", "i:axis=1|-3", 18, SMOOTH, 2},
    {"Split", MAP, "i:axis=1|2|3|-1;i:num_outputs=2|2", 18, SMOOTH, 2},
    {"Split", CUBE " i=3,5", "i:axis=1|2|3|-1", 18, SMOOTH, 2},
    {"Split", ARRAY, "i:axis=1|2|-2;i:num_outputs=2|-", 18, SMOOTH, 2},
    {"Split", "x:4,6", "i:axis=0|-;l:split=2,2|1,3|-", 11, SMOOTH, 2},
    {"Split", "x:4,6", "i:axis=1;l:split=1,5|4,2", 11, SMOOTH, 2},
    POSITIVE("Sqrt"),
    {"Squeeze", "x:1,12,1,5", "l:axes=2|0|-2|0,2|-", 11, SMOOTH, 0},
    {"Squeeze", "x:1,12,1,1 i=2,3", "", 18, SMOOTH, 0},
    BINARY("Sub", "x", "x", "c", SMOOTH),
    VARIADIC("Sum"),
    {"Swish", MAP, "f:alpha=1|0.5|-", 24, SMOOTH, 0},
    {"Swish", ARRAY, "f:alpha=1|0.5|-", 24, SMOOTH, 0},
    UNARY("Tanh", "", SMOOTH),
    UNARY("ThresholdedRelu", "f:alpha=0.5|0.25|-", STEPS),
    {"Tile", MAP " i=1,2,3,1", "", 18, SMOOTH, 0},
    {"Tile", ARRAY " i=2,1,3", "", 18, SMOOTH, 0},
    {"TopK", ARRAY " i=2", "i:axis=-1|0|1|-;i:largest=1|0|-;i:sorted=1|-", 11, STEPS, 2},
    {"TopK", MAP " i=5", "i:axis=1|3;i:largest=1|0;i:sorted=1|-", 11, STEPS, 2},
    {"Transpose", MAP, "l:perm=0,2,3,1|0,3,1,2|0,1,3,2|3,2,1,0|-", 18, SMOOTH, 0},
    {"Transpose", CUBE, "l:perm=0,2,3,1|0,3,1,2|0,1,3,2|3,2,1,0|0,2,1,3", 18, SMOOTH, 0},
    {"Transpose", ARRAY, "l:perm=0,2,1|2,0,1|1,0,2|-", 18, SMOOTH, 0},
    {"Trilu", ARRAY, "i:upper=1|0|-", 14, SMOOTH, 0},
    {"Trilu", "x:4,5 i=-1!", "i:upper=1|0", 14, SMOOTH, 0},
    {"Unsqueeze", ARRAY, "l:axes=0|1|-1|0,4", 11, SMOOTH, 0},
    {"Unsqueeze", "x:1,12,8 i=3", "", 18, SMOOTH, 0},
    {"Upsample", "x:3,4,5 f=1,2,3", "s:mode=nearest|linear", 9, STEPS, 0},
    {"Upsample", MAP, "s:mode=nearest|linear|-;F:scales=1,1,2,3|1,1,2,2", 7, STEPS, 0},
    {"Upsample", MAP " f=1,1,2,3", "s:mode=nearest|linear|-", 9, STEPS, 0},
    {"Where", "b:3,4,5 x:3,4,5 x:4,1", "", 18, SMOOTH, 0},
    {"Where", "b:1,12,8,12 x:1,12,8,12 x:1,12,8,12", "", 18, SMOOTH, 0},
    LOGIC("Xor"),
};

#endif
