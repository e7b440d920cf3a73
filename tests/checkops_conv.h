// SPDX-License-Identifier: Apache-2.0
/* Random convolutions, run through the operator as a session would. Part of checkops.c. */

#include "engine/model310/model310.h"
#include "ops/ascend/programs.h"

typedef struct conv_case {
    mona_file_op op, store_op;
    mona_shape input, residual, output;
    const ac_target *target;
    uint32_t pixels;
    flavour f;
    bool store;
    mona_type plane_type;
} conv_case;

/* A data section that grows. */
typedef struct section {
    uint8_t *bytes;
    size_t used;
} section;

static uint32_t add_data(section *s, const void *data, size_t bytes)
{
    const uint32_t offset = (uint32_t)s->used;
    uint8_t *grown = allocate(s->used + bytes);
    if (s->used)
        memcpy(grown, s->bytes, s->used);
    memcpy(grown + s->used, data, bytes);
    free(s->bytes);
    s->bytes = grown;
    s->used += (bytes + 63) / 64 * 64;
    return offset;
}

static uint32_t add_random(section *s, mona_type type, size_t count, flavour f)
{
    uint8_t *values = allocate(count * mona_type_size(type));
    random_values(values, type, count, f);
    for (size_t i = 0; i < count && type == MONA_S8; i++)
        values[i] = values[i] == 0x80 ? 0x81 : values[i];
    const uint32_t offset = add_data(s, values, count * mona_type_size(type));
    free(values);
    return offset;
}

static uint32_t add_scales(section *s, uint32_t count, const conv_case *k)
{
    uint16_t *values = allocate(count * sizeof *values);
    for (uint32_t i = 0; i < count; i++)
        values[i] = k->f == EXTREME && chance(4)
                        ? 0x7bff
                        : mona_f16_from_f32((float)between(0, 1000) / 200000);
    const uint32_t offset = add_data(s, values, count * sizeof *values);
    free(values);
    return offset;
}

/* Sometimes at and beyond what the cube can add: 28 weights of 127 times 255 (u8) or 127 (s8), and
 * a rest of half of that. */
static int32_t random_bias(bool wild)
{
    enum { U8_MOST = 28 * 127 * 255 + 127, S8_MOST = 28 * 127 * 127 + 63 };
    const int32_t most = PICK(U8_MOST, U8_MOST, S8_MOST, S8_MOST, 2000000) + between(0, 1);
    return !wild || chance(2) ? between(-100000, 100000) : chance(2) ? most : -most;
}

static uint32_t add_bias(section *s, uint32_t count, bool half, flavour f)
{
    uint32_t *values = allocate(count * sizeof *values);
    const bool wild = chance(4);
    for (uint32_t i = 0; i < count; i++)
        values[i] =
            half ? mona_bits(chance(4) ? -0.0f
                                       : (float)between(-1000, 1000) / (f == TINY ? 1e12f : 512))
                 : (uint32_t)random_bias(wild);
    const uint32_t offset = add_data(s, values, count * sizeof *values);
    free(values);
    return offset;
}

static mona_file_epilogue random_epilogue(section *s, uint32_t channels, flavour f)
{
    mona_file_epilogue e = {
        .activation = (uint8_t)between(0, 3),
        .activation_after_add = (uint8_t)PICK(0, 0, 1, 3),
        .residual_scale = chance(3) ? F16_ONE : random_half(f),
        .output_scale = chance(2) ? F16_ONE : random_half(f),
        .slopes = MONA_NONE,
    };
    uint16_t a = random_half(f), b = random_half(f);
    if (chance(4)) /* zeros of either sign, which must survive */
        a = (uint16_t)PICK(0, 0x8000, a), b = (uint16_t)PICK(0, 0x8000, b);
    const bool ordered = mona_f32_from_f16(a) <= mona_f32_from_f16(b);
    e.clip_min = ordered ? a : b;
    e.clip_max = ordered ? b : a;
    if (e.activation == MONA_ACT_PRELU)
        e.slopes = add_random(s, MONA_F16, channels, f);
    return e;
}

