// SPDX-License-Identifier: Apache-2.0
/* The .mona offline model: what a file contains, byte for byte.
 *
 * Little-endian, no pointers, natural alignment, every section at a multiple of 64 bytes:
 *
 *   header            128 bytes
 *   tensors           tensor_count x 32 bytes: inputs, then outputs, then intermediates
 *   ops               op_count x 192 bytes, in execution order: every tensor is written once,
 *                     before it is read
 *   strings           NUL-terminated names; a name is an offset into this section; offset 0 is ""
 *   data              weights and tables; every offset in an op is relative to this section and a
 *                     multiple of 64
 *
 * A file may hold a model for several sizes, where its operators need fixed sizes: `next` is the
 * offset of another header, which has tensors, ops and strings of its own and shares the data. Its
 * inputs and outputs have the same number, names, types, scales and channels of planes as the first
 * header's; its magic, version and file_bytes are the same. Offsets count from the beginning of the
 * file.
 *
 * A file may also hold programs: the compiler's decisions for one target and one frame size, ready
 * to run. Each header lists its own. A target that finds none plans for itself.
 *
 * crc32 is zlib's CRC-32 of the whole file with this field taken as zero. It is 0 in headers after
 * the first.
 *
 * Weights are stored in the order OIHW, as training frameworks store them, so that the file serves
 * every target; a session packs them for its target. Shapes of intermediates follow from the inputs
 * and are not stored.
 *
 * Numbers. A convolution ends in an epilogue that works on fp16 values t:
 *   INT8:  t = f16(f32(acc) * scale16[o])           acc: exact s32, bias included
 *   FP16:  t = f16(acc)                             acc: fp32, started at the bias
 *   t = activation(t); t = f16(t + f16(residual * residual_scale)); t = activation_after_add(t)
 *   t = f16(t * output_scale)                       skipped when output_scale is 1
 *   U8, S8: saturate(round_half_even(t)); F16: t
 * With a function as activation_after_add, that step does nothing, and the function comes last:
 *   TABLE: table[saturate(round_half_even(t)) as U8]; others: f16(function(t))
 * A pool works on the samples of its window that lie in the map; if there are none, the result is
 * 0. It works down each column of the window, from the top, then over the columns' results, from
 * the left.
 *   MAX_POOL: m = vmax(m, x) with vmax(a, b) = a > b ? a : b. The order only matters for +0 and -0
 *     of FP16.
 *   AVERAGE_POOL: the sum is exact in s32 for INT8, and in fp32 beginning with +0 for FP16. Then
 *     t = f16(f32(sum) * (scale / f32(n))), where n is the number of samples, is stored as above.
 * NORMALISE works on the stored values x of the n channels of each pixel, in fp32. A sum over
 * channels is 16 sums, of channels c mod 16 in ascending order; then the upper half of the sums is
 * added to the lower half until one is left. With m = sum(x) * (1 / n) and d = x - m,
 *   v = sum(d * d) * (1 / n) + epsilon,   t = f16((d * r) * gain + shift)
 * and r is 1 / sqrt(v) as engine/cpu/c/normalise.h computes it; t is stored as above.
 * A tensor of U8 may have a zero: the stored value that stands for 0 and fills padding. The bias of
 * a CONV compensates the zero of its source and adds that of its result. ADD and MUL take
 * a - zero and b - zero in place of stored values, and store saturate(round_half_even(t + zero));
 * AVERAGE_POOL takes zero n times from the sum of n samples. Operators that move, choose or
 * resample samples keep it. No other operator reads or writes tensors with a zero. A tensor that
 * LOAD makes and only CONV reads may have padding of its own: a value for each of up to four
 * channels that fills it, such as the mean of each colour, where the network's first operator takes
 * that from samples. The bias of the CONV compensates it. ATTENTION takes channels in heads. For
 * each head and pixel, in fp32, each product and sum rounded:
 *   s[j] = (sum of q[c] * k[j][c]) * scale      for each pixel j of k, c ascending from +0
 *   e[j] = exp(s[j] - max(s))                   as engine/cpu/c/functions.h computes it
 *   t[c] = f16((sum of e[j] * v[j][c]) * (value_scale / sum of e[j]))
 * with the sum of e[j] * v[j][c] in ascending order of j, from +0, and that of e[j] as 16 sums like
 * those of NORMALISE. t is stored as above.
 * Every f16() rounds to nearest even and saturates to +-65504. */
