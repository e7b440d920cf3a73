// SPDX-License-Identifier: Apache-2.0
/* The array operators' records in a .mona file. Included by model_format.h.
 *
 * An array is a tensor that is stored whole, densely and in C order; its size is fixed by the file
 * (mona_file_tensor.array). Its channels x height x width say how many elements it has and how LOAD
 * and STORE see it. An operator's own record, in the data section at mona_file_array.record, says
 * how it walks over them. Strides and bases count elements.
 *
 * Arithmetic:
 *   FLOAT  Every operand is converted to fp32 (integers are rounded to nearest even). + - * /
 *          and square roots are fp32 operations, each rounded once, in the order written here.
 *          Other functions are evaluated in fp64 by ops/arrays/real.h and rounded once.
 *   INT    Every operand is converted to 64 bits (floats are truncated). Results wrap. Division,
 *          remainder, comparisons, minimum, maximum and right shifts are unsigned if the first
 *          operand is U64, else signed.
 *
 * Storing converts the result to the output's type:
 *   fp32 -> F32    unchanged; every NaN becomes 0x7fc00000
 *   fp32 -> F16    rounded to nearest even; what is too large becomes infinity, as in IEEE 754 and
 *                  unlike f16() of the operators on maps; every NaN becomes 0x7e00
 *   fp32 -> int    MONA_WRAP: truncated to 64 bits (saturating, a NaN is 0), then wrapped
 *                  MONA_SATURATE: round_half_even, saturated to the type; a NaN is 0
 *   64 bits -> int       MONA_WRAP: the low bits
 *                        MONA_SATURATE: saturated to the type
 *   64 bits -> F32, F16  rounded to nearest even to fp32, then as above
 */
#ifndef MONA_ARRAY_FORMAT_H
#define MONA_ARRAY_FORMAT_H

#include <stdint.h>

enum {
    MONA_ARRAY_DIMS = 8,
    MONA_ARRAY_MAX_ELEMENTS = 1 << 30,
    MONA_ARRAY_MAX_STRIDE = 1 << 30, /* in either direction */
};

/* The part that every array operator has in mona_file_op. */
typedef struct mona_file_array {
    uint32_t record; /* data: the record of the operator's kind, such as mona_array_map */
    /* Operand k is a constant where inputs[k] is MONA_NONE; else these are 0. */
    uint32_t offset[8];   /* data: the constant's elements */
    uint32_t elements[8]; /* their number */
    uint8_t type[8];      /* their mona_type */
} mona_file_array;

typedef enum mona_arithmetic {
    MONA_FLOAT = 0,
    MONA_INT = 1,
    MONA_ARITHMETIC_COUNT
} mona_arithmetic;
typedef enum mona_conversion {
    MONA_WRAP = 0,
    MONA_SATURATE = 1,
    MONA_CONVERSION_COUNT
} mona_conversion;

/* Functions of operands a, b, c and parameters p. F: for floats, I: for integers.
 * True is 1, false is 0. */