/* Cases whose sums become zeros of either sign in fp16, as the residuals are. */
static bool only_zeros;

static void fill_tiny(row_buffer *row, uint16_t size)
{
    for (size_t i = 0; i < row->bytes; i += 2) {
        const uint16_t value = (uint16_t)((random_bits() & 0x8000) | size);
        memcpy(row->memory + i, &value, sizeof value);
    }
}

static void random_conv(conv_case *k, section *s, bool chip)
{
    memset(k, 0, sizeof *k);
    mona_file_conv *c = &k->op.conv;
    k->f = (flavour)between(0, FLAVOURS - 1);
    k->target = chip || chance(4) ? &ac_target_ascend310 : &ac_target_host;
    k->pixels =
        (uint32_t)between(1, chance(16) ? (chip ? 3000 : 700) : 70); /* some in several tiles */
    k->input =
        (mona_shape){.channels = (uint32_t)PICK(1, 1, 3, 4, 7, 8, 16, 16, 32, between(1, 70)),
                     .type = (mona_type)between(0, 2)};
    k->output = (mona_shape){.channels = (uint32_t)PICK(1, 4, 6, 16, 16, 32, between(1, 70)),
                             .type = (mona_type)between(0, 2)};
    if (!chip && chance(12)) /* the only pixel of its map */
        k->pixels = k->output.width = k->output.height = 1;
    c->groups = 1;
    if (chance(5)) {
        c->groups = (uint32_t)between(2, 20);
        k->input.channels = c->groups * (uint32_t)between(1, 4);
        k->output.channels = c->groups * (uint32_t)between(1, 3);
    } else if (chance(5)) { /* depthwise */
        c->groups = (uint32_t)between(9, 70);
        k->input.channels = k->output.channels = c->groups;
    }
    c->kernel_h = (uint16_t)PICK(1, 3, 3, 3, 5);
    c->kernel_w = (uint16_t)PICK(1, 3, 3, 3, 5, 11);
    c->stride_h = (uint16_t)PICK(1, 1, 1, 2);
    c->stride_w = (uint16_t)PICK(1, 1, 1, 2, 3, 9, 63);
    if (c->stride_w > 3) /* rows that fit the 16 MiB of an emulated board */
        k->pixels = min_u32(k->pixels, c->stride_w > 9 ? 70 : 400);
    c->dilation_h = (uint16_t)PICK(1, 1, 2);
    c->dilation_w = (uint16_t)PICK(1, 1, 1, 2, 5);
    c->pad_left = (uint16_t)between(0, 3);
    if (c->groups == 1 && chance(10)) { /* pointwise, of many channels */
        k->input.channels = (uint32_t)PICK(64, 128, 192, 256, 300);
        k->output.channels = (uint32_t)PICK(32, 48, 64, 96, between(33, 80));
        c->kernel_h = c->kernel_w = 1;
    }
    if (only_zeros) {
        k->f = TINY;
        k->input.type = k->output.type = MONA_F16;
        c->kernel_h = c->kernel_w = 1;
    }
    const bool half = k->input.type == MONA_F16;
    const size_t weights =
        (size_t)k->output.channels * (k->input.channels / c->groups) * c->kernel_h * c->kernel_w;
    c->weights = add_random(s, half ? MONA_F16 : MONA_S8, weights, k->f);
    c->bias = only_zeros || chance(4) ? MONA_NONE : add_bias(s, k->output.channels, half, k->f);
    c->scales = half ? MONA_NONE : add_scales(s, k->output.channels, k);
    k->op.kind = MONA_OP_CONV;
    k->op.input_count = only_zeros ? 2 : (uint32_t)between(1, 2);
    k->op.epilogue = random_epilogue(s, k->output.channels, k->f);
    if (k->output.type == MONA_F16 && chance(3)) {
        k->op.epilogue.activation_after_add =
            (uint8_t)between(MONA_ACT_TABLE + 1, MONA_ACT_COUNT - 1);
        k->op.epilogue.alpha = random_half(k->f);
    }
    k->residual = (mona_shape){
        k->output.channels, 0, 0, only_zeros ? MONA_F16 : (mona_type)between(0, 2), 0, {0}};
    if (chance(3))
        k->residual.channels = (uint32_t)PICK(1, (int32_t)k->output.channels + between(0, 9));
}

