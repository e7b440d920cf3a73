# SPDX-License-Identifier: Apache-2.0
"""For stills_judge.sh: makes awkward pictures, has mona enhance them, and asks other programs what came out.

    stills_judge.py MONA FOLDER short|full

ImageMagick reads the source and the result; what it sees must be the same where the size stays, and the same picture
where it is doubled. pngcheck looks at PNGs and exiftool at all that is told beside the pixels. A line for each cell:
"ok NAME" or "not ok NAME: why".
"""
import io
import itertools
import os
import shutil
import struct
import subprocess
import sys
import zlib

import numpy as np
from PIL import Image, ImageCms

W, H = 61, 45
MONA, FOLDER, FULL = sys.argv[1], sys.argv[2], sys.argv[3] == 'full'
TARGETS = ('png', 'jpg', 'webp')
PLAIN, JPEG_LOSS, CHROMA_LOSS, PREMULTIPLIED_LOSS = 0.5, 12, 24, 40 # decoders enlarge chroma by other filters


def run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)


# ---- sources ---------------------------------------------------------------------------------------------------

def scene(channels, depth=8):
    """Smooth, so that JPEG keeps it, with an edge; the last of 2 or 4 channels is alpha, from 0 to all."""
    y, x = np.mgrid[0:H, 0:W] / [[[H - 1]], [[W - 1]]]
    colours = [0.1 + 0.8 * x, 0.1 + 0.8 * y, 0.5 + 0.4 * np.sin(5 * (x + y))]
    shape = np.clip((0.45 - np.hypot(x - 0.5, y - 0.5)) * 6, 0, 1)
    planes = [np.where(x > 0.6, 1 - c, c) for c in colours[:3 if channels > 2 else 1]]
    planes += [shape] if channels in (2, 4) else []
    if channels == 5:
        planes = [0.1 + 0.5 * x, 0.2 + 0.5 * y, 0.3 + 0.2 * x, 0.1 + 0.1 * y] # of CMYK
    return np.round(np.stack(planes, -1) * ((1 << depth) - 1)).astype(int)


def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


def packed(samples, depth):
    if depth == 16:
        return [row.astype('>u2').tobytes() for row in samples.reshape(H, -1)]
    bits = [((row[:, None] >> np.arange(depth - 1, -1, -1)) & 1).astype(np.uint8).ravel() for row in samples.reshape(H, -1)]
    return [np.packbits(row).tobytes() for row in bits]


def png(path, kind, depth, chunks=b'', samples=None):
    """kind: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA"""
    samples = scene({0: 1, 2: 3, 4: 2, 6: 4}[kind], depth) if samples is None else samples
    data = zlib.compress(b''.join(b'\0' + row for row in packed(samples, depth)))
    open(path, 'wb').write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', W, H, depth, kind, 0, 0, 0)) +
                           chunks + chunk(b'IDAT', data) + chunk(b'IEND', b''))


