// SPDX-License-Identifier: Apache-2.0
/* scene: renders the demo's film, so that no clip needs to be shipped.
 *
 *   scene [FRAMES] [FILE]      1280x720, 25 frames a second, YUV4MPEG2 4:2:0, to FILE or stdout
 *   scene --label WIDTH TEXT   one frame of WIDTH x 32 with TEXT, for comparing pictures
 *
 * A panning ground of fine texture and weave, and moving objects on it: a spoked wheel, a ball with
 * skin-like shading, a striped board, a lattice of thin diagonals, and lines of text in several
 * sizes. It is drawn at twice the size and reduced by averaging, which smooths every edge. The same
 * arguments give the same bytes. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/enhance/font.h"

enum {
    WIDTH = 1280,
    HEIGHT = 720,
    CANVAS_W = 2 * WIDTH,
    CANVAS_H = 2 * HEIGHT,
    MARGIN = 512, /* how far the ground can pan, in canvas pixels */
    GROUND_W = CANVAS_W + MARGIN,
    GROUND_H = CANVAS_H + MARGIN,
    LATTICE = 256, /* period of the random lattice, a power of two */
    DEFAULT_FRAMES = 48,
};

#define PI 3.14159265358979

typedef struct colour {
    uint8_t y, u, v;
} colour;

static colour ground[GROUND_H][GROUND_W];
static colour canvas[CANVAS_H][CANVAS_W];
static float lattice[LATTICE][LATTICE];
static uint8_t plane_y[HEIGHT][WIDTH], plane_u[HEIGHT / 2][WIDTH / 2],
    plane_v[HEIGHT / 2][WIDTH / 2];

static uint8_t clip(double value)
{
    return (uint8_t)(value < 16 ? 16 : value > 235 ? 235 : value + 0.5);
}

/* ---- ground ------------------------------------------------------------------------------- */

static void fill_lattice(void)
{
    uint32_t state = 20240607;
    for (int i = 0; i < LATTICE * LATTICE; i++) {
        state = state * 1664525u + 1013904223u;
        lattice[i / LATTICE][i % LATTICE] = (float)(state >> 8) / (1 << 23) - 1;
    }
}

static double smooth(double t)
{
    return t * t * (3 - 2 * t);
}

/* A random field from -1 to 1 with features of about one unit. */
static double field(double x, double y)
{
    int x0 = (int)floor(x), y0 = (int)floor(y);
    double fx = smooth(x - x0), fy = smooth(y - y0);
    const float *above = lattice[y0 & (LATTICE - 1)], *below = lattice[(y0 + 1) & (LATTICE - 1)];
    int left = x0 & (LATTICE - 1), right = (x0 + 1) & (LATTICE - 1);
    double top = above[left] + fx * (above[right] - above[left]);
    double bottom = below[left] + fx * (below[right] - below[left]);
    return top + fy * (bottom - top);
}

/* Five octaves, down to features of one and a half pixels: weave on the left, stone on the
 * right. */
static colour ground_at(int x, int y)
{
    double rough = 0, amplitude = 1;
    for (double size = 96; size >= 3; size *= 0.42, amplitude *= 0.72)
        rough += amplitude * field(x / size, y / size + size);
    double mix = smooth(fmin(1, fmax(0, (x - GROUND_W * 0.40) / (GROUND_W * 0.2))));
    double weave = sin(x * PI / 5.5) * sin(y * PI / 6.5) + 0.4 * sin((x + y) * PI / 17);
    double level = 118 + (1 - mix) * (18 * weave + 7 * rough) + mix * 20 * rough;
    double warm = field(x / 400.0, y / 400.0 + 50);
    return (colour){clip(level), clip(124 - 14 * warm), clip(132 + 16 * warm - 6 * mix)};
}

static void paint_ground(void)
{
    fill_lattice();
    for (int y = 0; y < GROUND_H; y++)
        for (int x = 0; x < GROUND_W; x++)
            ground[y][x] = ground_at(x, y);
}

/* ---- objects: each paints a box of the canvas --------------------------------------------- */

typedef struct object {
    double x, y, size, phase; /* centre and half size, in canvas pixels */
} object;

/* dx, dy: from the centre, in units of half the size. False: transparent here. */
typedef int (*painter)(const object *o, double dx, double dy, colour *c);