/* Sometimes the results go to planes: any block whose square divides the channels. */
static void random_store(conv_case *k)
{
    if (mona_is_function(k->op.epilogue.activation_after_add))
        return;
    const uint32_t block = (uint32_t)between(1, 4);
    mona_file_store *s = &k->store_op.store;
    k->store = chance(2);
    if (k->output.channels % (block * block))
        k->output.channels = block * block * (uint32_t)between(1, 3);
    s->block = block;
    k->plane_type =
        k->output.type == MONA_F16 ? (mona_type)PICK(MONA_U8, MONA_U16, MONA_F16) : k->output.type;
    s->maximum = k->plane_type == MONA_U16 ? (uint32_t)PICK(1023, 4095, 65535)
                                           : (uint32_t)PICK(255, 255, 235);
    s->scale = k->output.type == MONA_F16 ? random_half(PLAIN) : F16_ONE;
}

/* What one instruction set made of a case. */
typedef struct conv_result {
    uint8_t *bytes;
    size_t size;
    mona_row row; /* unless the results went to planes */
} conv_result;

static mona_bound_op bound_conv(const conv_case *k, const section *s, const mona_isa *isa)
{
    mona_bound_op b = {
        .op = &k->op,
        .data = s->bytes,
        .run = &mona_run_conv,
        .target = k->target,
        .isa = isa,
        .on_ai_core = !isa,
        .input = {k->input, k->residual},
        .output = k->output,
        .input_c0 = {ac_target_c0(k->target, k->input.type, k->input.channels),
                     ac_target_c0(k->target, k->residual.type, k->residual.channels)},
        .output_c0 = ac_target_c0(k->target, k->output.type, k->output.channels),
        .store = k->store ? &k->store_op : NULL,
        .store_type = k->plane_type,
    };
    return b;
}

/* Rows of the window and of the residual, the same for every instruction set. */
typedef struct conv_input {
    row_buffer rows[16], residual;
    uint32_t count;
    mona_span columns;
} conv_input;

static void new_conv_input(conv_input *in, const conv_case *k, const section *s)
{
    const mona_bound_op b = {.op = &k->op, .data = s->bytes};
    const mona_span rows = mona_run_conv.rows(&b, 0, (mona_span){0, 1});
    in->columns = mona_run_conv.columns(&b, 0, (mona_span){0, k->pixels});
    in->count = (uint32_t)(rows.end - rows.begin);
    const uint32_t c0 = ac_target_c0(k->target, k->input.type, k->input.channels);
    while (k->target->ring_columns > 1 && in->columns.begin % AC_BLOCK) /* as schedule.c does */
        in->columns.begin--;
    for (uint32_t i = 0; i < in->count; i++)
        in->rows[i] = random_row(k->input.type, c0, k->input.channels,
                                 (uint32_t)(in->columns.end - in->columns.begin), k->f);
    in->residual = random_row(k->residual.type,
                              ac_target_c0(k->target, k->residual.type, k->residual.channels),
                              k->residual.channels, k->pixels, k->f);
    for (uint32_t i = 0; only_zeros && i < in->count; i++)
        fill_tiny(&in->rows[i], 1);
    if (only_zeros)
        fill_tiny(&in->residual, 0);
}

static void free_conv_input(conv_input *in)
{
    for (uint32_t i = 0; i < in->count; i++)
        free(in->rows[i].memory);
    free(in->residual.memory);
}

/* What the model of the 310 found wrong since the last case, in words; empty: nothing. */
static char conv_finding[256];

enum { RESIDUAL = 16 /* behind the rows of the window */ };

/* Constants, rows of the window and the residual in one block, as a program finds them in L1. */
typedef struct resident {
    uint8_t *memory;
    size_t bytes;
    uint8_t *rows[RESIDUAL + 1];
    ac_address at[RESIDUAL + 1];
} resident;

