/* LOAD as an AI Core program, for one plane of 8 bits into channel blocks of 8: the luma of the
 * small-channel mode. Other forms are left to the scalar unit.
 *
 * A pixel becomes 8 bytes, itself and seven zeros: as 16-bit words, the word (sample) and three
 * zeros. There is no widening move of 8-bit integers, so a sample goes by way of fp16: 1024 + v has
 * the bits 0x6400 + v, and an AND leaves v. Then 256 words at a time are spread by two rounds of
 * transposes of 16 x 16 words: first   row i of `turned` holds the pixels 16 r + i, r = 0..15 then,
 * for each g of 0..3, rows 4 g .. 4 g + 3 in the places 0, 4, 8, 12 among rows of zeros: what comes
 *           out as row r is the pixels 16 r + 4 g .. + 3, each followed by three zeros; it is block
 * 4 r + g of the output. Pixels of a piece beyond the row are zeros. The output's last block may
 * have up to three of them: those columns are padding or have not been made yet. */
#include "helpers.h"
#include "vectors.h"

enum {
    PIECE = 1024, /* pixels */
    GROUP = 256,  /* pixels of 16 x 16 words */
    C0 = 8,
    BITS_OF_1024 = 0x6400,
    BITS_OF_SAMPLE = 0x00ff,
};

/* UB; samples, then words of 16 bits. */
typedef struct load_buffers {
    uint8_t *samples;                              /* [PIECE] */
    uint16_t *words, *turned, *zeros, *bits, *out; /* [PIECE], [PIECE], [PIECE], [16], [4 PIECE] */
} load_buffers;

static load_buffers buffers_of(ac_core *core)
{
    uint16_t *words = (uint16_t *)(void *)(core->ub + PIECE);
    return (load_buffers){core->ub,          words,
                          words + PIECE,     words + 2 * PIECE,
                          words + 3 * PIECE, words + 3 * PIECE + AC_FRACTAL};
}

bool mona_load_has_program(const mona_bound_op *b)
{
    return b->isa->copy && b->op->input_count == 1 && b->output.channels == 1 &&
           b->op->load.block[0] == 1 && b->input[0].type == MONA_U8 && b->output.type == MONA_U8 &&
           b->output_c0 == C0;
}

/* Whole blocks by MTE2; the rest by the scalar unit, since no byte beyond the row may be read. */
static void bring(ac_core *core, uint8_t *to, const uint8_t *from, uint32_t count)
{
    const uint32_t whole = count / AC_BLOCK * AC_BLOCK, rest = count - whole;
    if (whole)
        core->isa->copy(core, AC_GM_UB, to, from,
                        (ac_copy){.bursts = 1, .blocks = (uint16_t)(whole / AC_BLOCK)});
    core->isa->set_flag(core, AC_PIPE_MTE2, AC_PIPE_V, AC_EVENT0);
    if (rest)
        scalar_copy(core, to + whole, from + whole, rest);
    core->isa->set_flag(core, AC_PIPE_S, AC_PIPE_V, AC_EVENT0);
    core->isa->wait_flag(core, AC_PIPE_MTE2, AC_PIPE_V, AC_EVENT0);
    core->isa->wait_flag(core, AC_PIPE_S, AC_PIPE_V, AC_EVENT0);
}

static void widen(ac_core *core, const load_buffers *u, uint32_t count, uint32_t groups)
{
    dup_all(core, u->words, 0, groups * GROUP, side_by_side);
    core->isa->barrier(core, AC_PIPE_V);
    vconv_all(core, AC_U8_F16, u->words, u->samples, count);
    core->isa->barrier(core, AC_PIPE_V);
    for (vectors w = vectors_of(side_by_side, HALF_LANES, count); next_vectors(&w);) {
        uint16_t *at = vectors_at(&w, u->words, w.v.dst_repeat);
        core->isa->vecs(core, AC_VADDS, at, at, 1024, &w.v);
    }
    core->isa->barrier(core, AC_PIPE_V);
    vec2_all(core, AC_VAND, u->words, u->words, u->bits, count, b_again);
    core->isa->barrier(core, AC_PIPE_V);
}

static void spread(ac_core *core, const load_buffers *u, uint32_t groups)
{
    const uint16_t *from[AC_FRACTAL];
    uint16_t *to[AC_FRACTAL];
    for (uint32_t i = 0; i < AC_FRACTAL; i++) {
        from[i] = u->words + i * AC_FRACTAL;
        to[i] = u->turned + i * AC_FRACTAL;
    }
    core->isa->transpose(core, to, from, (uint8_t)groups, AC_FRACTAL, AC_FRACTAL);
    core->isa->barrier(core, AC_PIPE_V);
    for (uint32_t g = 0; g < 4; g++) {
        for (uint32_t i = 0; i < AC_FRACTAL; i++) {
            from[i] = i % 4 ? u->zeros + i * AC_FRACTAL : u->turned + (4 * g + i / 4) * AC_FRACTAL;
            to[i] = u->out + (4 * i + g) * AC_FRACTAL;
        }
        core->isa->transpose(core, to, from, (uint8_t)groups, 4 * AC_FRACTAL, AC_FRACTAL);
    }
}

/* to: at a multiple of 32 bytes. */
static void load_piece(ac_core *core, uint8_t *to, const uint8_t *from, uint32_t count)
{
    const load_buffers u = buffers_of(core);
    const uint32_t groups = (count + GROUP - 1) / GROUP;
    core->isa->barrier(core, AC_PIPE_ALL);
    dup_all(core, u.zeros, 0, groups * GROUP, side_by_side);
    dup_all(core, u.bits, BITS_OF_SAMPLE, AC_FRACTAL, side_by_side);
    bring(core, u.samples, from, count);
    widen(core, &u, count, groups);
    spread(core, &u, groups);
    core->isa->set_flag(core, AC_PIPE_V, AC_PIPE_MTE3, AC_EVENT0);
    core->isa->wait_flag(core, AC_PIPE_V, AC_PIPE_MTE3, AC_EVENT0);
    core->isa->copy(
        core, AC_UB_L1, to, u.out,
        (ac_copy){.bursts = 1, .blocks = (uint16_t)((count * C0 + AC_BLOCK - 1) / AC_BLOCK)});
}

void mona_load_by_instructions(const mona_row_call *call)
{
    const mona_buffer *plane = &call->planes[0];
    const ac_row out = output_row(call);
    const uint8_t *from = (const uint8_t *)plane->data + (ptrdiff_t)call->y * plane->row_stride +
                          (ptrdiff_t)call->x_begin;
    const uint32_t pixels = (uint32_t)(call->x_end - call->x_begin);
    for (uint32_t x = 0; x < pixels; x += PIECE)
        load_piece(call->core, out.data + (size_t)x * C0, from + x,
                   pixels - x < PIECE ? pixels - x : PIECE);
}
