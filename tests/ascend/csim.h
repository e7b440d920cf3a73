// SPDX-License-Identifier: Apache-2.0
/* An instruction by the simulator of AI Cores inside AKG. */
#ifndef MONA_CSIM_H
#define MONA_CSIM_H

#include <stdint.h>

#include "engine/aicore/opcodes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Operands are the bytes at dst, a and b. field: bursts, blocks and gaps of copies and drains;
 * fractals; m, k, n and whether the product is from zero; repeat and strides of dst, a and b from
 * block to block and from repeat to repeat. */
typedef struct csim_instruction {
    ac_opcode opcode;
    uint8_t *dst, *a, *b;
    uint32_t field[7];
    uint32_t lanes;
    float scalar;
    uint16_t half; /* the scalar, or the value of a dup */
} csim_instruction;

typedef enum csim_answer { CSIM_DONE, CSIM_REFUSED, CSIM_ABSENT } csim_answer;

csim_answer csim_execute(const csim_instruction *i);

#ifdef __cplusplus
}
#endif
#endif
