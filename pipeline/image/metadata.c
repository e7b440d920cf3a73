// SPDX-License-Identifier: Apache-2.0
#include "pipeline/image/metadata.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model_format.h"
#include "pipeline/image/picture_kind.h"
#include "pipeline/image/libraries.h"

/* Including the final zeros. */
static const char exif_head[] = "Exif\0", xmp_head[] = "http://ns.adobe.com/xap/1.0/",
                  profile_head[] = "ICC_PROFILE", jfif_head[] = "JFIF",
                  xmp_key[] = "XML:com.adobe.xmp";

/* A JPEG segment stores its length in 16 bits. A profile is split into up to 255 segments, each
 * with its number and their count. */
enum {
    SEGMENT_BYTES = 65533,
    PROFILE_PIECE = SEGMENT_BYTES - sizeof profile_head - 2,
    PROFILE_BYTES = 255 * PROFILE_PIECE
};

/* Only the first one counts. */
static bool take(metadata_bytes *to, const uint8_t *data, size_t size)
{
    return to->data || metadata_append(to, data, size);
}

void metadata_free(picture_metadata *m)
{
    metadata_drop(&m->exif);
    metadata_drop(&m->xmp);
    metadata_drop(&m->profile);
    metadata_drop(&m->rest);
}

static uint32_t big32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t little32(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

/* ---- JPEG ----------------------------------------------------------------------------------- */

static bool begins(const jpeg_segment *s, int code, const char *head, size_t length)
{
    return s->code == code && s->size >= length && !memcmp(s->data, head, length);
}

/* Except further pictures in the file (MPF), and that libav encoded what was decoded here. */
static bool is_rest(const jpeg_segment *s)
{
    return (s->code == MARKER_COM && !begins(s, MARKER_COM, "Lavc", 4)) ||
           s->code == MARKER_APP0 + 13 || s->code == MARKER_APP0 + 1 ||
           (s->code == MARKER_APP0 + 2 && !begins(s, MARKER_APP0 + 2, "MPF", 4));
}

/* After the name two bytes of version, one of the unit, and twice two of pixels. */
static void read_jfif(picture_density *d, const jpeg_segment *s)
{
    enum { UNIT = sizeof jfif_head + 2, SIZE = UNIT + 5 };
    const uint8_t *p = s->data + UNIT;
    if (s->size >= SIZE && begins(s, MARKER_APP0, jfif_head, sizeof jfif_head))
        density_of_jfif(d, p[0], (uint32_t)p[1] << 8 | p[2], (uint32_t)p[3] << 8 | p[4]);
}

static bool read_segment(picture_metadata *m, const jpeg_segment *s)
{
    read_jfif(&m->density, s);
    m->pictures += jpeg_pictures(s);
    if (begins(s, MARKER_APP0 + 1, exif_head, sizeof exif_head))
        return take(&m->exif, s->data + sizeof exif_head, s->size - sizeof exif_head);
    if (begins(s, MARKER_APP0 + 1, xmp_head, sizeof xmp_head))
        return take(&m->xmp, s->data + sizeof xmp_head, s->size - sizeof xmp_head);
    if (begins(s, MARKER_APP0 + 2, profile_head, sizeof profile_head)) {
        const size_t head = sizeof profile_head + 2;
        return s->size < head || metadata_append(&m->profile, s->data + head, s->size - head);
    }
    return !is_rest(s) || metadata_append(&m->rest, s->data - 4, s->size + 4);
}

static bool read_jpeg(picture_metadata *m, const uint8_t *file, size_t size)
{
    jpeg_segment segment;
    for (size_t at = 0; jpeg_segment_next(&segment, file, size, &at) && segment.code != MARKER_SOS;)
        if (!read_segment(m, &segment))
            return false;
    m->film = jpeg_has_film(file, size);
    return true;
}

static bool write_segment(metadata_bytes *to, int code, const char *head, size_t head_size,
                          const uint8_t *data, size_t size)
{
    const size_t length = 2 + head_size + size;
    const uint8_t marker[] = {0xff, (uint8_t)code, (uint8_t)(length >> 8), (uint8_t)length};
    return metadata_append(to, marker, sizeof marker) && metadata_append(to, head, head_size) &&
           metadata_append(to, data, size);
}

static bool write_jpeg(metadata_bytes *to, const picture_metadata *m)
{
    const size_t pieces = (m->profile.size + PROFILE_PIECE - 1) / PROFILE_PIECE;
    bool good = true;
    if (m->exif.data)
        good = write_segment(to, MARKER_APP0 + 1, exif_head, sizeof exif_head, m->exif.data,
                             m->exif.size);
    if (m->xmp.data)
        good = good && write_segment(to, MARKER_APP0 + 1, xmp_head, sizeof xmp_head, m->xmp.data,
                                     m->xmp.size);
    for (size_t i = 0; i < pieces && good; i++) {
        const size_t at = i * PROFILE_PIECE, left = m->profile.size - at;
        char head[sizeof profile_head + 2];
        memcpy(head, profile_head, sizeof profile_head);
        head[sizeof profile_head] = (char)(i + 1);
        head[sizeof profile_head + 1] = (char)pieces;
        good = write_segment(to, MARKER_APP0 + 2, head, sizeof head, m->profile.data + at,
                             left < PROFILE_PIECE ? left : PROFILE_PIECE);
    }
    return good && (m->kind != PICTURE_JPEG || metadata_append(to, m->rest.data, m->rest.size));
}

/* ---- PNG: chunks of a length, a type, as many bytes, and a checksum of type and bytes ------- */

enum { CHUNK_COST = 12 };

/* A profile follows its name and a byte for the method, deflated. */
static bool inflate_profile(picture_metadata *m, const uint8_t *data, size_t size)
{
    enum { GROWTH = 1032 }; /* of deflated bytes, at most */
    const uint8_t *end = memchr(data, 0, size);
    const size_t head = end ? (size_t)(end - data) + 2 : size;
    if (m->profile.data)
        return true;
    m->lost = true;
    if (head >= size)
        return true;
    uLongf found = size - head < PROFILE_BYTES / GROWTH ? GROWTH * (size - head) : PROFILE_BYTES;
    uint8_t *profile = malloc(found);
    if (!profile)
        return false;
    const int code = zlib.uncompress(profile, &found, data + head, size - head);
    m->lost = code != Z_OK;
    const bool good = code == Z_DATA_ERROR || code == Z_BUF_ERROR ||
                      (code == Z_OK && metadata_append(&m->profile, profile, found));
    free(profile);
    return good;
}

/* International text: keyword, compression flag and method, language, translated keyword, text. */
static bool is_xmp(const uint8_t *data, size_t size)
{
    return size > sizeof xmp_key && !memcmp(data, xmp_key, sizeof xmp_key) && !data[sizeof xmp_key];
}

static bool read_xmp(metadata_bytes *to, const uint8_t *data, size_t size)
{
    size_t at = sizeof xmp_key + 2;
    for (int i = 0; i < 2 && at < size; i++) {
        const uint8_t *end = memchr(data + at, 0, size - at);
        at = end ? (size_t)(end - data) + 1 : size;
    }
    return at >= size || take(to, data + at, size - at);
}

/* The data of the first of that type, if it has at least so many bytes; NULL: there is none.
 * chunks: whole ones. */
static const uint8_t *find_chunk(const metadata_bytes *chunks, const char *type, size_t least)
{
    for (size_t at = 0; at < chunks->size; at += big32(chunks->data + at) + (size_t)CHUNK_COST)
        if (!memcmp(chunks->data + at + 4, type, 4))
            return big32(chunks->data + at) >= least ? chunks->data + at + 8 : NULL;
    return NULL;
}

static bool read_chunk(picture_metadata *m, const uint8_t *chunk, size_t size)
{
    static const char rest[][5] = {"sRGB", "gAMA", "cHRM", "cICP", "tEXt", "zTXt", "iTXt"};
    enum { ONCE = 4 }; /* so many of these may be there only once, and damaged files have more */
    enum { DENSITY = 9 };
    const uint8_t *type = chunk + 4, *data = chunk + 8;
    if (!memcmp(type, "eXIf", 4))
        return take(&m->exif, data, size);
    if (!memcmp(type, "iCCP", 4))
        return inflate_profile(m, data, size);
    if (!memcmp(type, "iTXt", 4) && is_xmp(data, size))
        return read_xmp(&m->xmp, data, size);
    if (!memcmp(type, "pHYs", 4) && size == DENSITY && !m->density.x)
        m->density = (picture_density){big32(data), big32(data + 4), data[8] == 1};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        if (!memcmp(type, rest[i], 4) && (i >= ONCE || !find_chunk(&m->rest, rest[i], 0)))
            return metadata_append(&m->rest, chunk, size + CHUNK_COST);
    return true;
}

static bool read_png(picture_metadata *m, const uint8_t *file, size_t size)
{
    for (size_t at = 8; size - at >= CHUNK_COST;) {
        const size_t length = big32(file + at);
        if (length > size - at - CHUNK_COST)
            return true;
        if (!read_chunk(m, file + at, length))
            return false;
        at += length + CHUNK_COST;
    }
    return true;
}

static bool append32(metadata_bytes *to, uint32_t value)
{
    const uint8_t bytes[] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                             (uint8_t)value};
    return metadata_append(to, bytes, sizeof bytes);
}