static void add_row(resident *r, uint32_t i, const row_buffer *row)
{
    memcpy(r->memory + r->bytes, row->memory, row->bytes);
    r->rows[i] = r->memory + r->bytes + GUARD;
    r->at[i] = ac_at(AC_CONSTANTS, r->bytes + GUARD);
    r->bytes += (row->bytes + 63) / 64 * 64;
}

/* Binds the operator. The constants that instructions read lie at the block's start. */
static resident new_resident(mona_bound_op *b, const conv_input *in)
{
    const bool program = b->on_ai_core;
    resident r = {.bytes = program ? (mona_conv_program_constants(b) + 63) / 64 * 64 : 0};
    r.memory = allocate(r.bytes + (in->rows[0].bytes + 64) * in->count + in->residual.bytes + 64);
    b->constants =
        allocate(program ? mona_conv_program_tables(b) : mona_op_conv.constants_bytes(b));
    b->resident = ac_at(AC_CONSTANTS, 0);
    if (program)
        mona_conv_program_bind(b, r.memory);
    else
        mona_op_conv.bind(b);
    for (uint32_t i = 0; i < in->count; i++)
        add_row(&r, i, &in->rows[i]);
    add_row(&r, RESIDUAL, &in->residual);
    return r;
}

/* A core that runs a program; modelled: by the model of the 310, else by the reference. The model
 * keeps its address. */
static void new_core(ac_core *core, const ac_target *t, bool modelled, const resident *r,
                     const row_buffer *out, const row_buffer *planes)
{
    *core = (ac_core){.target = t, .take = ac_execute};
    core->memory[AC_L1] = (ac_memory){out->memory, out->bytes, true};
    core->memory[AC_L0A] = (ac_memory){allocate(t->l0a_bytes), t->l0a_bytes, true};
    core->memory[AC_L0B] = (ac_memory){allocate(t->l0b_bytes), t->l0b_bytes, true};
    core->memory[AC_L0C] = (ac_memory){allocate(t->l0c_bytes), t->l0c_bytes, true};
    core->memory[AC_UB] = (ac_memory){allocate(t->ub_bytes), t->ub_bytes, true};
    core->memory[AC_CONSTANTS] = (ac_memory){r->memory, r->bytes, false};
    core->memory[AC_GM] = (ac_memory){planes->memory, planes->bytes, true};
    if (modelled) {
        ac_model_init(core, allocate(ac_model_bytes(t)), &(ac_model_config){.cores = 1});
        ac_model_kernel(core, "conv");
        ac_model_written(core, ac_at(AC_CONSTANTS, 0), r->bytes); /* loaded before */
    }
}

static void finish_core(ac_core *core)
{
    ac_model_report r = {0};
    if (core->model)
        r = *ac_model_finish(core);
    const ac_finding *f = &r.findings[0];
    if (r.finding_count)
        snprintf(conv_finding, sizeof conv_finding,
                 "%llu findings: %s, %s %s (#%llu), %lld %lld, %s #%llu",
                 (unsigned long long)r.finding_count, ac_finding_kind_name(f->kind), f->instruction,
                 f->operand ? f->operand : "-", (unsigned long long)f->index, (long long)f->found,
                 (long long)f->limit, f->other ? f->other : "-",
                 (unsigned long long)f->other_index);
    free(core->model);
    for (ac_space i = AC_L0A; i < AC_BUFFERS; i++)
        free(core->memory[i].bytes);
}

/* What is in the channels after the last one depends on what the residual has there. */
static void clear_padding(mona_row *row, uint32_t channels, uint32_t pixels)
{
    for (uint32_t c = channels; c < padded_channels(channels, row->c0); c++)
        for (uint32_t x = 0; x < pixels; x++)
            memset(element_of(row, c, x), 0, mona_type_size(row->type));
}

