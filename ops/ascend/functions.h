// SPDX-License-Identifier: Apache-2.0
/* The functions of engine/cpu/c/functions.h on the vector unit, which computes fp32. Private to
 * ops/.
 *
 * They take the same steps, recorded once, and give the same fp16 numbers, although the unit does
 * not divide: see vf_div in functions.c. */
#ifndef MONA_OPS_FUNCTIONS_H
#define MONA_OPS_FUNCTIONS_H

#include "ops/ascend/ub.h"
#include "ops/ascend/vectors.h"

#include "engine/model_format.h"

enum { FUNCTION_STEPS = 96, FUNCTION_UNIFORMS = 16 };

/* to = a op b, where op is an ac_vec2, or a op scalar, where it is AC_VEC2_COUNT + an ac_vecs.
 * Operands are buffers of UB, or FUNCTION_STEPS + the index of a uniform. */
typedef struct mona_function_step {
    uint8_t operation, to, a, b;
    float scalar;
} mona_function_step;

/* Of the number in buffer 0; the result is in buffer `result`. */
typedef struct mona_function {
    uint32_t count, buffers, uniforms, result; /* count 0: there is no function */
    mona_function_step step[FUNCTION_STEPS];
    uint32_t uniform[FUNCTION_UNIFORMS]; /* bits */
} mona_function;

/* Finds the steps of a function other than TABLE. alpha: of ELU. */
void mona_function_find(mona_function *found, mona_activation function, float alpha);

/* Finds those of mona_inverse_root() (engine/cpu/c/normalise.h). */
void mona_function_find_inverse_root(mona_function *found);

/* exp(x) as functions.h has it, and a / x, rounded right, for a in 2^-40..2^40 and x in
 * 2^-20..2^20. */
void mona_function_find_exponential(mona_function *found);
void mona_function_find_quotient(mona_function *found, float a);

/* Bytes of UB for the uniforms, and for working on `count` numbers. */
size_t mona_function_uniform_bytes(const mona_function *f);
size_t mona_function_work_bytes(const mona_function *f, uint32_t count);
/* Writes the uniforms: to constants, from where they are to be copied, and returns what is behind
 * them; or, if none is denormal as a number of fp32, to UB. */
void *mona_function_put_uniforms(const mona_function *f, void *to);
void mona_function_begin(ac_core *core, const mona_function *f, ac_address uniforms);
/* Of the numbers of fp32 in buffer 0, where `work` begins, no more than mona_function_work_bytes()
 * allows. Returns where the results are. */
ac_address mona_function_run(ac_core *core, const mona_function *f, ac_address uniforms,
                             ac_address work, uint32_t count);
/* x = f16(function(x)) for `count` numbers of fp16. */
void mona_function_apply(ac_core *core, const mona_function *f, ac_address uniforms,
                         ac_address work, ac_address x, uint32_t count);

#endif