typedef enum mona_array_function {
    /* one operand */
    MONA_FN_COPY = 0,          /* FI a */
    MONA_FN_ABS = 1,           /* FI */
    MONA_FN_NEG = 2,           /* FI */
    MONA_FN_SIGN = 3,          /* FI -1, 0 or 1; F: a NaN stays */
    MONA_FN_NOT = 4,           /* FI a == 0 */
    MONA_FN_RELU = 5,          /* FI a < 0 ? 0 : a */
    MONA_FN_BIT_NOT = 6,       /* I */
    MONA_FN_FLOOR = 7,         /* F */
    MONA_FN_CEIL = 8,          /* F */
    MONA_FN_ROUND = 9,         /* F half to even */
    MONA_FN_TRUNC = 10,        /* F */
    MONA_FN_SQRT = 11,         /* F correctly rounded */
    MONA_FN_RECIPROCAL = 12,   /* F 1 / a */
    MONA_FN_EXP = 13,          /* F */
    MONA_FN_LOG = 14,          /* F */
    MONA_FN_SIN = 15,          /* F */
    MONA_FN_COS = 16,          /* F */
    MONA_FN_TAN = 17,          /* F */
    MONA_FN_ASIN = 18,         /* F */
    MONA_FN_ACOS = 19,         /* F */
    MONA_FN_ATAN = 20,         /* F */
    MONA_FN_SINH = 21,         /* F */
    MONA_FN_COSH = 22,         /* F */
    MONA_FN_TANH = 23,         /* F */
    MONA_FN_ASINH = 24,        /* F */
    MONA_FN_ACOSH = 25,        /* F */
    MONA_FN_ATANH = 26,        /* F */
    MONA_FN_ERF = 27,          /* F */
    MONA_FN_SIGMOID = 28,      /* F 1 / (1 + exp(-a)) */
    MONA_FN_SOFTPLUS = 29,     /* F log(1 + exp(a)) */
    MONA_FN_SOFTSIGN = 30,     /* F a / (1 + |a|) */
    MONA_FN_LEAKY_RELU = 31,   /* F a < 0 ? p0 * a : a */
    MONA_FN_ELU = 32,          /* F p1 * (a > 0 ? a : p0 * (exp(a * p2) - 1)): ELU, SELU, CELU */
    MONA_FN_GELU = 33,         /* F a / 2 * (1 + erf(a / sqrt(2))) */
    MONA_FN_GELU_TANH = 34,    /* F a / 2 * (1 + tanh(sqrt(2 / pi) * (a + 0.044715 a^3))) */
    MONA_FN_HARD_SIGMOID = 35, /* F max(0, min(1, p0 * a + p1)) */
    MONA_FN_HARD_SWISH = 36,   /* F a * max(0, min(1, a / 6 + 1 / 2)) */
    MONA_FN_MISH = 37,         /* F a * tanh(softplus(a)) */
    MONA_FN_SWISH = 38,        /* F a * sigmoid(p0 * a) */
    MONA_FN_THRESHOLD = 39,    /* F a > p0 ? a : 0 */
    MONA_FN_SHRINK = 40,       /* F a < -p0 ? a + p1 : a > p0 ? a - p1 : 0 */
    MONA_FN_IS_NAN = 41,       /* F */
    MONA_FN_IS_INF = 42,       /* F p0 != 0: -infinity counts; p1 != 0: +infinity */
    /* a rounded to a number with p0 mantissa bits (0..23) and, unless subnormal, an exponent of at
     * least p1 (-149..127). If that is beyond +-p2, or a is infinite: p3 with the sign of a. */
    MONA_FN_NARROW = 43,      /* F to the nearest, half to even */
    MONA_FN_NARROW_UP = 44,   /* F away from zero */
    MONA_FN_NARROW_DOWN = 45, /* F towards zero */
    /* two */
    MONA_FN_ADD = 64,         /* FI */
    MONA_FN_SUB = 65,         /* FI a - b */
    MONA_FN_MUL = 66,         /* FI */
    MONA_FN_DIV = 67,         /* FI; I: truncated, by 0: 0 */
    MONA_FN_MOD = 68,         /* FI sign of b, as Python's %; I: by 0: 0 */
    MONA_FN_FMOD = 69,        /* FI sign of a, as C's; I: by 0: 0 */
    MONA_FN_POW = 70,         /* FI; I: negative exponents as if rounded towards 0 */
    MONA_FN_MIN = 71,         /* FI; F: a NaN wins; of equal numbers b */
    MONA_FN_MAX = 72,         /* FI */
    MONA_FN_EQUAL = 73,       /* FI a == b */
    MONA_FN_LESS = 74,        /* FI a < b */
    MONA_FN_LESS_EQUAL = 75,  /* FI a <= b */
    MONA_FN_AND = 76,         /* FI a != 0 and b != 0 */
    MONA_FN_OR = 77,          /* FI */
    MONA_FN_XOR = 78,         /* FI */
    MONA_FN_PRELU = 79,       /* FI a < 0 ? a * b : a */
    MONA_FN_BIT_AND = 80,     /* I */
    MONA_FN_BIT_OR = 81,      /* I */
    MONA_FN_BIT_XOR = 82,     /* I */
    MONA_FN_SHIFT_LEFT = 83,  /* I a << b; 64 and more: 0 */
    MONA_FN_SHIFT_RIGHT = 84, /* I */
    /* three */
    MONA_FN_WHERE = 96,       /* FI a != 0 ? b : c */
    MONA_FN_CLIP = 97,        /* FI min(max(a, b), c), as MIN and MAX */
    MONA_FN_MUL_ADD = 98,     /* FI a * b, then + c */
    MONA_FN_QUANTIZE = 99,    /* F round_half_even(a / b) + c */
    MONA_FN_DEQUANTIZE = 100, /* F (a - c) * b */
    MONA_FN_COUNT = 101,
} mona_array_function;

/* ARRAY_MAP: output element (i0, i1, ...), in C order, is function(a, b, c). Its operands, as many
 * as the function has, are elements base[k] + sum over d of i_d * stride[k][d] of operand k. */
typedef struct mona_array_map {
    uint8_t function, arithmetic, conversion; /* mona_array_function, ... */
    uint8_t dims;                             /* 1..8 */
    float parameter[4];                       /* p; ignored where the function does not use it */
    uint32_t extent[MONA_ARRAY_DIMS];         /* product: the output's elements */
    uint32_t base[3];
    int32_t stride[3][MONA_ARRAY_DIMS];
} mona_array_map;