def palette_png(path, depth, alpha):
    count = 1 << depth
    samples = (scene(1, 8)[..., 0] * (count - 1) + 127) // 255
    colours = bytes(i * 255 // (count - 1) // (c + 1) for i in range(count) for c in range(3))
    chunks = chunk(b'PLTE', colours) + (chunk(b'tRNS', bytes([255] * (count // 2) + [128] * (count - count // 2 - 1) + [0])) if alpha else b'')
    png(path, 3, depth, chunks, samples)


def exif(order, orientation, size=(W, H)):
    """Camera, orientation, and a directory with the picture's size."""
    e = '<' if order == b'II' else '>'
    body = struct.pack(e + 'H', 3) + struct.pack(e + 'HHII', 0x10f, 2, 8, 50) + \
        struct.pack(e + 'HHIHH', 0x112, 3, 1, orientation, 0) + struct.pack(e + 'HHII', 0x8769, 4, 1, 58) + bytes(4) + b'Acme 12\0'
    more = struct.pack(e + 'H', 2) + struct.pack(e + 'HHII', 0xa002, 4, 1, size[0]) + \
        struct.pack(e + 'HHIHH', 0xa003, 3, 1, size[1], 0) + bytes(4)
    return order + struct.pack(e + 'HI', 42, 8) + body + more


TIFF_KINDS = { # photometric, channels of the scene
    'grey': (1, 1), 'white': (0, 1), 'greya': (1, 2), 'rgb': (2, 3), 'rgba': (2, 4), 'premultiplied': (2, 4), 'cmyk': (5, 5),
    'palette': (3, 1), 'lab': (8, 3), 'ycc': (6, 3)}


def tiff_samples(kind, bits, order):
    samples = scene(TIFF_KINDS[kind][1], min(bits, 16))
    if kind == 'premultiplied':
        samples[..., :3] = samples[..., :3] * samples[..., 3:] // ((1 << bits) - 1)
    return samples


def tiff(path, kind='rgb', bits=8, order='<', planar=False, tiled=False, form=1, rows=H, compression=1, more=()):
    samples = tiff_samples(kind, bits, order)
    depth = samples.shape[2]
    number = {1: 'u', 2: 'i', 3: 'f'}[form]
    if form == 3:
        samples = samples / ((1 << min(bits, 16)) - 1)

    def piece(block):
        if bits >= 8 and bits % 8 == 0:
            return block.astype(order + number + str(bits // 8)).tobytes()
        wide = [((row[:, None] >> np.arange(bits - 1, -1, -1)) & 1).astype(np.uint8).ravel() for row in block.reshape(len(block), -1)]
        return b''.join(np.packbits(row).tobytes() for row in wide)

    planes = [samples[..., i:i + 1] for i in range(depth)] if planar else [samples]
    side = 16
    pieces = []
    for plane in planes:
        if tiled:
            whole = np.pad(plane, ((0, -H % side), (0, -W % side), (0, 0)), 'edge')
            pieces += [piece(whole[y:y + side, x:x + side]) for y in range(0, H, side) for x in range(0, W, side)]
        else:
            pieces += [piece(plane[y:y + rows]) for y in range(0, H, rows)]
    if compression == 8:
        pieces = [zlib.compress(p) for p in pieces]
    photometric = TIFF_KINDS[kind][0]
    entries = {256: (4, [W]), 257: (4, [H]), 258: (3, [bits] * depth), 259: (3, [compression]), 262: (3, [photometric]),
               277: (3, [depth]), 284: (3, [2 if planar else 1])}
    if kind in ('greya', 'rgba'):
        entries[338] = (3, [2])
    if kind == 'premultiplied':
        entries[338] = (3, [1])
    if kind == 'palette':
        entries[320] = (3, [i * 65535 // ((1 << bits) - 1) // 257 * 257 // (c + 1) for c in range(3) for i in range(1 << bits)])
    if form != 1:
        entries[339] = (3, [form] * depth)
    entries.update(more)
    write_tiff(path, order, [(entries, pieces, tiled)])


def write_tiff(path, order, pages):
    e, data, at = order, bytearray((b'II' if order == '<' else b'MM') + struct.pack(order + 'HI', 42, 0)), 4
    for entries, pieces, tiled in pages:
        offsets = []
        for p in pieces:
            data += bytes(len(data) % 2)
            offsets.append(len(data))
            data += p
        entries = dict(entries)
        if tiled:
            entries.update({322: (4, [16]), 323: (4, [16]), 324: (4, offsets), 325: (4, [len(p) for p in pieces])})
        else:
            entries.update({273: (4, offsets), 278: (4, [-(-H // len(pieces)) if len(pieces) > 4 else H]), 279: (4, [len(p) for p in pieces])})
        data += bytes(len(data) % 2)
        data[at:at + 4] = struct.pack(e + 'I', len(data))
        directory = len(data)
        data += struct.pack(e + 'H', len(entries)) + bytes(12 * len(entries) + 4)
        for i, (tag, (kind, values)) in enumerate(sorted(entries.items())):
            raw = values if isinstance(values, bytes) else b''.join(struct.pack(e + ('H' if kind == 3 else 'I'), v) for v in values)
            place = directory + 2 + 12 * i
            count = len(raw) // {1: 1, 2: 1, 3: 2, 4: 4, 7: 1}[kind]
            data[place:place + 8] = struct.pack(e + 'HHI', tag, kind, count)
            if len(raw) <= 4:
                data[place + 8:place + 12] = raw.ljust(4, b'\0')
            else:
                data[place + 8:place + 12] = struct.pack(e + 'I', len(data))
                data += raw + bytes(len(raw) % 2)
        at = directory + 2 + 12 * len(entries)
    open(path, 'wb').write(data)


def image(channels=3):
    return Image.fromarray(scene(channels).astype(np.uint8).squeeze(), {1: 'L', 2: 'LA', 3: 'RGB', 4: 'RGBA'}[channels])


PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes()


class Source:
    """refused: words of the line with which mona must refuse it; None: it is read. loss: in steps of 255. made: by
    another reader than ImageMagick. shown: what the result must look like where ImageMagick does not turn the source."""

    def __init__(self, name, make, refused=None, loss=PLAIN, tells=(), shown=None, note=None, short=False, dithered=False):
        self.name, self.make, self.refused, self.loss = name, make, refused, loss
        self.tells, self.shown, self.note, self.short, self.dithered = tells, shown, note, short, dithered


def tiff_sources():
    for kind, bits, order in itertools.product(TIFF_KINDS, (1, 2, 4, 8, 12, 16, 32), '<>'):
        read = {'grey': (1, 2, 4, 8, 12, 16), 'white': (1, 8, 16), 'palette': (1, 2, 4, 8), 'cmyk': (8,), 'lab': (), 'ycc': ()}
        if bits < 8 and kind not in ('grey', 'white', 'palette') or (bits > 8 and kind == 'palette') or bits == 12 and kind == 'ycc':
            continue
        good = bits in read.get(kind, (8, 16))
        yield Source('tiff-%s-%d-%s' % (kind, bits, 'le' if order == '<' else 'be'),
                     lambda p, k=kind, b=bits, o=order: tiff(p, k, b, o), refused=None if good else 'expected a TIFF with',
                     loss=PREMULTIPLIED_LOSS if kind == 'premultiplied' else 1.5 if kind in ('cmyk', 'palette') or bits == 12 else PLAIN)
    for form, bits in ((2, 8), (2, 16), (2, 32), (3, 16), (3, 32), (3, 64)):
        yield Source('tiff-%s-%d' % ('signed' if form == 2 else 'float', bits), lambda p, f=form, b=bits: tiff(p, 'grey', b, form=f),
                     refused='found signed integers' if form == 2 else 'found floating point', short=bits == 32)
    for bits in (8, 16):
        yield Source('tiff-planar-%d' % bits, lambda p, b=bits: tiff(p, bits=b, planar=True))
        yield Source('tiff-tiled-%d' % bits, lambda p, b=bits: tiff(p, bits=b, tiled=True), refused='found tiles', short=bits == 8)
    yield Source('tiff-strips', lambda p: tiff(p, rows=9))
    yield Source('tiff-deflate', lambda p: tiff(p, compression=8))
    for order in '<>':
        yield Source('tiff-icc' + order.replace('<', '-le').replace('>', '-be'),
                     lambda p, o=order: tiff(p, order=o, more={34675: (7, PROFILE), 315: (2, b'Jane Doe\0'), 700: (1, xmp())}),
                     tells=('icc', 'artist', 'xmp'), short=order == '<')
    for turn in range(2, 9):
        yield Source('tiff-turned-%d' % turn, lambda p, t=turn: tiff(p, more={274: (3, [t])}), shown=turn, short=turn == 6)
    yield Source('tiff-pages', tiff_pages, note='holds 2 pictures; only the first is used', short=True)
    if shutil.which('tiffcp'):
        for codec in ('lzw', 'lzw:2', 'zip', 'zip:2', 'packbits', 'lzma', 'zstd', 'jpeg', 'jpeg:r', 'webp'):
            good = codec.split(':')[0] in ('lzw', 'zip', 'packbits')
            for kind in ('rgb', 'grey', 'rgba', 'cmyk', 'palette'):
                yield Source('tiff-%s-%s' % (codec.replace(':', '-'), kind), lambda p, c=codec, k=kind: tiffcp(p, c, k),
                             refused=None if good else 'expected a TIFF with no compression', loss=1.5,
                             short=(codec, kind) == ('jpeg:r', 'rgb'))
        for codec, kind in itertools.product(('g3', 'g3:2d', 'g4', 'packbits'), ('grey', 'white')):
            yield Source('tiff-%s-%s-1' % (codec.replace(':', '-'), kind), lambda p, c=codec, k=kind: tiffcp(p, c, k, 1))
    yield Source('tiff-big', lambda p: open(p, 'wb').write(b'II+\0' + struct.pack('<HHQ', 8, 0, 16) + bytes(64)), refused='found a BigTIFF')


def xmp():
    return ('<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
            '<rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:PixelXDimension="%d" exif:PixelYDimension="%d"/>'
            '</rdf:RDF></x:xmpmeta>' % (W, H)).encode()


def tiffcp(path, codec, kind, bits=8):
    tiff(path + '.plain', kind, bits)
    done = run('tiffcp', '-c', codec, path + '.plain', path)
    os.remove(path + '.plain')
    if done.returncode or b'not compiled' in done.stderr.lower() or b'not configured' in done.stderr.lower():
        raise LookupError('tiffcp cannot write this')


def tiff_pages(path):
    pages = []
    for kind in ('rgb', 'grey'):
        samples = tiff_samples(kind, 8, '<').astype(np.uint8)
        entries = {256: (4, [W]), 257: (4, [H]), 258: (3, [8] * samples.shape[2]), 259: (3, [1]), 262: (3, [TIFF_KINDS[kind][0]]),
                   277: (3, [samples.shape[2]])}
        pages.append((entries, [samples.tobytes()], False))
    write_tiff(path, '<', pages)


def png_sources():
    for kind, depths in ((0, (1, 2, 4, 8, 16)), (2, (8, 16)), (4, (8, 16)), (6, (8, 16))):
        for depth in depths:
            name = 'png-%s-%d' % ({0: 'grey', 2: 'rgb', 4: 'greya', 6: 'rgba'}[kind], depth)
            yield Source(name, lambda p, k=kind, d=depth: png(p, k, d), short=(kind, depth) == (6, 16))
    for depth, alpha in itertools.product((1, 2, 4, 8), (False, True)):
        yield Source('png-palette-%d%s' % (depth, '-alpha' if alpha else ''), lambda p, d=depth, a=alpha: palette_png(p, d, a))
    for kind, depth in ((0, 8), (0, 16), (2, 8), (2, 16)):
        key = b''.join(struct.pack('>H', v) for v in scene(1 if kind == 0 else 3, depth)[3, 3])
        yield Source('png-key-%s-%d' % ('grey' if kind == 0 else 'rgb', depth),
                     lambda p, k=kind, d=depth, t=key: png(p, k, d, chunk(b'tRNS', t)))
    density = chunk(b'pHYs', struct.pack('>IIB', 3000, 3000, 1)) + chunk(b'gAMA', struct.pack('>I', 45455)) + \
        chunk(b'tEXt', b'Author\0Jane Doe')
    for kind, depth in ((2, 8), (2, 16), (6, 16)):
        yield Source('png-density-%d-%d' % (kind, depth), lambda p, k=kind, d=depth: png(p, k, d, density), short=(kind, depth) == (2, 16))
        told = chunk(b'iCCP', b'x\0\0' + zlib.compress(PROFILE)) + chunk(b'eXIf', exif(b'MM', 1))
        yield Source('png-told-%d-%d' % (kind, depth), lambda p, k=kind, d=depth, t=told: png(p, k, d, t), tells=('icc', 'make', 'size'))
    yield Source('png-twice', lambda p: png(p, 2, 8, 2 * chunk(b'pHYs', struct.pack('>IIB', 3000, 3000, 1))))
    yield Source('png-interlaced', lambda p: subprocess.run(['convert', '-interlace', 'PNG', 'ppm:-', p], input=ppm(), check=True))
    yield Source('png-moving', moving_png, note='animated; only its first picture')


def moving_png(path):
    frames = [image(), image().transpose(0)]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=100)


def ppm():
    return b'P6 %d %d 255\n' % (W, H) + scene(3).astype(np.uint8).tobytes()


def jpeg(path, mode='RGB', **options):
    picture = image(1 if mode == 'L' else 3)
    if mode == 'CMYK':
        picture = Image.fromarray(scene(5).astype(np.uint8), 'CMYK')
    picture.save(path, quality=95, **options)


def jpeg_sources():
    for name, options in (('444', {'subsampling': 0}), ('422', {'subsampling': 1}), ('420', {'subsampling': 2}),
                          ('progressive', {'progressive': True}), ('optimised', {'optimize': True})):
        yield Source('jpeg-' + name, lambda p, o=options: jpeg(p, **o), loss=JPEG_LOSS)
    yield Source('jpeg-grey', lambda p: jpeg(p, 'L'), loss=JPEG_LOSS)
    yield Source('jpeg-cmyk', lambda p: jpeg(p, 'CMYK'), loss=JPEG_LOSS)
    for factors in ('1x2', '4x1'):
        yield Source('jpeg-factors-' + factors, lambda p, f=factors: subprocess.run(
            ['convert', 'ppm:-', '-quality', '95', '-sampling-factor', f, p], input=ppm(), check=True), loss=JPEG_LOSS)
    for turn, order in itertools.product(range(1, 9), (b'II', b'MM')):
        yield Source('jpeg-turned-%d-%s' % (turn, order.decode()), lambda p, t=turn, o=order: jpeg(p, exif=b'Exif\0\0' + exif(o, t)),
                     loss=JPEG_LOSS, shown=turn, tells=('make', 'size'), short=(turn, order) == (6, b'MM'))
    yield Source('jpeg-icc', lambda p: jpeg(p, icc_profile=PROFILE, comment=b'by hand'), loss=JPEG_LOSS, tells=('icc',))
    yield Source('jpeg-mpo', lambda p: image().save(p, 'MPO', save_all=True, append_images=[image().transpose(0)]), loss=JPEG_LOSS)
    for marker, name in ((0xc4, 'huffman-table'), (0xdb, 'quantiser-table')):
        yield Source('jpeg-without-' + name, lambda p, m=marker: without(p, m), refused='cannot be decoded: a scan needs a table', short=True)


def without(path, marker):
    """A JPEG without its last table of a kind."""
    file = io.BytesIO()
    image().save(file, 'JPEG', quality=95)
    data, at, found = file.getvalue(), 2, None
    while data[at + 1] != 0xda:
        size = 2 + struct.unpack('>H', data[at + 2:at + 4])[0]
        found = (at, size) if data[at + 1] == marker else found
        at += size
    open(path, 'wb').write(data[:found[0]] + data[found[0] + found[1]:])


def other_sources():
    yield Source('webp-lossless', lambda p: image().save(p, lossless=True))
    yield Source('webp-alpha', lambda p: image(4).save(p, lossless=True, exact=True))
    yield Source('webp-lossy', lambda p: image().save(p, quality=95), loss=CHROMA_LOSS, short=True)
    yield Source('webp-lossy-alpha', lambda p: image(4).save(p, quality=95), loss=CHROMA_LOSS)
    yield Source('webp-told', lambda p: image().save(p, lossless=True, icc_profile=PROFILE, exif=b'Exif\0\0' + exif(b'II', 1), xmp=xmp()),
                 tells=('icc', 'make', 'size', 'xmp'))
    for mode in ('1', 'L', 'P', 'RGB', 'RGBA'):
        yield Source('bmp-' + mode, lambda p, m=mode: (image(4) if m == 'RGBA' else image()).convert(m).save(p), dithered=mode in '1P')
    for name, options in (('rle', ('-colors', '200', '-type', 'palette', '-compress', 'RLE')), ('565', ('-define', 'bmp:subtype=RGB565')),
                          ('3', ())):
        yield Source('bmp-' + name, lambda p, o=options, n=name: subprocess.run(
            ['convert', 'ppm:-', *o, ('bmp3:' if n != '565' else 'bmp:') + p], input=ppm(), check=True), dithered=name == 'rle')
    for maximum in (255, 100, 1000, 65535):
        for channels, magic in ((1, b'P5'), (3, b'P6')):
            yield Source('%s-%d' % ('pgm' if channels == 1 else 'ppm', maximum),
                         lambda p, m=maximum, c=channels, g=magic: netpbm(p, g, c, m), loss=1.5 if maximum in (100, 1000) else PLAIN)
    yield Source('tga-rgb', lambda p: image().save(p), refused='found TGA', short=True)
    yield Source('psd-rgb', lambda p: open(p, 'wb').write(b'8BPS\0\1' + bytes(64)), refused='found a Photoshop document')


def netpbm(path, magic, channels, maximum):
    samples = scene(channels, 16) * maximum // 65535
    open(path, 'wb').write(magic + b' %d %d %d\n' % (W, H, maximum) + samples.astype('>u2' if maximum > 255 else np.uint8).tobytes())


SUFFIXES = {'tiff': 'tif', 'jpeg': 'jpg'}


# ---- judges ----------------------------------------------------------------------------------------------------

def seen(path, width, height):
    """RGBA from 0 to 255 as ImageMagick reads it."""
    done = run('convert', path + '[0]', '-depth', '16', '-endian', 'LSB', 'RGBA:-')
    pixels = np.frombuffer(done.stdout, '<u2')
    if pixels.size != width * height * 4:
        raise ValueError('ImageMagick reads %d samples of %s, expected %dx%d: %s' %
                         (pixels.size, os.path.basename(path), width, height, done.stderr.decode()[:100]))
    return pixels.reshape(height, width, 4) / 257.0


def turned(pixels, turn):
    axes = {2: lambda a: a[:, ::-1], 3: lambda a: a[::-1, ::-1], 4: lambda a: a[::-1], 5: lambda a: a.swapaxes(0, 1),
            6: lambda a: np.rot90(a, -1), 7: lambda a: a[::-1, ::-1].swapaxes(0, 1), 8: lambda a: np.rot90(a)}
    return axes[turn](pixels) if turn in axes else pixels


def check_told(source, path, size, kept_turn):
    bad = []
    if 'make' in source.tells and run('exiftool', '-s3', '-Make', path).stdout.strip() != b'Acme 12':
        bad.append('the camera is lost')
    if 'artist' in source.tells and run('exiftool', '-s3', '-Artist', path).stdout.strip() != b'Jane Doe':
        bad.append('the artist is lost')
    if 'size' in source.tells:
        found = run('exiftool', '-s3', '-ExifImageWidth', '-ExifImageHeight', path).stdout.split()
        if found != [b'%d' % v for v in size]:
            bad.append('EXIF says %s, the picture has %s' % (found, size))
    if 'xmp' in source.tells:
        found = run('exiftool', '-s3', '-XMP-exif:ExifImageWidth', '-XMP-exif:ExifImageHeight', path).stdout.split()
        if found != [b'%d' % v for v in size]:
            bad.append('XMP says %s, the picture has %s' % (found, size))
    if 'icc' in source.tells and run('exiftool', '-b', '-ICC_Profile', path).stdout != PROFILE:
        bad.append('the colour profile is lost')
    turn = run('exiftool', '-n', '-s3', '-IFD0:Orientation', path).stdout.strip() or b'1'
    if int(turn) != kept_turn:
        bad.append('EXIF orientation %d, expected %d' % (int(turn), kept_turn))
    return bad


def check_file(path, target):
    if target == 'png':
        done = run('pngcheck', '-q', path)
        if done.returncode:
            return ['pngcheck: ' + (done.stdout + done.stderr).decode().split('\n')[0].strip()]
    # ImageMagick 6 warns of XMP in every WebP.
    done = run('identify', *(() if target == 'webp' else ('-regard-warnings',)), path)
    return ['identify: ' + done.stderr.decode().split('\n')[0]] if done.returncode else []


def compare(source, target, found, expected):
    """In visible pixels, weighted by alpha, and alpha itself."""
    loss = source.loss
    if target == 'jpg':
        loss = max(loss, JPEG_LOSS)
    alpha = np.abs(found[..., 3] - expected[..., 3]).max()
    weight = expected[..., 3:] / 255
    colours = (np.abs(found[..., :3] - expected[..., :3]) * (weight if source.loss == PREMULTIPLIED_LOSS else weight > 0)).max()
    bad = []
    if alpha > 1:
        bad.append('alpha is off by %.1f' % alpha)
    if source.loss == PREMULTIPLIED_LOSS:
        loss = 1.5
    if target != 'png' and loss == PLAIN:
        loss = 1
    mean = np.abs(found[..., :3] - expected[..., :3])[weight[..., 0] > 0].mean()
    if colours > loss or mean > max(1, loss / 8):
        bad.append('colours are off by %.1f, on average by %.2f' % (colours, mean))
    return bad


def judge(source, path, target, double):
    out = '%s/%s.out.%s' % (FOLDER, source.name, target)
    stages = ('--stages', 'sr') if double else ('--stages', 'denoise', '--strength', '0')
    done = run(MONA, 'enhance', '-y', path, '-o', out, *stages)
    lines = done.stderr.decode()
    if done.returncode < 0 or done.returncode > 2:
        return ['crashed: %d' % done.returncode]
    if source.refused:
        if not done.returncode:
            return ['was not refused']
        return [] if source.refused in lines and lines.count('\n') == 1 else ['refused with other words: ' + lines.strip()]
    reference = seen(path, W, H)
    if target == 'jpg' and reference[..., 3].min() < 255:
        return [] if done.returncode and 'JPEG cannot hold' in lines else ['alpha to JPEG is not refused: %s' % lines.strip()]
    if done.returncode:
        return ['failed: ' + lines.strip()]
    bad = [] if not source.note or source.note in lines else ['does not say: ' + source.note]
    keeps = target == 'jpg' or source.name.split('-')[0] == target
    turn = source.shown or 1
    expected = reference if keeps else turned(reference, turn)
    scale = 2 if double else 1
    height, width = scale * expected.shape[0], scale * expected.shape[1]
    bad += check_file(out, target) + check_told(source, out, (width, height), turn if keeps else 1)
    found = seen(out, width, height)
    if not double:
        return bad + compare(source, target, found, expected)
    small = found.reshape(height // 2, 2, width // 2, 2, 4).mean((1, 3))
    inside = (slice(2, -2), slice(2, -2))
    visible = expected[inside][..., 3:] / 255
    off = np.sqrt((((small - expected)[inside][..., :3] * visible) ** 2).mean())
    if off > 14:
        bad.append('doubled, it differs by %.1f on average' % off)
    os.remove(out)
    return bad


def main():
    count = 0
    for source in itertools.chain(tiff_sources(), png_sources(), jpeg_sources(), other_sources()):
        if not FULL and not source.short:
            continue
        kind = source.name.split('-')[0]
        path = '%s/%s.%s' % (FOLDER, source.name, SUFFIXES.get(kind, kind))
        try:
            source.make(path)
        except LookupError:
            continue
        targets = TARGETS if FULL and not source.refused else TARGETS[:1]
        for target, double in itertools.product(targets, (False, True)):
            if source.dithered and (double or target == 'jpg'):
                continue
            if double and (source.refused or not FULL and not source.tells):
                continue
            name = '%s to %s%s' % (source.name, target, ', doubled' if double else '')
            try:
                bad = judge(source, path, target, double)
            except (ValueError, OSError, IndexError) as e:
                bad = [repr(e)]
            count += 1
            print('not ok %s: %s' % (name, '; '.join(bad)) if bad else 'ok ' + name, flush=True)
        os.remove(path)
    print('# %d cells' % count)


main()
