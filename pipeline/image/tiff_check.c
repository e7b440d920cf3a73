// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/picture_kind.h"

#include <stdio.h>

#include "mona.h"
#include "pipeline/image/libraries.h"
#include "pipeline/image/tiff_tags.h"

enum {
    READABLE = 1,
    PLAIN = 1,
    CCITT_RLE,
    CCITT_GROUP_3,
    CCITT_GROUP_4,
    DEFLATE = 8,
    OLD_DEFLATE = 32946
};

/* The values of a tag that are known by name; `readable` ones, libav decodes as others do. Of LZMA
 * it returns memory that it never wrote where a strip holds less than its rows. */
typedef struct known {
    uint32_t value;
    const char *name;
    bool readable;
} known;

static const known compressions[] = {{PLAIN, "none", READABLE},
                                     {CCITT_RLE, "CCITT RLE", READABLE},
                                     {CCITT_GROUP_3, "CCITT Group 3", READABLE},
                                     {CCITT_GROUP_4, "CCITT Group 4", READABLE},
                                     {5, "LZW", READABLE},
                                     {6, "JPEG of the old kind", 0},
                                     {7, "JPEG", 0},
                                     {DEFLATE, "Deflate", READABLE},
                                     {32773, "PackBits", READABLE},
                                     {OLD_DEFLATE, "Deflate", READABLE},
                                     {34712, "JPEG 2000", 0},
                                     {34925, "LZMA", 0},
                                     {50000, "Zstandard", 0},
                                     {50001, "WebP", 0},
                                     {50002, "JPEG XL", 0}};

static const known sample_formats[] = {
    {1, "unsigned integers", READABLE}, {2, "signed integers", 0}, {3, "floating point", 0}};

/* Kinds of pixel. bits: a bit for each readable depth; samples without those of alpha. */
typedef struct pixel_kind {
    uint32_t value;
    const char *name;
    uint32_t bits;
    unsigned samples;
    bool alpha; /* one more sample is allowed */
} pixel_kind;

#define BITS(n) (1u << (n))

/* libav reads samples of 2 and 4 bits as indices into a grey palette, without regard to which end
 * is white, does not invert those of 12 bits, and takes CMYK of 16 bits in the wrong byte order. */
static const pixel_kind kinds[] = {
    {0, "grey with 0 for white", BITS(1) | BITS(8) | BITS(16), 1, false},
    {1, "grey", BITS(1) | BITS(2) | BITS(4) | BITS(8) | BITS(12) | BITS(16), 1, true},
    {2, "RGB", BITS(8) | BITS(16), 3, true},
    {3, "a palette", BITS(1) | BITS(2) | BITS(4) | BITS(8), 1, false},
    {4, "a mask", 0, 1, false},
    {5, "CMYK", BITS(8), 4, false},
    {6, "YCbCr", 0, 3, false},
    {8, "CIELab", 0, 3, false},
    {9, "ICCLab", 0, 3, false},
    {10, "ITULab", 0, 3, false},
    {32803, "samples of a colour filter array", 0, 1, false},
    {32844, "LogL", 0, 1, false},
    {32845, "LogLuv", 0, 3, false},
    {34892, "linear samples of a camera", 0, 3, false}};

typedef struct checking {
    const char *path;
    tiff file;
    pipeline_error *error;
} checking;

static uint32_t value(const checking *c, unsigned tag, uint32_t otherwise)
{
    return tiff_value(&c->file, c->file.first, tag, otherwise);
}

static bool refuse(const checking *c, const char *expected, const char *found)
{
    return pipeline_fail(c->error, "%s: expected a TIFF with %s, found %s; as PNG it can be read",
                         c->path, expected, found);
}

static bool check_known(const checking *c, const known *rows, size_t count, uint32_t found,
                        const char *what, const char *expected)
{
    char text[64];
    const known *row = NULL;
    for (size_t i = 0; i < count; i++)
        if (rows[i].value == found)
            row = &rows[i];
    if (row && row->readable)
        return true;
    if (row)
        snprintf(text, sizeof text, "%s", row->name);
    else
        snprintf(text, sizeof text, "%s %u", what, found);
    return refuse(c, expected, text);
}

static bool check_layout(const checking *c)
{
    tiff_entry e;
    if (tiff_find(&c->file, c->file.first, TIFF_TILE_WIDTH, &e))
        return refuse(c, "its pixels in strips", "tiles");
    return !(value(c, TIFF_SUBFILE_TYPE, 0) & 1) ||
           refuse(c, "its picture first", "a smaller copy of it");
}