static bool write_chunk(metadata_bytes *to, const char *type, const char *head, size_t head_size,
                        const uint8_t *data, size_t size)
{
    if (!append32(to, (uint32_t)(head_size + size)))
        return false;
    const size_t begin = to->size;
    return metadata_append(to, type, 4) && metadata_append(to, head, head_size) &&
           metadata_append(to, data, size) &&
           append32(to, mona_crc32(0, to->data + begin, to->size - begin));
}

static bool write_profile(metadata_bytes *to, const metadata_bytes *profile)
{
    static const char head[] = "ICC profile\0"; /* method 0 */
    uLongf size = zlib.compressBound(profile->size);
    uint8_t *data = malloc(size);
    const bool good =
        data &&
        zlib.compress2(data, &size, profile->data, profile->size, Z_BEST_COMPRESSION) == Z_OK &&
        write_chunk(to, "iCCP", head, sizeof head, data, size);
    free(data);
    return good;
}

static bool write_density(metadata_bytes *to, const picture_density *d)
{
    metadata_bytes data = {0};
    const bool good = append32(&data, d->x) && append32(&data, d->y) &&
                      metadata_append(&data, &(uint8_t){d->metres}, 1) &&
                      (!d->x || !d->y || d->x > INT32_MAX || d->y > INT32_MAX ||
                       write_chunk(to, "pHYs", NULL, 0, data.data, data.size));
    metadata_drop(&data);
    return good;
}

