// SPDX-License-Identifier: Apache-2.0
/* The .mona offline model: what a file contains, byte for byte.
 *
 * Little-endian, no pointers, natural alignment, every section at a multiple of 64 bytes:
 *
 *   header            128 bytes
 *   tensors           tensor_count x 32 bytes: inputs, then outputs, then intermediates
 *   ops               op_count x 192 bytes, in execution order: every tensor is written once, before
 *                     it is read
 *   strings           NUL-terminated names; a name is an offset into this section; offset 0 is ""
 *   data              weights and tables; every offset in an op is relative to this section and a
 *                     multiple of 64
 *
 * A model whose operators need fixed sizes may be there for several: `next` is where another header
 * lies, with tensors, ops and strings of its own and the same data. Its inputs and outputs agree with
 * the first's in number, names, types, scales and channels of planes; its magic, version and
 * file_bytes are the first's. Offsets count from the beginning of the file.
 *
 * crc32 is the CRC-32 of zlib over the whole file with the field itself taken as zero; 0 in headers
 * after the first.
 * Weights are stored as a training framework does, OIHW, so that the file serves every target; a
 * session packs them into its target's layout.
 * Shapes of intermediates follow from the inputs and are not stored.
 *
 * Numbers (see DESIGN.md 3). A convolution ends in an epilogue that works on fp16 values t:
 *   INT8:  t = f16(f32(acc) * scale16[o])           acc: exact s32, bias included
 *   FP16:  t = f16(acc)                             acc: fp32, started at the bias
 *   t = activation(t); t = f16(t + f16(residual * residual_scale)); t = activation_after_add(t)
 *   t = f16(t * output_scale)                       skipped when output_scale is 1
 *   U8, S8: saturate(round_half_even(t)); F16: t
 * A pool works on the samples of its window that lie in the map; without any the result is 0. Rows are
 * taken from the top and columns from the left.
 *   MAX_POOL: m = vmax(m, x), vmax(a, b) = a > b ? a : b, first down each column of the window, then over
 *     the columns' results (the order only tells +0 and -0 of FP16 apart)
 *   AVERAGE_POOL: sum, exact in s32 for INT8; for FP16 in fp32 from +0, first down each column of the
 *     window, then over the columns' sums; then t = f16(f32(sum) * (scale / f32(n))), n being the number
 *     of samples, and stored as above
 * Every f16() is round-to-nearest-even and saturates to +-65504.
 */
#ifndef MONA_MODEL_FORMAT_H
#define MONA_MODEL_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "engine/model/array_format.h"

enum {
    MONA_FILE_VERSION = 1,
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
    uint32_t reserved[6]; /* zero */
} mona_file_header;

typedef struct mona_file_tensor {
    uint32_t name;
    uint8_t type;  /* mona_type; U16 of inputs, outputs and arrays, those after it of arrays only */
    uint8_t array; /* 1: an array (array_format.h), else 0 */
    uint8_t reserved[2];
    uint32_t channels;
    uint32_t height, width; /* arrays: fixed size, of any sides whose product is within
                               MONA_ARRAY_MAX_ELEMENTS; inputs: that, or 0 x 0 for any; others: 0 */
    float scale;            /* real value = scale * stored value; > 0, finite; 1 for F16 and F32 */
    uint32_t reserved2[2];
} mona_file_tensor;

typedef enum mona_op_kind {
    MONA_OP_LOAD = 0, /* input planes -> one tensor: space-to-depth, concatenation, conversion */
    /* Channels of a tensor -> output planes: depth-to-space, conversion. An array counts as planes
     * for LOAD and STORE, whether it is an input, an output or neither. */
    MONA_OP_STORE = 1,
    MONA_OP_CONV = 2,            /* convolution with its epilogue */
    MONA_OP_ADD = 3,             /* a + b, then the epilogue */
    MONA_OP_MUL = 4,             /* a * b, then the epilogue */
    MONA_OP_RESIZE = 5,          /* nearest, linear or cubic resampling of every channel */
    MONA_OP_DEPTH_TO_SPACE = 6,  /* between intermediates; ONNX mode CRD */
    MONA_OP_MAX_POOL = 7,        /* the largest sample of a window */
    MONA_OP_AVERAGE_POOL = 8,    /* the mean of a window's samples */
    MONA_OP_ARRAY_MAP = 9,       /* between arrays (array_format.h): a function of each element, */
    MONA_OP_ARRAY_PICK = 10,     /* elements in another order, */
    MONA_OP_ARRAY_REDUCE = 11,   /* sums and such over dimensions, */
    MONA_OP_ARRAY_MATMUL = 12,   /* products of matrices, */
    MONA_OP_ARRAY_WINDOW = 13,   /* convolutions and pools over 1 to 3 axes, */
    MONA_OP_ARRAY_RESAMPLE = 14, /* weighted sums along an axis, */
    MONA_OP_ARRAY_GATHER = 15,   /* elements by computed indices */
    MONA_OP_CONCAT = 16,         /* channels of several tensors, one after another; all are of the
                                    output's type and scale */
    MONA_OP_SLICE = 17,          /* channels of a tensor that lie side by side */
    MONA_OP_COUNT = 18,
} mona_op_kind;

typedef enum mona_activation {
    MONA_ACT_NONE = 0,
    MONA_ACT_RELU = 1,
    MONA_ACT_PRELU = 2, /* max(t, 0) + f16(min(t, 0) * slope[o]) */
    MONA_ACT_CLIP = 3,  /* min(max(t, clip_min), clip_max) */
    MONA_ACT_COUNT = 4,
} mona_activation;