/* ARRAY_PICK: output element (i0, i1, ...) is an element of one of the sources, bit for bit, or the
 * fill.
 *   p_d = table[d][i_d], or i_d where axis d has no table
 *   s = source_table[i_d] for d = source_axis, or 0 without such an axis
 * It is element base[s] + sum over d of p_d * stride[s][d] of source s, or the fill if any p_d is
 * MONA_NONE. All types have the same size. */
typedef struct mona_array_pick {
    uint32_t dims;         /* 1..8 */
    uint32_t source_axis;  /* MONA_NONE: source 0 alone */
    uint32_t source_table; /* data: u8[extent[source_axis]], or MONA_NONE */
    uint32_t reserved;
    uint64_t fill;                    /* its bits, in the low bytes */
    uint32_t extent[MONA_ARRAY_DIMS]; /* product: the output's elements */
    uint32_t table[MONA_ARRAY_DIMS];  /* data: u32[extent[d]], each below 2^30 or MONA_NONE; or
                                         MONA_NONE */
    uint32_t base[8];                 /* of each source */
    int32_t stride[8][MONA_ARRAY_DIMS];
} mona_array_pick;

typedef enum mona_reduction {
    MONA_REDUCE_SUM = 0,
    MONA_REDUCE_MEAN = 1, /* FLOAT only, as are L2, LOG_SUM and LOG_SUM_EXP */
    MONA_REDUCE_MAX = 2,  /* F: a NaN wins */
    MONA_REDUCE_MIN = 3,
    MONA_REDUCE_PRODUCT = 4,
    MONA_REDUCE_SUM_SQUARE = 5,
    MONA_REDUCE_L1 = 6,
    MONA_REDUCE_L2 = 7,
    MONA_REDUCE_LOG_SUM = 8,
    /* m + log(sum(exp(x - m))), where m is the maximum if that is finite, else 0 */
    MONA_REDUCE_LOG_SUM_EXP = 9,
    MONA_REDUCE_ARG_MAX = 10, /* index of the first largest reduced element; a NaN wins */
    MONA_REDUCE_ARG_MIN = 11,
    MONA_REDUCE_ARG_MAX_LAST = 12, /* index of the last largest */
    MONA_REDUCE_ARG_MIN_LAST = 13,
    MONA_REDUCE_COUNT = 14,
} mona_reduction;

/* ARRAY_REDUCE: one operand. Output element (i0, ...) of the kept dimensions is the reduction over
 * the other dimensions, in their C order. FLOAT sums and products are formed in fp64, one element
 * after another, beginning with +0 or 1. Their exp and log are in fp64 as well, and the result is
 * rounded once at the end. */
typedef struct mona_array_reduce {
    uint8_t function, arithmetic; /* mona_reduction; arithmetic */
    uint8_t kept, reduced; /* numbers of dimensions, 1..8 together; the kept ones are first */
    uint32_t extent[MONA_ARRAY_DIMS];
    int32_t stride[MONA_ARRAY_DIMS]; /* of the operand, >= 0 */
} mona_array_reduce;

/* ARRAY_MATMUL: output [batch...][m][n] = sum over k of a[...][m][k] * b[...][k][n], beginning with
 * +0, k ascending. In FLOAT arithmetic each product is rounded, then each sum. */
typedef struct mona_array_matmul {
    uint8_t arithmetic, batch_dims; /* 0..6 */
    uint16_t reserved;
    uint32_t m, n, k;
    uint32_t extent[6];         /* batch */
    int32_t batch_stride[2][6]; /* of a and b, >= 0 */
    int32_t a_m, a_k, b_k, b_n; /* strides, >= 0 */
} mona_array_matmul;

typedef enum mona_window {
    /* The bias or +0, then + weight * sample, channel by channel, and within a channel tap by tap
     * in C order. Samples outside count as 0. Each product is rounded, then each sum. */
    MONA_WINDOW_CONV = 0,
    /* The largest sample inside; a NaN wins. Without any: -infinity, or the smallest integer. */
    MONA_WINDOW_MAX = 1,
    /* The index, in the whole operand, of the first largest sample, compared in the operator's
     * arithmetic; without any: 0. */
    MONA_WINDOW_MAX_INDEX = 2,
    MONA_WINDOW_SUM = 3,     /* from +0, taps in C order; samples outside count as 0 */
    MONA_WINDOW_AVERAGE = 4, /* FLOAT only: that sum / the number of samples */
    MONA_WINDOW_COUNT = 5,
} mona_window;

typedef struct mona_array_axis {
    uint32_t in, out, kernel, stride, dilation; /* kernel, stride and dilation: 1..2^20 */
    int32_t pad_before, pad_after; /* -2^20..2^20; pad_after only matters for what AVERAGE counts */
} mona_array_axis;

