// SPDX-License-Identifier: Apache-2.0
/* Row kernels for CPUs. Each computes one row of a fused operator and has one implementation for
 * every instruction set, all with the same bits (engine/model_format.h: "Numbers").
 *
 * fp16 values are uint16_t bit patterns in memory. All fp16 results are rounded to nearest even and
 * saturate to +-65504, as in the 310's saturation mode. Infinities saturate, too, and a NaN becomes
 * 0; finite operands give neither. The larger of two values is a > b ? a : b and the smaller a < b
 * ? a : b, which settles the sign of zeros. */
#ifndef MONA_CPU_H
#define MONA_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/target.h"

/* One row of a tensor in L1 or UB: channel c of pixel x lies at
 * data + (c / c0) * block_stride + (x * c0 + c % c0) * element size. */
typedef struct mona_row {
    uint8_t *data;       /* pixel 0 */
    size_t block_stride; /* bytes from one channel block to the next */
    uint32_t c0;
    mona_type type; /* U8, S8 or F16 */
} mona_row;

/* The epilogue of mona_file_epilogue, ready to apply. Arrays have one entry for each channel,
 * padded with zeros to a multiple of 16, and are 64-byte aligned. All floats hold fp16 values. */
typedef struct mona_epilogue {
    const float *scale;                       /* INT8: per channel; NULL: FP16 */
    const float *slope;                       /* PRELU: per channel, else NULL */
    uint8_t activation, activation_after_add; /* mona_activation */
    bool add;                                 /* a residual is added */
    bool broadcast;                           /* the residual has one channel, added to all */
    float clip_min, clip_max;
    float residual_scale, output_scale;
    /* Comes last, in a separate row kernel: mona_function_row. */
    uint8_t function;     /* mona_activation; 0: none */
    const uint8_t *table; /* TABLE: [256] */
    float alpha;
} mona_epilogue;

/* The part of a fused convolution that is the same for every row.
 *
 * K is cut into runs, and a run into steps. A run is a piece of an input row that lies side by side
 * in memory. As a rule there is one for every (c1, kernel row), the kernel_w x c0 elements under
 * the filter. If the filter is dilated or the channel block is partly filled, there is one for
 * every (c1, kernel row, kernel column). Output pixel x reads run r at runs[r] + x * pixel_bytes.
 * So K ascends by c1, kernel row, kernel column and c0, which is the order in which FP16 sums are
 * formed. Elements beyond the real channels have zero weights.
 *
 * A step is one operand of the arithmetic: 4 elements for INT8, or mona_isa.step_8bit, and 1 for
 * FP16. Run r has mona_run_steps(r) of them, rounded up (of 4 elements); the surplus elements have
 * zero weights.
 *
 * Row programs read weights packed as [block of 16 outputs][run][step][16 outputs][elements of a
 * step], s8, or fp32 holding fp16 values. Instructions read those of `packing`; fields for row
 * programs are unset then.
 *
 * In a depthwise convolution, where output o reads channel o alone, K is that of one channel: the
 * elements of a run are its columns, of which step s has 4 for INT8 and 1 for FP16. They lie 16
 * channels apart in the source. Weights are packed in the same way.
 *
 * In a grouped convolution block n has only the runs its inputs need, [first_run[n], first_run[n] +
 * run_count[n]), and its weights begin at weights + weights_offset[n]. */
