// SPDX-License-Identifier: Apache-2.0
/* To count changed decisions would need very many inputs, since few change. But both causes of a
 * change can be measured on any input: how narrow the decision is, and how large the errors are. So
 * every decision is also tried with the errors of other decisions for the same class: errors depend
 * on the class, but not on how narrow a decision is. As even then only the narrowest decisions
 * count, errors are also enlarged by 2, 4 and 8: if margins near 0 are about equally frequent, this
 * changes 2, 4 and 8 times as many.
 *
 * The upper bound of each of these shares is mean + 1.645 deviations of the mean over decisions,
 * and the highest bound is used. If margins are not evenly frequent, or inputs are few, the result
 * is too high rather than too low. */
#include "apps/compile/accuracy.h"

#include <math.h>
#include <stdlib.h>

enum {
    MAX_PARTNERS = 64, /* decisions whose errors are tried on each one, its own included */
    ENLARGED = 4,      /* by 1, 2, 4, 8 */
};

#define ONE_SIDED 1.645 /* 95 % of a normal distribution lie below this many deviations */

static size_t highest(const float *scores, size_t classes)
{
    size_t best = 0;
    for (size_t c = 1; c < classes; c++)
        best = scores[c] > scores[best] ? c : best;
    return best;
}

/* The inverse of the factor by which these errors must be enlarged to change the decision. */
static double strain(const float *scores, const float *errors, size_t classes, size_t best)
{
    double max = 0;
    for (size_t c = 0; c < classes; c++) {
        const double gained = (double)errors[c] - (double)errors[best];
        if (gained > max * ((double)scores[best] - (double)scores[c]))
            max = gained / ((double)scores[best] - (double)scores[c]);
    }
    return max; /* infinite if two scores are equal */
}

/* Sums over decisions for each enlargement. */
typedef struct shares {
    double sums[ENLARGED], squares[ENLARGED];
    double changed; /* by their own errors */
} shares;

/* Adds decision i. */
static void try_decision(shares *s, const float *scores, const float *errors, size_t count,
                         size_t classes, const size_t *decided, size_t i)
{
    size_t flips[ENLARGED] = {0}, partners = 0;
    for (size_t k = 0; k < count && partners < MAX_PARTNERS; k++) {
        const size_t other = (i + k) % count;
        if (decided[other] != decided[i])
            continue;
        const double x =
            strain(scores + i * classes, errors + other * classes, classes, decided[i]);
        for (int e = 0; e < ENLARGED; e++)
            flips[e] += x * (1 << e) > 1;
        s->changed += k == 0 && x > 1;
        partners++;
    }
    for (int e = 0; e < ENLARGED; e++) {
        const double share = (double)flips[e] / (double)partners;
        s->sums[e] += share;
        s->squares[e] += share * share;
    }
}

bool top1_margin_changes(const float *scores, const float *errors, size_t count, size_t classes,
                         double *share)
{
    const double n = (double)count;
    shares s = {0};
    size_t *decided = malloc(count * sizeof *decided);
    if (!decided)
        return false;
    for (size_t i = 0; i < count; i++)
        decided[i] = highest(scores + i * classes, classes);
    for (size_t i = 0; i < count; i++)
        try_decision(&s, scores, errors, count, classes, decided, i);
    free(decided);
    *share = s.changed / n;
    for (int e = 0; e < ENLARGED; e++) {
        const double mean = s.sums[e] / n, variance = fmax(s.squares[e] / n - mean * mean, 0);
        *share = fmax(*share, (mean + ONE_SIDED * sqrt(variance / n)) / (1 << e));
    }
    *share = fmin(*share, 1);
    return true;
}
