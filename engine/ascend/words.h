// SPDX-License-Identifier: Apache-2.0
/* Programs as the replay kernel reads them (kernel/words.h). Cores wait for each other between the
 * segments of a program, so each segment is a separate launch of two blocks:
 *
 *   mona_replay3__kernel0(words, addresses)
 *
 * words: the image of the segment in global memory. addresses: also in global memory, WORDS_BASES
 * of 8 bytes: the addresses of the program's constants (ac_program.constants) and of its buffers,
 * in order; the rest are not read. constants, words and addresses lie at multiples of 32. */
#ifndef MONA_WORDS_H
#define MONA_WORDS_H

#include "engine/aicore/program.h"
#include "engine/ascend/kernel/words.h"

/* The name of the kernel, its symbol in the object that the vendor's compiler makes. Its number is
 * that of the form of words (kernel/words.h): a kernel that reads another form, and would compute
 * anything, is refused. */
#define ASCEND_KERNEL "mona_replay3__kernel0"
/* Writes that of a kernel written for one program, which runs no other: it has the program's
 * ac_program_crc(). */
enum { ASCEND_KERNEL_NAME = 32 };
void ascend_own_kernel(const ac_program *program, char name[ASCEND_KERNEL_NAME]);

/* The exact size of a segment's image. The program must have been proved. 0: the kernel cannot run
 * it; *why says what is in the way, if why is not NULL. */
size_t ascend_words_bytes(const ac_program *program, uint32_t segment, const char **why);

/* Writes a segment's image; its size is not 0. */
void ascend_words_make(const ac_program *program, uint32_t segment, void *image);

#endif
