// SPDX-License-Identifier: Apache-2.0
/* Operators one after another, each reading values that came before: nothing that anyone designed,
 * but everything legal. */
#include "tests/judges/networks/net.h"

/* Keeps a value for later readers. */
static void keep(net *n, int *pool, int *count, int max, int value)
{
    if (value == NONE)
        return;
    if (*count < max)
        pool[(*count)++] = value;
    else
        pool[pick(n, (uint32_t)max)] = value;
}

/* Another value of the pool with the shape of x, or one that broadcasts to it; NONE: there is
 * none. */
static int partner(net *n, const int *pool, int count, int x)
{
    const shape s = shape_of(n, x);
    for (int tries = 0; tries < 6; tries++) {
        const int other = pool[pick(n, (uint32_t)count)];
        const shape o = shape_of(n, other);
        bool fits = other != x && o.rank == s.rank && o.type == s.type;
        for (uint32_t i = 0; fits && i < s.rank; i++)
            fits = o.dims[i] == s.dims[i] || o.dims[i] == 1;
        if (fits)
            return other;
    }
    return NONE;
}

static int concat_some(net *n, const int *pool, int count, int x)
{
    const shape s = shape_of(n, x);
    const uint32_t axis = once_in(n, 4) && s.rank > 1 ? 1 + pick(n, s.rank - 1) : 1;
    int inputs[4] = {x}, found = 1;
    for (int tries = 0; tries < 8 && found < 4; tries++) {
        const int other = pool[pick(n, (uint32_t)count)];
        const shape o = shape_of(n, other);
        bool fits = o.rank == s.rank && o.type == s.type;
        for (uint32_t i = 0; fits && i < s.rank; i++)
            fits = i == axis || o.dims[i] == s.dims[i];
        if (fits)
            inputs[found++] = other;
        if (found > 1 && once_in(n, 2))
            break;
    }
    if (axis >= s.rank)
        return NONE;
    return net_concat(n, once_in(n, 4) ? (int64_t)axis - s.rank : (int64_t)axis, found, inputs);
}

static int split_some(net *n, int x, int *pool, int *count, int max)
{
    const shape s = shape_of(n, x);
    const uint32_t axis = s.rank > 2 && !n->open && once_in(n, 5) ? 2 : 1;
    int64_t sizes[3], left = s.rank > axis ? s.dims[axis] : 0;
    int made[3] = {NONE, NONE, NONE}, parts = 2 + (int)pick(n, 2);
    if (left < parts)
        return NONE;
    for (int i = 0; i < parts; i++) {
        const int64_t most = left - (parts - 1 - i);
        sizes[i] = i + 1 == parts ? left : 1 + (int64_t)pick(n, (uint32_t)most);
        left -= sizes[i];
    }
    if (once_in(n, 2) && s.dims[axis] % parts == 0)
        for (int i = 0; i < parts; i++)
            sizes[i] = s.dims[axis] / parts;
    if (!net_split(n, x, axis, parts, sizes, made))
        return NONE;
    for (int i = 1; i < parts; i++)
        keep(n, pool, count, max, made[i]);
    return made[0];
}

static int gather_channels(net *n, int x)
{
    const shape s = shape_of(n, x);
    int64_t list[6];
    const uint32_t count = 1 + pick(n, 6), axis = 1 % s.rank;
    for (uint32_t i = 0; i < count; i++)
        list[i] = (int64_t)pick(n, (uint32_t)s.dims[axis]) - (once_in(n, 4) ? s.dims[axis] : 0);
    shape y = s;
    y.dims[axis] = count;
    const int made = AS_NODE(n, "Gather", y, x, net_ints(n, list, count));
    if (made != NONE)
        set_int(n, "axis", axis);
    return made;
}

static int tile_or_expand(net *n, int x)
{
    const shape s = shape_of(n, x);
    shape y = s;
    int64_t list[NET_RANK];
    const bool tile = once_in(n, 2);
    for (uint32_t i = 0; i < s.rank; i++) {
        list[i] = tile ? 1 + (int64_t)(i > 0 && once_in(n, 3)) : s.dims[i];
        if (!tile && s.dims[i] == 1 && i)
            list[i] = 1 + (int64_t)pick(n, 3);
        y.dims[i] = tile ? s.dims[i] * list[i] : list[i];
    }
    return AS_NODE(n, tile ? "Tile" : "Expand", y, x, net_ints(n, list, s.rank));
}