static bool write_png(metadata_bytes *to, const picture_metadata *m)
{
    static const char head[] = "XML:com.adobe.xmp\0\0\0\0"; /* not compressed, no language */
    bool good = !m->profile.data || write_profile(to, &m->profile);
    if (m->exif.data)
        good = good && write_chunk(to, "eXIf", NULL, 0, m->exif.data, m->exif.size);
    if (m->xmp.data)
        good = good && write_chunk(to, "iTXt", head, sizeof head, m->xmp.data, m->xmp.size);
    return good && write_density(to, &m->density) &&
           (m->kind != PICTURE_PNG || metadata_append(to, m->rest.data, m->rest.size));
}

/* ---- WebP: chunks of a type, a length, as many bytes, and one more if they are odd ----------- */

static bool read_webp(picture_metadata *m, const uint8_t *file, size_t size)
{
    for (size_t at = 12; at <= size && size - at >= 8;) {
        const uint8_t *type = file + at, *data = type + 8;
        const size_t length = little32(type + 4);
        metadata_bytes *to = !memcmp(type, "EXIF", 4)   ? &m->exif
                             : !memcmp(type, "XMP ", 4) ? &m->xmp
                             : !memcmp(type, "ICCP", 4) ? &m->profile
                                                        : NULL;
        if (length > size - at - 8)
            return true;
        if (to && !take(to, data, length))
            return false;
        at += 8 + length + length % 2;
    }
    return true;
}

/* Behind the file's head of 14 bytes there is another, with its size and then what it says. */
static void read_bmp(picture_metadata *m, const uint8_t *file, size_t size)
{
    enum { HEAD = 14, LEAST = 40, DENSITY = 24 };
    if (size >= HEAD + LEAST && little32(file + HEAD) >= LEAST)
        m->density = (picture_density){little32(file + HEAD + DENSITY),
                                       little32(file + HEAD + DENSITY + 4), true};
}

static bool take_entry(metadata_bytes *to, const tiff *t, unsigned tag)
{
    tiff_entry e;
    return !tiff_find(t, t->first, tag, &e) || take(to, t->data + e.at, e.size);
}

static bool read_tiff(picture_metadata *m, const uint8_t *file, size_t size)
{
    tiff t;
    return !tiff_open(&t, file, size) ||
           (take_entry(&m->profile, &t, TIFF_PROFILE) && take_entry(&m->xmp, &t, TIFF_XMP) &&
            exif_of_tiff(&m->exif, &t));
}

bool metadata_read(picture_metadata *m, const uint8_t *file, size_t size)
{
    *m = (picture_metadata){.kind = picture_kind_of(file, size)};
    if (m->kind == PICTURE_BMP)
        read_bmp(m, file, size);
    return m->kind == PICTURE_JPEG   ? read_jpeg(m, file, size)
           : m->kind == PICTURE_PNG  ? read_png(m, file, size)
           : m->kind == PICTURE_WEBP ? read_webp(m, file, size)
           : m->kind == PICTURE_TIFF ? read_tiff(m, file, size)
                                     : true;
}

