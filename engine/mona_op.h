// SPDX-License-Identifier: Apache-2.0
/* Kernels of an application's own: operators that a model calls by name and the application brings.
 *
 * A kernel makes results row by row from rows of its inputs, like the engine's own operators. It
 * says in a table what it reads; the engine proves that all of it exists before anything runs,
 * prepares the edges, and shares the rows among threads. A kernel must not keep anything from call
 * to call, and the bytes it makes must depend on nothing but the samples, tables and positions of
 * the call.
 *
 *   static const mona_kernel_operand operands[] = {
 *       {.type = MONA_U8, .planes = 1, .cell_rows = 1, .cell_columns = 1},
 *       {.type = MONA_U8, .planes = 1, .cell_rows = 1, .cell_columns = 1},
 *   };
 *   static void row(const mona_kernel_call *call)
 *   {
 *       const uint8_t *x = call->inputs[0];
 *       uint8_t *y = call->outputs[0];
 *       for (uint32_t i = 0; i < call->columns; i++)
 *           y[i] = x[i] > 127 ? 255 : 2 * x[i];
 *   }
 *   static const mona_kernel twice = {"com.example::Double", 1, 1, operands, row, NULL};
 *   static const mona_kernel *const kernels[] = {&twice, NULL};
 *   ...
 *   const mona_guard guard = {.kernels = kernels};
 *   status = mona_model_open_guarded(&model, bytes, size, &guard);
 *
 * `python3 -m mona.kernel` writes such tables and rows from a function in Python (docs/kernels.md).
 *
 * The grid. A kernel works on a grid of cells that all its operands share. A cell of an operand is
 * cell_rows x cell_columns samples in each of its planes: a Bayer mosaic has cells of 2 x 2 samples
 * of one plane, and the picture made from it cells of 2 x 2 samples of three planes. A call makes
 * the cells of one row of the grid, or of a part of it, and may read cells up to `around_rows`
 * above and below and `around_columns` to the left and right. Outside of the grid the nearest cell
 * is repeated.
 *
 * An operand is an array [planes][rows * cell_rows][columns * cell_columns]. A table, an operand
 * with planes = 0, is an array of `elements`, the same for every cell: a constant of the model, or
 * an input that changes from frame to frame. */
#ifndef MONA_OP_H
#define MONA_OP_H

#include "mona.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

enum {
    MONA_KERNEL_NAME = 127,   /* letters of a kernel's name at most */
    MONA_KERNEL_OPERANDS = 8, /* inputs at most, and outputs */
    MONA_KERNEL_CELL = 4,     /* rows, columns of a cell at most */
    MONA_KERNEL_AROUND = 8,   /* cells at most */
    MONA_KERNEL_ROWS = 128,   /* rows that a call sees of all inputs together, and of an output */
};

typedef struct mona_kernel_operand {
    mona_type type;
    uint32_t planes;                     /* 0: a table */
    uint32_t elements;                   /* of a table, else 0 */
    uint8_t cell_rows, cell_columns;     /* 1 to MONA_KERNEL_CELL; 0 of a table */
    uint8_t around_rows, around_columns; /* of an input, in cells; 0 of a table */
} mona_kernel_operand;

typedef struct mona_kernel_call {
    /* Rows of the inputs, each from the call's first cell on; columns before and after it may be
     * read as far as around_columns says. For each input in turn, for each plane, first the
     * around_rows cells above, then the row itself, then those below; mona_kernel_row() finds one.
     * A table has a single entry. */
    const void *const *inputs;
    /* Rows of one output: for each plane the rows of a cell. */
    void *const *outputs;
    uint32_t output;        /* which of its outputs the call makes */
    uint32_t columns;       /* cells to make */
    uint32_t x, y;          /* column and row of the first of them in the grid */
    uint32_t width, height; /* of the grid, in cells */
} mona_kernel_call;

typedef struct mona_kernel {
    const char *name; /* as in the model, with its domain: "com.example::Demosaic" */
    uint32_t inputs, outputs;
    const mona_kernel_operand *operands; /* the inputs, then the outputs */
    void (*row)(const mona_kernel_call *call);
    /* Each output as a program for an AI Core, which mona compile reads; NULL: there are none */
    const struct mona_kernel_program *programs;
} mona_kernel;

/* Whether a kernel's table keeps to the limits above; models that call another are refused
 * (MONA_ERR_ARGUMENT). */
bool mona_kernel_sound(const mona_kernel *kernel);

/* Rows that a call sees of an operand, all planes together. */
static inline uint32_t mona_kernel_rows(const mona_kernel_operand *o)
{
    return o->planes ? o->planes * (2u * o->around_rows + 1) * o->cell_rows : 1;
}

/* Bytes of a row of one cell, in a plane of an operand. */
static inline size_t mona_kernel_cell_bytes(const mona_kernel_operand *o)
{
    return o->cell_columns * mona_type_size(o->type);
}

/* Row `row` of a plane of input i, where row 0 is the cell's first. */
static inline const void *mona_kernel_row(const mona_kernel *kernel, const mona_kernel_call *call,
                                          uint32_t i, uint32_t plane, int row)
{
    const mona_kernel_operand *o = &kernel->operands[i];
    uint32_t first = plane * (2u * o->around_rows + 1) * o->cell_rows;
    for (uint32_t k = 0; k < i; k++)
        first += mona_kernel_rows(&kernel->operands[k]);
    return call->inputs[(int)first + o->around_rows * o->cell_rows + row];
}

/* ---- line by line ------------------------------------------------------------------------- */

/* A kernel alone, before, between or behind networks that get a frame line by line: its memory
 * holds the rows that a cell sees, and no frame. A line is a row of cells: cell_rows rows of each
 * plane. The bytes are those of whole frames. */
typedef struct mona_kernel_lines mona_kernel_lines;

/* 0: the kernel's table is not sound, or columns, which counts cells, is none of a tensor. */
size_t mona_kernel_lines_bytes(const mona_kernel *kernel, uint32_t columns);

/* For frames of rows x columns cells. memory: mona_kernel_lines_bytes() bytes, aligned to
 * MONA_ALIGNMENT. */
mona_status mona_kernel_lines_open(mona_kernel_lines **lines, const mona_kernel *kernel,
                                   uint32_t rows, uint32_t columns, void *memory, size_t bytes);

/* Takes the next line of every input, whose samples are copied: `data` is its first row, or a
 * table, which stays where it is until the next one is pushed. MONA_ERR_STATE: there is a line to
 * pull, or all of the frame were pushed. */
mona_status mona_kernel_lines_push(mona_kernel_lines *lines, const mona_buffer *inputs);

/* If enough lines were pushed, makes the next line of every output and sets *ready. After the last
 * one another frame begins. */
mona_status mona_kernel_lines_pull(mona_kernel_lines *lines, const mona_buffer *outputs,
                                   bool *ready);

/* Line k can be pulled once line k + latency, or the last, was pushed. */
uint32_t mona_kernel_lines_latency(const mona_kernel_lines *lines);

/* Drops what was pushed; the next line is a frame's first. */
void mona_kernel_lines_drop(mona_kernel_lines *lines);

/* The name of the first kernel that the model calls and that is not among these (a list that ends
 * with NULL; NULL: none are), for the line that tells the user; it lies in the model's bytes.
 * NULL: none is missing, or the model is refused for another reason. */
const char *mona_model_missing_kernel(const void *bytes, size_t size,
                                      const mona_kernel *const *kernels);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
