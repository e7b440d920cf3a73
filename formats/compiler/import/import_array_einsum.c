// SPDX-License-Identifier: Apache-2.0
/* Einsum of arrays as one matrix product: labels of both operands that are kept are its batch,
 * those that are summed over its depth, and the others rows and columns. */
#include "formats/compiler/import/array.h"

#include "formats/reference/operators.h"

/* Labels of one kind, in the order of the result. */
typedef struct labels {
    uint32_t at[EINSUM_LABELS], count;
} labels;

/* Those that the first and the second operand have or do not have; kept: those of the result. */
static labels find(const op_equation *e, bool first, bool second, bool kept)
{
    labels found = {.count = 0};
    for (uint32_t l = 0; l < e->labels; l++)
        if ((e->axis[0][l] >= 0) == first && (e->axis[1][l] >= 0) == second &&
            (l < e->rank) == kept)
            found.at[found.count++] = l;
    return found;
}

static int64_t product(const op_equation *e, const labels *l)
{
    int64_t count = 1;
    for (uint32_t i = 0; i < l->count; i++)
        count *= e->dims[l->at[i]];
    return count;
}

/* Sums an operand over labels that it alone has and that are not kept. Their dimensions become
 * 1. */
static array sum_alone(importer *im, const op_equation *e, uint32_t operand, array x)
{
    const labels alone = find(e, !operand, operand, false);
    uint32_t mask = 0;
    for (uint32_t i = 0; i < alone.count; i++)
        mask |= 1u << e->axis[operand][alone.at[i]];
    return mask && array_ok(x) ? array_reduce(im, MONA_F32, MONA_REDUCE_SUM, x, mask) : x;
}

/* The operand as [batch..., rows, columns] of three kinds of labels; those that were summed come
 * last and have no effect. */
static array as_matrix(importer *im, const op_equation *e, uint32_t operand, array x,
                       const labels kinds[3])
{
    const labels alone = find(e, !operand, operand, false);
    uint32_t order[TENSOR_MAX_RANK], rank = 0, i;
    int64_t dims[TENSOR_MAX_RANK];
    if (!array_ok(x))
        return array_none;
    for (uint32_t k = 0; k < 3; k++)
        for (i = 0; i < kinds[k].count; i++)
            order[rank++] = (uint32_t)e->axis[operand][kinds[k].at[i]];
    for (i = 0; i < alone.count; i++)
        order[rank++] = (uint32_t)e->axis[operand][alone.at[i]];
    for (i = 0; i < kinds[0].count; i++)
        dims[i] = e->dims[kinds[0].at[i]];
    dims[i] = product(e, &kinds[1]);
    dims[i + 1] = product(e, &kinds[2]);
    return array_view(im, array_dense(im, array_permute(x, order)), i + 2, dims);
}

/* Orders dimensions, which are the labels of these kinds, as the result has them. */
static array in_order(importer *im, const op_equation *e, array x, const labels *kinds,
                      uint32_t count)
{
    uint32_t order[TENSOR_MAX_RANK], rank = 0;
    int64_t dims[TENSOR_MAX_RANK];
    if (!array_ok(x))
        return array_none;
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < kinds[k].count; i++) {
            order[kinds[k].at[i]] = rank;
            dims[rank++] = e->dims[kinds[k].at[i]];
        }
    return array_permute(array_view(im, array_dense(im, x), rank, dims), order);
}

bool import_array_einsum(importer *im)
{
    array x = array_in(im, 0), y = import_has(im, 1) ? array_in(im, 1) : array_none;
    op_equation e;
    if (!array_ok(x) || !op_equation_read(&im->call, &e))
        return false;
    if (e.operands == 2 && !array_ok(y))
        return false;
    const labels batch = find(&e, true, true, true), depth = find(&e, true, true, false);
    const labels rows = find(&e, true, false, true), columns = find(&e, false, true, true);
    if (batch.count > 6 || (e.operands == 2 && e.labels > TENSOR_MAX_RANK))
        return import_fail(im, "has too many labels");
    const labels left[3] = {batch, rows, depth}, right[3] = {batch, depth, columns};
    const labels made[3] = {batch, rows, columns};
    const mona_type type = array_result_type(im, 0);
    x = as_matrix(im, &e, 0, sum_alone(im, &e, 0, x), left);
    if (e.operands == 1)
        return array_bind(im, 0, array_cast(im, type, in_order(im, &e, x, &rows, 1)));
    y = as_matrix(im, &e, 1, sum_alone(im, &e, 1, y), right);
    return array_bind(im, 0, in_order(im, &e, array_matmul(im, type, x, y), made, 3));
}
