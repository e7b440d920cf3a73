// SPDX-License-Identifier: Apache-2.0
/* NonMaxSuppression: of overlapping boxes, keeps those with the highest scores. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/reference/operators.h"

typedef struct candidate {
    double score, low[2], high[2];
    int64_t index;
} candidate;

/* Highest scores first, those that are NaN last; of equal ones the earlier. */
static int compare(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    const double p = isnan(x->score) ? -INFINITY : x->score;
    const double q = isnan(y->score) ? -INFINITY : y->score;
    const int above = (p > q) - (p < q);
    return above ? -above : (x->index > y->index) - (x->index < y->index);
}

static double area(const candidate *c)
{
    return (c->high[0] - c->low[0]) * (c->high[1] - c->low[1]);
}

static double overlap(const candidate *a, const candidate *b)
{
    double both = 1;
    for (int i = 0; i < 2; i++)
        both *= fmax(0, fmin(a->high[i], b->high[i]) - fmax(a->low[i], b->low[i]));
    return both > 0 ? both / (area(a) + area(b) - both) : 0;
}

/* Boxes are two opposite corners, or centre and size. */
static candidate read_candidate(const tensor *boxes, size_t box, bool centred)
{
    candidate c = {0};
    for (size_t i = 0; i < 2; i++) {
        const double a = tensor_number(boxes, box * 4 + i),
                     b = tensor_number(boxes, box * 4 + 2 + i);
        c.low[i] = centred ? a - b / 2 : fmin(a, b);
        c.high[i] = centred ? a + b / 2 : fmax(a, b);
    }
    return c;
}

/* Moves the boxes that are kept to the front. Returns how many, at most `max`. */
static size_t suppress(candidate *boxes, size_t count, size_t max, double threshold)
{
    size_t kept = 0;
    qsort(boxes, count, sizeof *boxes, compare);
    for (size_t i = 0; i < count && kept < max; i++) {
        bool keep = true;
        for (size_t k = 0; k < kept && keep; k++)
            keep = overlap(&boxes[i], &boxes[k]) <= threshold;
        if (keep)
            boxes[kept++] = boxes[i];
    }
    return kept;
}

static double number_of(const op_call *c, uint32_t i, double otherwise)
{
    const tensor *t = op_in(c, i);
    return t && t->count ? tensor_number(t, 0) : otherwise;
}

bool op_non_max_suppression(op_call *c)
{
    const tensor *boxes = op_in(c, 0), *scores = op_in(c, 1);
    if (boxes->rank != 3 || scores->rank != 3 || boxes->dims[2] != 4 ||
        boxes->dims[0] != scores->dims[0] || boxes->dims[1] != scores->dims[2])
        return op_fail(c, "has boxes or scores that are not [frames, boxes, 4] and [frames, "
                          "classes, boxes]");
    for (uint32_t i = 0; i < 5; i++)
        if (!op_known(c, i))
            return false;
    const size_t count = (size_t)boxes->dims[1], lists = count ? scores->count / count : 0;
    const double limit = fmax(0, number_of(c, 2, 0)), least = number_of(c, 4, -INFINITY);
    const size_t max = limit < (double)count ? (size_t)limit : count;
    const bool centred = onnx_int(c->node, "center_point_box", 0);
    candidate *list = op_scratch(c, count, sizeof *list);
    int64_t *found = op_scratch(c, lists * max, 3 * sizeof *found), total = 0;
    for (size_t l = 0; list && found && l < lists; l++) {
        const size_t classes = (size_t)scores->dims[1], frame = l / classes;
        size_t n = 0;
        for (size_t i = 0; i < count; i++) {
            list[n] = read_candidate(boxes, frame * count + i, centred);
            list[n].score = tensor_number(scores, l * count + i);
            list[n].index = (int64_t)i;
            n += list[n].score > least;
        }
        const size_t kept = suppress(list, n, max, number_of(c, 3, 0));
        for (size_t i = 0; i < kept; i++, total++) {
            found[3 * total] = (int64_t)frame;
            found[3 * total + 1] = (int64_t)(l % classes);
            found[3 * total + 2] = list[i].index;
        }
    }
    const int64_t dims[2] = {total, 3};
    if (!list || !found || !op_result(c, 0, ELEMENT_INT64, 2, dims))
        return false;
    memcpy(c->out->data, found, (size_t)total * 3 * sizeof *found);
    return true;
}
