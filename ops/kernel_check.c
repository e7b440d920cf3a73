// SPDX-License-Identifier: Apache-2.0
/* What is proved of a kernel of the application's and of records that call one, on arrays or on
 * maps. */
#include "engine/libc.h"
#include "ops/helpers.h"

static bool table_sound(const mona_kernel_operand *o)
{
    return o->elements && o->elements <= MONA_ARRAY_MAX_ELEMENTS && !o->cell_rows &&
           !o->cell_columns && !o->around_rows && !o->around_columns;
}

static bool planes_sound(const mona_kernel_operand *o, bool input)
{
    return o->planes <= MONA_KERNEL_ROWS && !o->elements && o->cell_rows && o->cell_columns &&
           o->cell_rows <= MONA_KERNEL_CELL && o->cell_columns <= MONA_KERNEL_CELL &&
           (input ? o->around_rows <= MONA_KERNEL_AROUND && o->around_columns <= MONA_KERNEL_AROUND
                  : !o->around_rows && !o->around_columns) &&
           mona_kernel_rows(o) <= MONA_KERNEL_ROWS;
}

bool mona_kernel_sound(const mona_kernel *k)
{
    uint32_t rows = 0;
    if (!k->row || !k->operands || !k->inputs || k->inputs > MONA_KERNEL_OPERANDS || !k->outputs ||
        k->outputs > MONA_KERNEL_OPERANDS)
        return false;
    for (uint32_t i = 0; i < k->inputs + k->outputs; i++) {
        const mona_kernel_operand *o = &k->operands[i];
        const bool input = i < k->inputs;
        if ((unsigned)o->type >= MONA_TYPE_COUNT ||
            !(o->planes ? planes_sound(o, input) : input && table_sound(o)))
            return false;
        rows += input ? mona_kernel_rows(o) : 0;
    }
    return rows <= MONA_KERNEL_ROWS;
}

static const mona_kernel *find(const mona_kernel *const *kernels, const char *name)
{
    for (; kernels && *kernels; kernels++)
        if ((*kernels)->name && mona_names_equal((*kernels)->name, name))
            return *kernels;
    return NULL;
}

static const char *name_of(const uint8_t *data, const mona_array_kernel *r)
{
    return (const char *)data + r->name;
}

mona_status mona_kernel_check(const mona_file_op *op, mona_data *data, const mona_kernel **kernel)
{
    if (!mona_data_ok(data, op->array.record, 1, sizeof(mona_array_kernel)))
        return MONA_ERR_MODEL;
    const mona_array_kernel *r = (const void *)(data->bytes + op->array.record);
    if (!r->name_bytes || r->name_bytes > MONA_KERNEL_NAME + 1 ||
        !mona_data_ok(data, r->name, r->name_bytes, 1) ||
        name_of(data->bytes, r)[r->name_bytes - 1])
        return MONA_ERR_MODEL;
    const mona_kernel *k = *kernel = find(data->kernels, name_of(data->bytes, r));
    if (!k) {
        data->missing = name_of(data->bytes, r);
        return MONA_ERR_KERNEL;
    }
    if (!mona_kernel_sound(k))
        return MONA_ERR_ARGUMENT;
    return op->input_count == k->inputs && r->output < k->outputs ? MONA_OK : MONA_ERR_MODEL;
}

const mona_kernel *mona_kernel_of(const mona_model *model, const mona_file_op *op)
{
    return find(model->kernels,
                name_of(model->data,
                        (const mona_array_kernel *)(const void *)(model->data + op->array.record)));
}
