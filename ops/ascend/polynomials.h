// SPDX-License-Identifier: Apache-2.0
/* A table of 256 bytes on the vector unit, which has no table look-up: polynomials in fp32. Private
 * to ops/.
 *
 * Polynomial k gives the table's results for indices from `begin` to `end`, rounded as HELD
 * (vectors.h) rounds. For any index x it is computed at min(max(x, begin), end), and its result at
 * `begin` is taken away, so that it adds nothing below `begin` and beyond `end` the table's
 * increase from `begin` to `end`. Between polynomials the table is level. So their sum is the
 * table's result, in integers that fp16 holds. Every one was compared with the table when it was
 * found, step by step in fp32. */
#ifndef MONA_OPS_POLYNOMIALS_H
#define MONA_OPS_POLYNOMIALS_H

#include "ops/ascend/ub.h"
#include "ops/ascend/vectors.h"

enum {
    TABLE_ENTRIES = 256,
    MAX_DEGREE = 12,
    MAX_POLYNOMIALS = TABLE_ENTRIES - 1,
    /* One of degree d spans d steps of the table or more. */
    MAX_COEFFICIENTS = 2 * MAX_POLYNOMIALS,
};

/* A polynomial of x - middle. Its result at `begin` is that of its rounded sum, less HELD. */
typedef struct mona_polynomial {
    uint8_t begin, end, middle, degree;
} mona_polynomial;

typedef struct mona_polynomials {
    uint32_t count;
    float start; /* HELD + table[0] */
    mona_polynomial at[MAX_POLYNOMIALS];
    float coefficients[MAX_COEFFICIENTS]; /* of one after another, that of 1 first */
} mona_polynomials;

/* Finds those that take the fewest instructions. type: of the table's results, U8 or S8. */
void mona_polynomials_find(mona_polynomials *found, const uint8_t table[TABLE_ENTRIES],
                           mona_type type);

/* Bytes of UB for the bounds of all polynomials, and for working on `count` numbers. */
size_t mona_polynomials_bound_bytes(const mona_polynomials *p);
size_t mona_polynomials_work_bytes(uint32_t count);
/* Writes the bounds. */
void mona_polynomials_begin(ac_core *core, const mona_polynomials *p, ac_address bounds);

/* x = table[saturate(round_half_even(x)) as U8] for `count` numbers of fp16. */
void mona_polynomials_apply(ac_core *core, const mona_polynomials *p, ac_address bounds,
                            ac_address work, ac_address x, uint32_t count);

#endif
