// SPDX-License-Identifier: Apache-2.0
/* Operators that move elements. The reference runs on the elements' numbers instead of their
 * values, which shows where each element comes from. */
#include "formats/compiler/import/array.h"

#include <stdlib.h>
#include <string.h>

#include "formats/reference/execute.h"

/* A tensor with the numbers `before` + 1, + 2, ... in t's shape. */
static bool number_elements(tensor *numbers, const tensor *t, size_t before)
{
    if (!tensor_make(numbers, ELEMENT_INT64, t->rank, t->dims))
        return false;
    for (size_t i = 0; i < t->count; i++)
        ((int64_t *)numbers->data)[i] = (int64_t)(before + i) + 1;
    return true;
}

/* Output i has the elements of x with these numbers; 0 stands for the fill. */
static bool bind_moved(importer *im, uint32_t i, array x, const tensor *moved, uint64_t fill)
{
    uint32_t *places = array_places(im, moved->count);
    for (size_t k = 0; places && k < moved->count; k++)
        places[k] = (uint32_t)((const int64_t *)moved->data)[k];
    return array_bind(im, i, array_pick(im, x, moved->rank, moved->dims, places, fill));
}

/* The value of elements that come from nowhere: input 2 of Pad, as bytes of x's type. */
static bool read_fill(importer *im, array x, uint64_t *fill)
{
    *fill = 0;
    if (!import_has(im, 2))
        return true;
    const tensor *t = array_in_tensor(im, 2);
    if (!t || !t->data || !t->count)
        return import_fail(im, "has a pad value that is computed or missing");
    const array number = array_is_float(x.type) ? array_number(im, x.type, tensor_number(t, 0))
                                                : array_number(im, x.type, 0);
    const int64_t integer = array_is_float(x.type) ? 0 : tensor_int(t, 0);
    if (!array_ok(number))
        return false;
    memcpy(fill, array_is_float(x.type) ? im->g->values[number.value].elements : &integer,
           mona_type_size(x.type));
    return true;
}

/* Runs the reference on the numbers of input 0's elements, and on `second` as input 2, or, if that
 * has no elements, as if there were none. The other inputs must be constant; second NULL: input 2,
 * too. */
static bool run_reference(importer *im, const tensor *numbers, const tensor *second, tensor *out)
{
    const tensor **in = calloc(im->node->input_count, sizeof *in);
    bool ok = in ? true : import_fail(im, "needs more memory than there is");
    for (uint32_t i = 1; ok && i < im->node->input_count; i++) {
        if (!import_has(im, i))
            continue;
        if (second && i == 2) {
            in[i] = second->count ? second : NULL;
            continue;
        }
        in[i] = &im->model->values[im->node->inputs[i]].tensor;
        if (!in[i]->data)
            ok = import_fail(im,
                             "takes input %u, '%.60s', from a computed value; expected a constant",
                             i, im->model->values[im->node->inputs[i]].name);
    }
    if (ok) {
        in[0] = numbers;
        ok = reference_node_run(im->model, im->node, in, false, out, im->error) == REFERENCE_DONE;
    }
    free(in);
    return ok;
}

/* A result that does not depend on the elements, such as Dropout's mask. */
static bool bind_constant(importer *im, uint32_t i, tensor *t)
{
    const array one = array_number(im, array_result_type(im, i), tensor_number(t, 0));
    array all = one;
    all.rank = t->rank;
    for (uint32_t k = 0; k < t->rank; k++) {
        all.dims[k] = t->dims[k];
        all.strides[k] = 0;
    }
    return array_bind(im, i, array_unary(im, one.type, MONA_FN_COPY, all));
}

/* The reference computes all results, whether they are needed or not. */
static bool worth_moving(importer *im, const tensor *x)
{
    bool ok = array_may_move(im, x->count);
    for (uint32_t i = 0; ok && i < im->node->output_count; i++)
        ok = !array_wants(im, i) ||
             (array_result(im, i) && array_may_move(im, array_result(im, i)->count));
    return ok;
}

/* What an index adds to a place may not depend on the other axes. Indices of several axes are
 * therefore one list: the result's axes from `axis` on, so many, become one. */
static void join_axes(tensor *t, uint32_t axis, uint32_t count)
{
    if (count < 2)
        return;
    t->dims[axis] = (int64_t)array_elements(count, t->dims + axis);
    t->rank -= count - 1;
    memmove(t->dims + axis + 1, t->dims + axis + count, (t->rank - axis - 1) * sizeof *t->dims);
}