typedef struct mona_conv {
    mona_type source_type; /* U8, S8 or F16 */
    uint32_t c0, stride;   /* elements of a source column; columns between output pixels */
    uint32_t pixel_bytes;  /* the same in bytes: stride * c0 * element size */
    uint32_t taps;         /* for AI Core programs: columns of a run */
    uint32_t channels;     /* outputs */
    bool depthwise;        /* c0 is 16 */
    uint32_t blocks;       /* ceil(channels / 16) */
    /* For row programs, up to `bias`. */
    const uint16_t *run_elements;   /* of each run, before rounding up to steps */
    const uint32_t *first_run;      /* [blocks] */
    const uint32_t *run_count;      /* [blocks] */
    const uint32_t *weights_offset; /* [blocks], bytes */
    const uint8_t *weights;         /* 64-byte aligned */
    const void *bias; /* s32 or f32 [16 * blocks], 64-byte aligned; zeros if the model has none */
    /* For row programs that want it (mona_isa.unsigned_bias), if the source is S8, else NULL: the
     * bias less 128 times the sum of an output's weights, modulo 2^32, to which the products of s +
     * 128 are added instead of those of s. */
    const int32_t *unsigned_bias;
    /* For row programs that want it (mona_isa.winograd), where Winograd's filter along the row is
     * possible, else 0: rows of the filter under all channel blocks, at most MONA_WINOGRAD_ROWS, so
     * that 8 times a sum fits 32 bits: 128 x 16 channels x 3 columns x 255 x 127 x 8 < 2^31. The
     * first winograd_whole of them are a run each, the others three. winograd_height of them are
     * those under a channel block, and lie winograd_pitch pixels apart, a multiple of 4, or if that
     * is 0 anywhere. */
    uint32_t winograd_rows, winograd_whole, winograd_height, winograd_pitch;
    /* Of at most MONA_WINOGRAD_FEW rows, else NULL: their weights, transformed, as [block of 16
     * outputs][6 positions][row][8 pairs of channels][16 outputs][2]. */
    const int16_t *winograd;
    /* For row programs that want them (mona_isa.narrow_taps, mona_isa.tiles), where they are
     * possible, else NULL: weights of few outputs (narrow.h). */
    const uint8_t *narrow, *narrow_tiles;
    const uint8_t *mixed; /* the same of a last block of few outputs (mona_isa.spare_ports) */
    const struct mona_conv_packing *packing; /* for AI Core programs, else NULL */
    /* For row programs: the runs hold operands (mona_isa.operand_8bit, operand_f16), not what the
     * source stores; c0, stride and run_elements count those, pixel_bytes their bytes. */
    bool operands;
    bool halves; /* for row programs that take them (mona_isa.halves): weights are fp16, not fp32 */
    /* For row programs: whether shuffles and blends take no time from products
     * (mona_isa.spare_ports). */
    bool spare_ports;
    bool small_sums; /* INT8: for all possible sources, |accumulator| < 2^22 and |accumulator *
                        scale| < 2^15 for every output */
    mona_epilogue epilogue;
} mona_conv;

/* Steps of a run, for row programs. */
static inline uint32_t mona_run_steps(const mona_conv *c, uint32_t run)
{
    return c->source_type == MONA_F16 ? c->run_elements[run] : (c->run_elements[run] + 3u) / 4;
}

/* Steps of all runs of block n of outputs. */
static inline uint32_t mona_block_steps(const mona_conv *c, uint32_t n)
{
    uint32_t steps = 0;
    for (uint32_t r = 0; r < c->run_count[n]; r++)
        steps += mona_run_steps(c, c->first_run[n] + r);
    return steps;
}

/* Depth-to-space output: channel c * block^2 + dy * block + dx of pixel x goes to
 * plane[c * block + dy] + (x * block + dx) * element size. */
typedef struct mona_planes {
    uint8_t *const *rows; /* [channels / block] */
    uint32_t block;       /* 1..4 */
    mona_type type;       /* of the planes: U8, U16, S8, F16 */
    float scale;          /* fp16 value, where the source or the planes are F16 */
    uint32_t maximum;     /* U8, U16 */
} mona_planes;

/* How many of a row's first and last pixels lie so that a run is outside of the map for them. */
typedef struct mona_edge {
    uint8_t first, last;
} mona_edge;

/* One output row, or a piece of one. Sources and the residual are readable for MONA_ROW_SLACK bytes
 * past their last element. Outputs overlap no source. All channels of a partly filled channel block
 * are written. */
typedef struct mona_conv_row {
    const mona_conv *conv;
    const uint8_t *const *runs; /* address of each run for pixel 0 */
    uint32_t pixels;            /* >= 1 */
    /* For row programs that take them (mona_isa.edges), else NULL: those of each run, 0 or 1, where
     * the map has no margins and its padding is 0, so that products with it need not be formed.
     * runs[r] is then NULL if that is so for all pixels. Sources are U8, or F16 whose runs hold
     * operands; runs have 16 elements, and there are at least MONA_EDGE_PIXELS pixels. */
    const mona_edge *edges;
    const uint8_t *soon; /* with edges: a part of the weights that will be read next */
    size_t soon_bytes;
    mona_row residual;         /* if epilogue.add */
    mona_row output;           /* type: what the result is rounded to; data: where it goes unless
                                   there are planes. No byte beyond the pixels may be written */
    const mona_planes *planes; /* where the rounded result goes instead, or NULL */
    uint8_t *scratch;          /* mona_isa.conv_scratch bytes of this thread, 64-byte aligned */
} mona_conv_row;

typedef mona_conv_row mona_depthwise_row; /* conv->depthwise; output: channel blocks of 16 */

/* mona_isa.conv_scratch of the NEON kernels, of those for controllers, of all others, of those
 * with tiles, and of those with Winograd's filter: what they would otherwise keep on the stack,
 * which may be small. */
enum {
    MONA_SCRATCH_NEON = 10 * 1024,
    MONA_SCRATCH_M = 16 * 1024,
    MONA_SCRATCH = 28 * 1024,
    MONA_JOINED_CHANNELS = 1024, /* of 64 pixels, that kernels for tiles put side by side */
    MONA_SCRATCH_TILES = MONA_SCRATCH + 64 * MONA_JOINED_CHANNELS,
    MONA_SCRATCH_WINOGRAD = MONA_SCRATCH + 176 * 1024,
};

