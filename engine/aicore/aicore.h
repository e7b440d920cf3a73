// SPDX-License-Identifier: Apache-2.0
/* The AI Core in C: the instructions of dav-m100 that kernels are written with.
 *
 * A kernel is a C function on an ac_core. It moves tiles GM -> L1 -> L0A / L0B, multiplies them
 * into L0C, drains L0C into UB, works on fp16 vectors in UB and stores to L1 or GM. There are six
 * pipes: S, V, M, MTE1, MTE2 and MTE3. Each runs its instructions in order; between pipes only
 * flags make an order. On the host every instruction is executed at once, and flags do nothing.
 *
 * Every implementation is one table, ac_isa. ac_isa_instructions has every instruction and is the
 * reference. Portable C and the CPUs' instruction sets have *row programs* instead: each does the
 * load3d, mmad, drain and vector work of one output row in one function, and gives the same bits as
 * the instructions it replaces. ops/ calls the row program, and issues instructions where there is
 * none. checkops compares the two.
 *
 * fp16 values are uint16_t bit patterns in memory. All fp16 results are rounded to nearest even and
 * saturate to +-65504, as in the 310's saturation mode. Infinities saturate, too, and a NaN becomes
 * 0; finite operands give neither. vmax is a > b ? a : b and vmin a < b ? a : b, which settles the
 * sign of zeros. */
#ifndef AC_AICORE_H
#define AC_AICORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/run/target.h"

/* Address spaces of the vendor's compiler; one flat space here. */
#define __gm__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __ubuf__

typedef enum ac_pipe {
    AC_PIPE_S,
    AC_PIPE_V,
    AC_PIPE_M,
    AC_PIPE_MTE1,
    AC_PIPE_MTE2,
    AC_PIPE_MTE3,
    AC_PIPE_ALL
} ac_pipe;
typedef enum ac_event { AC_EVENT0, AC_EVENT1, AC_EVENT2, AC_EVENT3 } ac_event;

typedef struct ac_core ac_core;

/* ---- instruction operands ------------------------------------------------------------------ */

enum {
    AC_BLOCK = 32,   /* bytes: the unit of copies and vectors */
    AC_REPEAT = 256, /* bytes that one vector repeat processes */
    AC_MAX_REPEAT = 255,
    AC_MAX_MKN = 4095,
    AC_FRACTAL = 16,     /* rows of A and columns of B in a fractal */
    AC_SCALAR_STEPS = 4, /* of the scalar unit for one element: load, work, store, count */
};

/* Burst copies between buffers; lengths and gaps in 32-byte blocks. */
typedef enum ac_path { AC_GM_L1, AC_GM_UB, AC_L1_UB, AC_UB_L1, AC_UB_GM, AC_PATH_COUNT } ac_path;
typedef struct ac_copy {
    uint16_t bursts;           /* 1..4095 */
    uint16_t blocks;           /* in one burst, 1..65535 */
    uint16_t src_gap, dst_gap; /* from the end of a burst to the start of the next */
} ac_copy;

/* load3d in repeat mode 1, along output pixels, for one input row and one position of the filter.
 *
 * Row m of fractal r, 0 <= r < repeat, belongs to pixel x = 16 r + m of the output row. It takes
 * fractal_k elements of the input row: fractal_k / c0 columns of c0 channels each, `dilation`
 * apart, the first being column x * stride + column. Fractal r is written at dst + r * jump
 * fractals. The chip's padding registers are not needed, as rows in L1 contain their zero
 * columns. */
typedef struct ac_load3d {
    uint16_t column;  /* input column of output pixel 0 at this filter position, in the row */
    uint16_t columns; /* columns of the row; those beyond read as zero */
    uint8_t stride;   /* 1..63 */
    uint8_t dilation; /* 1..255 */
    uint8_t c0;       /* elements of a column */
    uint8_t element;  /* bytes of an element, 1 or 2 */
    uint8_t repeat;   /* 1..255 */
    uint8_t jump;     /* 1..127, in fractals */
} ac_load3d;

/* Types of mmad: accumulator, A, B. */
typedef enum ac_mad { AC_MAD_S32U8S8, AC_MAD_S32S8S8, AC_MAD_F32F16F16 } ac_mad;

/* Conversions of the L0C -> UB copy. */
typedef enum ac_drain { AC_DRAIN_F32_F16, AC_DRAIN_S32_F16_DEQ } ac_drain;