/* Every sample must have the same number of bits and be of the same format. */
static bool check_samples(const checking *c, uint32_t *bits)
{
    tiff_entry e;
    *bits = value(c, TIFF_BITS, 1);
    if (tiff_find(&c->file, c->file.first, TIFF_BITS, &e))
        for (uint32_t i = 1; i < e.count; i++)
            if (tiff_number(&c->file, &e, i) != *bits)
                return refuse(c, "equally many bits in every sample", "samples that differ");
    if (!tiff_find(&c->file, c->file.first, TIFF_SAMPLE_FORMAT, &e))
        return true;
    for (uint32_t i = 0; i < e.count; i++)
        if (!check_known(c, sample_formats, sizeof sample_formats / sizeof *sample_formats,
                         tiff_number(&c->file, &e, i), "samples of format", "unsigned integers"))
            return false;
    return true;
}

static bool check_pixels(const checking *c, uint32_t bits)
{
    char text[96];
    const uint32_t found = value(c, TIFF_PHOTOMETRIC, UINT32_MAX);
    const uint32_t samples = value(c, TIFF_SAMPLES, 1);
    const pixel_kind *kind = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].value == found)
            kind = &kinds[i];
    if (!kind || !kind->bits) {
        snprintf(text, sizeof text, "pixels of kind %u", found);
        return refuse(c, "grey, RGB, CMYK or a palette", kind ? kind->name : text);
    }
    snprintf(text, sizeof text, "%s of %u bits a sample", kind->name, bits);
    if (bits > 16 || !(kind->bits & BITS(bits)))
        return refuse(c, "8 or 16 bits a sample (CMYK 8)", text);
    snprintf(text, sizeof text, "%s of %u samples a pixel", kind->name, samples);
    if (samples != kind->samples && !(kind->alpha && samples == kind->samples + 1))
        return refuse(c, "grey, RGB, either of them with alpha, CMYK or a palette", text);
    if (kind->alpha && samples > kind->samples && bits % 8)
        return refuse(c, "alpha of 8 or 16 bits", text);
    return value(c, TIFF_INK_SET, 1) == 1 || refuse(c, "the inks of CMYK", "other inks");
}

/* ---- strips --------------------------------------------------------------------------------- */

/* Whether data inflates to so many bytes, or is found to be damaged before. */
static bool inflates_to(const uint8_t *data, size_t size, uint64_t bytes)
{
    uint8_t piece[1 << 14];
    int code = Z_OK;
    z_stream z = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size};
    if (zlib.inflateInit_(&z, ZLIB_VERSION, (int)sizeof z) != Z_OK)
        return false;
    while (code == Z_OK && z.total_out < bytes) {
        z.next_out = piece;
        z.avail_out = sizeof piece;
        code = zlib.inflate(&z, Z_SYNC_FLUSH);
    }
    const bool whole = z.total_out >= bytes || code == Z_DATA_ERROR;
    zlib.inflateEnd(&z);
    return whole;
}

/* Whether each tag is there once, so that all readers take the same values. */
static bool ascends(const tiff *t)
{
    const uint32_t count = tiff_entries(t, t->first);
    tiff_entry before = {0}, e;
    for (uint32_t i = 0; i < count; i++, before = e) {
        tiff_entry_at(t, t->first, i, &e);
        if (e.tag <= before.tag)
            return false;
    }
    return true;
}

#define CUT_OFF "%s: cannot be decoded: the file is cut off"

/* Where strips lie, and what each must hold. */
typedef struct strips {
    tiff_entry begins, sizes;
    bool sized;         /* else there is one, up to the end of the file */
    uint32_t rows, all; /* of a strip, but for the last in each plane; of the picture */
    uint64_t row;       /* bytes */
    uint32_t wanted;    /* strips, for all rows */
} strips;

