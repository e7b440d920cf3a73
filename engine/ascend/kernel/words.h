// SPDX-License-Identifier: Apache-2.0
/* A recorded program as words of 64 bits, as the replay kernel reads it. Made when a model is
 * opened (engine/ascend/words.h). Shared with the kernel, so it contains only numbers.
 *
 * An image, for one segment of a program, is a header (the first chunk of each core, the segment,
 * bits of CTRL to set) and chunks. Each core has its own chunks. The kernel copies them to UB, one
 * ahead of the one that it reads. A chunk begins with a word that says which one follows:
 *   next 0, first 24, depth 48: number of the chunk that follows; if depth is not 0, the chunk
 *   `first` follows instead as long as loop depth - 1 has turns left after this one
 * Then come entries. The first word of each has a code in bits 0 to 7, and:
 *   END        the chunk ends
 *   STOP       the program ends
 *   LOOP       depth 8, turns 16. In front of the entries of a loop's body
 *   AGAIN      moves 8, depth 16, inside 18, byte 20, and two words for each move: phase 0, bytes
 *              16. The body ends. The first of the two moves a phase before another turn, which
 *              begins at that byte of this chunk if `inside`, else where the next chunk does; the
 *              second one moves it back after the last turn. Both are below the phase's ring
 *   START      count 8, and two words for each: end, bytes of a ring. Phases 1, 2, ... are at 0
 *   FLAGS      5 times 10 bits from 8 on: source pipe 0, destination pipe 3, event 6, kind 8. A
 *              barrier has a source only
 *   TILE       events 16, 18, 20, type of load3d 24, type of mad 28, flags 40; for each load3d
 *              L0A 0, L1 16 and phase 36, Xm, and Xt and FMATRIX if bit 48 of the first of these
 *              is set, else they are those before; bit 49: it is the last one; bit 50: L1 and
 *              phase are those of the last load3d of a tile; operands of mad as below, and its
 *              config. It waits for M to MTE1 before, orders MTE1 before M in between, and sets M
 *              to MTE1 after it if bit 22 is set
 *   DRAINS     drains whose operands do not move: type 16, flags 40; config; operands of each,
 *              bit 40: it is the last one. Type 0: s32 with scales; 1: f32; 2: f32 and ReLU. If
 *              bit 18 is set, the register of scales is set before: event 19, its bits 24
 *   SCALE      event 8, ReLU 10; where 16 scales lie in UB, a wide operand as below
 *   MASK       two words for set_vector_mask
 *   others     an instruction: operands 8, their number 10 if wide, type 16, flags 40; operands;
 *              then what the instruction takes
 * Flags in the first word of a tile or an instruction come before it: 3 bits for each of
 * WORDS_SLOTS, the lowest one if it is there, and its event.
 * The operands of an instruction are dst, a and b, 20 bits each in one word, or dst, a and dst's
 * phase, or so many words, each of an offset 0, a base 32 and a phase 40: the operand lies
 * at the base's address + offset + the phase's bytes. If that reaches the end of the phase's ring,
 * it is the ring's bytes less. Bases and phases are given as bytes from the first one in UB, and 0
 * is none; base 32 is the first address that a launch is given.
 * What instructions take, config being the packed form of the intrinsic's arguments:
 *   copies, LOAD2D, MMAD, BIAS_L0C, DRAIN, VEC2, VCONV   config
 *   LOAD3D     FMATRIX, Xm, Xt
 *   DUP, VECS  config, and the value in the type of the elements
 *   TRANSPOSE  type: upper halves of dst 0, a 1, event 2; config; 8 words of 4 blocks each, 16
 *              bits, signed: of dst, then of a
 *   MOVE       type: whether dst 0, a 1 is in L1; count 0, bytes 32; steps of dst 0, a 32
 *   FILL       type as of MOVE; count 0, bytes 32; step 0, value 32
 * The scalar unit works in UB only: blocks of L1 are copied there and back. */
#ifndef MONA_REPLAY_WORDS_H
#define MONA_REPLAY_WORDS_H