/* pad: input 2 is the value of elements that come from nowhere. indices: of Gather, else NULL. */
static bool move(importer *im, bool pad, const tensor *indices)
{
    const tensor *t = array_in_tensor(im, 0);
    tensor numbers, *out = calloc(im->node->output_count + 1, sizeof *out);
    const array x = t ? array_in(im, 0) : array_none;
    uint64_t fill = 0;
    if (!array_ok(x) || !out || (pad && !read_fill(im, x, &fill)) || !worth_moving(im, t) ||
        !number_elements(&numbers, t, 0)) {
        free(out);
        return array_ok(x) && import_fail(im, "needs more memory than there is");
    }
    static const tensor nothing = {0};
    bool ok = run_reference(im, &numbers, pad ? &nothing : NULL, out);
    if (ok && indices)
        join_axes(&out[0], array_axis(im, x.rank, 0), indices->rank);
    for (uint32_t i = 0; ok && i < im->node->output_count; i++)
        if (array_wants(im, i) && out[i].count)
            ok = out[i].type == ELEMENT_INT64 ? bind_moved(im, i, x, &out[i], fill)
                                              : bind_constant(im, i, &out[i]);
    for (uint32_t i = 0; i < im->node->output_count; i++)
        tensor_free(&out[i]);
    tensor_free(&numbers);
    free(out);
    return ok;
}

/* ---- operators with more than one source -------------------------------------------------- */

bool import_array_concat(importer *im)
{
    const tensor *result = array_result(im, 0);
    if (!result)
        return false;
    array *parts = calloc(im->node->input_count, sizeof *parts);
    uint32_t count = 0;
    bool ok = parts ? true : import_fail(im, "needs more memory than there is");
    bool same = true;
    for (uint32_t i = 0; ok && i < im->node->input_count; i++) {
        const tensor *t = array_in_tensor(im, i);
        if (t && t->rank && !t->count)
            continue; /* nothing of it is in the result */
        parts[count] = t ? array_in(im, i) : array_none;
        ok = array_ok(parts[count]);
        same = same && parts[count].type == parts[0].type;
        count++;
    }
    for (uint32_t i = 0; ok && i < count; i++) /* maps are F16, constants F32 */
        parts[i] = same ? parts[i] : array_cast(im, array_result_type(im, 0), parts[i]);
    ok = ok &&
         (count ? array_bind(im, 0, array_concat(im, array_axis(im, result->rank, 1), count, parts))
                : import_fail(im, "makes an empty tensor"));
    free(parts);
    return ok;
}

/* The same elements in the same order. */
bool import_array_reshape(importer *im)
{
    return array_bind(im, 0, array_in(im, 0));
}

bool import_array_move(importer *im)
{
    return move(im, false, NULL);
}

bool import_array_pad(importer *im)
{
    return move(im, true, NULL);
}

bool import_array_gather(importer *im)
{
    const tensor *indices = array_in_tensor(im, 1);
    if (!indices || indices->data)
        return move(im, false, indices);
    const array x = array_in(im, 0);
    return array_ok(x) &&
           array_bind(im, 0, array_gather(im, x, array_axis(im, x.rank, 0), array_in(im, 1)));
}

/* Places that the reference finds among the elements of x and, behind them, the updates. */
static int32_t *scattered(importer *im, const tensor *x, const tensor *updates)
{
    tensor numbers = {0}, second = {0}, *out = calloc(im->node->output_count + 1, sizeof *out);
    int32_t *places = graph_alloc(im->g, x->count, sizeof *places);
    const bool ok = out && places && number_elements(&numbers, x, 0) &&
                    number_elements(&second, updates, x->count);
    if (!ok)
        import_fail(im, "needs more memory than there is");
    const bool found = ok && run_reference(im, &numbers, &second, out);
    for (size_t i = 0; found && i < x->count; i++)
        places[i] = (int32_t)(tensor_int(&out[0], i) - 1);
    if (out)
        tensor_free(&out[0]);
    tensor_free(&numbers);
    tensor_free(&second);
    free(out);
    return found ? places : NULL;
}

bool import_array_scatter(importer *im)
{
    const tensor *t = array_in_tensor(im, 0), *u = array_in_tensor(im, 2);
    if (!t || !u || !array_may_move(im, t->count + u->count))
        return false;
    int32_t *places = scattered(im, t, u);
    if (!places)
        return false;
    const mona_type type = array_result_type(im, 0);
    const int64_t counts[2] = {(int64_t)t->count, (int64_t)u->count};
    const array parts[2] = {array_view(im, array_cast(im, type, array_in(im, 0)), 1, &counts[0]),
                            array_view(im, array_cast(im, type, array_in(im, 2)), 1, &counts[1])};
    return array_ok(parts[0]) && array_ok(parts[1]) &&
           array_bind(im, 0,
                      array_gather(im, array_concat(im, 0, 2, parts), 0,
                                   array_constant(im, MONA_S32, 1, &counts[0], places)));
}