typedef enum ac_vec2 {
    AC_VADD,
    AC_VSUB,
    AC_VMUL,
    AC_VMAX,
    AC_VMIN, /* f16 op f16 */
    AC_VAND,
    AC_VOR, /* 16-bit integers */
    AC_VADD_F32,
    AC_VMUL_F32, /* f32 op f32, each rounded once */
} ac_vec2;
typedef enum ac_vecs {
    AC_VADDS,
    AC_VMULS,
    AC_VADDS_F32,
    AC_VMULS_F32
} ac_vecs; /* vector op scalar */
typedef enum ac_vconv {
    AC_F16_U8,
    AC_F16_S8, /* round half to even, saturating */
    AC_U8_F16,
    AC_S8_F16,
    AC_F16_F32,
    AC_F32_F16, /* round half to even, saturating */
} ac_vconv;

/* A vector instruction works `repeat` times on 8 blocks of 32 bytes: 128 elements of f16 or 64 of
 * f32. A conversion counts in its wider type; the narrower one has half as many blocks. Strides are
 * in blocks of 32 bytes; a stride of 0 uses the same block again and is not allowed for dst. Only
 * the first `lanes` elements of every repeat are written; dst keeps what it held in the others. */
typedef struct ac_vector {
    uint8_t repeat;                         /* 1..255 */
    uint8_t lanes;                          /* 1..128 (f32: 64) */
    uint8_t dst_block, a_block, b_block;    /* from block to block within a repeat */
    uint8_t dst_repeat, a_repeat, b_repeat; /* from repeat to repeat */
} ac_vector;

/* ---- row programs -------------------------------------------------------------------------- */

/* One row of a tensor in L1 or UB: channel c of pixel x lies at
 * data + (c / c0) * block_stride + (x * c0 + c % c0) * element size. */
typedef struct ac_row {
    uint8_t *data;       /* pixel 0 */
    size_t block_stride; /* bytes from one channel block to the next */
    uint32_t c0;
    mona_type type; /* U8, S8 or F16 */
} ac_row;

/* The epilogue of mona_file_epilogue, ready to apply. Arrays have one entry for each channel,
 * padded with zeros to a multiple of 16, and are 64-byte aligned. All floats hold fp16 values. */
typedef struct ac_epilogue {
    const float *scale;                       /* INT8: per channel; NULL: FP16 */
    const float *slope;                       /* PRELU: per channel, else NULL */
    uint8_t activation, activation_after_add; /* mona_activation */
    bool add;                                 /* a residual is added */
    bool broadcast;                           /* the residual has one channel, added to all */
    float clip_min, clip_max;
    float residual_scale, output_scale;
} ac_epilogue;

/* The part of a fused convolution that is the same for every row.
 *
 * K is cut into runs, and a run into steps. A run is a piece of an input row that lies side by side
 * in memory. As a rule there is one for every (c1, kernel row), the kernel_w x c0 elements under
 * the filter. If the filter is dilated or the channel block is partly filled, there is one for
 * every (c1, kernel row, kernel column). Output pixel x reads run r at runs[r] + x * pixel_bytes.
 * So K ascends by c1, kernel row, kernel column and c0, which is the order in which FP16 sums are
 * formed. Elements beyond the real channels have zero weights.
 *
 * A step is one operand of the arithmetic: 4 elements for INT8, 1 for FP16. Run r has
 * ac_run_steps(r) of them, rounded up; the surplus elements have zero weights.
 *
 * Row programs read weights packed as [block of 16 outputs][run][step][16 outputs][elements of a
 * step], s8, or fp32 holding fp16 values. Instructions read those of `packing`; fields for row
 * programs are unset then.
 *
 * In a grouped convolution block n has only the runs its inputs need, [first_run[n], first_run[n] +
 * run_count[n]), and its weights begin at weights + weights_offset[n]. */
typedef struct ac_conv {
    mona_type source_type; /* U8, S8 or F16 */
    uint32_t c0, stride;   /* elements of a source column; columns between output pixels */
    uint32_t pixel_bytes;  /* the same in bytes: stride * c0 * element size */
    uint32_t taps;         /* for instructions: columns of a run */
    uint32_t channels;     /* outputs */
    uint32_t blocks;       /* ceil(channels / 16) */
    /* For row programs, up to `bias`. */
    const uint16_t *run_elements;   /* of each run, before rounding up to steps */
    const uint32_t *first_run;      /* [blocks] */
    const uint32_t *run_count;      /* [blocks] */
    const uint32_t *weights_offset; /* [blocks], bytes */
    const uint8_t *weights;         /* 64-byte aligned */
    const void *bias; /* s32 or f32 [16 * blocks], 64-byte aligned; zeros if the model has none */
    const struct mona_conv_packing *packing; /* for instructions, else NULL */
    bool small_sums; /* INT8: for all possible sources, |accumulator| < 2^22 and |accumulator *
                        scale| < 2^15 for every output */
    ac_epilogue epilogue;
} ac_conv;