#ifndef MONA_MODEL_FORMAT_H
#define MONA_MODEL_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/array_format.h"

enum {
    MONA_FILE_VERSION = 1,
    MONA_FILE_VERSION_ZEROS = 2,   /* of a file in which a tensor has a zero */
    MONA_FILE_VERSION_PADDING = 3, /* of a file in which a tensor has padding of its own */
    MONA_PADDED_CHANNELS = 4,      /* of such a tensor at most */
    MONA_MAX_RANK = 8,
    MONA_FILE_ALIGNMENT = 64,
    MONA_OP_MAX_INPUTS = 8,
};

#define MONA_FILE_MAGIC "MONA\r\n\032\n" /* 8 bytes, shows line-ending damage */
#define MONA_NONE UINT32_MAX             /* no tensor; no data */

typedef struct mona_file_header {
    char magic[8];
    uint32_t version;
    uint32_t crc32;
    uint64_t file_bytes;
    uint32_t input_count, output_count;
    uint32_t tensor_count, op_count;
    uint64_t tensors_offset, ops_offset;
    uint64_t strings_offset, strings_bytes;
    uint64_t data_offset, data_bytes;
    uint32_t name;     /* string: what the model is */
    uint32_t producer; /* string: what wrote the file */
    uint64_t next;     /* offset of the header for other sizes, past this one; 0: there is none */
    uint64_t programs_offset; /* of program_count x 64 bytes */
    uint32_t program_count;
    uint32_t release;     /* counts the versions of a model, in the first header; 0: not told */
    uint32_t reserved[2]; /* zero */
} mona_file_header;

typedef struct mona_file_program {
    char target[16];        /* "ascend310": an AI Core program (engine/aicore/program.h); others:
                               a plan for a CPU (mona_file_plan) */
    uint64_t offset, bytes; /* offset: in the file */
    uint32_t reserved[8];   /* zero */
} mona_file_program;

/* The planner's decisions for a CPU and frames of one size (engine/layout/load_plan.c), followed by
 * a mona_file_plan_op for each operator. */
enum { MONA_PLAN_MAGIC = 0x6e6c706d }; /* "mpln" */

typedef struct mona_file_plan {
    uint32_t magic;
    uint32_t cores, strip_rows;
    uint32_t copies; /* 1: every CONCAT and SLICE copies */
    uint32_t parts;  /* 1: parts of a frame can be computed on their own; reach is known */
    uint32_t reserved[3];
    char isa[16]; /* instruction set of the row kernels, ends with a zero */
    struct {
        uint32_t width, height;
        int32_t reach[4]; /* above, below, left, right, see plan_reach */
    } inputs[8];
} mona_file_plan;

enum { MONA_PLAN_WHOLE_MAPS = 1, MONA_PLAN_BY_CHANNELS = 2 };

typedef struct mona_file_plan_op {
    uint32_t last; /* first operator after the group that begins with this one; 0: none does */
    uint32_t parts, tiles; /* of that group */
    uint32_t flags;        /* of that group: MONA_PLAN_WHOLE_MAPS, _BY_CHANNELS */
    uint32_t depth;        /* rows that its ring holds; 0: it has none of its own */
    uint32_t reserved;
} mona_file_plan_op;

typedef struct mona_file_tensor {
    uint32_t name;
    uint8_t type;  /* mona_type; U16 only for inputs, outputs and arrays, the types after it only
                      for arrays */
    uint8_t array; /* 1: an array (array_format.h), else 0 */
    uint8_t zero;  /* U8 between operators: real value = scale * (stored value - zero); else 0 */
    uint8_t reserved;
    uint32_t channels;
    uint32_t height, width; /* arrays: fixed; channels * height * width may be up to
                               MONA_ARRAY_MAX_ELEMENTS. Inputs: a fixed size, or 0 x 0 for any size.
                               Others: 0 */
    float scale;            /* > 0, finite; 1 for F16 and F32 */
    union {
        /* U8 and F16 of a LOAD, for CONVs alone: what fills the padding of each channel, as stored;
         * F16: bits of finite numbers. Others: 0 */
        uint16_t padding[MONA_PADDED_CHANNELS];
        struct {
            uint32_t rank; /* 1..MONA_MAX_RANK; 0: unknown, as in files of older versions of mona */
            uint32_t dims; /* data: u32[rank], of which there are channels * height * width */
        } shape;           /* of inputs that are arrays */
    };
} mona_file_tensor;