static void paint(const object *o, double aspect, painter at)
{
    int x0 = (int)fmax(0, o->x - o->size), x1 = (int)fmin(CANVAS_W - 1, o->x + o->size);
    int y0 = (int)fmax(0, o->y - o->size * aspect);
    int y1 = (int)fmin(CANVAS_H - 1, o->y + o->size * aspect);
    for (int y = y0; y <= y1; y++)
        for (int x = x0; x <= x1; x++) {
            colour c;
            if (at(o, (x - o->x) / o->size, (y - o->y) / o->size, &c))
                canvas[y][x] = c;
        }
}

static int wheel_at(const object *o, double dx, double dy, colour *c)
{
    double r = sqrt(dx * dx + dy * dy);
    if (r > 1)
        return 0;
    int spoke = sin(36 * (atan2(dy, dx) + o->phase)) > 0;
    *c = spoke ? (colour){40, 128, 128} : (colour){212, 126, 131};
    if (r > 0.94)
        *c = (colour){70, 150, 110};
    return 1;
}

/* A sphere lit from the upper left, in skin tones, with a few soft features. */
static int ball_at(const object *o, double dx, double dy, colour *c)
{
    (void)o;
    double r2 = dx * dx + dy * dy;
    if (r2 > 1)
        return 0;
    double dz = sqrt(1 - r2);
    double light = fmax(0, -0.45 * dx - 0.5 * dy + 0.74 * dz);
    double glow = pow(fmax(0, 2 * light * dz - 0.74), 12) * 22;
    double pores = 1.6 * field(dx * 60 + 7, dy * 60);
    double blush = exp(-9 * ((dx - 0.35) * (dx - 0.35) + (dy - 0.2) * (dy - 0.2)));
    *c = (colour){clip(62 + 132 * light + glow + pores), clip(114 - 4 * light),
                  clip(146 + 6 * light + 10 * blush)};
    return 1;
}

static int board_at(const object *o, double dx, double dy, colour *c)
{
    double turn = o->phase, u = dx * cos(turn) + dy * sin(turn),
           v = dy * cos(turn) - dx * sin(turn);
    if (fabs(u) > 0.7 || fabs(v) > 0.7)
        return 0;
    int pitch = v < 0 ? 40 : 22;
    int odd = ((int)floor(u * pitch) + (v > 0.35 ? (int)floor(v * pitch) : 0)) & 1;
    *c = odd ? (colour){200, 110, 140} : (colour){58, 140, 118};
    return 1;
}

static int lattice_at(const object *o, double dx, double dy, colour *c)
{
    double a = fmod(fabs(dx * 9 + dy * 5 + 40 + o->phase), 1),
           b = fmod(fabs(dx * 4 - dy * 8 + 40), 1);
    if (a > 0.09 && b > 0.07)
        return 0;
    *c = a <= 0.09 ? (colour){228, 120, 128} : (colour){30, 132, 124};
    return 1;
}

static void paint_text(const char *text, double left, double top, double cell, colour c)
{
    for (; *text; text++, left += 6 * cell) {
        const uint8_t *rows = font_glyph(*text);
        for (int y = 0; y < (int)(7 * cell); y++)
            for (int x = 0; x < (int)(5 * cell); x++) {
                int cx = (int)left + x, cy = (int)top + y;
                if (font_cell(rows, (int)(x / cell), (int)(y / cell)) && cx >= 0 && cx < CANVAS_W &&
                    cy >= 0 && cy < CANVAS_H)
                    canvas[cy][cx] = c;
            }
    }
}

/* ---- frames ------------------------------------------------------------------------------- */

