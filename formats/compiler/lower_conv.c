/* Convolutions and their epilogues in the numbers of model_format.h.
 *
 * INT8. With steps a of the input, w[o] of the weights of output o and s of the output,
 *   sum (a qa) (w qw) + b = s t   =>   t = (sum qa qw + b / (a w)) * (a w / s)
 * so scale16 = f16(a w / s). Rounding it would scale the whole channel by up to 2^-11. Instead the
 * factor is rounded first and the step of the weights is then what makes it exact, w = scale16 s /
 * a; weights and bias are quantised with that step, and nothing is lost but the rounding of each
 * weight. The step is chosen so that the largest weight of the channel is at 127, give or take
 * half. scale16 is kept at or above 2^-14, where fp16 is normal and one unit of the sum is worth
 * that much of an output step: a finer weight could not be told apart, and a channel of zeros still
 * has a step for its bias. */
#include "lowering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../half.h"

enum { WEIGHT_MAX = 127, BIAS_MAX = 1 << 30 };

mona_file_op lower_begin(lowering *l, mona_op_kind kind, const char *name)
{
    mona_file_op op;
    memset(&op, 0, sizeof op);
    op.kind = kind;
    op.name = mona_writer_string(&l->w, name);
    op.epilogue = (mona_file_epilogue){
        .residual_scale = HALF_ONE,
        .output_scale = HALF_ONE,
        .slopes = MONA_NONE,
    };
    return op;
}

void lower_end(lowering *l, mona_file_op *op, uint32_t value)
{
    const graph_value *v = &l->g->values[value];
    const mona_file_tensor t = {
        .name = mona_writer_string(&l->w, v->name),
        .type = (uint8_t)l->formats[value].type,
        .channels = v->channels,
        .scale = l->formats[value].scale,
    };
    l->tensors[value] = mona_writer_tensor(&l->w, &t);
    op->output = l->tensors[value];
    mona_writer_op(&l->w, op);
}

/* count fp16 values in the data section. */
static uint32_t add_halves(lowering *l, const float *values, size_t count)
{
    uint16_t *bits = malloc(count * sizeof *bits);
    if (!bits) {
        l->w.failed = true;
        return MONA_NONE;
    }
    for (size_t i = 0; i < count; i++)
        bits[i] = half_from_double((double)values[i]);
    const uint32_t offset = mona_writer_data(&l->w, bits, count * sizeof *bits);
    free(bits);
    return offset;
}

/* unit: real value of 1 in the epilogue's fp16 numbers. */
static void lower_epilogue(lowering *l, const graph_node *node, double unit, double residual_step,
                           double output_scale, mona_file_epilogue *e)
{
    const graph_activation *clip =
        node->activation.kind == MONA_ACT_CLIP ? &node->activation : &node->after_add;
    e->activation = (uint8_t)node->activation.kind;
    e->activation_after_add = (uint8_t)node->after_add.kind;
    if (clip->kind == MONA_ACT_CLIP) {
        e->clip_min = half_from_double((double)clip->low / unit);
        e->clip_max = half_from_double((double)clip->high / unit);
    }
    if (node->activation.kind == MONA_ACT_PRELU)
        e->slopes = add_halves(l, node->activation.slopes, l->g->values[node->output].channels);
    e->residual_scale = half_from_double(residual_step / unit);
    e->output_scale = half_from_double(output_scale);
}

/* ---- weights ------------------------------------------------------------------------------ */

/* scale16 of an output whose largest weight is `largest`, for in_step / out_step = ratio. */
static uint16_t choose_scale(double largest, double ratio)
{
    const double wanted = largest / WEIGHT_MAX * ratio;
    uint16_t bits = half_from_double(wanted < 0x1p-14 ? 0x1p-14 : wanted);
    if (largest * ratio / half_value(bits) > WEIGHT_MAX + 0.49)
        bits++;
    return bits;
}

static double largest_of(const float *w, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs((double)w[i]));
    return largest;
}

typedef struct int8_weights {
    int8_t *weights;
    int32_t *bias;
    uint16_t *scales;
} int8_weights;

/* Rounds one plane of a filter, w / step, so that its sum is kept to half a step as well: where the
 * input is flat, as a noise level or a smooth surface is, only the sum counts, and roundings that
 * agree by chance would shift the result. The weights nearest to the next whole number give way. */
static void round_plane(const float *w, double step, size_t area, int8_t *q)
{
    double left = 0; /* sum of w / step - q */
    for (size_t i = 0; i < area; i++) {
        const double v = (double)w[i] / step;
        q[i] = (int8_t)fmax(-WEIGHT_MAX, fmin(nearbyint(v), WEIGHT_MAX));
        left += v - q[i];
    }
    for (size_t moves = 0; moves < area && fabs(left) > 0.5; moves++) {
        const int direction = left > 0 ? 1 : -1;
        size_t best = area;
        double most = 0;
        for (size_t i = 0; i < area; i++) {
            const double gain = ((double)w[i] / step - q[i]) * direction;
            if (gain > most && q[i] * direction < WEIGHT_MAX) {
                most = gain;
                best = i;
            }
        }
        if (best == area)
            return;
        q[best] = (int8_t)(q[best] + direction);
        left -= direction;
    }
}

