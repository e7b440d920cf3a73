// SPDX-License-Identifier: Apache-2.0
/* Operators that move elements. The reference runs on the elements' numbers instead of their
 * values, which shows where each element comes from. */
#include "formats/compiler/import/array.h"

#include <stdlib.h>
#include <string.h>

#include "formats/reference/execute.h"

/* A tensor with the numbers 1, 2, ... in t's shape. */
static bool number_elements(tensor *numbers, const tensor *t)
{
    if (!tensor_make(numbers, ELEMENT_INT64, t->rank, t->dims))
        return false;
    for (size_t i = 0; i < t->count; i++)
        ((int64_t *)numbers->data)[i] = (int64_t)i + 1;
    return true;
}

/* Output i has the elements of x with these numbers; 0 stands for the fill. */
static bool bind_moved(const array_maker *m, uint32_t i, array x, const tensor *moved,
                       uint64_t fill)
{
    uint32_t *places = malloc((moved->count + 1) * sizeof *places);
    if (!places)
        return array_ok(array_fail(m, "needs more memory than there is"));
    for (size_t k = 0; k < moved->count; k++)
        places[k] = (uint32_t)((const int64_t *)moved->data)[k];
    const bool ok = array_bind(m, i, array_pick(m, x, moved->rank, moved->dims, places, fill));
    free(places);
    return ok;
}

/* The value of elements that come from nowhere: input 2 of Pad, as bytes of x's type. */
static bool read_fill(const array_maker *m, array x, uint64_t *fill)
{
    *fill = 0;
    if (strcmp(m->node->op_type, "Pad") || !import_has(m->node, 2))
        return true;
    const tensor *t = array_in_tensor(m, 2);
    if (!t || !t->data || !t->count)
        return array_ok(array_fail(m, "has a pad value that is computed or missing"));
    const array number = array_is_float(x.type) ? array_number(m, x.type, tensor_number(t, 0))
                                                : array_number(m, x.type, 0);
    const int64_t integer = array_is_float(x.type) ? 0 : tensor_int(t, 0);
    if (!array_ok(number))
        return false;
    memcpy(fill, array_is_float(x.type) ? m->im->g->values[number.value].elements : &integer,
           mona_type_size(x.type));
    return true;
}

/* Runs the reference on the numbers of input 0's elements; the other inputs must be constant. */
static bool run_reference(const array_maker *m, const tensor *numbers, tensor *out)
{
    const onnx_node *node = m->node;
    const tensor **in = calloc(node->input_count, sizeof *in);
    const bool pad = !strcmp(node->op_type, "Pad");
    bool ok = in ? true : array_ok(array_fail(m, "needs more memory than there is"));
    for (uint32_t i = 1; ok && i < node->input_count; i++) {
        if (!import_has(node, i) || (pad && i == 2))
            continue;
        in[i] = &m->im->model->values[node->inputs[i]].tensor;
        if (!in[i]->data)
            ok = array_ok(array_fail(m,
                                     "takes input %u, '%.60s', from a computed value; expected "
                                     "a constant",
                                     i, m->im->model->values[node->inputs[i]].name));
    }
    if (ok) {
        in[0] = numbers;
        ok = reference_node_run(m->im->model, node, in, false, out, m->im->error) == REFERENCE_DONE;
    }
    free(in);
    return ok;
}

/* A result that does not depend on the elements, such as Dropout's mask. */
static bool bind_constant(const array_maker *m, uint32_t i, tensor *t)
{
    const array one = array_number(m, array_result_type(m, i), tensor_number(t, 0));
    const array_function copy = {.code = MONA_FN_COPY, .arithmetic = MONA_INT};
    array all = one;
    all.rank = t->rank;
    for (uint32_t k = 0; k < t->rank; k++) {
        all.dims[k] = t->dims[k];
        all.strides[k] = 0;
    }
    return array_bind(m, i, array_map(m, one.type, &copy, 1, &all));
}

/* The reference computes all results, whether they are needed or not. */
static bool worth_moving(const array_maker *m, const tensor *x)
{
    bool ok = array_may_move(m, x->count);
    for (uint32_t i = 0; ok && i < m->node->output_count; i++)
        ok = !array_wants(m, i) ||
             (array_result(m, i) && array_may_move(m, array_result(m, i)->count));
    return ok;
}

static bool move(const array_maker *m)
{
    const tensor *t = array_in_tensor(m, 0);
    tensor numbers, *out = calloc(m->node->output_count + 1, sizeof *out);
    const array x = t ? array_in(m, 0) : array_none;
    uint64_t fill;
    if (!array_ok(x) || !out || !read_fill(m, x, &fill) || !worth_moving(m, t) ||
        !number_elements(&numbers, t)) {
        free(out);
        return array_ok(x) && array_ok(array_fail(m, "needs more memory than there is"));
    }
    bool ok = run_reference(m, &numbers, out);
    for (uint32_t i = 0; ok && i < m->node->output_count; i++)
        if (array_wants(m, i) && out[i].count)
            ok = out[i].type == ELEMENT_INT64 ? bind_moved(m, i, x, &out[i], fill)
                                              : bind_constant(m, i, &out[i]);
    for (uint32_t i = 0; i < m->node->output_count; i++)
        tensor_free(&out[i]);
    tensor_free(&numbers);
    free(out);
    return ok;
}

/* ---- operators with more than one source -------------------------------------------------- */

static bool concat(const array_maker *m)
{
    const tensor *result = array_result(m, 0);
    const int64_t axis = onnx_int(m->node, "axis", 1);
    if (!result)
        return false;
    array *parts = calloc(m->node->input_count, sizeof *parts);
    uint32_t count = 0;
    bool ok = parts ? true : array_ok(array_fail(m, "needs more memory than there is"));
    bool same = true;
    for (uint32_t i = 0; ok && i < m->node->input_count; i++) {
        const tensor *t = array_in_tensor(m, i);
        if (t && t->rank && !t->count)
            continue; /* nothing of it is in the result */
        parts[count] = t ? array_in(m, i) : array_none;
        ok = array_ok(parts[count]);
        same = same && parts[count].type == parts[0].type;
        count++;
    }
    for (uint32_t i = 0; ok && i < count; i++) /* maps are F16, constants F32 */
        parts[i] = same ? parts[i] : array_cast(m, array_result_type(m, 0), parts[i]);
    ok =
        ok && (count ? array_bind(m, 0,
                                  array_concat(m, (uint32_t)(axis < 0 ? axis + result->rank : axis),
                                               count, parts))
                     : array_ok(array_fail(m, "makes an empty tensor")));
    free(parts);
    return ok;
}

static bool gather(const array_maker *m)
{
    const array x = array_in(m, 0);
    const int64_t axis = onnx_int(m->node, "axis", 0);
    return array_ok(x) && array_bind(m, 0,
                                     array_gather(m, x, (uint32_t)(axis < 0 ? axis + x.rank : axis),
                                                  array_in(m, 1)));
}

/* The same elements in the same order. */
bool import_array_reshape(importer *im, const onnx_node *node)
{
    const array_maker m = {im, node};
    return array_bind(&m, 0, array_in(&m, 0));
}

bool import_array_move(importer *im, const onnx_node *node)
{
    const array_maker m = {im, node};
    if (!strcmp(node->op_type, "Concat"))
        return concat(&m);
    if (!strcmp(node->op_type, "Gather") && array_in_tensor(&m, 1) && !array_in_tensor(&m, 1)->data)
        return gather(&m);
    return move(&m);
}