/* Steps of a run, for row programs. */
static inline uint32_t ac_run_steps(const ac_conv *c, uint32_t run)
{
    return c->source_type == MONA_F16 ? c->run_elements[run] : (c->run_elements[run] + 3u) / 4;
}

/* Steps of all runs of block n of outputs. */
static inline uint32_t ac_block_steps(const ac_conv *c, uint32_t n)
{
    uint32_t steps = 0;
    for (uint32_t r = 0; r < c->run_count[n]; r++)
        steps += ac_run_steps(c, c->first_run[n] + r);
    return steps;
}

/* Depth-to-space output: channel c * block^2 + dy * block + dx of pixel x goes to
 * plane[c * block + dy] + (x * block + dx) * element size. */
typedef struct ac_planes {
    uint8_t *const *rows; /* [channels / block] */
    uint32_t block;       /* 1..4 */
    mona_type type;       /* of the planes: U8, U16, S8, F16 */
    float scale;          /* fp16 value, where the source or the planes are F16 */
    uint32_t maximum;     /* U8, U16 */
} ac_planes;

/* One output row, or a piece of one. Sources and the residual are readable for AC_ROW_SLACK bytes
 * past their last element. Outputs overlap no source. All channels of a partly filled channel block
 * are written. */
typedef struct ac_conv_row {
    const ac_conv *conv;
    const uint8_t *const *runs; /* address of each run for pixel 0 */
    uint32_t pixels;            /* >= 1 */
    ac_row residual;            /* if epilogue.add */
    ac_row output;              /* type: what the result is rounded to; data: where it goes unless
                                   there are planes. No byte beyond the pixels may be written */
    const ac_planes *planes;    /* where the rounded result goes instead, or NULL */
} ac_conv_row;

enum { AC_ROW_SLACK = 64 };

/* Planes -> a tensor row. Channel c of pixel x is the sample at source[c] + x * step[c]. Channels
 * after the last one, to the end of its channel block, are written as zero. */
typedef struct ac_pack_row {
    uint32_t channels, pixels;
    const uint8_t *const *source; /* [channels] */
    const uint32_t *step;         /* [channels], bytes */
    const float *scale;           /* [channels], fp16 values. F16 output is f16(q * scale); U8 from
                                     U16 is q * scale, rounded half to even and saturated, with
                                     scale in 0..1 */
    mona_type source_type;        /* U8, U16, S8, F16 */
    ac_row output;                /* U8 from U8 or U16, S8 from S8, F16 from any */
} ac_pack_row;

/* A tensor row -> planes, channels first to first + channels - 1. Let v be the stored value, and t
 * = f16(v * scale) if the source or the planes are F16, else t = v. What is written:
 *   F16       t
 *   U8, U16   t rounded half to even, saturated to 0..maximum
 *   S8        t rounded half to even, saturated to -128..127 */
typedef struct ac_unpack_row {
    ac_row source;
    uint32_t first, channels, pixels;
    ac_planes planes;
} ac_unpack_row;

/* Separable resampling to one tensor row. Rows are combined in fp32, with products and sums each
 * rounded and taps ascending; then columns in the same way. The result is rounded half to even and
 * saturated for U8 and S8, rounded once for F16. */
typedef struct ac_resize_row {
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
} ac_resize_row;

/* Two tensor rows, element by element: t = f16(f16(a * scale_a) op f16(b * scale_b)), then the
 * epilogue without a residual. Channels after the last one, to the end of its channel block,
 * are written as zero. */
typedef struct ac_elementwise_row {
    bool multiply; /* else add */
    ac_row a, b, output;
    uint32_t channels, pixels;
    float scale_a, scale_b; /* fp16 values */
    bool broadcast_b;       /* b has one channel, which is combined with all of a's */
    ac_epilogue epilogue;
} ac_elementwise_row;

/* One row of luma through a curve, or of chroma through a gain and an offset; mona.h defines the
 * arithmetic. Samples have `bits` bits. They lie in bytes, or from 9 bits on in 16-bit words, whose
 * higher bits are ignored. `to` may be `from`. */
typedef struct ac_luma_row {
    const uint8_t *from;
    uint8_t *to;
    uint32_t pixels, bits;
    const mona_curve *curve;
} ac_luma_row;

typedef struct ac_chroma_row {
    const uint8_t *from;
    uint8_t *to;
    const uint16_t *luma; /* of each pixel */
    uint32_t pixels, bits;
    const mona_curve *gain, *offset;
} ac_chroma_row;

/* ---- the table ----------------------------------------------------------------------------- */