/* Where rows are whole blocks, a program also writes what their last one has beyond the samples. */
static void clear_gaps(uint8_t *planes, size_t stride, size_t samples, uint32_t rows)
{
    for (uint32_t y = 0; stride % AC_BLOCK == 0 && y < rows; y++)
        memset(planes + y * stride + samples, GUARD_BYTE, stride - samples);
}

/* Stores the row of an AI Core program that does not write planes itself. */
static void store_row(const mona_bound_op *store, const row_buffer *row, const mona_buffer *planes,
                      uint32_t pixels)
{
    mona_bound_op b = *store;
    uint8_t *const data = row->row.data;
    uint8_t *scratch = allocate(mona_op_store.scratch_bytes(&b, pixels));
    b.isa = &mona_isa_c;
    b.on_ai_core = false;
    b.input_c0[0] = row->row.c0;
    mona_run_store.row(&(mona_row_call){.bound = &b,
                                        .scratch = scratch,
                                        .x_end = pixels,
                                        .input = {{&data, row->row.block_stride, 0}},
                                        .planes = planes});
    free(scratch);
}

/* isa NULL: the AI Core program. */
static conv_result run_conv(const conv_case *k, const section *s, const conv_input *in,
                            const mona_isa *isa, bool modelled)
{
    mona_bound_op b = bound_conv(k, s, isa);
    const bool fused = k->store && (isa || mona_conv_stores(&b));
    if (!fused)
        b.store = NULL;
    resident r = new_resident(&b, in);
    uint8_t *scratch = allocate(mona_op_conv.scratch_bytes(&b, k->pixels));
    row_buffer out = new_row(k->output.type, b.output_c0, k->output.channels, k->pixels);
    uint8_t *out_row = out.row.data;
    const uint32_t block = k->store_op.store.block ? k->store_op.store.block : 1;
    const uint32_t planes_channels = k->output.channels / (block * block);
    const size_t samples = (size_t)k->pixels * block * mona_type_size(k->plane_type);
    const size_t stride = samples + 2;
    const size_t plane_bytes = stride * block * planes_channels + 2 * GUARD;
    uint8_t *planes = allocate(plane_bytes);
    memset(planes, GUARD_BYTE, plane_bytes);
    const mona_buffer buffer = {planes + GUARD, (ptrdiff_t)stride, (ptrdiff_t)(stride * block)};
    const mona_bound_op store = {
        .op = &k->store_op,
        .target = k->target,
        .isa = isa,
        .on_ai_core = !isa,
        .input = {k->output},
        .output = {planes_channels, 0, 0, k->plane_type, 0, {0}},
    };
    const ac_address out_at = ac_at(AC_L1, (size_t)(out_row - out.memory));
    const ac_address planes_at = ac_at(AC_GM, GUARD);
    ac_core core;
    new_core(&core, k->target, modelled, &r, &out,
             &(row_buffer){.memory = planes, .bytes = plane_bytes});
    const mona_row_call call = {
        .bound = &b,
        .core = &core,
        .scratch = scratch,
        .x_end = k->pixels,
        .input = {{r.rows, in->rows[0].row.block_stride, in->columns.begin, r.at},
                  {r.rows + RESIDUAL, in->residual.row.block_stride, 0, r.at + RESIDUAL}},
        .output = {&out_row, out.row.block_stride, 0, &out_at},
        .planes = &buffer,
        .planes_at = &planes_at,
        .store = fused ? &store : NULL,
    };
    if (b.on_ai_core)
        mona_conv_program(&call, 1);
    else
        mona_run_conv.row(&call);
    finish_core(&core);
    if (k->store && !fused)
        store_row(&store, &out, &buffer, k->pixels);
    free(scratch);
    free(r.memory);
    free(b.constants);
    if (k->store) {
        free(out.memory);
        clear_gaps(planes + GUARD, stride, samples, block * planes_channels);
        return (conv_result){planes, plane_bytes, {0}};
    }
    free(planes);
    clear_padding(&out.row, k->output.channels, k->pixels);
    return (conv_result){out.memory, out.bytes, out.row};
}

/* Copies the values of columns to a row that may have other channel blocks and begins `lead`
 * columns earlier. */
