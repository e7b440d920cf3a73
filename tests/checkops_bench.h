// SPDX-License-Identifier: Apache-2.0
/* checkops --bench: convolutions, as a share of what the CPU's multiply-add registers can do at
 * most, and the rows that load, store and resize planes. Part of checkops.c. */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Multiply-adds of registers alone: 12 independent chains, enough to hide the latency. */
#define TWELVE(op) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11) op(12)
#if defined(__x86_64__)
#define DOT512(n) "vpdpbusd %%zmm0, %%zmm0, %%zmm" #n "\n"
#define FMA512(n) "vfmadd231ps %%zmm0, %%zmm0, %%zmm" #n "\n"
#define DOTVEX(n) "%{vex%} vpdpbusd %%ymm0, %%ymm0, %%ymm" #n "\n"
#define DOT256(n) "vpmaddwd %%ymm0, %%ymm0, %%ymm13\nvpaddd %%ymm13, %%ymm" #n ", %%ymm" #n "\n"
#define FMA256(n) "vfmadd231ps %%ymm0, %%ymm0, %%ymm" #n "\n"
#define REGISTERS                                                                                  \
    "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",       \
        "xmm11", "xmm12", "xmm13"
#define PEAK_LOOP(name, isa, op)                                                                   \
    __attribute__((target(isa))) static void name(uint32_t rounds)                                 \
    {                                                                                              \
        __asm__ volatile("vzeroall" ::: REGISTERS);                                                \
        for (uint32_t i = 0; i < rounds; i++)                                                      \
            __asm__ volatile(TWELVE(op)::: REGISTERS);                                             \
        __asm__ volatile("vzeroupper");                                                            \
    }
#elif defined(__aarch64__)
#define EIGHT(op) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8)
/* sdot v<n>.4s, v0.16b, v0.16b, which an assembler for plain ARMv8-A refuses. */
#define DOT128(n) ".inst 0x4e809400 + " #n "\n"
/* smmla v<n>.4s, v0.16b, v0.16b */
#define MATRIX128(n) ".inst 0x4e80a400 + " #n "\n"
#define FMA128(n) "fmla v" #n ".4s, v0.4s, v0.4s\n"
#define PRODUCTS128(n)                                                                             \
    "smull v1" #n ".8h, v0.8b, v0.8b\nsmlal2 v1" #n ".8h, v0.16b, v0.16b\n"                        \
    "sadalp v" #n ".4s, v1" #n ".8h\n"
#define REGISTERS                                                                                  \
    "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", \
        "v15", "v16", "v17", "v18"
#define PEAK_LOOP(name, instructions)                                                              \
    static void name(uint32_t rounds)                                                              \
    {                                                                                              \
        __asm__ volatile("movi v0.4s, #0" ::: "v0");                                               \
        for (uint32_t i = 0; i < rounds; i++)                                                      \
            __asm__ volatile(instructions ::: REGISTERS);                                          \
    }
#endif

typedef struct peak_loop {
    void (*run)(uint32_t rounds);
    uint32_t macs; /* of a round */
} peak_loop;

#if defined(__x86_64__)
PEAK_LOOP(dot512, "avx512f,avx512vnni", DOT512)
PEAK_LOOP(fma512, "avx512f", FMA512)
PEAK_LOOP(dotvex, "avx2", DOTVEX)
PEAK_LOOP(dot256, "avx2", DOT256)
PEAK_LOOP(fma256, "avx2,fma", FMA256)

static peak_loop peak_of(const mona_isa *isa, bool half)
{
    if (isa == &mona_isa_avx512 || isa == &mona_isa_avx512_spare)
        return half ? (peak_loop){fma512, 12 * 16} : (peak_loop){dot512, 12 * 64};
    if (isa == &mona_isa_avxvnni && !half)
        return (peak_loop){dotvex, 12 * 32};
    return half ? (peak_loop){fma256, 12 * 8} : (peak_loop){dot256, 12 * 16};
}
#elif defined(__aarch64__)
PEAK_LOOP(dot128, TWELVE(DOT128))
PEAK_LOOP(matrix128, TWELVE(MATRIX128))
PEAK_LOOP(products128, EIGHT(PRODUCTS128))
PEAK_LOOP(fma128, TWELVE(FMA128))