/* Where(x > 0.3, x, other) */
static int select_some(net *n, int x, int other)
{
    shape s = shape_of(n, x);
    const char *test = ONE_OF(n, char *, "Greater", "Less");
    s.type = T_BOOL;
    const int which = AS_NODE(n, test, s, x, net_float(n, 0.3));
    if (other == NONE)
        other = net_float(n, -0.5);
    return AS_NODE(n, "Where", shape_of(n, x), which, x, other);
}

static int transpose_some(net *n, int x)
{
    const shape s = shape_of(n, x);
    int64_t perm[NET_RANK] = {0, 1, 2, 3, 4, 5};
    if (s.rank == 4 && once_in(n, 2)) { /* an island of channels last */
        const int there = net_transpose(n, x, (int64_t[]){0, 2, 3, 1});
        int inside = once_in(n, 2) ? net_function_random(n, there) : there;
        if (once_in(n, 2) && inside != NONE)
            inside = net_binary(n, "Add", inside,
                                net_floats(n, shape_make(n->type, 1, (int)s.dims[1]), 0, 1));
        return net_transpose(n, inside, (int64_t[]){0, 3, 1, 2});
    }
    for (uint32_t i = 1; i + 1 < s.rank; i++) {
        const uint32_t k = i + pick(n, s.rank - i);
        const int64_t t = perm[i];
        perm[i] = perm[k], perm[k] = t;
    }
    return net_transpose(n, x, perm);
}

/* The same numbers in another shape. */
static int reshape_some(net *n, int x)
{
    const shape s = shape_of(n, x);
    int64_t dims[NET_RANK] = {0};
    if (s.rank < 2)
        return NONE;
    switch (pick(n, 5)) {
    case 0:
        return net_reshape(n, x, 2, (int64_t[]){s.dims[0], -1});
    case 1:
        if (s.rank < 4)
            return NONE;
        return net_reshape(n, x, 3, (int64_t[]){s.dims[0], s.dims[1], -1});
    case 2: { /* one side in two */
        if (s.rank >= NET_RANK)
            return NONE;
        const uint32_t axis = 1 + pick(n, s.rank - 1);
        int64_t d = s.dims[axis] % 2 ? s.dims[axis] % 3 ? 1 : 3 : 2;
        for (uint32_t i = 0, k = 0; i < s.rank; i++) {
            dims[k++] = i == axis ? d : s.dims[i];
            if (i == axis)
                dims[k++] = s.dims[i] / d;
        }
        return net_reshape(n, x, s.rank + 1, dims);
    }
    case 3: { /* two sides in one */
        if (s.rank < 3)
            return NONE;
        const uint32_t axis = 1 + pick(n, s.rank - 2);
        for (uint32_t i = 0, k = 0; i < s.rank; i++)
            if (i == axis)
                dims[k++] = s.dims[i] * s.dims[i + 1], i++;
            else
                dims[k++] = s.dims[i];
        return net_reshape(n, x, s.rank - 1, dims);
    }
    default: {
        const int64_t axis = (int64_t)pick(n, s.rank);
        for (uint32_t i = 1; i < s.rank; i++)
            if (s.dims[i] == 1)
                return net_squeeze(n, x, false, &(int64_t){i}, 1);
        return net_squeeze(n, x, true, &axis, 1);
    }
    }
}

/* Shapes computed by the network itself, as PyTorch exports x.view(n, -1, h, w). */
static int reshape_computed(net *n, int x)
{
    const shape s = shape_of(n, x);
    const int dims = AS_NODE(n, "Shape", shape_make(T_S64, 1, (int)s.rank), x);
    int sides[NET_RANK];
    for (uint32_t i = 0; i < s.rank; i++) {
        int side = AS_NODE(n, "Gather", shape_make(T_S64, 0), dims, net_int(n, i));
        if (side == NONE)
            return NONE;
        set_int(n, "axis", 0);
        sides[i] = net_squeeze(n, side, true, &(int64_t){0}, 1);
    }
    if (s.rank < 3)
        return NONE;
    /* [n, c, h * w] */
    int area = AS_NODE(n, "Mul", shape_make(T_S64, 1, 1), sides[1], sides[2]);
    const int list[3] = {sides[0], area, s.rank == 3 ? net_ints(n, (int64_t[]){1}, 1) : sides[3]};
    const int target = net_concat(n, 0, 3, list);
    const shape y = shape_make(s.type, 3, (int)s.dims[0], (int)(s.dims[1] * s.dims[2]),
                               s.rank == 3 ? 1 : (int)s.dims[3]);
    return s.rank > 4 ? NONE : AS_NODE(n, "Reshape", y, x, target);
}