bool metadata_write(metadata_bytes *to, const picture_metadata *m, picture_kind kind)
{
    *to = (metadata_bytes){0};
    if (kind == PICTURE_JPEG ? write_jpeg(to, m) : write_png(to, m))
        return true;
    metadata_drop(to);
    return false;
}

static void put_little(uint8_t *to, size_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* Appends a chunk of RIFF; chunks have an even number of bytes. */
static void put_riff(metadata_bytes *to, const char *type, const uint8_t *data, size_t size)
{
    uint8_t *at = to->data + to->size;
    if (!data)
        return;
    memcpy(at, type, 4);
    put_little(at + 4, size, 4);
    memcpy(at + 8, data, size);
    at[8 + size] = 0;
    to->size += 8 + size + size % 2;
}

/* A file with metadata begins with a chunk that says what follows: flags, and the size less 1.
 * Behind the head of RIFF, libwebp's own file has just the picture, whose 5th byte has a bit for
 * alpha in bit 4 (VP8L: 1 byte of signature, 14 + 14 bits of size, then that bit). */
bool metadata_write_webp(metadata_bytes *to, const picture_metadata *m, const uint8_t *webp,
                         size_t size, mona_size picture)
{
    enum { RIFF = 12, HEAD = 10, ROOM = 64, ICC = 0x20, ALPHA = 0x10, EXIF = 8, XMP = 4 };
    uint8_t head[HEAD] = {0};
    *to = (metadata_bytes){.data =
                               malloc(size + m->profile.size + m->exif.size + m->xmp.size + ROOM)};
    if (!to->data)
        return false;
    memcpy(to->data, webp, RIFF);
    to->size = RIFF;
    head[0] = (uint8_t)((m->profile.data ? ICC : 0) | (m->exif.data ? EXIF : 0) |
                        (m->xmp.data ? XMP : 0));
    if (head[0]) {
        const bool lossless = size > RIFF + 13 && !memcmp(webp + RIFF, "VP8L", 4);
        head[0] |= lossless && webp[RIFF + 12] & 0x10 ? ALPHA : 0;
        put_little(head + 4, picture.width - 1, 3);
        put_little(head + 7, picture.height - 1, 3);
        put_riff(to, "VP8X", head, HEAD);
    }
    put_riff(to, "ICCP", m->profile.data, m->profile.size);
    memcpy(to->data + to->size, webp + RIFF, size - RIFF);
    to->size += size - RIFF;
    put_riff(to, "EXIF", m->exif.data, m->exif.size);
    put_riff(to, "XMP ", m->xmp.data, m->xmp.size);
    put_little(to->data + 4, to->size - 8, 4);
    return true;
}

/* ---- orientation and size -------------------------------------------------------------------- */

unsigned metadata_orientation(const picture_metadata *m)
{
    return exif_orientation(&m->exif);
}

/* XMP stores it as an attribute, tiff:Orientation="6", or as an element, <tiff:Orientation>6<. */
static void set_upright_in_xmp(metadata_bytes *xmp)
{
    static const char name[] = "tiff:Orientation";
    const size_t length = sizeof name - 1;
    for (size_t i = 0; xmp->size > length + 2 && i < xmp->size - length - 2; i++) {
        uint8_t *behind = xmp->data + i + length;
        if (memcmp(xmp->data + i, name, length))
            continue;
        behind += behind[0] == '=';
        if (behind[1] >= '1' && behind[1] <= '8')
            behind[1] = '1';
    }
}

void metadata_set_upright(picture_metadata *m)
{
    enum { SIDEWAYS = 5 };
    const picture_density d = m->density;
    if (metadata_orientation(m) >= SIDEWAYS)
        m->density = (picture_density){d.y, d.x, d.metres};
    exif_set_upright(&m->exif);
    set_upright_in_xmp(&m->xmp);
}

/* Replaces the number after a name in XMP, which stores it like the orientation. Out of memory: it
 * stays. */
static void set_number_in_xmp(metadata_bytes *xmp, const char *name, uint32_t value)
{
    char text[16];
    const size_t length = strlen(name), digits = (size_t)snprintf(text, sizeof text, "%u", value);
    for (size_t i = 0; xmp->size > length + 2 && i < xmp->size - length - 2; i++) {
        if (memcmp(xmp->data + i, name, length))
            continue;
        size_t from = i + length + (xmp->data[i + length] == '=') + 1, to = from;
        while (to < xmp->size && isdigit(xmp->data[to]))
            to++;
        if (to == from || to == xmp->size || !metadata_append(xmp, NULL, digits))
            continue;
        memmove(xmp->data + from + digits, xmp->data + to, xmp->size - digits - to);
        memcpy(xmp->data + from, text, digits);
        xmp->size -= to - from;
    }
}

void metadata_set_size(picture_metadata *m, mona_size size)
{
    exif_set_size(&m->exif, size);
    set_number_in_xmp(&m->xmp, "exif:PixelXDimension", size.width);
    set_number_in_xmp(&m->xmp, "exif:PixelYDimension", size.height);
    set_number_in_xmp(&m->xmp, "tiff:ImageWidth", size.width);
    set_number_in_xmp(&m->xmp, "tiff:ImageLength", size.height);
}

/* ---- what fits ------------------------------------------------------------------------------ */

/* What keeps the profile from the result. Its head has its size and names its colour space. */
static const char *unfit(const picture_metadata *m, unsigned channels)
{
    enum { COLOURS = 16 };
    const metadata_bytes *profile = &m->profile;
    const bool grey = channels < 3;
    if (!profile->data)
        return m->lost ? "it is damaged, or larger than 16 MB" : NULL;
    if (profile->size < COLOURS + 4 || profile->size < big32(profile->data))
        return "it is damaged";
    if (memcmp(profile->data + COLOURS, grey ? "GRAY" : "RGB ", 4) != 0)
        return grey ? "it is not for grey" : "it is not for RGB";
    return profile->size > PROFILE_BYTES ? "it is larger than 16 MB" : NULL;
}

/* A PNG's chunk that says other colours than sRGB's, where no profile says them instead. */
static const char *other_colours(const picture_metadata *m)
{
    enum { GAMMA = 45455, CLOSE = 1000 }; /* of 100000 */
    static const uint32_t corners[] = {31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000};
    enum { CORNERS = sizeof corners / sizeof *corners, BT709 = 1, SRGB = 13 };
    const uint8_t *coded = find_chunk(&m->rest, "cICP", 4);
    if (coded)
        return coded[0] == BT709 && (coded[1] == BT709 || coded[1] == SRGB) ? NULL : "cICP";
    if (m->profile.data || find_chunk(&m->rest, "sRGB", 1))
        return NULL;
    const uint8_t *gamma = find_chunk(&m->rest, "gAMA", 4);
    if (gamma && fabs((double)big32(gamma) - GAMMA) > CLOSE)
        return "gAMA";
    const uint8_t *found = find_chunk(&m->rest, "cHRM", sizeof corners);
    for (size_t i = 0; found && i < CORNERS; i++)
        if (fabs((double)big32(found + 4 * i) - corners[i]) > CLOSE)
            return "cHRM";
    return NULL;
}

void metadata_fit(picture_metadata *m, picture_kind kind, unsigned channels, const char *path,
                  const pipeline_notes *notes)
{
    const char *reason = unfit(m, channels);
    char left[METADATA_LEFT];
    metadata_left(left, m);
    if (m->pictures > 1)
        pipeline_note(notes, "%s: the input holds %u pictures; only the first is used", path,
                      m->pictures);
    if (m->film)
        pipeline_note(notes, "%s: the input holds a film behind its picture, which is left out",
                      path);
    if (*left && m->kind != kind)
        pipeline_note(notes, "%s: only .%s keeps what else the input tells: %s", path,
                      m->kind == PICTURE_PNG ? "png" : "jpg", left);
    const size_t max = kind == PICTURE_JPEG ? SEGMENT_BYTES : INT32_MAX / 2;
    if (reason) {
        pipeline_note(notes, "%s: the input's colour profile is left out, because %s", path,
                      reason);
        metadata_drop(&m->profile);
    }
    const char *colours = m->kind == PICTURE_PNG && kind != PICTURE_PNG ? other_colours(m) : NULL;
    if (colours)
        pipeline_note(
            notes,
            "%s: the input's %s, which says that its colours are not sRGB's, is left out, "
            "because %s has no place for it; .png would keep it",
            path, colours, kind == PICTURE_JPEG ? "JPEG" : "WebP");
    if (m->exif.size > max - sizeof exif_head) {
        pipeline_note(notes, "%s: JPEG cannot hold the input's %zu bytes of EXIF; .png would", path,
                      m->exif.size);
        metadata_drop(&m->exif);
    }
    if (m->xmp.size > max - sizeof xmp_head) {
        pipeline_note(notes, "%s: JPEG cannot hold the input's %zu bytes of XMP; .png would", path,
                      m->xmp.size);
        metadata_drop(&m->xmp);
    }
}