/* As libav reads them. */
static bool find_strips(strips *s, const checking *c, uint32_t bits)
{
    enum { SEPARATE = 2 };
    const uint32_t width = value(c, TIFF_WIDTH, 0), height = value(c, TIFF_HEIGHT, 0);
    const uint32_t samples = value(c, TIFF_SAMPLES, 1), first = c->file.first;
    const bool separate = value(c, TIFF_PLANES, 1) == SEPARATE;
    tiff_entry e;
    uint32_t values = samples;
    *s = (strips){.rows = height, .all = height};
    if (!width || !height || !samples || width > MONA_MAX_SIDE || height > MONA_MAX_SIDE ||
        !ascends(&c->file) || !tiff_find(&c->file, first, TIFF_STRIPS, &s->begins))
        return false;
    if (tiff_find(&c->file, first, TIFF_STRIP_ROWS, &e) && e.count == 1) {
        const uint32_t rows = tiff_number(&c->file, &e, 0);
        s->rows = rows && rows < height ? rows : height;
    }
    if (tiff_find(&c->file, first, TIFF_BITS, &e) && e.count > samples)
        values = e.count;
    s->row = ((uint64_t)width * bits * values + 7) / 8 / (separate ? samples : 1);
    s->sized = tiff_find(&c->file, first, TIFF_STRIP_BYTES, &s->sizes);
    s->wanted = (height + s->rows - 1) / s->rows * (separate ? samples : 1);
    return s->begins.count >= s->wanted && s->begins.count == (s->sized ? s->sizes.count : 1);
}

bool tiff_lacks_rows(const char *path, pipeline_error *error)
{
    return pipeline_fail(error, "%s: cannot be decoded: the rows of its strips are not all there",
                         path);
}

/* Where a strip ends before its last row, libav returns memory that it never wrote if it is
 * deflated, and leaves rows out without a word if it is not compressed. Of strips outside the file
 * it says no more than that they are invalid; it reads none behind the last row. */
static bool check_strips(const checking *c, uint32_t bits)
{
    enum { REVERSED = 2 };
    const uint32_t compression = value(c, TIFF_COMPRESSION, 1);
    const bool plain = compression == PLAIN;
    strips s;
    if (!plain && compression != DEFLATE && compression != OLD_DEFLATE)
        return true;
    if (!plain && value(c, TIFF_FILL_ORDER, 1) == REVERSED)
        return refuse(c, "bytes in their usual order", "bytes whose bits are reversed");
    if (!picture_libraries(c->error))
        return false;
    bool good = find_strips(&s, c, bits);
    for (uint32_t i = 0; good && i < s.begins.count; i++) {
        const size_t at = tiff_number(&c->file, &s.begins, i);
        const size_t size = s.sized             ? tiff_number(&c->file, &s.sizes, i)
                            : at < c->file.size ? c->file.size - at
                                                : 0;
        const uint32_t pieces = (s.all + s.rows - 1) / s.rows, left = s.all - i % pieces * s.rows;
        const uint64_t bytes = s.row * (left < s.rows ? left : s.rows);
        const bool outside = at >= c->file.size || size > c->file.size - at;
        if (outside && i < s.wanted)
            return pipeline_fail(c->error, CUT_OFF, c->path);
        good = outside || (plain ? size >= bytes : inflates_to(c->file.data + at, size, bytes));
    }
    return good || tiff_lacks_rows(c->path, c->error);
}

static unsigned count_pages(const tiff *t)
{
    enum { MAX_PAGES = 10000 }; /* directories may lead back to earlier ones */
    unsigned pages = 0;
    uint32_t at = t->first;
    for (unsigned i = 0; i < MAX_PAGES && tiff_entries(t, at); i++) {
        pages += !(tiff_value(t, at, TIFF_SUBFILE_TYPE, 0) & 1);
        at = tiff_next(t, at);
    }
    return pages;
}

bool tiff_check(tiff_info *info, const char *path, const uint8_t *file, size_t size,
                pipeline_error *error)
{
    enum { ASSOCIATED = 1 };
    checking c = {.path = path, .error = error};
    uint32_t bits;
    *info = (tiff_info){0};
    if (!tiff_open(&c.file, file, size) || tiff_is_cut_off(&c.file, c.file.first))
        return pipeline_fail(error, CUT_OFF, path);
    info->pages = count_pages(&c.file);
    info->premultiplied = value(&c, TIFF_EXTRA_SAMPLES, 0) == ASSOCIATED;
    const uint32_t compression = value(&c, TIFF_COMPRESSION, PLAIN);
    info->ccitt = compression >= CCITT_RLE && compression <= CCITT_GROUP_4;
    return check_known(&c, compressions, sizeof compressions / sizeof *compressions,
                       value(&c, TIFF_COMPRESSION, 1), "compression",
                       "no compression, LZW, Deflate, PackBits or CCITT") &&
           check_layout(&c) && check_samples(&c, &bits) && check_pixels(&c, bits) &&
           check_strips(&c, bits);
}
