// SPDX-License-Identifier: Apache-2.0
/* Opens an offline model: a zero-copy view, after a proof that every record stays in bounds.
 *
 * This proves once, so that no later code needs to check it:
 *   - sections lie inside the file, and offsets do not wrap
 *   - names end inside the strings
 *   - tensors are written once, before they are read
 *   - every operator's parameters are in range, and its data lies inside the data section
 *     (mona_op_class.check) */
#include <float.h>

#include "engine/arith.h"
#include "engine/libc.h"
#include "engine/model/model.h"
#include "engine/op/op.h"

const char *mona_status_text(mona_status status)
{
    switch (status) {
    case MONA_OK:
        return "success";
    case MONA_ERR_ARGUMENT:
        return "invalid argument";
    case MONA_ERR_TRUNCATED:
        return "model is truncated";
    case MONA_ERR_MAGIC:
        return "not a .mona model";
    case MONA_ERR_VERSION:
        return "unknown version of the .mona format, or of the programs in the file";
    case MONA_ERR_CHECKSUM:
        return "model is damaged (checksum does not match)";
    case MONA_ERR_MODEL:
        return "model is malformed";
    case MONA_ERR_LIMIT:
        return "a limit of the engine is exceeded";
    case MONA_ERR_UNSUPPORTED:
        return "not supported on this device";
    case MONA_ERR_SHAPE:
        return "frame size does not fit the model";
    case MONA_ERR_ARENA:
        return "arena is too small or misaligned";
    case MONA_ERR_DEVICE:
        return "no such device";
    case MONA_ERR_THREADS:
        return "the system refused a thread";
    case MONA_ERR_STATE:
        return "call out of order";
    case MONA_ERR_SIGNATURE:
        return "model is not signed by the expected key";
    case MONA_ERR_RELEASE:
        return "model is an older version than expected";
    case MONA_ERR_KERNEL:
        return "model calls a kernel that this program does not have";
    }
    return "unknown status";
}

size_t mona_type_size(mona_type type)
{
    static const uint8_t sizes[MONA_TYPE_COUNT] = {
        [MONA_U8] = 1,  [MONA_S8] = 1,  [MONA_F16] = 2, [MONA_U16] = 2, [MONA_F32] = 4,
        [MONA_S16] = 2, [MONA_S32] = 4, [MONA_U32] = 4, [MONA_S64] = 8, [MONA_U64] = 8,
    };
    return (unsigned)type < MONA_TYPE_COUNT ? sizes[type] : 1;
}

const char *mona_type_name(mona_type type)
{
    static const char names[MONA_TYPE_COUNT][4] = {
        [MONA_U8] = "u8",   [MONA_S8] = "s8",   [MONA_F16] = "f16", [MONA_U16] = "u16",
        [MONA_F32] = "f32", [MONA_S16] = "s16", [MONA_S32] = "s32", [MONA_U32] = "u32",
        [MONA_S64] = "s64", [MONA_U64] = "u64",
    };
    return (unsigned)type < MONA_TYPE_COUNT ? names[type] : "?";
}

/* Four bits at a time: 64 bytes of table instead of 1 KiB, and fast enough for bytes that are read
 * once. */
