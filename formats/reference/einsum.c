// SPDX-License-Identifier: Apache-2.0
/* Einsum of one or two operands, without ellipsis and diagonals. */

#include <inttypes.h>
#include <string.h>

#include "formats/reference/operators.h"

enum { LONGEST = 64 };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The number of a label, which is new if need be. */
static uint32_t label_of(op_equation *e, char letter)
{
    uint32_t l = 0;
    while (l < e->labels && e->letters[l] != letter)
        l++;
    if (l == e->labels) {
        e->axis[0][l] = e->axis[1][l] = -1;
        e->letters[e->labels++] = letter;
    }
    return l;
}

/* Without an arrow, the result has the labels that occur once, in alphabetical order. */
static void implied_result(const char *operands, char *result)
{
    for (int letter = 'A'; letter <= 'z'; letter++) {
        const char *first = is_letter((char)letter) ? strchr(operands, letter) : NULL;
        if (first && !strchr(first + 1, letter))
            *result++ = (char)letter;
    }
    *result = 0;
}

/* Splits the text, whose blanks mean nothing, at the arrow. */
static bool split(op_call *c, char *operands, char *result)
{
    const char *text = onnx_string(c->node, "equation", "");
    const char *arrow = strstr(text, "->");
    char *to = operands;
    if (strlen(text) >= LONGEST)
        return op_fail(c, "has an equation of %zu letters; supported: up to %d", strlen(text),
                       LONGEST - 1);
    for (const char *p = text; *p; p++) {
        if (p == arrow) {
            *to = 0;
            to = result;
            p++;
        } else if (is_letter(*p) || (*p == ',' && to != result && !(arrow && p > arrow))) {
            *to++ = *p;
        } else if (*p != ' ') {
            return op_fail(c, "has the equation '%.40s'; supported: letters, a comma and an arrow",
                           text);
        }
    }
    *to = 0;
    if (!arrow)
        implied_result(operands, result);
    return strlen(result) <= TENSOR_MAX_RANK ||
           op_fail(c, "makes a tensor of %zu dimensions; at most %d are supported", strlen(result),
                   TENSOR_MAX_RANK);
}

static bool read_operand(op_call *c, op_equation *e, const char *letters, size_t count)
{
    const tensor *x = op_in(c, e->operands);
    if (e->operands >= 2 || !x || x->rank != count)
        return op_fail(c, "has operand '%.*s', for which input %u has other dimensions", (int)count,
                       letters, e->operands);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t known = e->labels, l = label_of(e, letters[i]);
        if (e->axis[e->operands][l] >= 0)
            return op_fail(c, "takes a diagonal ('%c' twice in an operand), which is not supported",
                           letters[i]);
        const bool first = l == known || (e->axis[0][l] < 0 && e->axis[1][l] < 0);
        if (!first && e->dims[l] != x->dims[i])
            return op_fail(c, "has dimensions of %" PRId64 " and %" PRId64 " for '%c'", e->dims[l],
                           x->dims[i], letters[i]);
        e->dims[l] = x->dims[i];
        e->axis[e->operands][l] = (int)i;
    }
    e->operands++;
    return true;
}

bool op_equation_read(op_call *c, op_equation *e)
{
    char operands[LONGEST], result[LONGEST];
    *e = (op_equation){0};
    if (!split(c, operands, result))
        return false;
    for (const char *p = result; *p; p++)
        label_of(e, *p);
    e->rank = e->labels;
    if (e->rank != strlen(result))
        return op_fail(c, "has a label twice in its result");
    for (const char *p = operands;; p++) {
        const size_t count = strcspn(p, ",");
        if (!read_operand(c, e, p, count))
            return false;
        p += count;
        if (!*p)
            break;
    }
    for (uint32_t l = 0; l < e->rank; l++)
        if (e->axis[0][l] < 0 && e->axis[1][l] < 0)
            return op_fail(c, "has '%c' in its result and in no operand", e->letters[l]);
    return e->operands == c->in_count ||
           op_fail(c, "has %u inputs and an equation of %u", c->in_count, e->operands);
}

/* The position of an operand's element at these indices of all labels. */
static size_t place_of(const op_equation *e, uint32_t operand, const tensor *x, const int64_t *at)
{
    int64_t by_axis[TENSOR_MAX_RANK];
    size_t place = 0;
    for (uint32_t l = 0; l < e->labels; l++)
        if (e->axis[operand][l] >= 0)
            by_axis[e->axis[operand][l]] = at[l];
    for (uint32_t i = 0; i < x->rank; i++)
        place = place * (size_t)x->dims[i] + (size_t)by_axis[i];
    return place;
}

/* The next indices of labels [first, end). False: those were the last. */
static bool advance(const op_equation *e, uint32_t first, uint32_t end, int64_t *at)
{
    for (uint32_t l = end; l-- > first;) {
        if (++at[l] < e->dims[l])
            return true;
        at[l] = 0;
    }
    return false;
}

bool op_einsum(op_call *c)
{
    const tensor *x = op_in(c, 0), *y = op_in(c, 1);
    int64_t at[EINSUM_LABELS] = {0};
    op_equation e;
    if (y && y->type != x->type)
        return op_fail(c, "multiplies two types");
    if (!op_equation_read(c, &e) || !op_result(c, 0, x->type, e.rank, e.dims))
        return false;
    const bool empty = !x->count || (y && !y->count);
    for (size_t i = 0; i < c->out->count; i++) {
        double sum = 0;
        do {
            if (!empty)
                sum += tensor_number(x, place_of(&e, 0, x, at)) *
                       (y ? tensor_number(y, place_of(&e, 1, y, at)) : 1);
        } while (!empty && advance(&e, e.rank, e.labels, at));
        tensor_set_number(c->out, i, sum);
        advance(&e, 0, e.rank, at);
    }
    return true;
}