typedef enum mona_resize_mode {
    MONA_RESIZE_NEAREST,
    MONA_RESIZE_LINEAR,
    MONA_RESIZE_CUBIC
} mona_resize_mode;

/* Where output pixel i lies in the input, for n_in -> n_out and scale = n_out / n_in. */
typedef enum mona_resize_coordinates {
    MONA_RESIZE_HALF_PIXEL,    /* (i + 0.5) / scale - 0.5 */
    MONA_RESIZE_ALIGN_CORNERS, /* i * (n_in - 1) / (n_out - 1) */
    MONA_RESIZE_ASYMMETRIC,    /* i / scale */
} mona_resize_coordinates;

/* Common to everything that ends in an epilogue. f16 values are stored as their bits. */
typedef struct mona_file_epilogue {
    uint8_t activation, activation_after_add; /* mona_activation; PRELU only as the first */
    uint16_t clip_min, clip_max;              /* f16, clip_min <= clip_max: of whichever is CLIP */
    uint16_t residual_scale;                  /* f16, finite */
    uint16_t output_scale;                    /* f16, finite; 1.0 = 0x3c00 */
    uint16_t reserved;
    uint32_t slopes; /* data: f16[channels] for PRELU, else MONA_NONE */
} mona_file_epilogue;

typedef struct mona_file_conv {
    uint16_t kernel_h, kernel_w;                       /* 1..255 */
    uint16_t stride_h, stride_w;                       /* 1..63 */
    uint16_t dilation_h, dilation_w;                   /* 1..255 */
    uint16_t pad_top, pad_left, pad_bottom, pad_right; /* 0..255, zeros */
    uint32_t groups;
    uint32_t
        weights;   /* data: [out][in / groups][kernel_h][kernel_w], s8 in [-127, 127] when the input
                         is U8 or S8, f16 (finite) when it is F16 */
    uint32_t bias; /* data: s32[out] (INT8) or f32[out] (FP16, finite), or MONA_NONE */
    uint32_t scales; /* data: f16[out], finite and >= 0 (INT8), or MONA_NONE (FP16) */
} mona_file_conv;

typedef struct mona_file_load {
    uint8_t
        block[MONA_OP_MAX_INPUTS]; /* of each input: 1, 2, 3 or 4; channel (c, dy, dx) of block x
                                          block is c * block^2 + dy * block + dx */
    uint16_t scale[MONA_OP_MAX_INPUTS]; /* f16: F16 results are f16(q * scale); U8 results of U16
                                           planes are saturate(round_half_even(q * scale)), scale in
                                           0..1; other quantised results take the samples as they are
                                           and scale is 1 */
} mona_file_load;

typedef struct mona_file_store {
    uint32_t first_channel; /* of the input tensor; block^2 * output channels of them are taken */
    uint32_t block;         /* 1, 2, 3 or 4: depth-to-space, the inverse of load */
    uint16_t scale;         /* f16: F16 -> U8, U16: saturate(round(f16(t * scale))) */
    uint16_t reserved;
    uint32_t maximum; /* U8, U16: largest sample value, e.g. 255 or 1023 */
} mona_file_store;

typedef struct mona_file_resize {
    uint8_t mode;        /* mona_resize_mode */
    uint8_t coordinates; /* mona_resize_coordinates */
    uint16_t reserved;
    uint32_t scale_h[2], scale_w[2]; /* output = input * [0] / [1], rounded down; each 1..65536 */
    float cubic_a;                   /* cubic: coefficient, -0.75..-0.5 by convention; finite */
    float offset_h, offset_w; /* added to the input coordinate, e.g. for chroma that does not sit
                                        in the middle of its luma samples; -1..1 */
} mona_file_resize;

typedef struct mona_file_pool {
    uint16_t kernel_h, kernel_w; /* 1..255; 0 x 0: the whole map, whatever its size, in which case
                                        strides and dilations are 1 and pads 0 */
    uint16_t stride_h, stride_w; /* 1..63 */
    uint16_t dilation_h, dilation_w;                   /* 1..255 */
    uint16_t pad_top, pad_left, pad_bottom, pad_right; /* 0..255 */
    uint8_t ceil_mode; /* 1: sizes are rounded up; a window that would begin past the map and its
                                  leading padding is left out */
    uint8_t count_include_pad; /* AVERAGE_POOL: 1: n counts the padding under the window as well */
    uint16_t reserved;
    float scale; /* AVERAGE_POOL: the input's scale / the output's; 2^-30..2^30 */
} mona_file_pool;

typedef struct mona_file_channels {
    uint32_t first; /* SLICE: the first channel it keeps; CONCAT: 0 */
    uint32_t copy;  /* 1: channels are copied even where they could lie in place */
} mona_file_channels;

typedef struct mona_file_op {
    uint32_t kind; /* mona_op_kind */
    uint32_t name;
    uint32_t input_count;
    uint32_t inputs[MONA_OP_MAX_INPUTS]; /* tensors; CONV: source, then the residual if any: of one
                                            channel, added to all, or of which the first are taken;
                                            ARRAY_*: MONA_NONE is a constant of the record */
    uint32_t output;                     /* tensor */
    mona_file_epilogue epilogue;         /* CONV, ADD, MUL */
    union {
        mona_file_conv conv;
        mona_file_load load;
        mona_file_store store;
        mona_file_resize resize;
        mona_file_pool pool;
        mona_file_array array;       /* ARRAY_* */
        mona_file_channels channels; /* CONCAT, SLICE */
        uint32_t block;              /* DEPTH_TO_SPACE: 2, 3 or 4 */
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
