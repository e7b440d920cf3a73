// SPDX-License-Identifier: Apache-2.0
/* Times INT8 convolutions of oneDNN, for layers.py:
 *
 *   onednn KERNEL IN OUT GROUPS HEIGHT WIDTH [...]
 *
 * with stride 1, padding that keeps the size, u8 x s8 -> u8, a scale for each output and ReLU, in
 * the layouts that oneDNN chooses. Layers of six numbers each have weights of their own and run one
 * after the other. Prints its instruction set and the milliseconds of the quickest run of them all.
 * ONEDNN_MAX_CPU_ISA limits the instruction set. */
#include <oneapi/dnnl/dnnl.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void ok(dnnl_status_t status, const char *what)
{
    if (status != dnnl_success) {
        fprintf(stderr, "onednn: %s failed with status %d\n", what, (int)status);
        exit(1);
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static dnnl_memory_t new_memory(const dnnl_memory_desc_t *desc, dnnl_engine_t engine)
{
    dnnl_memory_t m;
    void *bytes;
    ok(dnnl_memory_create(&m, desc, engine, DNNL_MEMORY_ALLOCATE), "memory");
    ok(dnnl_memory_get_data_handle(m, &bytes), "memory");
    for (size_t i = 0; i < dnnl_memory_desc_get_size(desc); i++)
        ((unsigned char *)bytes)[i] = (unsigned char)(i * 37 % 128);
    return m;
}

static dnnl_memory_desc_t any(int rank, const dnnl_dims_t dims, dnnl_data_type_t type)
{
    dnnl_memory_desc_t d;
    ok(dnnl_memory_desc_init_by_tag(&d, rank, dims, type, dnnl_format_tag_any), "shape");
    return d;
}

static dnnl_primitive_attr_t attributes(dnnl_dim_t outputs)
{
    dnnl_primitive_attr_t attr;
    dnnl_post_ops_t then;
    float *scales = malloc((size_t)outputs * sizeof *scales);
    for (dnnl_dim_t i = 0; scales && i < outputs; i++)
        scales[i] = 0.001f + 0.00001f * (float)i;
    ok(dnnl_primitive_attr_create(&attr), "attributes");
    ok(dnnl_primitive_attr_set_output_scales(attr, outputs, 2, scales), "scales");
    ok(dnnl_post_ops_create(&then), "ReLU");
    ok(dnnl_post_ops_append_eltwise(then, 1, dnnl_eltwise_relu, 0, 0), "ReLU");
    ok(dnnl_primitive_attr_set_post_ops(attr, then), "ReLU");
    free(scales);
    return attr;
}

typedef struct layer {
    dnnl_primitive_t conv;
    dnnl_exec_arg_t arguments[4];
} layer;

/* A layer of six numbers. before: the one whose result it takes, if that lies in its order. */
static layer layer_of(dnnl_engine_t engine, const dnnl_dim_t numbers[6], const layer *before)
{
    const dnnl_dim_t k = numbers[0], in = numbers[1], out = numbers[2], groups = numbers[3];
    const dnnl_dim_t *size = numbers + 4;
    const int grouped = groups > 1;
    const dnnl_dims_t stride = {1, 1}, pad = {k / 2, k / 2}, bias_dims = {out};
    const dnnl_dims_t from = {1, in, size[0], size[1]}, to = {1, out, size[0], size[1]};
    const dnnl_dims_t filter = {out, in, k, k}, filters = {groups, out / groups, in / groups, k, k};
    const dnnl_memory_desc_t x = any(4, from, dnnl_u8), y = any(4, to, dnnl_u8);
    const dnnl_memory_desc_t b = any(1, bias_dims, dnnl_s32);
    const dnnl_memory_desc_t w = any(4 + grouped, grouped ? filters : filter, dnnl_s8);
    dnnl_convolution_desc_t desc;
    dnnl_primitive_desc_t chosen;
    layer l;
    ok(dnnl_convolution_forward_desc_init(&desc, dnnl_forward_inference, dnnl_convolution_direct,
                                          &x, &w, &b, &y, stride, pad, pad),
       "convolution");
    ok(dnnl_primitive_desc_create(&chosen, &desc, attributes(out), engine, NULL), "convolution");
    ok(dnnl_primitive_create(&l.conv, chosen), "convolution");
    static const dnnl_query_t queries[4] = {dnnl_query_src_md, dnnl_query_weights_md,
                                            dnnl_query_weights_md, dnnl_query_dst_md};
    static const int names[4] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST};
    for (int i = 0; i < 4; i++) {
        const dnnl_memory_desc_t *wanted = dnnl_primitive_desc_query_md(chosen, queries[i], i == 2);
        const dnnl_memory_desc_t *there = NULL;
        if (i == 0 && before)
            ok(dnnl_memory_get_memory_desc(before->arguments[3].memory, &there), "memory");
        l.arguments[i] = (dnnl_exec_arg_t){names[i], there && dnnl_memory_desc_equal(there, wanted)
                                                         ? before->arguments[3].memory
                                                         : new_memory(wanted, engine)};
    }
    return l;
}

/* Milliseconds of the quickest run of all layers, one after the other. */
static double quickest(dnnl_engine_t engine, const layer *layers, int count)
{
    dnnl_stream_t stream;
    double best = 1e9;
    ok(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags), "stream");
    for (const double end = seconds() + 0.4; seconds() < end;) {
        const double began = seconds();
        for (int i = 0; i < count; i++)
            ok(dnnl_primitive_execute(layers[i].conv, stream, 4, layers[i].arguments), "run");
        ok(dnnl_stream_wait(stream), "run");
        const double took = seconds() - began;
        best = took < best ? took : best;
    }
    return 1e3 * best;
}

static const char *isa_name(void)
{
    switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_avx2:
        return "avx2";
    case dnnl_cpu_isa_avx2_vnni:
        return "avx2 vnni";
    case dnnl_cpu_isa_avx512_core:
        return "avx512";
    case dnnl_cpu_isa_avx512_core_vnni:
        return "vnni";
    case dnnl_cpu_isa_avx512_core_bf16:
        return "vnni";
    case dnnl_cpu_isa_avx512_core_amx:
        return "amx";
    default:
        return "another";
    }
}

int main(int argc, char **argv)
{
    layer *layers = calloc((size_t)argc, sizeof *layers);
    int count = 0;
    dnnl_engine_t engine;
    ok(dnnl_engine_create(&engine, dnnl_cpu, 0), "engine");
    for (int i = 1; layers && i + 5 < argc; i += 6, count++) {
        dnnl_dim_t numbers[6];
        for (int k = 0; k < 6; k++)
            numbers[k] = strtol(argv[i + k], NULL, 10);
        layers[count] = layer_of(engine, numbers, count ? &layers[count - 1] : NULL);
    }
    printf("%s\n%.6f\n", isa_name(), quickest(engine, layers, count));
    free(layers);
    return 0;
}