/* Whether a tensor's channels have padding of their own; it is no array. */
static inline bool mona_is_padded(const uint16_t padding[MONA_PADDED_CHANNELS])
{
    return padding[0] | padding[1] | padding[2] | padding[3];
}

typedef enum mona_op_kind {
    /* LOAD: input planes -> one tensor, with space-to-depth, concatenation and conversion. STORE:
     * channels of a tensor -> output planes, with depth-to-space and conversion. For both an array
     * counts as planes, whether it is an input, an output or neither. */
    MONA_OP_LOAD = 0,
    MONA_OP_STORE = 1,
    MONA_OP_CONV = 2,           /* convolution with its epilogue */
    MONA_OP_ADD = 3,            /* a + b, then the epilogue */
    MONA_OP_MUL = 4,            /* a * b, then the epilogue */
    MONA_OP_RESIZE = 5,         /* nearest, linear or cubic resampling of every channel */
    MONA_OP_DEPTH_TO_SPACE = 6, /* between intermediates; ONNX mode CRD */
    MONA_OP_MAX_POOL = 7,       /* the largest sample of a window */
    MONA_OP_AVERAGE_POOL = 8,   /* the mean of a window's samples */
    /* Between arrays (array_format.h). */
    MONA_OP_ARRAY_MAP = 9,       /* a function of each element */
    MONA_OP_ARRAY_PICK = 10,     /* elements in another order */
    MONA_OP_ARRAY_REDUCE = 11,   /* sums and other reductions over dimensions */
    MONA_OP_ARRAY_MATMUL = 12,   /* products of matrices */
    MONA_OP_ARRAY_WINDOW = 13,   /* convolutions and pools over 1 to 3 axes */
    MONA_OP_ARRAY_RESAMPLE = 14, /* weighted sums along an axis */
    MONA_OP_ARRAY_GATHER = 15,   /* elements by computed indices */
    /* Between intermediates. */
    MONA_OP_CONCAT = 16,    /* channels of several tensors, one after another; all have the output's
                            type and scale */
    MONA_OP_SLICE = 17,     /* channels of a tensor that lie side by side */
    MONA_OP_NORMALISE = 18, /* the channels of each pixel to a mean of 0 and a variance of 1 */
    MONA_OP_ATTENTION = 19, /* inputs: queries, keys, values */
    MONA_OP_ARRAY_SORT = 20, /* between arrays: the largest or the smallest elements of an axis */
    MONA_OP_ARRAY_NORMALISE = 21, /* between arrays: rows to a mean of 0 or a sum of 1 */
    MONA_OP_PAD = 22,             /* rows and columns around a tensor, of its own samples */
    MONA_OP_ARRAY_KERNEL = 23,    /* between arrays: a kernel of the application's own */
    MONA_OP_KERNEL = 24,          /* the same between intermediates */
    MONA_OP_COUNT = 25,
} mona_op_kind;

typedef enum mona_activation {
    MONA_ACT_NONE = 0,
    MONA_ACT_RELU = 1,
    MONA_ACT_PRELU = 2, /* max(t, 0) + f16(min(t, 0) * slope[o]) */
    MONA_ACT_CLIP = 3,  /* min(max(t, clip_min), clip_max) */
    /* Functions, only as activation_after_add. TABLE makes U8 or S8, the others F16;
     * engine/cpu/c/functions.h defines how these are computed. */
    MONA_ACT_TABLE = 4,
    MONA_ACT_SIGMOID = 5,    /* 1 / (1 + exp(-t)) */
    MONA_ACT_SILU = 6,       /* t * sigmoid(t) */
    MONA_ACT_HARD_SWISH = 7, /* t * min(max(t + 3, 0), 6) / 6 */
    MONA_ACT_TANH = 8,
    MONA_ACT_GELU = 9,       /* t * (1 + erf(t / sqrt(2))) / 2 */
    MONA_ACT_GELU_TANH = 10, /* t * sigmoid(2 * sqrt(2 / pi) * (t + 0.044715 * t^3)) */
    MONA_ACT_MISH = 11,      /* t * tanh(log(1 + exp(t))) */
    MONA_ACT_ELU = 12,       /* t > 0 ? t : alpha * (exp(t) - 1) */
    MONA_ACT_SOFTPLUS = 13,  /* log(1 + exp(t)) */
    MONA_ACT_COUNT = 14,
} mona_activation;

