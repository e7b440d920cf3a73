// SPDX-License-Identifier: Apache-2.0
#ifndef MONA_DISASSEMBLE_H
#define MONA_DISASSEMBLE_H

#include "engine/aicore/program.h"

/* Prints the records of a program of this model, which must have been proved: each instruction with
 * its operands, in brackets what they advance by in each turn of the loops around it, and what it
 * does. instructions: how many it runs. */
void disassemble(const mona_model *model, const ac_program *program, uint64_t instructions);

#endif