static peak_loop peak_of(const mona_isa *isa, bool half)
{
    if (half)
        return (peak_loop){fma128, 12 * 4};
    if (isa == &mona_isa_i8mm)
        return (peak_loop){matrix128, 12 * 32};
    return isa == &mona_isa_dotprod ? (peak_loop){dot128, 12 * 16}
                                    : (peak_loop){products128, 8 * 16};
}
#else
static peak_loop peak_of(const mona_isa *isa, bool half)
{
    (void)isa, (void)half;
    return (peak_loop){0};
}
#endif

static double giga_macs_peak(const mona_isa *isa, bool half)
{
    enum { ROUNDS = 20000 };
    if (isa == &mona_isa_c)
        return 0;
    const peak_loop loop = peak_of(isa, half);
    double best = 1e9;
    for (int i = 0; i < 40 && loop.run; i++) {
        const double start = seconds();
        loop.run(ROUNDS);
        const double time = seconds() - start;
        best = time < best ? time : best;
    }
    return (double)ROUNDS * loop.macs / best / 1e9;
}

/* Best time of one call. */
static double best_time(void (*call)(void *), void *argument)
{
    double best = 1e9, start = seconds();
    for (int i = 0; i < 1000 && (i < 5 || seconds() - start < 0.2); i++) {
        const double before = seconds();
        call(argument);
        const double time = seconds() - before;
        best = time < best ? time : best;
    }
    return best;
}

static void bench_line(const mona_isa *isa, const char *what, double gigas, const char *unit,
                       double peak)
{
    printf("%-12s %-36s %8.2f %s", isa->name, what, gigas, unit);
    if (peak > 0)
        printf("  %5.1f %% of %.0f", 100 * gigas / peak, peak);
    putchar('\n');
}

static void call_conv(void *argument)
{
    mona_run_conv.row(argument);
}

enum { BENCH_PIXELS = 1280 };

typedef struct bench_layer {
    const char *what;
    uint32_t in, out, kernel, store_block;
    mona_type source, result;
    uint32_t residual; /* channels, 0: none */
} bench_layer;

static void bench_conv(const mona_isa *isa, const bench_layer *layer)
{
    section s = {0};
    conv_case k = {
        .op = {.kind = MONA_OP_CONV, .input_count = layer->residual ? 2 : 1},
        .input = {layer->in, 0, 0, layer->source, 0, {0}},
        .output = {layer->out, 0, 0, layer->result, 0, {0}},
        .residual = {layer->residual ? layer->residual : 1, 0, 0, MONA_U8, 0, {0}},
        .target = &ac_target_host,
        .pixels = BENCH_PIXELS,
        .plane_type = MONA_U8,
        .store = layer->store_block > 0,
        .store_op.store = {.block = layer->store_block, .scale = F16_ONE, .maximum = 255},
    };
    const bool half = layer->source == MONA_F16;
    const size_t taps = (size_t)layer->kernel * layer->kernel;
    k.op.conv = (mona_file_conv){
        .kernel_h = (uint16_t)layer->kernel,
        .kernel_w = (uint16_t)layer->kernel,
        .stride_h = 1,
        .stride_w = 1,
        .dilation_h = 1,
        .dilation_w = 1,
        .groups = 1,
        .bias = MONA_NONE,
        .weights = add_random(&s, half ? MONA_F16 : MONA_S8, layer->out * layer->in * taps, PLAIN),
        .scales = half ? MONA_NONE : add_scales(&s, layer->out, &k),
    };
    k.op.epilogue = (mona_file_epilogue){.activation = MONA_ACT_RELU,
                                         .residual_scale = F16_ONE,
                                         .output_scale = F16_ONE,
                                         .slopes = MONA_NONE};
    conv_input in;
    new_conv_input(&in, &k, &s);
    mona_bound_op b = bound_conv(&k, &s, isa);
    resident r = new_resident(&b, &in);
    const uint32_t block = layer->store_block ? layer->store_block : 1;
    uint8_t *planes = allocate((size_t)BENCH_PIXELS * layer->out);
    const mona_bound_op store = {.op = &k.store_op,
                                 .output = {layer->out / (block * block), 0, 0, MONA_U8, 0, {0}}};
    const mona_buffer buffer = {planes, BENCH_PIXELS * (ptrdiff_t)block,
                                (ptrdiff_t)BENCH_PIXELS * block * block};
    row_buffer out = new_row(layer->result, b.output_c0, layer->out, BENCH_PIXELS);
    uint8_t *out_row = out.row.data;
    mona_row_call call = {
        .bound = &b,
        .scratch = allocate(mona_op_conv.scratch_bytes(&b, 0)),
        .x_end = BENCH_PIXELS,
        .input = {{r.rows, in.rows[0].row.block_stride, in.columns.begin},
                  {r.rows + RESIDUAL, in.residual.row.block_stride, 0}},
        .output = {&out_row, out.row.block_stride, 0},
        .planes = &buffer,
        .store = k.store ? &store : NULL,
    };
    const double macs = (double)BENCH_PIXELS * layer->out * layer->in * (double)taps;
    const double peak = giga_macs_peak(isa, half);
    bench_line(isa, layer->what, macs / best_time(call_conv, &call) / 1e9, "GMAC/s", peak);
    free(call.scratch);
    free(out.memory);
    free(planes);
    free(r.memory);
    free_conv_input(&in);
    free(s.bytes);
}