static inline bool mona_is_function(uint8_t activation)
{
    return activation >= MONA_ACT_TABLE;
}

typedef enum mona_resize_mode {
    MONA_RESIZE_NEAREST,
    MONA_RESIZE_LINEAR,
    MONA_RESIZE_CUBIC
} mona_resize_mode;

/* Where output pixel i lies in the input, for n_in -> n_out pixels and scale = n_out / n_in. */
typedef enum mona_resize_coordinates {
    MONA_RESIZE_HALF_PIXEL,    /* (i + 0.5) / scale - 0.5 */
    MONA_RESIZE_ALIGN_CORNERS, /* i * (n_in - 1) / (n_out - 1) */
    MONA_RESIZE_ASYMMETRIC,    /* i / scale */
} mona_resize_coordinates;

/* The part that every operator with an epilogue has. f16 values are stored as their bits. */
typedef struct mona_file_epilogue {
    uint8_t activation, activation_after_add; /* mona_activation; PRELU only as the first */
    uint16_t clip_min, clip_max;              /* f16, clip_min <= clip_max: bounds of every CLIP */
    uint16_t residual_scale;                  /* f16, finite */
    uint16_t output_scale;                    /* f16, finite; 1.0 = 0x3c00 */
    uint16_t alpha;                           /* f16, finite; of ELU */
    uint32_t slopes; /* data: f16[channels] for PRELU, u8[256] for TABLE, which exclude each other;
                        else MONA_NONE */
} mona_file_epilogue;

typedef struct mona_file_conv {
    uint16_t kernel_h, kernel_w;                       /* 1..255 */
    uint16_t stride_h, stride_w;                       /* 1..63 */
    uint16_t dilation_h, dilation_w;                   /* 1..255 */
    uint16_t pad_top, pad_left, pad_bottom, pad_right; /* 0..255, zeros */
    uint32_t groups;
    /* data: [out][in / groups][kernel_h][kernel_w]; s8 in [-127, 127] for inputs of U8 or S8
     * (INT8), finite f16 for inputs of F16 (FP16) */
    uint32_t weights;
    uint32_t bias;   /* data: INT8: s32[out], FP16: finite f32[out]; or MONA_NONE */
    uint32_t scales; /* data: INT8: f16[out], finite and >= 0; FP16: MONA_NONE */
} mona_file_conv;

typedef struct mona_file_load {
    /* Of each input: 1, 2, 3 or 4. Sample (dy, dx) of a block of block x block samples of plane c
     * becomes channel c * block^2 + dy * block + dx. */
    uint8_t block[MONA_OP_MAX_INPUTS];
    /* Of each input: f16. Results are, for samples q:
     *   F16            f16(q * scale)
     *   U8 from U16    saturate(round_half_even(q * scale)), with scale in 0..1
     *   others         q, and scale is 1 */
    uint16_t scale[MONA_OP_MAX_INPUTS];
} mona_file_load;

typedef struct mona_file_store {
    uint32_t first_channel; /* of the input tensor; block^2 * output channels follow */
    uint32_t block;         /* 1, 2, 3 or 4: depth-to-space, the inverse of LOAD's */
    uint16_t scale;         /* f16; U8 and U16 from F16 are saturate(round(f16(t * scale))) */
    uint16_t reserved;
    uint32_t maximum; /* U8, U16: largest sample value, e.g. 255 or 1023 */
} mona_file_store;

typedef struct mona_file_resize {
    uint8_t mode;        /* mona_resize_mode */
    uint8_t coordinates; /* mona_resize_coordinates */
    uint16_t reserved;
    uint32_t scale_h[2], scale_w[2]; /* output = input * [0] / [1], rounded down; each 1..65536 */
    float cubic_a;                   /* cubic: coefficient, -0.75..-0.5 by convention; finite */
    float offset_h, offset_w; /* -1..1, added to the input coordinate, e.g. for chroma that does not
                                 lie in the middle of its luma samples */
} mona_file_resize;

