// SPDX-License-Identifier: Apache-2.0
/* Compiled models. A stand-in for atc (tests/ascend/atc.py) writes files of the real layout whose
 * partition of weights holds a .mona, which the engine runs on the host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/ascend/acl.h"
#include "engine/mona.h"
#include "tests/ascend/fake.h"

enum { MODELS = 64, DATA = 16, WORK_BYTES = 4096, HEADER = 64 };

/* What precedes the .mona: "FAKE", the batches that the model was compiled for (0: one), and
 * whether its size is open. */
typedef struct settings {
    char magic[4];
    uint32_t batches[4];
    uint32_t sizes[4][2]; /* height, width */
} settings;

typedef struct fake_model {
    bool used;
    atomic_bool running;
    settings set;
    void *bytes;
    mona_model model;
    const uint8_t *weights; /* a copy of the file, on the chip */
    uint64_t batch, height, width;
} fake_model;

static fake_model models[MODELS];

struct aclmdlDesc {
    const fake_model *model;
};
struct aclmdlDataset {
    struct aclDataBuffer *buffer[DATA];
    size_t count;
};
struct aclDataBuffer {
    void *memory;
    size_t bytes;
};

/* ---- the file -------------------------------------------------------------------------------- */

static uint32_t word(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The partition of weights. */
static const uint8_t *weights_of(const uint8_t *om, size_t bytes, size_t *size)
{
    if (bytes < 260 || memcmp(om, "IMOD", 4) || word(om + 76) != bytes - 256)
        return NULL;
    const uint32_t count = word(om + 256);
    const uint8_t *base = om + 260 + 12 * (size_t)count;
    for (uint32_t i = 0; i < count && base <= om + bytes; i++) {
        const uint8_t *e = om + 260 + 12 * (size_t)i;
        if (word(e) == 1 && word(e + 4) + (size_t)word(e + 8) <= (size_t)(om + bytes - base)) {
            *size = word(e + 8);
            return *size > HEADER + sizeof(settings) && !memcmp(base + word(e + 4), "FAKE", 4)
                       ? base + word(e + 4)
                       : NULL;
        }
    }
    return NULL;
}

API int aclmdlQuerySizeFromMem(const void *om, size_t bytes, size_t *work, size_t *weights)
{
    size_t size;
    const int code = fake_failing(__func__);
    if (code || !om || !bytes || !work || !weights)
        return code ? code : BAD_ARGUMENT;
    if (!weights_of(om, bytes, &size))
        return fake_fail(145006, "the model's length is %zu", bytes);
    *work = WORK_BYTES;
    *weights = size;
    return 0;
}

static void mona_bytes(fake_model *m, const uint8_t *weights, size_t size)
{
    memcpy(&m->set, weights, sizeof m->set);
    m->bytes = aligned_alloc(64, (size - HEADER + 63) / 64 * 64);
    memcpy(m->bytes, weights + HEADER, size - HEADER);
}

API int aclmdlLoadFromMemWithMem(const void *om, size_t bytes, uint32_t *id, void *work,
                                 size_t work_bytes, void *weights, size_t weight_bytes)
{
    size_t size, i = 0;
    const int code = fake_ready();
    if (code)
        return code;
    if (fake_is_module() && !fake_memory(om, bytes))
        return fake_fail(BAD_ARGUMENT, "the model is not in the chip's memory");
    const uint8_t *w = om && bytes ? weights_of(om, bytes, &size) : NULL;
    uint8_t *chip = w ? fake_memory(weights, weight_bytes) : NULL;
    if (!w)
        return fake_fail(CANNOT_PARSE, "the model cannot be parsed");
    if (!id || work_bytes < WORK_BYTES || !fake_memory(work, work_bytes) || !chip ||
        weight_bytes < size)
        return fake_fail(BAD_ARGUMENT, "memory for the model is too small");
    while (i < MODELS && models[i].used)
        i++;
    if (i == MODELS)
        return 207010;
    memcpy(chip, w, size);
    models[i] = (fake_model){.used = true, .weights = chip};
    mona_bytes(&models[i], w, size);
    if (mona_model_open(&models[i].model, models[i].bytes, size - HEADER)) {
        models[i].used = false;
        free(models[i].bytes);
        return fake_fail(CANNOT_PARSE, "the model cannot be parsed");
    }
    models[i].batch = 1;
    fake_held_models++;
    *id = (uint32_t)i;
    return 0;
}

#ifndef FAKE_BROKEN
API int aclmdlUnload(uint32_t id)
{
    const int code = fake_ready();
    if (code || id >= MODELS || !models[id].used)
        return code ? code : 100011;
    if (models[id].running)
        fake_complain("a model was unloaded that was running");
    models[id].used = false;
    free(models[id].bytes);
    fake_held_models--;
    return 0;
}

#endif

/* ---- its description ------------------------------------------------------------------------- */

API struct aclmdlDesc *aclmdlCreateDesc(void)
{
    if (fake_failing(__func__))
        return NULL;
    fake_held_objects++;
    return calloc(1, sizeof(struct aclmdlDesc));
}

API int aclmdlDestroyDesc(struct aclmdlDesc *d)
{
    fake_held_objects--;
    free(d);
    return 0;
}

API int aclmdlGetDesc(struct aclmdlDesc *d, uint32_t id)
{
    const int code = fake_failing(__func__);
    if (code || !d || id >= MODELS || !models[id].used)
        return code ? code : 100011;
    d->model = &models[id];
    return 0;
}

static bool has_batches(const fake_model *m)
{
    return m->set.batches[0];
}

static bool has_sizes(const fake_model *m)
{
    return m->set.sizes[0][0];
}

static bool is_dynamic(const fake_model *m)
{
    return has_batches(m) || has_sizes(m);
}

API size_t aclmdlGetNumInputs(struct aclmdlDesc *d)
{
    return mona_model_input_count(&d->model->model) + is_dynamic(d->model);
}

API size_t aclmdlGetNumOutputs(struct aclmdlDesc *d)
{
    return mona_model_output_count(&d->model->model);
}

static bool is_hidden(const struct aclmdlDesc *d, size_t i)
{
    return i == mona_model_input_count(&d->model->model);
}

/* The largest sizes that it was compiled for. */
static uint64_t largest(const fake_model *m, unsigned which)
{
    uint64_t most = 1;
    for (int i = 0; i < 4; i++) {
        const uint64_t v = which == 2 ? m->set.batches[i] : m->set.sizes[i][which];
        most = v > most ? v : most;
    }
    return most;
}

/* A tensor for frames of this size, or of the one that the model is fixed to. */
static mona_tensor_info bound_tensor(const fake_model *m, bool input, size_t i, mona_size size)
{
    mona_tensor_info t = input ? mona_model_input(&m->model, (unsigned)i)
                               : mona_model_output(&m->model, (unsigned)i);
    mona_config config = {.device = &mona_device_host, .threads = 1};
    mona_plan *plan;
    if (!mona_model_input(&m->model, 0).width)
        config.sizes[0] = size;
    void *memory = aligned_alloc(64, (mona_plan_bytes(&m->model) + 63) / 64 * 64);
    if (!mona_plan_make(&plan, memory, &m->model, &config)) {
        const mona_tensor_info bound =
            input ? mona_plan_input(plan, (unsigned)i) : mona_plan_output(plan, (unsigned)i);
        t.width = bound.width;
        t.height = bound.height;
    }
    free(memory);
    return t;
}

static size_t tensor_bytes(const fake_model *m, bool input, size_t i)
{
    const mona_size size = {(uint32_t)largest(m, 1), (uint32_t)largest(m, 0)};
    const mona_tensor_info t = bound_tensor(m, input, i, size);
    return (size_t)(t.channels * (uint64_t)t.height * t.width * mona_type_size(t.type) *
                    largest(m, 2));
}

API size_t aclmdlGetInputSizeByIndex(struct aclmdlDesc *d, size_t i)
{
    return is_hidden(d, i) ? 8 : tensor_bytes(d->model, true, i);
}

API size_t aclmdlGetOutputSizeByIndex(struct aclmdlDesc *d, size_t i)
{
    return tensor_bytes(d->model, false, i);
}

API const char *aclmdlGetInputNameByIndex(const struct aclmdlDesc *d, size_t i)
{
    return is_hidden(d, i) ? "ascend_mbatch_shape_data"
                           : mona_model_input(&d->model->model, (unsigned)i).name;
}

static int dims_of(const fake_model *m, bool input, size_t i, ascend_dims *dims)
{
    const mona_tensor_info t = bound_tensor(m, input, i, (mona_size){0});
    memset(dims, 0, sizeof *dims);
    snprintf(dims->name, sizeof dims->name, "%s", t.name);
    dims->count = 4;
    dims->dims[0] = has_batches(m) ? -1 : 1;
    dims->dims[1] = t.channels;
    dims->dims[2] = t.height ? (int64_t)t.height : -1;
    dims->dims[3] = t.width ? (int64_t)t.width : -1;
    return 0;
}

API int aclmdlGetInputDims(const struct aclmdlDesc *d, size_t i, ascend_dims *dims)
{
    const int code = fake_failing(__func__);
    if (code || !is_hidden(d, i))
        return code ? code : dims_of(d->model, true, i, dims);
    *dims = (ascend_dims){.count = 1, .dims = {1}};
    return 0;
}

API int aclmdlGetOutputDims(const struct aclmdlDesc *d, size_t i, ascend_dims *dims)
{
    const int code = fake_failing(__func__);
    return code ? code : dims_of(d->model, false, i, dims);
}

static int type_of(mona_type type)
{
    static const int types[MONA_TYPE_COUNT] = {
        [MONA_U8] = 4,  [MONA_S8] = 2,  [MONA_F16] = 1, [MONA_U16] = 7, [MONA_F32] = 0,
        [MONA_S16] = 6, [MONA_S32] = 3, [MONA_U32] = 8, [MONA_S64] = 9, [MONA_U64] = 10};
    return types[type];
}

API int aclmdlGetInputDataType(const struct aclmdlDesc *d, size_t i)
{
    return is_hidden(d, i) ? 3 : type_of(mona_model_input(&d->model->model, (unsigned)i).type);
}

API int aclmdlGetOutputDataType(const struct aclmdlDesc *d, size_t i)
{
    return type_of(mona_model_output(&d->model->model, (unsigned)i).type);
}

API int aclmdlGetInputFormat(const struct aclmdlDesc *d, size_t i)
{
    (void)d, (void)i;
    return 0;
}

API int aclmdlGetDynamicBatch(const struct aclmdlDesc *d, ascend_batches *b)
{
    memset(b, 0, sizeof *b);
    for (; b->count < 4 && d->model->set.batches[b->count]; b->count++)
        b->batches[b->count] = d->model->set.batches[b->count];
    return 0;
}

API int aclmdlGetDynamicHW(const struct aclmdlDesc *d, size_t index, ascend_sizes *s)
{
    (void)index;
    memset(s, 0, sizeof *s);
    for (; s->count < 4 && d->model->set.sizes[s->count][0]; s->count++) {
        s->height_width[s->count][0] = d->model->set.sizes[s->count][0];
        s->height_width[s->count][1] = d->model->set.sizes[s->count][1];
    }
    return 0;
}

API int aclmdlSetDynamicBatchSize(uint32_t id, struct aclmdlDataset *set, size_t index,
                                  uint64_t batch)
{
    const int code = fake_failing(__func__);
    if (code)
        return code;
    fake_model *m = &models[id];
    bool known = false;
    if (!has_batches(m) || index != mona_model_input_count(&m->model) || index >= set->count)
        return 100019;
    for (int i = 0; i < 4; i++)
        known = known || (batch && m->set.batches[i] == batch);
    if (!known)
        return BAD_ARGUMENT;
    m->batch = batch;
    return 0;
}

API int aclmdlSetDynamicHWSize(uint32_t id, struct aclmdlDataset *set, size_t index,
                               uint64_t height, uint64_t width)
{
    const int code = fake_failing(__func__);
    if (code)
        return code;
    fake_model *m = &models[id];
    bool known = false;
    if (!has_sizes(m) || index != mona_model_input_count(&m->model) || index >= set->count)
        return 100019;
    for (int i = 0; i < 4; i++)
        known = known || (m->set.sizes[i][0] == height && m->set.sizes[i][1] == width);
    if (!known)
        return BAD_ARGUMENT;
    m->height = height;
    m->width = width;
    return 0;
}

/* ---- data sets ------------------------------------------------------------------------------- */

API struct aclmdlDataset *aclmdlCreateDataset(void)
{
    if (fake_failing(__func__))
        return NULL;
    fake_held_objects++;
    return calloc(1, sizeof(struct aclmdlDataset));
}

API int aclmdlDestroyDataset(const struct aclmdlDataset *set)
{
    fake_held_objects--;
    free((void *)(uintptr_t)set);
    return 0;
}

API int aclmdlAddDatasetBuffer(struct aclmdlDataset *set, struct aclDataBuffer *buffer)
{
    const int code = fake_failing(__func__);
    if (code || !set || !buffer || set->count == DATA)
        return code ? code : BAD_ARGUMENT;
    set->buffer[set->count++] = buffer;
    return 0;
}

/* ---- running --------------------------------------------------------------------------------- */

typedef struct job {
    fake_model *model;
    uint8_t *in[MONA_MAX_IO], *out[MONA_MAX_IO];
    uint64_t batch;
    mona_size size;
} job;

static mona_buffer item(const mona_tensor_info *t, uint8_t *memory, uint64_t index)
{
    const size_t row = t->width * mona_type_size(t->type), plane = row * t->height;
    return (mona_buffer){memory + index * plane * t->channels, (ptrdiff_t)row, (ptrdiff_t)plane};
}

static int run_model(void *argument)
{
    job *j = argument;
    const uint64_t begin = fake_now();
    const mona_model *model = &j->model->model;
    mona_config config = {.device = &mona_device_host, .threads = 1};
    const mona_tensor_info first = mona_model_input(model, 0);
    if (!first.width)
        config.sizes[0] = j->size;
    void *memory = aligned_alloc(64, (mona_plan_bytes(model) + 63) / 64 * 64), *arena = NULL;
    mona_plan *plan;
    mona_session *session;
    mona_status status = mona_plan_make(&plan, memory, model, &config);
    if (!status) {
        arena = aligned_alloc(64, mona_plan_arena_bytes(plan));
        status = mona_session_open(&session, plan, arena, mona_plan_arena_bytes(plan));
    }
    fake_delay("run_us");
    for (uint64_t b = 0; b < j->batch && !status; b++) {
        mona_buffer in[MONA_MAX_IO], out[MONA_MAX_IO];
        for (unsigned i = 0; i < mona_model_input_count(model); i++) {
            const mona_tensor_info t = mona_plan_input(plan, i);
            in[i] = item(&t, j->in[i], b);
        }
        for (unsigned i = 0; i < mona_model_output_count(model); i++) {
            const mona_tensor_info t = mona_plan_output(plan, i);
            out[i] = item(&t, j->out[i], b);
        }
        status = mona_session_run(session, in, out);
    }
    if (arena && !status)
        mona_session_close(session);
    free(arena);
    free(memory);
    j->model->running = false;
    fake_trace("run", "model", begin);
    return status ? fake_fail(MODEL_FAILED, "%s", mona_status_text(status)) : 0;
}

API int aclmdlExecuteAsync(uint32_t id, const struct aclmdlDataset *inputs,
                           struct aclmdlDataset *outputs, void *stream)
{
    const int code = fake_ready();
    if (code || id >= MODELS || !models[id].used)
        return code ? code : 100011;
    fake_model *m = &models[id];
    const unsigned in = mona_model_input_count(&m->model), out = mona_model_output_count(&m->model);
    if (inputs->count != in + is_dynamic(m) || outputs->count != out)
        return fake_fail(100017, "the model has %u inputs", in);
    if (has_sizes(m) && !m->height)
        return fake_fail(100017, "no size was set");
    if (atomic_exchange(&m->running, true))
        fake_complain("a model runs twice at a time");
    job *j = calloc(1, sizeof *j);
    *j = (job){.model = m, .batch = m->batch, .size = {(uint32_t)m->width, (uint32_t)m->height}};
    bool good = true;
    for (unsigned i = 0; i < in; i++)
        good = good && inputs->buffer[i]->bytes == tensor_bytes(m, true, i) &&
               (j->in[i] = fake_memory(inputs->buffer[i]->memory, inputs->buffer[i]->bytes));
    for (unsigned i = 0; i < out; i++)
        good = good && outputs->buffer[i]->bytes == tensor_bytes(m, false, i) &&
               (j->out[i] = fake_memory(outputs->buffer[i]->memory, outputs->buffer[i]->bytes));
    if (!good) {
        free(j);
        m->running = false;
        return fake_fail(100017, "a buffer is not of the model's size, or not on the chip");
    }
    return fake_enqueue(stream, "model", run_model, j);
}