typedef struct row_call {
    const mona_isa *isa;
    mona_pack_row pack;
    mona_unpack_row unpack;
    mona_resize_row resize;
    mona_elementwise_row elementwise;
    mona_normalise_row normalise;
} row_call;

static void call_pack(void *argument)
{
    const row_call *c = argument;
    c->isa->pack_row(&c->pack);
}

static void call_unpack(void *argument)
{
    const row_call *c = argument;
    c->isa->unpack_row(&c->unpack);
}

static void call_resize(void *argument)
{
    const row_call *c = argument;
    c->isa->resize_row(&c->resize);
}

static void call_elementwise(void *argument)
{
    const row_call *c = argument;
    c->isa->elementwise_row(&c->elementwise);
}

static void call_normalise(void *argument)
{
    const row_call *c = argument;
    c->isa->normalise_row(&c->normalise);
}

/* Products of two maps, of a map and one pixel, and normalised channels. */
static void bench_channels(const mona_isa *isa, mona_type type)
{
    enum { N = BENCH_PIXELS, CHANNELS = 32 };
    static float gain[CHANNELS], shift[CHANNELS];
    const float zero = type == MONA_U8 ? 100 : 0;
    const row_buffer a = random_row(type, 16, CHANNELS, N, PLAIN);
    const row_buffer b = random_row(type, 16, CHANNELS, N, PLAIN);
    const row_buffer out = new_row(type, 16, CHANNELS, N);
    row_call c = {
        .isa = isa,
        .elementwise = {.multiply = true,
                        .a = a.row,
                        .b = b.row,
                        .output = out.row,
                        .channels = CHANNELS,
                        .pixels = N,
                        .scale_a = type == MONA_F16 ? 1 : 0.25f,
                        .scale_b = type == MONA_F16 ? 1 : 0.0625f,
                        .zero_a = zero,
                        .zero_b = zero,
                        .zero = zero,
                        .epilogue = {.output_scale = type == MONA_F16 ? 1 : 8}},
        .normalise = {a.row, out.row, CHANNELS, N, 0.25f, gain, shift},
    };
    char what[64];
    const double samples = 1e-9 * N * CHANNELS;
    for (int one = 0; one < 2; one++) {
        c.elementwise.one_pixel_b = one;
        snprintf(what, sizeof what, "%s %s", one ? "mul by a pixel" : "mul", mona_type_name(type));
        bench_line(isa, what, samples / best_time(call_elementwise, &c), "Gsample/s", 0);
    }
    snprintf(what, sizeof what, "normalise %s", mona_type_name(type));
    bench_line(isa, what, samples / best_time(call_normalise, &c), "Gsample/s", 0);
    free(a.memory);
    free(b.memory);
    free(out.memory);
}

