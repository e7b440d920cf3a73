/* The offline compiler: ONNX in, .mona out.
 *
 *   compiler_open        import; what cannot be compiled is refused by node
 *   compiler_calibrate   any number of samples, for INT8
 *   compiler_emit        fold, fuse, quantise, write
 *   compiler_log         what was folded and fused, and what was not
 *   compiler_reference   the same network in fp32, as evidence
 *   compiler_close
 */
#ifndef MONA_COMPILER_H
#define MONA_COMPILER_H

#include "../onnx_graph.h"
#include "fusion.h"
#include "reference.h"

typedef struct compiler compiler;

/* Zero-initialised: FP16; planes of u8 stand for 0 to 1; outputs that are images are u8 too. */
typedef struct compiler_options {
    bool int8;                            /* weights and activations of 8 bits; needs calibration */
    bool has_input_type, has_output_type; /* otherwise: the compiler's choice */
    mona_type input_type, output_type;
    float range;            /* real value of the largest sample of a plane; 0: 1 */
    unsigned bits;          /* of the samples of u16 planes; 0: 10 */
    bool any_size;          /* leave the size of inputs open even if the model fixes it */
    float resize_offset[2]; /* rows, columns: added to input coordinates of every Resize */
    const char *name;       /* of the model; NULL: what ONNX calls the graph */
    fusion_switches fusion; /* which rules are off */
} compiler_options;

typedef struct compiler_tensor {
    const char *name;
    uint32_t channels, height, width; /* 0: any */
} compiler_tensor;

/* options may be NULL. NULL: error says why. The bytes are not needed afterwards. */
compiler *compiler_open(const void *onnx, size_t size, const onnx_read_options *options,
                        format_error *error);
/* The same for a model in memory, in which everything constant is folded; it is not needed
 * afterwards. */
compiler *compiler_open_graph(onnx_graph *model, format_error *error);
void compiler_close(compiler *c); /* NULL is allowed */

unsigned compiler_input_count(const compiler *c);
unsigned compiler_output_count(const compiler *c);
compiler_tensor compiler_input(const compiler *c, unsigned index);
compiler_tensor compiler_output(const compiler *c, unsigned index);

/* Widens the range of every value to what these inputs cause. */
bool compiler_calibrate(compiler *c, const reference_array *inputs, format_error *error);

/* The network as it was last emitted, or else as it was imported; outputs[i].data is released with
 * free(). */
bool compiler_reference(const compiler *c, const reference_array *inputs, reference_array *outputs,
                        format_error *error);

/* The model as a file in memory that starts at a multiple of 64, released with free(). May be
 * called again with other options. */
bool compiler_emit(compiler *c, const compiler_options *options, uint8_t **bytes, size_t *size,
                   format_error *error);

/* What the rules did when the model was last emitted; good until it is again or closed. */
const fusion_log *compiler_log(const compiler *c);

#endif