/* ARRAY_WINDOW. Tap t of output o lies at o * stride - pad_before + t * dilation. Operands:
 *   [batch][channels][in...]
 *   CONV: weights [outputs][channels / groups][kernel...]
 *   CONV, optional: bias [outputs]
 * Output: [batch][outputs][out...] */
typedef struct mona_array_window {
    uint8_t function, arithmetic;              /* mona_window; arithmetic */
    uint8_t axes;                              /* 1..3 */
    uint8_t count_include_pad;                 /* 1: AVERAGE counts samples in the padding, too */
    uint32_t batch, channels, outputs, groups; /* without weights: outputs = channels, groups 1 */
    mona_array_axis axis[3];
} mona_array_window;

/* ARRAY_RESAMPLE, FLOAT: operand [outer][in][inner], output [outer][out][inner]. Output position o
 * is the sum, beginning with +0, of weight[e] * operand position index[e] for e in [first[o],
 * first[o + 1]). Each product is rounded, then each sum. Where there is no e, it is the fill. */
typedef struct mona_array_resample {
    uint32_t outer, in, out, inner;
    uint32_t first;  /* data: u32[out + 1], ascending, from 0 */
    uint32_t index;  /* data: u32[first[out]], each below in */
    uint32_t weight; /* data: f32[first[out]] */
    float fill;
} mona_array_resample;

/* ARRAY_SORT: operand [outer][extent][inner], output [outer][count][inner]: along the middle axis
 * the first `count` elements in descending order, of equal ones the earlier first and a NaN above
 * all numbers; their indices in the axis, as S64, or the elements themselves, bit for bit. */
typedef struct mona_array_sort {
    uint32_t outer, extent, inner, count; /* count: 1..extent */
    uint8_t arithmetic;
    uint8_t ascending;
    uint8_t values; /* 1: elements, 0: indices */
    uint8_t reserved;
} mona_array_sort;

/* ARRAY_GATHER: operands [outer][extent][inner] and indices [count] of any integer type; output
 * [outer][count][inner] of the first operand's type. A negative index counts from the end; one that
 * is still outside becomes the nearest index inside. */
typedef struct mona_array_gather {
    uint32_t outer, extent, inner, count;
} mona_array_gather;

typedef enum mona_normalisation {
    /* (x - mean) * (gain / sqrt(variance + epsilon)) + shift; the variance is the mean of (x -
     * mean)^2 */
    MONA_NORMALISE_MOMENTS = 0,
    MONA_NORMALISE_SOFTMAX = 1,     /* e / sum of e; e is exp(x - the largest x), rounded to fp32 */
    MONA_NORMALISE_LOG_SOFTMAX = 2, /* (x - the largest x) - log(sum of e) */
    MONA_NORMALISE_COUNT = 3,
} mona_normalisation;

/* ARRAY_NORMALISE, FLOAT: operand and output [outer][extent][inner], normalised along the middle
 * axis, whose elements are called a row. All is computed in fp64 and rounded once, but for e.
 * Element i of a row is added to partial sum i % 32; then each of the second half of these to its
 * fellow in the first, and so on. Optional for MOMENTS, whose inner is 1: gains, and as many
 * shifts; element i of the operand has number i / run % their number. */
typedef struct mona_array_normalise {
    uint32_t function; /* mona_normalisation */
    uint32_t extent, inner;
    uint32_t run; /* divides extent */
    float epsilon;
} mona_array_normalise;

/* ARRAY_KERNEL: output `output` of a kernel that the application has under this name, over a grid
 * of so many cells (engine/mona_op.h). The kernel says what types and sizes its operands have. */
typedef struct mona_array_kernel {
    uint32_t name;       /* data: char[name_bytes], which ends with a zero */
    uint32_t name_bytes; /* up to MONA_KERNEL_NAME + 1 */
    uint32_t output;
    uint32_t rows, columns; /* 1..MONA_MAX_SIDE */
} mona_array_kernel;

_Static_assert(sizeof(mona_file_array) == 76, "array layout");
_Static_assert(sizeof(mona_array_map) == 160, "map layout");
_Static_assert(sizeof(mona_array_pick) == 376, "pick layout");
_Static_assert(sizeof(mona_array_reduce) == 68, "reduce layout");
_Static_assert(sizeof(mona_array_matmul) == 104, "matmul layout");
_Static_assert(sizeof(mona_array_window) == 104, "window layout");
_Static_assert(sizeof(mona_array_resample) == 32, "resample layout");
_Static_assert(sizeof(mona_array_gather) == 16, "gather layout");
_Static_assert(sizeof(mona_array_normalise) == 20, "normalise layout");
_Static_assert(sizeof(mona_array_kernel) == 20, "kernel layout");

#endif