uint32_t mona_crc32(uint32_t crc, const void *bytes, size_t size)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    const uint8_t *p = bytes;
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= p[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

static uint32_t file_crc(const mona_file_header *header, size_t size)
{
    const size_t field = offsetof(mona_file_header, crc32);
    const uint32_t zero = 0;
    uint32_t crc = mona_crc32(0, header, field);
    crc = mona_crc32(crc, &zero, sizeof zero);
    const size_t rest = field + sizeof zero;
    return mona_crc32(crc, (const uint8_t *)header + rest, size - rest);
}

/* Whether a section of count x item bytes at offset is aligned and lies inside the file. */
static bool section_ok(uint64_t offset, uint64_t count, uint64_t item, uint64_t file_bytes)
{
    if (offset % MONA_FILE_ALIGNMENT || offset < sizeof(mona_file_header) || offset > file_bytes)
        return false;
    return count <= (file_bytes - offset) / item;
}

/* Whether programs lie inside the file. What they contain is proved by the device that runs
 * them. */
static bool programs_ok(const mona_file_header *h, const uint8_t *file)
{
    if (!h->program_count)
        return true;
    if (!section_ok(h->programs_offset, h->program_count, sizeof(mona_file_program), h->file_bytes))
        return false;
    const mona_file_program *p =
        (const mona_file_program *)(const void *)(file + h->programs_offset);
    for (uint32_t i = 0; i < h->program_count; i++)
        if (!section_ok(p[i].offset, p[i].bytes, 1, h->file_bytes) ||
            p[i].target[sizeof p->target - 1])
            return false;
    return true;
}

static mona_status check_header(const mona_file_header *h, const uint8_t *file)
{
    const uint64_t size = h->file_bytes;
    if (h->tensor_count > MONA_MAX_TENSORS || h->op_count > MONA_MAX_OPS ||
        h->input_count > MONA_MAX_IO || h->output_count > MONA_MAX_IO)
        return MONA_ERR_LIMIT;
    const bool sound =
        h->input_count && h->output_count && h->input_count + h->output_count <= h->tensor_count &&
        h->op_count &&
        section_ok(h->tensors_offset, h->tensor_count, sizeof(mona_file_tensor), size) &&
        section_ok(h->ops_offset, h->op_count, sizeof(mona_file_op), size) &&
        section_ok(h->strings_offset, h->strings_bytes, 1, size) &&
        section_ok(h->data_offset, h->data_bytes, 1, size) && h->strings_bytes &&
        h->name < h->strings_bytes && h->producer < h->strings_bytes && programs_ok(h, file);
    return sound ? MONA_OK : MONA_ERR_MODEL;
}

static mona_status check_file(const mona_file_header *h, size_t size)
{
    const size_t magic = size < sizeof h->magic ? size : sizeof h->magic;
    if (memcmp(h, MONA_FILE_MAGIC, magic))
        return MONA_ERR_MAGIC;
    if (size < sizeof *h)
        return MONA_ERR_TRUNCATED;
    if (h->version < MONA_FILE_VERSION || h->version > MONA_FILE_VERSION_PADDING)
        return MONA_ERR_VERSION;
    if (h->file_bytes > size)
        return MONA_ERR_TRUNCATED;
    if (h->file_bytes < size)
        return MONA_ERR_MODEL;
    return file_crc(h, size) == h->crc32 ? MONA_OK : MONA_ERR_CHECKSUM;
}

/* Whether the product of three dims, each below 2^32, is within a bound below 2^32. */
static bool elements_ok(const mona_file_tensor *t)
{
    const uint64_t max = MONA_ARRAY_MAX_ELEMENTS, plane = (uint64_t)t->height * t->width;
    return t->channels && plane && plane <= max && t->channels <= max / plane;
}

/* The dims of an array, if the file has them. */
static bool dims_ok(const mona_model *m, const mona_file_tensor *t, mona_data *data)
{
    uint64_t left = (uint64_t)t->channels * t->height * t->width;
    if (!t->shape.rank)
        return !t->shape.dims;
    if (t->shape.rank > MONA_MAX_RANK ||
        !mona_data_ok(data, t->shape.dims, t->shape.rank, sizeof(uint32_t)))
        return false;
    const uint32_t *dims = (const uint32_t *)(const void *)(m->data + t->shape.dims);
    for (uint32_t i = 0; i < t->shape.rank; left /= dims[i++])
        if (!dims[i] || left % dims[i])
            return false;
    return left == 1;
}

static bool sides_ok(const mona_model *m, uint32_t index)
{
    const mona_file_tensor *t = &m->tensors[index];
    const bool sized = t->height || t->width;
    return t->channels && t->channels <= MONA_MAX_CHANNELS && t->height <= MONA_MAX_SIDE &&
           t->width <= MONA_MAX_SIDE &&
           (!sized || (t->height && t->width && index < m->header->input_count));
}

/* Padding of its own, of a tensor between operators. */
static bool padding_ok(const mona_model *m, const mona_file_tensor *t)
{
    bool ok = m->header->version >= MONA_FILE_VERSION_PADDING && !t->array && !t->zero &&
              t->channels <= MONA_PADDED_CHANNELS && (t->type == MONA_U8 || t->type == MONA_F16);
    for (uint32_t i = 0; i < MONA_PADDED_CHANNELS; i++)
        ok = ok &&
             (t->type == MONA_U8 ? t->padding[i] <= UINT8_MAX
                                 : (t->padding[i] & 0x7c00) != 0x7c00) &&
             (i < t->channels || !t->padding[i]);
    return ok;
}

static bool tensor_ok(const mona_model *m, uint32_t index, mona_data *data)
{
    const mona_file_tensor *t = &m->tensors[index];
    const bool io = index < m->header->input_count + m->header->output_count;
    const bool real = t->type == MONA_F16 || t->type == MONA_F32;
    const bool may_have_zero =
        m->header->version >= MONA_FILE_VERSION_ZEROS && !io && !t->array && t->type == MONA_U8;
    const bool padded = !t->array && mona_is_padded(t->padding);
    const uint32_t last_type = t->array ? MONA_TYPE_COUNT - 1 : io ? MONA_U16 : MONA_F16;
    /* A NaN fails scale > 0; FLT_MAX excludes infinity. */
    return t->name < m->header->strings_bytes && t->type <= last_type && t->array <= 1 &&
           (t->array ? elements_ok(t) && dims_ok(m, t, data) : sides_ok(m, index)) &&
           t->scale > 0 && t->scale <= FLT_MAX && (!real || t->scale == 1) &&
           (!t->zero || may_have_zero) && (!padded || (!io && padding_ok(m, t)));
}

mona_shape mona_model_shape(const mona_file_tensor *t)
{
    const mona_type type = (mona_type)t->type;
    mona_shape s = {t->channels, t->array ? t->height : 0, t->array ? t->width : 0, type, t->zero,
                    {0}};
    if (!t->array)
        memcpy(s.padding, t->padding, sizeof s.padding);
    return s;
}

/* Whether an operator may read the tensor. Inputs and arrays are planes, which only LOAD reads; no
 * operator reads outputs. */
static bool readable(const mona_model *m, const mona_file_op *op, uint32_t tensor)
{
    const uint32_t inputs = m->header->input_count, io = inputs + m->header->output_count;
    if (tensor >= inputs && tensor < io)
        return false;
    const bool array = m->tensors[tensor].array;
    if (mona_ops[op->kind]->run->array)
        return array;
    return mona_ops[op->kind]->run->reads_planes == (array || tensor < inputs);
}

/* Whether an operator may write the tensor. Outputs and arrays are planes, which only STORE
 * writes. */
static bool writable(const mona_model *m, const mona_file_op *op, uint32_t tensor)
{
    const uint32_t inputs = m->header->input_count, io = inputs + m->header->output_count;
    const bool array = m->tensors[tensor].array;
    if (mona_ops[op->kind]->run->array)
        return array;
    return mona_ops[op->kind]->run->writes_planes == (array || tensor < io);
}

/* Checks operand i of an operator on arrays or of a kernel, a constant in the data. */
static bool constant_ok(const mona_file_op *op, uint32_t i, mona_data *data, mona_shape *shape)
{
    const mona_file_array *a = &op->array;
    if (!(mona_ops[op->kind]->run->array || mona_ops[op->kind]->kernel) ||
        a->type[i] >= MONA_TYPE_COUNT || !a->elements[i] ||
        a->elements[i] > MONA_ARRAY_MAX_ELEMENTS)
        return false;
    *shape = (mona_shape){1, 1, a->elements[i], (mona_type)a->type[i], 0, {0}};
    return mona_data_ok(data, a->offset[i], a->elements[i], mona_type_size(shape->type));
}

static bool zeros_ok(const mona_op_class *class, const mona_shape *inputs, uint32_t count,
                     const mona_shape *output)
{
    const uint8_t wanted = class->zeros == MONA_ZEROS_SAME ? output->zero : 0;
    bool ok = class->zeros == MONA_ZEROS_ANY || output->zero == wanted;
    for (uint32_t i = 0; i < count; i++)
        ok = ok && (class->zeros == MONA_ZEROS_ANY || inputs[i].zero == wanted);
    return ok;
}

/* Only LOAD makes tensors with padding of their own, and only CONV reads them, as its source. */
static bool paddings_ok(const mona_op_class *class, const mona_shape *inputs, uint32_t count,
                        const mona_shape *output)
{
    bool ok = !mona_is_padded(output->padding) || class->run->reads_planes;
    for (uint32_t i = 0; i < count; i++)
        ok = ok && (!mona_is_padded(inputs[i].padding) || (class->has_filter && i == 0));
    return ok;
}

static mona_status check_op(const mona_model *m, const mona_file_op *op, mona_data *data)
{
    if (op->kind >= MONA_OP_COUNT || !mona_ops[op->kind])
        return MONA_ERR_UNSUPPORTED;
    const mona_op_class *class = mona_ops[op->kind];
    mona_shape inputs[MONA_OP_MAX_INPUTS] = {{0}};
    if (op->name >= m->header->strings_bytes || op->input_count < class->min_inputs ||
        op->input_count > class->max_inputs || !writable(m, op, op->output))
        return MONA_ERR_MODEL;
    for (uint32_t i = 0; i < op->input_count; i++) {
        const uint32_t t = op->inputs[i];
        if (t == MONA_NONE ? !constant_ok(op, i, data, &inputs[i]) : !readable(m, op, t))
            return MONA_ERR_MODEL;
        if (t != MONA_NONE)
            inputs[i] = mona_model_shape(&m->tensors[t]);
    }
    const mona_shape output = mona_model_shape(&m->tensors[op->output]);
    return zeros_ok(class, inputs, op->input_count, &output) &&
                   paddings_ok(class, inputs, op->input_count, &output)
               ? class->check(op, inputs, &output, data)
               : MONA_ERR_MODEL;
}

/* Tensors whose order is checked at once: as many as a small stack holds a bit of. */
enum { WINDOW = 8192 };

typedef struct tensor_window {
    uint32_t first, end;
    uint8_t written[WINDOW / 8];
} tensor_window;

static bool in_window(const tensor_window *w, uint32_t tensor)
{
    return tensor >= w->first && tensor < w->end;
}

/* Whether the tensor has been written; true for those outside of the window. */
static bool is_written(const tensor_window *w, uint32_t tensor)
{
    const uint32_t i = tensor - w->first;
    return !in_window(w, tensor) || w->written[i / 8] >> i % 8 & 1;
}

static void set_written(tensor_window *w, uint32_t tensor)
{
    const uint32_t i = tensor - w->first;
    if (in_window(w, tensor))
        w->written[i / 8] |= (uint8_t)(1u << i % 8);
}

/* Whether each tensor of the window is an input, or is written once, and before it is read. */
static bool window_ok(const mona_model *m, tensor_window *w)
{
    const uint32_t count = m->header->tensor_count, inputs = m->header->input_count;
    for (uint32_t t = 0; t < inputs; t++)
        set_written(w, t);
    for (uint32_t o = 0; o < m->header->op_count; o++) {
        const mona_file_op *op = &m->ops[o];
        for (uint32_t i = 0; i < op->input_count && i < MONA_OP_MAX_INPUTS; i++) {
            const uint32_t t = op->inputs[i];
            if (t != MONA_NONE && (t >= count || !is_written(w, t)))
                return false;
        }
        if (op->output >= count || (in_window(w, op->output) && is_written(w, op->output)))
            return false;
        set_written(w, op->output);
    }
    for (uint32_t t = w->first; t < w->end; t++)
        if (!is_written(w, t))
            return false;
    return true;
}

static bool order_ok(const mona_model *m)
{
    const uint32_t count = m->header->tensor_count;
    for (uint32_t first = 0; first < count; first += WINDOW) {
        tensor_window w = {.first = first, .end = min_u32(first + WINDOW, count)};
        if (!window_ok(m, &w))
            return false;
    }
    return true;
}

mona_status mona_model_check(const mona_model *m, mona_data *data)
{
    data->bytes = m->data;
    data->size = m->header->data_bytes;
    data->kernels = m->kernels;
    for (uint32_t i = 0; i < m->header->tensor_count; i++)
        if (!tensor_ok(m, i, data))
            return MONA_ERR_MODEL;
    if (!order_ok(m))
        return MONA_ERR_MODEL;
    for (uint32_t i = 0; i < m->header->op_count; i++) {
        const mona_status status = check_op(m, &m->ops[i], data);
        if (status)
            return data->left < 0 ? MONA_ERR_LIMIT : status;
    }
    return MONA_OK;
}

/* The sections that the header at this offset describes. */
static mona_model view_at(const uint8_t *file, uint64_t offset, const mona_kernel *const *kernels)
{
    const mona_file_header *h = (const mona_file_header *)(const void *)(file + offset);
    return (mona_model){
        .header = h,
        .tensors = (const mona_file_tensor *)(const void *)(file + h->tensors_offset),
        .ops = (const mona_file_op *)(const void *)(file + h->ops_offset),
        .strings = (const char *)file + h->strings_offset,
        .data = file + h->data_offset,
        .file = file,
        .kernels = kernels,
    };
}

/* Sizes may share records, and records may share data. For opening to take time proportional to the
 * file, all records together may refer to at most this many bytes for each of its bytes, and a
 * small file to more. */
enum { REFERENCES_PER_BYTE = 256, REFERENCES_BASE = 64 << 20 };

/* Bytes of the records of a size, and of the names that are compared with those of the first size.
 * Names weigh more, as comparing letters takes several times as long as reading a table. */
static int64_t record_bytes(const mona_file_header *h)
{
    return (int64_t)(h->tensor_count * sizeof(mona_file_tensor) +
                     h->op_count * sizeof(mona_file_op) +
                     h->program_count * sizeof(mona_file_program) +
                     (h->input_count + h->output_count) * h->strings_bytes * 8);
}

/* Checks the whole model for one size. */
static mona_status check_size(const uint8_t *file, uint64_t offset, mona_data *data)
{
    const mona_file_header *h = (const mona_file_header *)(const void *)(file + offset);
    const mona_status status = check_header(h, file);
    if (status)
        return status;
    data->left -= record_bytes(h);
    if (data->left < 0)
        return MONA_ERR_LIMIT;
    const mona_model m = view_at(file, offset, data->kernels);
    if (m.strings[h->strings_bytes - 1] || m.strings[0])
        return MONA_ERR_MODEL;
    return mona_model_check(&m, data);
}

/* Whether a header may lie where the one at `at` says the next one is. It must be further on, so
 * that the list ends. */
static bool next_ok(const uint8_t *file, uint64_t at)
{
    const mona_file_header *first = (const mona_file_header *)(const void *)file;
    const mona_file_header *h = (const mona_file_header *)(const void *)(file + at);
    const uint64_t next = h->next;
    if (next <= at || !section_ok(next, 1, sizeof *h, first->file_bytes))
        return false;
    h = (const mona_file_header *)(const void *)(file + next);
    return !memcmp(h->magic, first->magic, sizeof h->magic) && h->version == first->version &&
           h->file_bytes == first->file_bytes && !h->crc32;
}

/* Whether the inputs and outputs of the model for another size equal those of the first except in
 * height and width. Callers make room for them after looking at the first. */
static bool same_interface(const mona_model *a, const mona_model *b)
{
    if (a->header->input_count != b->header->input_count ||
        a->header->output_count != b->header->output_count)
        return false;
    bool same = true;
    for (uint32_t i = 0; i < a->header->input_count + a->header->output_count && same; i++) {
        const mona_file_tensor *t = &a->tensors[i], *u = &b->tensors[i];
        same = mona_names_equal(a->strings + t->name, b->strings + u->name) && t->type == u->type &&
               t->scale == u->scale && t->array == u->array &&
               (t->array || t->channels == u->channels);
    }
    return same;
}

/* Opens a model that may call data->kernels. */
static mona_status open_with(mona_model *model, const void *bytes, size_t size, mona_data *data)
{
    if (!model || !bytes || (uintptr_t)bytes % MONA_ALIGNMENT)
        return MONA_ERR_ARGUMENT;
    const mona_file_header *h = bytes;
    const uint8_t *file = bytes;
    data->left = (int64_t)size * REFERENCES_PER_BYTE + REFERENCES_BASE;
    mona_status status = check_file(h, size);
    if (!status)
        status = check_size(file, 0, data);
    for (uint64_t at = 0; !status && h->next;) {
        status = next_ok(file, at) ? check_size(file, h->next, data) : MONA_ERR_MODEL;
        if (status)
            return status;
        at = h->next;
        const mona_model first = view_at(file, 0, NULL), other = view_at(file, at, NULL);
        status = same_interface(&first, &other) ? MONA_OK : MONA_ERR_MODEL;
        h = other.header;
    }
    if (!status)
        *model = view_at(file, 0, data->kernels);
    return status;
}

mona_status mona_model_open(mona_model *model, const void *bytes, size_t size)
{
    mona_data data = {0};
    return open_with(model, bytes, size, &data);
}

const char *mona_model_missing_kernel(const void *bytes, size_t size,
                                      const mona_kernel *const *kernels)
{
    mona_model model;
    mona_data data = {.kernels = kernels};
    return open_with(&model, bytes, size, &data) == MONA_ERR_KERNEL ? data.missing : NULL;
}

bool mona_model_next(const mona_model *model, mona_model *next)
{
    const bool more = model->header->next;
    if (more)
        *next = view_at(model->file, model->header->next, model->kernels);
    return more;
}

const mona_file_program *mona_model_programs(const mona_model *model, uint32_t *count)
{
    const mona_file_header *h = model->header;
    *count = h->program_count;
    return *count ? (const mona_file_program *)(const void *)(model->file + h->programs_offset)
                  : NULL; /* a deepened model has no file */
}

unsigned mona_model_input_count(const mona_model *model)
{
    return model->header->input_count;
}

unsigned mona_model_output_count(const mona_model *model)
{
    return model->header->output_count;
}

static mona_tensor_info info_of(const mona_model *m, uint32_t index)
{
    const mona_file_tensor *t = &m->tensors[index];
    const bool shaped = t->array && t->shape.rank && m->data;
    return (mona_tensor_info){
        .name = m->strings + t->name,
        .type = (mona_type)t->type,
        .channels = t->channels,
        .height = t->height,
        .width = t->width,
        .scale = t->scale,
        .array = t->array,
        .rank = shaped ? t->shape.rank : 0,
        .dims = shaped ? (const uint32_t *)(const void *)(m->data + t->shape.dims) : NULL,
    };
}

mona_tensor_info mona_model_input(const mona_model *model, unsigned index)
{
    return info_of(model, index);
}

mona_tensor_info mona_model_output(const mona_model *model, unsigned index)
{
    return info_of(model, model->header->input_count + index);
}

uint32_t mona_model_release(const mona_model *model)
{
    return ((const mona_file_header *)(const void *)model->file)->release;
}

mona_status mona_model_open_guarded(mona_model *model, const void *bytes, size_t size,
                                    const mona_guard *guard)
{
    mona_model opened;
    if (!model || !guard)
        return MONA_ERR_ARGUMENT;
    if (guard->genuine && !guard->genuine(guard->context, bytes, size))
        return MONA_ERR_SIGNATURE;
    mona_data data = {.kernels = guard->kernels};
    const mona_status status = open_with(&opened, bytes, size, &data);
    if (status)
        return status;
    if (mona_model_release(&opened) < guard->release)
        return MONA_ERR_RELEASE;
    *model = opened;
    return MONA_OK;
}