typedef struct ac_isa {
    const char *name; /* "instructions", "c", "avx2", ... */

    /* Instructions, each with the name of its dav-m100 intrinsic. Only in ac_isa_instructions. */
    void (*copy)(ac_core *, ac_path, void *dst, const void *src,
                 ac_copy); /* copy_gm_to_cbuf, ... */
    void (*load2d)(ac_core *, void *dst_l0b, const void *src,
                   uint32_t fractals); /* load_cbuf_to_cb */
    void (*load3d)(ac_core *, void *dst_l0a, const void *row,
                   const ac_load3d *); /* img2col_cbuf_to_ca */
    void (*mmad)(ac_core *, ac_mad, void *c, const void *a, const void *b, uint32_t m, uint32_t k,
                 uint32_t n, bool start_at_zero); /* mad */
    void (*bias_l0c)(ac_core *, void *c, const void *bias, uint32_t m,
                     uint32_t n); /* broadcast_ub_to_cc */
    /* copy_matrix_cc_to_ubuf. Bursts consist of `blocks` fractals. src_gap is in fractals, dst_gap
     * in blocks of 32 bytes. deq16_ub: 16 fp16 values in UB */
    void (*drain)(ac_core *, ac_drain, uint16_t *dst_ub, const void *src_l0c, ac_copy,
                  const uint16_t *deq16_ub, bool relu);
    void (*dup)(ac_core *, uint16_t *dst, uint16_t value, const ac_vector *); /* vector_dup */
    void (*vec2)(ac_core *, ac_vec2, void *dst, const void *a, const void *b,
                 const ac_vector *); /* vadd, ... */
    void (*vecs)(ac_core *, ac_vecs, void *dst, const void *a, float s,
                 const ac_vector *); /* vadds, vmuls; for f16, s is first rounded to fp16 */
    void (*vconv)(ac_core *, ac_vconv, void *dst, const void *src,
                  const ac_vector *); /* vconv_f162u8, ... */
    /* Transposes 16 blocks of 16 elements of 16 bits: element j of dst[i] is element i of src[j].
     * Repeat r works on blocks that lie r * dst_repeat and r * src_repeat further on. */
    void (*transpose)(ac_core *, uint16_t *const dst[16], const uint16_t *const src[16],
                      uint8_t repeat, uint8_t dst_repeat,
                      uint8_t src_repeat); /* scatter_vnchwconv_b16 */
    /* The same for 8 bits: 16 elements, in the lower or the upper half of every block. */
    void (*transpose_b8)(ac_core *, uint8_t *const dst[16], bool dst_high,
                         const uint8_t *const src[16], bool src_high, uint8_t repeat,
                         uint8_t dst_repeat, uint8_t src_repeat); /* scatter_vnchwconv_b8 */
    /* Reports that the scalar unit reads and writes these bytes, each range in one buffer, in
     * `steps` steps of its own program. The caller does the work itself. NULL and 0: no bytes. */
    void (*scalar)(ac_core *, const void *read, size_t read_bytes, void *write, size_t write_bytes,
                   uint32_t steps);
    void (*set_flag)(ac_core *, ac_pipe src, ac_pipe dst, ac_event);  /* set_flag */
    void (*wait_flag)(ac_core *, ac_pipe src, ac_pipe dst, ac_event); /* wait_flag */
    void (*barrier)(ac_core *, ac_pipe);                              /* pipe_barrier */

    /* Row programs. conv_row is NULL in ac_isa_instructions, where ops/conv.c issues
     * instructions. */
    void (*conv_row)(const ac_conv_row *);
    void (*pack_row)(const ac_pack_row *);
    void (*unpack_row)(const ac_unpack_row *);
    void (*resize_row)(const ac_resize_row *);
    void (*elementwise_row)(const ac_elementwise_row *);
    void (*luma_row)(const ac_luma_row *);
    void (*chroma_row)(const ac_chroma_row *);
} ac_isa;

struct ac_core {
    const ac_target *target;
    const ac_isa *isa;
    uint8_t *l0a, *l0b, *l0c, *ub; /* buffers for instructions, 1024-byte aligned */
    struct ac_model *model; /* of the 310 (model310.h); NULL: instructions are only executed */
};

extern const ac_isa ac_isa_instructions, ac_isa_c;
extern const ac_isa ac_isa_model310; /* the instructions, each checked and timed by ac_core.model */
#if defined(__x86_64__)
extern const ac_isa ac_isa_avx2;
extern const ac_isa ac_isa_avxvnni;
extern const ac_isa ac_isa_avx512;
#elif defined(__aarch64__)
extern const ac_isa ac_isa_neon;
extern const ac_isa ac_isa_dotprod; /* NEON with FEAT_DotProd */
#endif

#endif
