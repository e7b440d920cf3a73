#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes seeds in corpus/still that encoders do not make: each kind of pixel, layout and tag that a reader
accepts or refuses, in pictures of a few pixels.

    /usr/bin/python3 tests/fuzz/seeds_pictures.py
"""
import io
import os
import struct
import zlib

from PIL import Image

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus", "still")
WIDTH, HEIGHT = 5, 3
EXIF = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"  # turned by a quarter


def seed(name, data):
    with open(os.path.join(HERE, name), "wb") as file:
        file.write(data)


# ---- TIFF ----------------------------------------------------------------------------------------

SHORT, LONG = 3, 4
SUBFILE, BITS, COMPRESSION, PHOTOMETRIC, STRIP, ORIENTATION, SAMPLES = 254, 258, 259, 262, 273, 274, 277
EXTRA, FORMAT, INKS, TILE, COLOURS, FILL, ROWS = 338, 339, 332, 322, 320, 266, 278


def directory(order, tags, at, following):
    """tags: {number: values, or (type, values)}; what does not fit an entry lies behind the directory."""
    rows, rest = b"", b""
    behind = at + 2 + 12 * len(tags) + 4
    for number in sorted(tags):
        kind, values = tags[number] if isinstance(tags[number], tuple) else (SHORT, tags[number])
        data = struct.pack(order + str(len(values)) + ("H" if kind == SHORT else "I"), *values)
        if len(data) > 4:
            rows += struct.pack(order + "HHII", number, kind, len(values), behind + len(rest))
            rest += data
        else:
            rows += struct.pack(order + "HHI", number, kind, len(values)) + data.ljust(4, b"\0")
    return struct.pack(order + "H", len(tags)) + rows + struct.pack(order + "I", following) + rest


def tiff(name, order="<", pages=1, inflated=None, deflated=None, **changes):
    tags = {256: [WIDTH], 257: [HEIGHT], BITS: [8], COMPRESSION: [1], PHOTOMETRIC: [1], STRIP: (LONG, [8]), SAMPLES: [1],
            278: [HEIGHT], 279: (LONG, [0])}
    tags.update({globals()[k]: v for k, v in changes.items()})
    bits = tags[BITS][0]
    row = (WIDTH * bits * tags[SAMPLES][0] + 7) // 8
    pixels = bytes(i * 37 % 256 for i in range(row * HEIGHT))
    if tags[COMPRESSION] == [8]:
        pixels = zlib.compress(pixels[:inflated])[:deflated]
    tags[279] = (LONG, [len(pixels)] * len(tags[STRIP][1]))
    at = 8 + len(pixels) + len(pixels) % 2
    body = directory(order, tags, at, 0)
    if pages > 1:
        body = directory(order, tags, at, at + len(body)) + directory(order, tags, at + len(body), 0)
    magic = b"II*\0" if order == "<" else b"MM\0*"
    seed(name + ".tiff", magic + struct.pack(order + "I", at) + pixels.ljust(at - 8, b"\0") + body)


tiff("grey_big", order=">")
tiff("white_is_0", PHOTOMETRIC=[0])
tiff("bits", PHOTOMETRIC=[0], BITS=[1])
tiff("grey_4", BITS=[4])
tiff("grey_12", BITS=[12])
tiff("grey_16", BITS=[16], COMPRESSION=[8])
tiff("grey_alpha", BITS=[8, 8], SAMPLES=[2], EXTRA=[2])
tiff("premultiplied", PHOTOMETRIC=[2], BITS=[8, 8, 8, 8], SAMPLES=[4], EXTRA=[1])
tiff("premultiplied_16", PHOTOMETRIC=[2], BITS=[16, 16, 16, 16], SAMPLES=[4], EXTRA=[1])
tiff("inks", PHOTOMETRIC=[5], BITS=[8, 8, 8, 8], SAMPLES=[4], INKS=[1])
tiff("palette", PHOTOMETRIC=[3], BITS=[4], COLOURS=[i * 1000 % 65536 for i in range(48)])
tiff("turned", ORIENTATION=[6])
tiff("turned_long", ORIENTATION=(LONG, [8]))
tiff("pages", pages=2)
tiff("deflate", COMPRESSION=[8])
tiff("found_short_deflate", COMPRESSION=[8], inflated=9)
tiff("found_cut_deflate", COMPRESSION=[8], deflated=12)
tiff("reversed", COMPRESSION=[8], FILL=[2])
tiff("strips", COMPRESSION=[8], ROWS=[2], STRIP=(LONG, [8, 8]))
for what, change in {"tiles": {"TILE": [16]}, "smaller": {"SUBFILE": (LONG, [1])}, "uneven": {"BITS": [8, 8, 9], "SAMPLES": [3]},
                     "float": {"FORMAT": [3]}, "odd_format": {"FORMAT": [9]}, "jpeg": {"COMPRESSION": [7]}, "odd": {"COMPRESSION": [999]},
                     "lab": {"PHOTOMETRIC": [8]}, "odd_kind": {"PHOTOMETRIC": [99]}, "deep": {"BITS": [32]}, "samples": {"SAMPLES": [3]},
                     "alpha_12": {"BITS": [12, 12], "SAMPLES": [2]}, "other_inks": {"PHOTOMETRIC": [5], "BITS": [8] * 4, "SAMPLES": [4], "INKS": [2]}}.items():
    tiff("refused_" + what, **change)

# ---- PNG -----------------------------------------------------------------------------------------


def chunk(kind, data=b""):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(name, *chunks, bits=8, kind=2, samples=3, interlaced=0):
    row = (WIDTH * bits * samples + 7) // 8
    pixels = zlib.compress(b"".join(b"\0" + bytes(i * 29 % 256 for i in range(row)) for _ in range(HEIGHT)))
    seed(name + ".png", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, bits, kind, 0, 0, interlaced)) +
         b"".join(chunks) + chunk(b"IDAT", pixels) + chunk(b"IEND"))


png("moving", chunk(b"acTL", struct.pack(">II", 2, 0)), chunk(b"fcTL", struct.pack(">IIIIIHHBB", 0, WIDTH, HEIGHT, 0, 0, 1, 25, 0, 0)))
png("tagged", chunk(b"eXIf", EXIF), chunk(b"iCCP", b"p\0\0" + zlib.compress(b"profile" * 20)), chunk(b"gAMA", struct.pack(">I", 45455)),
    chunk(b"tEXt", b"Author\0x"), chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0<x/>"))
png("see_through", chunk(b"tRNS", b"\0\x01\0\x02\0\x03"))
png("grey_bit", bits=1, kind=0, samples=1)
png("grey_see_through", chunk(b"tRNS", b"\0\x1d"), kind=0, samples=1)
png("deep", bits=16, kind=6, samples=4)
png("palette_4", chunk(b"PLTE", bytes(range(48))), chunk(b"tRNS", b"\0\x80"), bits=4, kind=3, samples=1)

# ---- JPEG, WebP, and others ----------------------------------------------------------------------


def picture(mode):
    image = Image.new(mode, (17, 9))
    image.putdata([tuple((i * 7 + 50 * c) % 256 for c in range(len(mode))) if len(mode) > 1 else i * 7 % 256 for i in range(17 * 9)])
    return image


def saved(name, mode, kind, **options):
    file = io.BytesIO()
    picture(mode).save(file, kind, **options)
    seed(name, file.getvalue())
    return file.getvalue()


inks = saved("inks_adobe.jpg", "CMYK", "JPEG", quality=30)
adobe = inks.index(b"\xff\xee")
seed("inks.jpg", inks[:adobe] + inks[adobe + 2 + struct.unpack(">H", inks[adobe + 2:adobe + 4])[0]:])
saved("progressive.jpg", "RGB", "JPEG", quality=10, progressive=True, exif=b"Exif\0\0" + EXIF)
saved("halves.jpg", "RGB", "JPEG", quality=96, subsampling="4:2:2", icc_profile=b"profile" * 20)
saved("lossy.webp", "RGB", "WEBP", quality=20, exif=EXIF)
saved("alpha.webp", "RGBA", "WEBP", quality=5, alpha_quality=40)
saved("lossless.webp", "RGB", "WEBP", lossless=True)
file = io.BytesIO()
picture("RGB").save(file, "WEBP", save_all=True, append_images=[picture("RGB").rotate(180)], quality=5)
seed("moving.webp", file.getvalue())
saved("palette.bmp", "P", "BMP")
seed("comment.pgm", b"P5\n# x\n5 3\n255\n" + bytes(range(15)))
seed("text.ppm", b"P3\n2 1\n255\n1 2 3 4 5 6\n")
seed("deep.pgm", b"P5 5 3 65535\n" + bytes(range(30)))


def gif(name, *frames, size=(7, 5), interlaced=0):
    """frames: (left, top, width, height, how it goes, index that is transparent). Two codes of 3 bits a byte, and a clear code
    between them, so that none is wider."""
    data = b"GIF89a" + struct.pack("<HHBBB", *size, 0x81, 0, 0) + bytes(range(0, 192, 16))
    for at, (left, top, width, height, goes, clear) in enumerate(frames):
        bits = "".join(f"{code:03b}"[::-1] for i in range(width * height) for code in (4, (i * (at + 1)) % 4)) + f"{5:03b}"[::-1]
        bits += "0" * (-len(bits) % 8)
        pixels = bytes(int(bits[i:i + 8][::-1], 2) for i in range(0, len(bits), 8))
        data += b"!\xf9\4" + struct.pack("<BHBB", goes << 2 | (clear is not None), 4, clear or 0, 0)
        data += b"," + struct.pack("<HHHHB", left, top, width, height, interlaced << 6) + b"\2"
        data += b"".join(bytes([len(part)]) + part for part in (pixels[i:i + 255] for i in range(0, len(pixels), 255))) + b"\0"
    seed(name + ".gif", data + b";")


gif("small", (0, 0, 7, 5, 0, None), (1, 1, 3, 2, 0, None))
gif("woven", (0, 0, 7, 5, 1, None), interlaced=1)
gif("going", (0, 0, 7, 5, 1, None), (2, 1, 4, 3, 2, 1), (1, 0, 3, 3, 3, 0), (0, 2, 5, 2, 1, None))
gif("partial", (2, 2, 3, 2, 0, 3), (0, 0, 2, 2, 2, None))