static void copy_values(mona_row *to, const mona_row *from, uint32_t channels, uint32_t columns,
                        uint32_t lead)
{
    for (uint32_t c = 0; c < channels; c++)
        for (uint32_t x = 0; x < columns; x++)
            memcpy(element_of(to, c, x + lead), element_of(from, c, x), mona_type_size(to->type));
}

/* What the AI Core program makes of a case, in the layout of the case's target. */
static conv_result expected_conv(const conv_case *k, const section *s, const conv_input *in)
{
    conv_case chip = *k;
    conv_input there;
    chip.target = &ac_target_ascend310;
    new_conv_input(&there, &chip, s);
    const uint32_t columns = (uint32_t)(in->columns.end - in->columns.begin);
    const uint32_t lead = (uint32_t)(in->columns.begin - there.columns.begin);
    for (uint32_t i = 0; i < in->count; i++)
        copy_values(&there.rows[i].row, &in->rows[i].row, k->input.channels, columns, lead);
    copy_values(&there.residual.row, &in->residual.row, k->residual.channels, k->pixels, 0);
    conv_result result = run_conv(&chip, s, &there, NULL, false);
    free_conv_input(&there);
    if (k->store || k->target == chip.target)
        return result;
    const uint32_t channels = k->output.channels;
    const uint32_t c0 = ac_target_c0(k->target, k->output.type, channels);
    row_buffer out = new_row(k->output.type, c0, channels, k->pixels);
    clear_padding(&out.row, channels, k->pixels);
    copy_values(&out.row, &result.row, channels, k->pixels, 0);
    free(result.bytes);
    return (conv_result){out.memory, out.bytes, out.row};
}

static void describe_conv(char *to, size_t room, const conv_case *k)
{
    const mona_file_conv *c = &k->op.conv;
    snprintf(to, room,
             "%s %u %s -> %u %s, kernel %ux%u stride %u dilation %u groups %u pixels %u activation "
             "%u,%u residual %u %s store %u block %u type %s flavour %d",
             k->target->name, k->input.channels, mona_type_name(k->input.type), k->output.channels,
             mona_type_name(k->output.type), c->kernel_h, c->kernel_w, c->stride_w, c->dilation_w,
             c->groups, k->pixels, k->op.epilogue.activation, k->op.epilogue.activation_after_add,
             k->op.input_count > 1 ? k->residual.channels : 0, mona_type_name(k->residual.type),
             k->store, k->store_op.store.block, mona_type_name(k->plane_type), k->f);
}

static bool check_conv(const mona_isa *isa, char *detail, size_t room)
{
    conv_case k;
    conv_input in;
    section s = {0};
    do {
        free(s.bytes);
        s = (section){0};
        random_conv(&k, &s, !isa);
        const uint32_t channels = k.output.channels;
        if (k.op.conv.groups == 1)
            random_store(&k);
        if (k.output.channels > channels) /* data was made for fewer */
            k.output.channels = channels, k.store = false;
        const mona_shape inputs[] = {k.input, k.residual};
        mona_data data = {.bytes = s.bytes, .size = s.used, .left = INT64_MAX};
        if (mona_op_conv.check(&k.op, inputs, &k.output, &data) == MONA_OK)
            break;
    } while (true);
    new_conv_input(&in, &k, &s);
    describe_conv(detail, room, &k);
    conv_finding[0] = 0;
    const conv_result expected = expected_conv(&k, &s, &in);
    const conv_result got = run_conv(&k, &s, &in, isa, !isa);
    bool ok = same(expected.bytes, got.bytes, got.size, detail, room);
    if (conv_finding[0])
        ok = false, snprintf(detail + strlen(detail), room - strlen(detail), "; %s", conv_finding);
    free(expected.bytes);
    free(got.bytes);
    free_conv_input(&in);
    free(s.bytes);
    return ok;
}

static bool check_zeros(const mona_isa *isa, char *detail, size_t room)
{
    only_zeros = true;
    const bool ok = check_conv(isa, detail, room);
    only_zeros = false;
    return ok;
}