typedef struct mona_file_pool {
    uint16_t kernel_h, kernel_w; /* 1..255; or 0 x 0: the whole map, whatever its size, with strides
                                    and dilations of 1 and pads of 0 */
    uint16_t stride_h, stride_w; /* 1..63 */
    uint16_t dilation_h, dilation_w;                   /* 1..255 */
    uint16_t pad_top, pad_left, pad_bottom, pad_right; /* 0..255 */
    /* 1: sizes are rounded up, but a window that would begin past the map and its leading padding
     * is left out */
    uint8_t ceil_mode;
    uint8_t count_include_pad; /* AVERAGE_POOL: 1: n counts the padding under the window, too */
    uint16_t reserved;
    float scale; /* AVERAGE_POOL: scale of the input / scale of the output; 2^-30..2^30 */
} mona_file_pool;

typedef struct mona_file_normalise {
    float epsilon;        /* 2^-100..2^100 */
    uint32_t gain, shift; /* data: finite f32[channels] */
} mona_file_normalise;

typedef struct mona_file_attention {
    uint32_t heads;           /* divides the channels of all */
    float scale, value_scale; /* finite; scale: of stored queries and keys; value_scale: scale of
                                 values / scale of the output */
} mona_file_attention;

/* Inputs are tensors, with a channel for each plane, or constants, the kernel's tables. The output
 * has the cells of the kernel's grid as pixels: sample (dy, dx) of a cell of plane p is channel
 * (p * cell_rows + dy) * cell_columns + dx. U8 and S8 are U8 and S8 of the kernel, F16 is its F16
 * or its F32, results of which are rounded as f16() does. */
typedef struct mona_file_kernel {
    mona_file_array call; /* record: a mona_array_kernel without rows and columns */
    uint8_t cell[8][2];   /* of each tensor: rows, columns, as the kernel has them; else 0 */
} mona_file_kernel;

/* What samples outside a tensor are. */
typedef enum mona_pad_mode {
    MONA_PAD_REFLECT, /* those as far inside of the first or last sample; pads are smaller than the
                         tensor */
    MONA_PAD_EDGE,    /* the first or last sample */
} mona_pad_mode;

typedef struct mona_file_pad {
    uint8_t mode; /* mona_pad_mode */
    uint8_t top, left, bottom, right;
    uint8_t reserved[3];
} mona_file_pad;

typedef struct mona_file_channels {
    uint32_t first; /* SLICE: the first channel it keeps; CONCAT: 0 */
    uint32_t copy;  /* 1: channels are copied even where they could lie in place */
} mona_file_channels;

typedef struct mona_file_op {
    uint32_t kind; /* mona_op_kind */
    uint32_t name;
    uint32_t input_count;
    /* Tensors. CONV: the source, then a residual if there is one. A residual of one channel is
     * added to every output; of others the first channels are added, one to each output.
     * ARRAY_*, KERNEL: MONA_NONE stands for a constant. */
    uint32_t inputs[MONA_OP_MAX_INPUTS];
    uint32_t output;             /* tensor */
    mona_file_epilogue epilogue; /* CONV, ADD, MUL */
    union {
        mona_file_conv conv;
        mona_file_load load;
        mona_file_store store;
        mona_file_resize resize;
        mona_file_pool pool;
        mona_file_array array;       /* ARRAY_* */
        mona_file_kernel kernel;     /* KERNEL, which begins like those */
        mona_file_channels channels; /* CONCAT, SLICE */
        mona_file_normalise normalise;
        mona_file_attention attention;
        mona_file_pad pad;
        uint32_t block; /* DEPTH_TO_SPACE: 2, 3 or 4 */
        struct {
            uint16_t scale[2]; /* ADD, MUL: f16; each operand enters as f16(q * scale[i]) */
        } elementwise;
        uint8_t bytes[128];
    };
} mona_file_op;

_Static_assert(sizeof(mona_file_header) == 128, "header layout");
_Static_assert(sizeof(mona_file_tensor) == 32, "tensor layout");
_Static_assert(sizeof(mona_file_epilogue) == 16, "epilogue layout");
_Static_assert(sizeof(mona_file_op) == 192, "op layout");

/* CRC-32 (polynomial 0xedb88320, as zlib's): start with 0, feed the result back to continue. */
uint32_t mona_crc32(uint32_t crc, const void *bytes, size_t size);

#endif