/* Planes of 8 bits: the loads and stores of the shipped networks, and chroma doubled by bicubic. */
static void bench_rows(const mona_isa *isa)
{
    enum { N = BENCH_PIXELS };
    static uint8_t samples[8][2 * N + GUARD], planes[8][2 * N + GUARD];
    static const uint32_t steps[7] = {2, 2, 2, 2, 1, 1, 0};
    static float scale[8], weights[2 * N][4], scratch[N + 32];
    static int32_t first[2 * N];
    const uint8_t *source[8];
    uint8_t *rows[8];
    for (uint32_t i = 0; i < 8; i++)
        source[i] = samples[i], rows[i] = planes[i];
    row_buffer packed = random_row(MONA_U8, 8, 8, N, PLAIN);
    for (int32_t x = 0; x < 2 * N; x++) {
        first[x] = (x + 1) / 2 - 2;
        for (int t = 0; t < 4; t++)
            weights[x][t] = (float)((x & 1 ? t : 3 - t) * 8 - 4) / 32;
    }
    row_call c = {
        .isa = isa,
        .pack = {7, N, source, steps, scale, MONA_U8, packed.row},
        .unpack = {packed.row, 0, 4, N, {rows, 2, MONA_U8, 1, 255}},
        .resize = {.type = MONA_U8,
                   .taps_y = 4,
                   .taps_x = 4,
                   .in_columns = N,
                   .c0 = 1,
                   .rows = {samples[0], samples[1], samples[2], samples[3]},
                   .weight_y = {-0.1f, 0.6f, 0.6f, -0.1f},
                   .first = first,
                   .weight_x = &weights[0][0],
                   .out_columns = 2 * N,
                   .out = planes[0],
                   .scratch = scratch},
    };
    bench_line(isa, "pack 7 planes to c0 8", 7e-9 * N / best_time(call_pack, &c), "Gsample/s", 0);
    bench_line(isa, "unpack 4 channels, block 2", 4e-9 * N / best_time(call_unpack, &c),
               "Gsample/s", 0);
    static float halves[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    row_buffer wide = random_row(MONA_F16, 8, 8, N, PLAIN);
    c.pack.scale = halves;
    c.pack.output = c.unpack.source = wide.row;
    bench_line(isa, "pack 7 planes to c0 8 f16", 7e-9 * N / best_time(call_pack, &c), "Gsample/s",
               0);
    bench_line(isa, "unpack 4 channels f16, block 2", 4e-9 * N / best_time(call_unpack, &c),
               "Gsample/s", 0);
    free(wide.memory);
    bench_line(isa, "resize a plane x2, bicubic", 2e-9 * N / best_time(call_resize, &c),
               "Gsample/s", 0);
    free(packed.memory);
}

static void bench_isa(const mona_isa *isa)
{
    static const bench_layer layers[] = {
        {"conv 3x3 u8 1 -> 16 u8", 1, 16, 3, 0, MONA_U8, MONA_U8, 0},
        {"conv 3x3 u8 7 -> 16 u8", 7, 16, 3, 0, MONA_U8, MONA_U8, 0},
        {"conv 3x3 u8 16 -> 16 u8", 16, 16, 3, 0, MONA_U8, MONA_U8, 0},
        {"conv 3x3 u8 16 -> 16 u8 + residual", 16, 16, 3, 0, MONA_U8, MONA_U8, 16},
        {"conv 3x3 u8 16 -> 4 planes + residual", 16, 4, 3, 2, MONA_U8, MONA_U8, 1},
        {"conv 3x3 u8 28 -> 28 u8", 28, 28, 3, 0, MONA_U8, MONA_U8, 0},
        {"conv 3x3 u8 28 -> 12 planes", 28, 12, 3, 2, MONA_U8, MONA_U8, 0},
        {"conv 3x3 u8 16 -> 1 plane", 16, 1, 3, 1, MONA_U8, MONA_U8, 0},
        {"conv 3x3 u8 16 -> 6 u8 + residual", 16, 6, 3, 0, MONA_U8, MONA_U8, 7},
        {"conv 3x3 u8 3 -> 28 u8", 3, 28, 3, 0, MONA_U8, MONA_U8, 0},
        {"conv 3x3 u8 32 -> 32 u8", 32, 32, 3, 0, MONA_U8, MONA_U8, 0},
        {"conv 3x3 u8 64 -> 64 u8", 64, 64, 3, 0, MONA_U8, MONA_U8, 0},
        {"conv 1x1 u8 16 -> 16 u8", 16, 16, 1, 0, MONA_U8, MONA_U8, 0},
        {"conv 3x3 s8 16 -> 16 s8", 16, 16, 3, 0, MONA_S8, MONA_S8, 0},
        {"conv 3x3 f16 1 -> 16 f16", 1, 16, 3, 0, MONA_F16, MONA_F16, 0},
        {"conv 3x3 f16 16 -> 16 f16", 16, 16, 3, 0, MONA_F16, MONA_F16, 0},
        {"conv 3x3 f16 32 -> 32 f16", 32, 32, 3, 0, MONA_F16, MONA_F16, 0},
    };
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++)
        bench_conv(isa, &layers[i]);
    bench_channels(isa, MONA_U8);
    bench_channels(isa, MONA_F16);
    bench_rows(isa);
}