enum { MONA_WINOGRAD_ROWS = 128, MONA_WINOGRAD_FEW = 6, MONA_WINOGRAD_POSITIONS = 6 };

enum { MONA_ROW_SLACK = 64, MONA_EDGE_PIXELS = 7 };

/* Planes -> a tensor row. Channel c of pixel x is the sample at source[c] + x * step[c]. Channels
 * after the last one, to the end of its channel block, are written as zero. */
typedef struct mona_pack_row {
    uint32_t channels, pixels;
    const uint8_t *const *source; /* [channels] */
    const uint32_t *step;         /* [channels], bytes */
    const float *scale;           /* [channels], fp16 values. F16 output is f16(q * scale); U8 from
                                     U16 is q * scale, rounded half to even and saturated, with
                                     scale in 0..1 */
    mona_type source_type;        /* U8, U16, S8, F16 */
    mona_row output;              /* U8 from U8 or U16, S8 from S8, F16 from any */
} mona_pack_row;

/* A tensor row -> planes, channels first to first + channels - 1. Let v be the stored value, and t
 * = f16(v * scale) if the source or the planes are F16, else t = v. What is written:
 *   F16       t
 *   U8, U16   t rounded half to even, saturated to 0..maximum
 *   S8        t rounded half to even, saturated to -128..127 */
typedef struct mona_unpack_row {
    mona_row source;
    uint32_t first, channels, pixels;
    mona_planes planes;
} mona_unpack_row;

/* Separable resampling to one tensor row. Rows are combined in fp32, with products and sums each
 * rounded and taps ascending; then columns in the same way. The result is rounded half to even and
 * saturated for U8 and S8, rounded once for F16. */
typedef struct mona_resize_row {
    mona_type type;          /* U8, S8 or F16 */
    uint32_t taps_y, taps_x; /* 1, 2 or 4 */
    const uint8_t *rows[4];  /* input rows, already clamped to the image; one channel block */
    float weight_y[4];
    uint32_t in_columns;   /* of a row */
    uint32_t c0;           /* elements of a column, each resampled on its own */
    const int32_t *first;  /* [out_columns]: column of tap 0; a tap outside [0, in_columns) reads
                              the nearest column inside */
    const float *weight_x; /* [out_columns][taps_x] */
    uint32_t out_columns;
    uint8_t *out;
    float *scratch; /* [in_columns * c0 + 32], 64-byte aligned */
} mona_resize_row;

/* Two tensor rows, element by element:
 *   t = f16(f16((a - zero_a) * scale_a) op f16((b - zero_b) * scale_b)),
 * then the epilogue without a residual, and zero is added. Channels after the last one, to the end
 * of its channel block, are written as zero. */
typedef struct mona_elementwise_row {
    bool multiply; /* else add */
    mona_row a, b, output;
    uint32_t channels, pixels;
    float scale_a, scale_b;     /* fp16 values */
    float zero_a, zero_b, zero; /* 0..255; for F16 0 */
    bool broadcast_b;           /* b has one channel, which is combined with all of a's */
    bool one_pixel_b;           /* b has one pixel, which is combined with all of a's */
    mona_epilogue epilogue;
} mona_elementwise_row;

/* Results of a row through a function (mona_activation), in place. Channels after the last one, to
 * the end of its channel block, become zero. */
typedef struct mona_function_row {
    mona_row row; /* TABLE: of U8, which become what the table has for them; others: of F16 */
    uint32_t channels, pixels;
    uint8_t function;
    const uint8_t *table; /* [256] */
    float alpha;
} mona_function_row;

/* The channels of each pixel, normalised as model_format.h defines it. gain and shift are zero from
 * the last channel to the end of its channel block, and so are results. */
typedef struct mona_normalise_row {
    mona_row source, output;
    uint32_t channels, pixels;
    float epsilon;
    const float *gain, *shift; /* [channels, rounded up to 16] */
} mona_normalise_row;

/* A row of fp16, element by element: each is added to a sum, or takes the place of one that is not
 * larger. */
typedef struct mona_fold_row {
    bool add;
    const uint8_t *source;
    void *to; /* add: fp32, else fp16 */
    uint32_t count;
} mona_fold_row;

/* Attention as model_format.h defines it, for one row of queries. */
typedef struct mona_attention_row {
    mona_row queries, output;
    mona_row keys, values;                              /* their first rows */
    const uint8_t *const *key_rows, *const *value_rows; /* [rows], their first pixels */
    uint32_t rows, columns;                             /* of keys and values */
    uint32_t pixels, heads;
    uint32_t size, value_size; /* channels of a head: of queries and keys; of values and output */
    float scale, value_scale;
    float *scratch; /* [MONA_ATTENTION_SCRATCH], 64-byte aligned */
} mona_attention_row;