#include "engine/aicore/opcodes.h"

enum {
    WORDS_CHUNK = 2560, /* bytes; multiples of 32 */
    WORDS_HEADER = 64,  /* bytes */
    WORDS_SEGMENT = 2,  /* words of the header */
    WORDS_CONTROL = 3,
    WORDS_BASES = 20, /* addresses that a launch is given: constants, then buffers */
    WORDS_PHASES = 95,
    /* In UB, behind what programs use. */
    WORDS_UB = 253952 - 7936,
    WORDS_UB_BASES = WORDS_UB + 2 * WORDS_CHUNK,
    WORDS_UB_TURNS =
        WORDS_UB_BASES + 8 * (4 + WORDS_BASES), /* that of the core's buffers takes 4 */
    WORDS_UB_HEADER = WORDS_UB_TURNS + 32,
    WORDS_UB_BLOCKS = WORDS_UB_HEADER + WORDS_HEADER, /* two, of L1 */
    WORDS_UB_PHASES = WORDS_UB_BLOCKS + 64,           /* each: bytes, end, bytes of its ring */
    WORDS_UB_END = WORDS_UB_PHASES + 24 * (WORDS_PHASES + 1),
};

/* Codes of entries. Those of instructions are their ac_opcode, below 64. Two bits tell them from
 * the rest, which the kernel finds by one scalar instruction each. */
enum {
    WORDS_DRAINS = 1 << 6,
    WORDS_TILE = 1 << 7,
    WORDS_FLAGS = WORDS_TILE | WORDS_DRAINS,
    WORDS_MASK,
    WORDS_AGAIN,
    WORDS_END,
    WORDS_LOOP,
    WORDS_START,
    WORDS_SCALE,
    WORDS_STOP,
};

/* How the operands of an instruction are written: 20 bits each in one word; the same of two, the
 * first of which moves; one word each. */
enum { WORDS_NARROW, WORDS_MOVING, WORDS_WIDE };

/* Types of elements of LOAD3D and TILE: bit 0 is set for fp16, else they have 8 bits; bit 2 for
 * small channels. */
enum { WORDS_B8, WORDS_F16, WORDS_SMALL_B8 = 4, WORDS_SMALL_F16 };

/* Kinds of flags: the first three as opcodes have them; SYNC sets a flag and waits for it. No flag
 * is 0, which is from S to itself. */
enum { WORDS_SET, WORDS_WAIT, WORDS_BARRIER, WORDS_SYNC };

/* The flags that stand before most instructions, in the order in which they are issued. */
#define WORDS_SLOTS(X)                                                                             \
    X(0, SET, MTE3, V)                                                                             \
    X(1, SET, M, V)                                                                                \
    X(2, WAIT, M, V)                                                                               \
    X(3, SET, V, M)                                                                                \
    X(4, BARRIER, V, S)                                                                            \
    X(5, WAIT, V, M)                                                                               \
    X(6, WAIT, MTE3, V)                                                                            \
    X(7, SYNC, V, MTE3)

/* Pairs of pipes with flags between them: for each source, its destinations, both in the order of
 * their numbers. */
#define WORDS_PAIRS(ROW, X)                                                                        \
    ROW(SOURCE, ROW(DESTINATION, , X(S, V), , , X(S, MTE2), X(S, MTE3)),                           \
        ROW(DESTINATION, X(V, S), , X(V, M), X(V, MTE1), X(V, MTE2), X(V, MTE3)),                  \
        ROW(DESTINATION, , X(M, V), , X(M, MTE1), X(M, MTE2), ),                                   \
        ROW(DESTINATION, , X(MTE1, V), X(MTE1, M), , X(MTE1, MTE2), X(MTE1, MTE3)),                \
        ROW(DESTINATION, X(MTE2, S), X(MTE2, V), X(MTE2, M), X(MTE2, MTE1), , X(MTE2, MTE3)),      \
        ROW(DESTINATION, X(MTE3, S), X(MTE3, V), , X(MTE3, MTE1), X(MTE3, MTE2), ))

#endif
