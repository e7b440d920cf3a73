// SPDX-License-Identifier: Apache-2.0
/* A kernel's rows without an engine, for emulated CPUs: reads rows, columns and the inputs, each as
 * its raw elements, and writes the outputs. On a board without a system these are the files `in`
 * and `out` of the debugger's machine. KERNEL: the object that the kernel's file defines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mona_op.h"

extern const mona_kernel KERNEL;

static size_t element(mona_type type)
{
    return type <= MONA_S8 ? 1 : type == MONA_U16 || type == MONA_S16 || type == MONA_F16 ? 2 : 4;
}

static int clipped(int x, int max)
{
    return x < 0 ? 0 : x > max ? max : x;
}

/* A row with cells repeated at its ends; returns where its first cell lies. */
static uint8_t *widened(const uint8_t *row, size_t cell, int columns, int around)
{
    uint8_t *wide = malloc(cell * (size_t)(columns + 2 * around));
    for (int i = -around; i < columns + around; i++)
        memcpy(wide + (size_t)(i + around) * cell, row + (size_t)clipped(i, columns - 1) * cell,
               cell);
    return wide + (size_t)around * cell;
}

int main(void)
{
    const mona_kernel *k = &KERNEL;
    uint8_t *data[2 * MONA_KERNEL_OPERANDS];
    size_t bytes[2 * MONA_KERNEL_OPERANDS];
    int size[2];
    if (fread(size, sizeof size, 1, stdin) != 1)
        return 1;
    for (uint32_t i = 0; i < k->inputs + k->outputs; i++) {
        const mona_kernel_operand *o = &k->operands[i];
        bytes[i] = element(o->type) * (o->planes ? (size_t)o->planes * o->cell_rows *
                                                       o->cell_columns * (size_t)(size[0] * size[1])
                                                 : o->elements);
        data[i] = malloc(bytes[i]);
        if (i < k->inputs && fread(data[i], 1, bytes[i], stdin) != bytes[i])
            return 1;
    }
    for (int y = 0; y < size[0]; y++) {
        const void *in[MONA_KERNEL_ROWS];
        uint32_t next = 0;
        for (uint32_t i = 0; i < k->inputs; i++) {
            const mona_kernel_operand *o = &k->operands[i];
            const size_t cell = o->cell_columns * element(o->type), row = cell * (size_t)size[1];
            if (!o->planes)
                in[next++] = data[i];
            for (uint32_t p = 0; p < o->planes; p++)
                for (int c = y - o->around_rows; c <= y + o->around_rows; c++)
                    for (int r = 0; r < o->cell_rows; r++)
                        in[next++] = widened(
                            data[i] + row * (size_t)(((int)p * size[0] + clipped(c, size[0] - 1)) *
                                                         o->cell_rows +
                                                     r),
                            cell, size[1], o->around_columns);
        }
        for (uint32_t i = 0; i < k->outputs; i++) {
            const mona_kernel_operand *o = &k->operands[k->inputs + i];
            const size_t row = o->cell_columns * element(o->type) * (size_t)size[1];
            void *out[MONA_KERNEL_ROWS];
            for (uint32_t n = 0; n < o->planes * o->cell_rows; n++)
                out[n] =
                    data[k->inputs + i] +
                    row * ((n / o->cell_rows * (uint32_t)size[0] + (uint32_t)y) * o->cell_rows +
                           n % o->cell_rows);
            k->row(&(mona_kernel_call){.inputs = in,
                                       .outputs = out,
                                       .output = i,
                                       .columns = (uint32_t)size[1],
                                       .y = (uint32_t)y,
                                       .width = (uint32_t)size[1],
                                       .height = (uint32_t)size[0]});
        }
    }
    for (uint32_t i = k->inputs; i < k->inputs + k->outputs; i++)
        fwrite(data[i], 1, bytes[i], stdout);
    return 0;
}

#ifdef CODE
#include <unistd.h>

void initialise_monitor_handles(void);
_Noreturn void begin(void);

_Noreturn void begin(void)
{
    *(volatile uint32_t *)0xe000ed88 |= 0xfu << 20; /* floating point and vectors */
    __asm__ volatile("dsb\n\tisb");
    initialise_monitor_handles();
    int status = !freopen("in", "rb", stdin) || !freopen("out", "wb", stdout) || main();
    fflush(stdout);
    _exit(status);
}

__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))(DATA + 0x80000), begin};
#endif