static void paint_frame(int n)
{
    const double t = n / 25.0;
    const int pan_x = (int)(MARGIN / 2 * (1 + 0.9 * sin(t * 0.9)));
    const int pan_y = (int)(MARGIN / 2 * (1 + 0.9 * cos(t * 0.7)));
    const colour white = {225, 128, 128}, black = {24, 128, 128}, blue = {60, 170, 112};
    object wheel = {620 + 160 * t, 400 + 60 * sin(2 * t), 260, 0.25 * t};
    object ball = {1250 + 90 * sin(1.3 * t), 800 - 70 * t, 330, t};
    object board = {1990 - 120 * t, 480 + 50 * cos(t), 360, 0.3 + 0.2 * t};
    object wires = {560 + 40 * t, 1090, 400, 0.8 * t};

    for (int y = 0; y < CANVAS_H; y++)
        memcpy(canvas[y], ground[y + pan_y] + pan_x, sizeof canvas[y]);
    paint(&wheel, 1, wheel_at);
    paint(&board, 1, board_at);
    paint(&wires, 0.6, lattice_at);
    paint(&ball, 1, ball_at);
    paint_text("THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG 0123456789", 120 - 30 * t, 60, 5.5,
               white);
    paint_text("MONA ENHANCES VIDEO", 1280 + 24 * t, 1180, 9, black);
    paint_text("SMALL PRINT IS THE HARDEST PART OF ALL: 1234 5678", 1330 - 36 * t, 1290, 4, white);
    paint_text("2X", 2300, 960 + 40 * t, 24, blue);
}

/* Luma is the mean of 2x2 canvas pixels. Chroma is the mean of 4x4 around the left luma sample of
 * its pair, where 4:2:0 in H.264 has it. */
static void reduce(void)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const colour *a = &canvas[2 * y][2 * x], *b = &canvas[2 * y + 1][2 * x];
            plane_y[y][x] = (uint8_t)((a[0].y + a[1].y + b[0].y + b[1].y + 2) / 4);
        }
    for (int y = 0; y < HEIGHT / 2; y++)
        for (int x = 0; x < WIDTH / 2; x++) {
            int u = 8, v = 8;
            for (int i = 0; i < 16; i++) {
                int column = 4 * x - 1 + i % 4;
                const colour *c = &canvas[4 * y + i / 4][column < 0 ? 0 : column];
                u += c->u;
                v += c->v;
            }
            plane_u[y][x] = (uint8_t)(u / 16);
            plane_v[y][x] = (uint8_t)(v / 16);
        }
}

static int write_film(FILE *out, int frames)
{
    fprintf(out, "YUV4MPEG2 W%d H%d F25:1 Ip A1:1 C420mpeg2\n", WIDTH, HEIGHT);
    for (int n = 0; n < frames; n++) {
        paint_frame(n);
        reduce();
        fputs("FRAME\n", out);
        fwrite(plane_y, 1, sizeof plane_y, out);
        fwrite(plane_u, 1, sizeof plane_u, out);
        fwrite(plane_v, 1, sizeof plane_v, out);
    }
    return fflush(out) || ferror(out);
}

/* White letters of 10 x 14 pixels on dark grey, centred. */
static int write_label(FILE *out, int width, const char *text)
{
    enum { LABEL_HEIGHT = 32, CELL = 2 };
    const int left = (width - (int)strlen(text) * 6 * CELL) / 2;
    fprintf(out, "YUV4MPEG2 W%d H%d F25:1 Ip A1:1 Cmono\nFRAME\n", width, LABEL_HEIGHT);
    for (int y = 0; y < LABEL_HEIGHT; y++)
        for (int x = 0; x < width; x++) {
            int row = (y - 9) / CELL, column = (x - left) / CELL, lit = 0;
            if (y >= 9 && row < 7 && x >= left && column / 6 < (int)strlen(text))
                lit = font_cell(font_glyph(text[column / 6]), column % 6, row);
            fputc(lit ? 235 : 48, out);
        }
    return fflush(out) || ferror(out);
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "--label"))
        return write_label(stdout, atoi(argv[2]), argv[3]);

    int frames = argc > 1 ? atoi(argv[1]) : DEFAULT_FRAMES;
    FILE *out = argc > 2 ? fopen(argv[2], "wb") : stdout;
    if (frames < 1 || argc > 3) {
        fputs("usage: scene [FRAMES] [FILE]\n", stderr);
        return 2;
    }
    if (!out) {
        fprintf(stderr, "scene: %s: %s\n", argv[2], strerror(errno));
        return 1;
    }
    paint_ground();
    int failed = write_film(out, frames);
    if ((out != stdout && fclose(out)) || failed) {
        fputs("scene: the film cannot be written\n", stderr);
        return 1;
    }
    return 0;
}