enum { MONA_ATTENTION_QUERIES = 4 }; /* that kernels take at once */

#define MONA_ATTENTION_SCRATCH(pixels, size, value_size)                                           \
    (((size_t)(pixels) + 15) / 16 * 16 *                                                           \
         ((size_t)(size) + (value_size) + MONA_ATTENTION_QUERIES) +                                \
     (size_t)MONA_ATTENTION_QUERIES * (size))

/* One row of luma through a curve, or of chroma through a gain and an offset; mona.h defines the
 * arithmetic. Samples have `bits` bits. They lie in bytes, or from 9 bits on in 16-bit words, whose
 * higher bits are ignored. `to` may be `from`. */
typedef struct mona_luma_row {
    const uint8_t *from;
    uint8_t *to;
    uint32_t pixels, bits;
    const mona_curve *curve;
} mona_luma_row;

typedef struct mona_chroma_row {
    const uint8_t *from;
    uint8_t *to;
    const uint16_t *luma; /* of each pixel */
    uint32_t pixels, bits;
    const mona_curve *gain, *offset;
} mona_chroma_row;

/* ---- the table ----------------------------------------------------------------------------- */

typedef struct mona_isa {
    const char *name;   /* "c", "avx2", ... */
    bool winograd;      /* conv_row reads mona_conv.winograd_rows */
    bool unsigned_bias; /* conv_row and depthwise_row read mona_conv.unsigned_bias */
    bool spare_ports;   /* conv_row reads mona_conv.spare_ports */
    /* Bytes of an element of U8 and S8, and of F16, as conv_row multiplies it, if it takes runs of
     * those (mona_conv.operands), else 0: a 16-bit integer, an fp32. */
    uint8_t operand_8bit;
    uint8_t step_8bit;    /* elements of a step of conv_row for INT8, unless 0: 4 */
    uint32_t narrow_taps; /* conv_row reads mona_conv.narrow of up to this many taps of 16; 0: no */
    bool narrow_wide, narrow_rotated; /* in which order (narrow.h) */
    uint8_t operand_f16;
    bool edges;  /* conv_row takes mona_conv_row.edges */
    bool halves; /* conv_row takes fp16 weights where there is one pixel (mona_conv.halves) */
    bool tiles;  /* conv_row multiplies up to 64 bytes of a run at a time, if all runs are equal */
    uint32_t conv_scratch;
    void (*conv_row)(const mona_conv_row *);
    void (*depthwise_row)(const mona_depthwise_row *);
    void (*pack_row)(const mona_pack_row *);
    void (*unpack_row)(const mona_unpack_row *);
    void (*resize_row)(const mona_resize_row *);
    void (*elementwise_row)(const mona_elementwise_row *);
    void (*function_row)(const mona_function_row *);
    void (*normalise_row)(const mona_normalise_row *);
    void (*attention_row)(const mona_attention_row *);
    void (*fold_row)(const mona_fold_row *);
    void (*luma_row)(const mona_luma_row *);
    void (*chroma_row)(const mona_chroma_row *);
} mona_isa;

/* Whether there are kernels with RISC-V's vectors. rvv_vector.h needs clang, from 17 on. On Linux
 * the port asks whether the CPU has vectors; else all is compiled for them, or the kernels alone
 * are and MONA_RVV says so. */
#if defined(__riscv) && __riscv_xlen == 64 && defined(__clang__) && __clang_major__ >= 17 &&       \
    (defined(__linux__) || defined(__riscv_v) || defined(MONA_RVV))
#define MONA_RVV_ROWS
#endif

extern const mona_isa mona_isa_c;
#if defined(__x86_64__)
extern const mona_isa mona_isa_avx2;
extern const mona_isa mona_isa_avxvnni;
extern const mona_isa mona_isa_avx512, mona_isa_avx512_spare; /* the same, but for spare_ports */
extern const mona_isa mona_isa_amx;                           /* AVX-512 with AMX-INT8 */
#elif defined(__aarch64__)
extern const mona_isa mona_isa_neon;
extern const mona_isa mona_isa_dotprod; /* NEON with FEAT_DotProd */
extern const mona_isa mona_isa_i8mm;    /* and FEAT_I8MM and FEAT_FP16 */
#elif defined(__ARM_FEATURE_MVE)
extern const mona_isa mona_isa_mve;
#elif defined(__ARM_NEON)
extern const mona_isa mona_isa_neon;
#elif defined(__ARM_FEATURE_DSP)
extern const mona_isa mona_isa_dsp;
#elif defined(MONA_RVV_ROWS)
extern const mona_isa mona_isa_rvv;
#endif

#endif