static bool quantize_weights(lowering *l, const graph_node *node, size_t filter, uint32_t outputs,
                             int8_weights *q)
{
    const size_t area = (size_t)node->conv.window.kernel[0] * node->conv.window.kernel[1];
    const double in = (double)l->formats[node->inputs[0]].scale;
    const double out = (double)l->formats[node->output].scale;
    for (uint32_t o = 0; o < outputs; o++) {
        const float *w = node->conv.weights + o * filter;
        const double largest = largest_of(w, filter);
        q->scales[o] = choose_scale(largest, in / out);
        const double factor = half_value(q->scales[o]), step = factor * out / in;
        if (largest / step > WEIGHT_MAX + 1)
            return graph_fail(node, l->error,
                              "has weights up to %g, too large for INT8 between "
                              "steps of %g and %g",
                              largest, in, out);
        for (size_t i = 0; i < filter; i += area)
            round_plane(w + i, step, area, q->weights + o * filter + i);
        const double bias = nearbyint((double)node->conv.bias[o] / (factor * out));
        q->bias[o] = (int32_t)fmax(-BIAS_MAX, fmin(bias, BIAS_MAX));
    }
    return true;
}

static bool add_int8_weights(lowering *l, const graph_node *node, size_t filter, uint32_t outputs,
                             mona_file_conv *conv)
{
    /* |sum| + |bias| must stay below 2^31. */
    if (filter > (size_t)(INT32_MAX - BIAS_MAX) / (WEIGHT_MAX * 255))
        return graph_fail(node, l->error, "sums %zu products an output, too many for INT8", filter);
    int8_weights q = {malloc(outputs * filter), malloc(outputs * sizeof(int32_t)),
                      malloc(outputs * sizeof(uint16_t))};
    bool ok = q.weights && q.bias && q.scales ? quantize_weights(l, node, filter, outputs, &q)
                                              : format_fail(l->error, "out of memory");
    if (ok) {
        conv->weights = mona_writer_data(&l->w, q.weights, outputs * filter);
        conv->bias = mona_writer_data(&l->w, q.bias, outputs * sizeof *q.bias);
        conv->scales = mona_writer_data(&l->w, q.scales, outputs * sizeof *q.scales);
    }
    free(q.weights);
    free(q.bias);
    free(q.scales);
    return ok;
}

static bool add_half_weights(lowering *l, const graph_node *node, size_t filter, uint32_t outputs,
                             mona_file_conv *conv)
{
    const double largest = largest_of(node->conv.weights, outputs * filter);
    if (largest > 65504)
        return graph_fail(node, l->error, "has weights up to %g, too large for fp16", largest);
    conv->weights = add_halves(l, node->conv.weights, outputs * filter);
    conv->bias = mona_writer_data(&l->w, node->conv.bias, outputs * sizeof(float));
    conv->scales = MONA_NONE;
    return true;
}

/* ---- operators ---------------------------------------------------------------------------- */

bool lower_conv(lowering *l, const graph_node *node)
{
    const graph_conv *c = &node->conv;
    const graph_window *w = &c->window;
    const value_format in = l->formats[node->inputs[0]], out = l->formats[node->output];
    const bool half = format_is_half(in);
    mona_file_op op = lower_begin(l, MONA_OP_CONV, node->name);
    op.input_count = node->input_count;
    for (uint32_t i = 0; i < node->input_count; i++)
        op.inputs[i] = l->tensors[node->inputs[i]];
    const uint32_t outputs = l->g->values[node->output].channels;
    const size_t filter =
        (size_t)l->g->values[node->inputs[0]].channels / c->groups * w->kernel[0] * w->kernel[1];
    op.conv = (mona_file_conv){
        .kernel_h = (uint16_t)w->kernel[0],
        .kernel_w = (uint16_t)w->kernel[1],
        .stride_h = (uint16_t)w->stride[0],
        .stride_w = (uint16_t)w->stride[1],
        .dilation_h = (uint16_t)w->dilation[0],
        .dilation_w = (uint16_t)w->dilation[1],
        .pad_top = (uint16_t)w->pad_begin[0],
        .pad_left = (uint16_t)w->pad_begin[1],
        .pad_bottom = (uint16_t)w->pad_end[0],
        .pad_right = (uint16_t)w->pad_end[1],
        .groups = c->groups,
    };
    if (!(half ? add_half_weights : add_int8_weights)(l, node, filter, outputs, &op.conv))
        return false;
    /* INT8 sums are scaled to output steps at once, fp16 ones are real values until the end. */
    const double unit = half ? 1 : (double)out.scale;
    const double residual =
        node->input_count == 2 ? (double)l->formats[node->inputs[1]].scale : unit;
    lower_epilogue(l, node, unit, residual, half ? 1 / (double)out.scale : 1, &op.epilogue);
    lower_end(l, &op, node->output);
    return true;
}

/* A sum is taken in output steps. A product is taken in real values, which keeps both factors in
 * the range of fp16, and brought to output steps at the end. */
bool lower_elementwise(lowering *l, const graph_node *node)
{
    const bool add = node->kind == GRAPH_ADD;
    const double out = (double)l->formats[node->output].scale, unit = add ? out : 1;
    mona_file_op op = lower_begin(l, add ? MONA_OP_ADD : MONA_OP_MUL, node->name);
    op.input_count = 2;
    for (uint32_t i = 0; i < 2; i++) {
        op.inputs[i] = l->tensors[node->inputs[i]];
        op.elementwise.scale[i] =
            half_from_double((double)l->formats[node->inputs[i]].scale / unit);
    }
    lower_epilogue(l, node, unit, unit, add ? 1 : 1 / out, &op.epilogue);
    lower_end(l, &op, node->output);
    return true;
}