/* 1x1, weights 1 and 127 for the first two channels, so that the outputs' accumulators are all the
 * integers from a bias on. scale: of all outputs. */
static void ramp_conv(conv_case *k, section *s, float scale, int32_t bias)
{
    enum { MOST = 16 };
    int8_t weights[MOST * MOST] = {0};
    int32_t biases[MOST];
    uint16_t scales[MOST];
    for (uint32_t o = 0; o < k->output.channels; o++, bias += (int32_t)k->pixels) {
        weights[o * k->input.channels] = 1;
        weights[o * k->input.channels + 1] = 127;
        biases[o] = bias;
        scales[o] = mona_f16_from_f32(scale);
    }
    k->op.conv = (mona_file_conv){
        .kernel_h = 1,
        .kernel_w = 1,
        .stride_h = 1,
        .stride_w = 1,
        .dilation_h = 1,
        .dilation_w = 1,
        .groups = 1,
        .weights = add_data(s, weights, (size_t)k->output.channels * k->input.channels),
        .bias = add_data(s, biases, k->output.channels * sizeof *biases),
        .scales = add_data(s, scales, k->output.channels * sizeof *scales),
    };
}

static void ramp_input(const conv_input *in, uint32_t pixels)
{
    uint8_t *pixel = in->rows[0].row.data;
    for (uint32_t x = 0; x < pixels; x++, pixel += in->rows[0].row.c0) {
        pixel[0] = (uint8_t)(x % 127);
        pixel[1] = (uint8_t)(x / 127);
    }
}

/* Accumulators from -2^21 to 2^21, a part of them a time: with scales of few bits all values
 * halfway between two fp16 numbers, and their neighbours, with and without a residual. */
static bool check_rounding(const mona_isa *isa, char *detail, size_t room)
{
    const uint32_t outputs = (uint32_t)PICK(16, 16, 4, 6);
    const float scale = (float)PICK(1, 1, 2, 3, 16) * 0x1p-14f;
    const int32_t part = between(0, 127 / (int32_t)outputs);
    conv_case k = {
        .op = {.kind = MONA_OP_CONV, .input_count = (uint32_t)between(1, 2)},
        .input = {(uint32_t)PICK(2, 16), 0, 0, MONA_U8, 0, {0}},
        .output = {outputs, 0, 0, (mona_type)PICK(MONA_U8, MONA_S8), 0, {0}},
        .residual = {chance(2) ? outputs : 1, 0, 0, (mona_type)PICK(MONA_U8, MONA_S8), 0, {0}},
        .target = &ac_target_host,
        .pixels = 255 * 127,
        .store = outputs == 4 && chance(2),
        .store_op.store = {.block = 2, .scale = F16_ONE, .maximum = 255},
    };
    section s = {0};
    conv_input in;
    k.plane_type = k.output.type;
    k.op.epilogue = (mona_file_epilogue){
        .activation_after_add = (uint8_t)PICK(MONA_ACT_NONE, MONA_ACT_RELU),
        .residual_scale = mona_f16_from_f32((float)PICK(-9, 1, 3, 4, 5, 9, 16) / 16),
        .output_scale = F16_ONE,
        .slopes = MONA_NONE,
    };
    ramp_conv(&k, &s, scale, (part * (int32_t)outputs - 64) * (int32_t)k.pixels);
    new_conv_input(&in, &k, &s);
    ramp_input(&in, k.pixels);
    snprintf(detail, room, "%u -> %u %s, scale %g, part %d, residual %u", k.input.channels, outputs,
             mona_type_name(k.output.type), (double)scale, part,
             k.op.input_count > 1 ? k.residual.channels : 0);
    const conv_result expected = expected_conv(&k, &s, &in);
    const conv_result got = run_conv(&k, &s, &in, isa, !isa);
    const bool ok = same(expected.bytes, got.bytes, got.size, detail, room);
    free(expected.bytes);
    free(got.bytes);
    free_conv_input(&in);
    free(s.bytes);
    return ok;
}