static int one_step(net *n, int *pool, int *count, int max, int x)
{
    const shape s = shape_of(n, x);
    const int other = partner(n, pool, *count, x);
    const bool map = s.rank == 4;
    switch (pick(n, map ? 34 : 18)) {
    case 0:
    case 1:
        return net_function_random(n, x);
    case 2:
    case 3:
        return net_binary_random(n, x, other);
    case 4:
        return net_binary_random(n, x, NONE);
    case 5:
        return concat_some(n, pool, *count, x);
    case 6:
        return split_some(n, x, pool, count, max);
    case 7:
        return net_slice_random(n, x);
    case 8:
        return n->open ? NONE : transpose_some(n, x);
    case 9:
        return n->open ? NONE : reshape_some(n, x);
    case 10:
        return net_reduce_random(n, x);
    case 11:
        return once_in(n, 2) ? gather_channels(n, x) : n->open ? NONE : tile_or_expand(n, x);
    case 12:
        return once_in(n, 2) && s.rank > 1 ? net_softmax(n, x, 1 + (int64_t)pick(n, s.rank - 1))
                                           : select_some(n, x, other);
    case 13:
        return once_in(n, 3) && !n->open ? reshape_computed(n, x) : net_activation(n, x);
    case 14:
        return map ? net_conv_random(n, x) : net_layer_norm(n, x);
    case 15:
        return map ? net_conv_random(n, x) : net_linear(n, x, 1 + pick(n, 12), once_in(n, 2));
    case 16:
    case 17:
        return map           ? net_conv_random(n, x)
               : s.rank == 2 ? net_gemm(n, x, 1 + pick(n, 12))
                             : net_linear(n, x, 1 + pick(n, 12), true);
    case 18:
    case 19:
        return net_pool_random(n, x);
    case 20:
        return net_deconv_random(n, x);
    case 21:
    case 22:
        return net_resize_random(n, x);
    case 23:
    case 24:
        return net_pad_random(n, x);
    case 25:
        return net_depth_to_space(n, x, 2, once_in(n, 2));
    case 26:
        return net_space_to_depth(n, x, 2);
    case 27:
        return net_norm_random(n, x);
    case 28:
        return net_shuffle_channels(n, x, 2);
    case 29:
        return net_binary_random(n, x, other);
    case 30:
        return net_activation(n, x);
    case 31:
        return net_depth_to_space(
            n, net_conv_same(n, x, 4 * (1 + pick(n, 4)), ONE_OF(n, int64_t, 1, 3)), 2,
            once_in(n, 2));
    default:
        return net_conv_random(n, x);
    }
}

int soup_step(net *n, int *pool, int *count, int max)
{
    /* Mostly what came last, so that networks are deep. */
    const int x = once_in(n, 3) ? pool[pick(n, (uint32_t)*count)] : pool[*count - 1];
    const int made = one_step(n, pool, count, max, x);
    keep(n, pool, count, max, made);
    return made;
}

enum { POOL = 12 };

static void run_steps(net *n, int *pool, int count, int steps)
{
    int made = 0;
    for (int tries = 0; made < steps && tries < 6 * steps; tries++)
        made += soup_step(n, pool, &count, POOL) != NONE;
    net_output(n, pool[count - 1]);
    if (once_in(n, 3))
        net_output(n, pool[pick(n, (uint32_t)count)]);
    if (once_in(n, 6))
        net_output(n, pool[pick(n, (uint32_t)count)]);
}

void make_soup(net *n)
{
    int pool[POOL], count = 0;
    n->open = once_in(n, 6);
    const int h = 2 + (int)pick(n, 20), w = 2 + (int)pick(n, 20);
    const int inputs = once_in(n, 4) ? 2 : 1, batch = n->batch;
    for (int i = 0; i < inputs; i++) {
        const bool other = i && !n->open && once_in(n, 3);
        const int c = ONE_OF(n, int, 1, 2, 3, 3, 4, 4, 8, 16, 17);
        pool[count++] = net_input(n, shape_make(n->type, 4, batch, c, other ? h + 1 : h, w));
    }
    run_steps(n, pool, count, 1 + (int)pick(n, once_in(n, 3) ? 12 : 5));
}

void make_array_soup(net *n)
{
    int pool[POOL], count = 0;
    const uint32_t rank = 2 + pick(n, 4);
    shape s = {n->type, rank, {1}};
    for (uint32_t i = 0; i < rank; i++)
        s.dims[i] = i || once_in(n, 3) ? 1 + (int64_t)pick(n, 9) : 1;
    pool[count++] = net_input(n, s);
    if (once_in(n, 3))
        pool[count++] = net_input(n, s);
    run_steps(n, pool, count, 1 + (int)pick(n, 6));
}
