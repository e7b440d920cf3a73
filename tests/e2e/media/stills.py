# SPDX-License-Identifier: Apache-2.0
"""For stills.sh: makes pictures that ffmpeg cannot, and shows the contents of those that mona wrote.

    turned IN.jpg N OUT.jpg             IN with N for the orientation in its EXIF
    marked IN OUT COLOURS               a JPEG, PNG or WebP with EXIF, XMP and a profile for COLOURS ("RGB ")
    marks FILE                          what a JPEG or PNG says: exif, orientation, xmp, profile, other
    dense IN.jpg UNIT,X,Y OUT.jpg       IN with that density in its JFIF
    density FILE.jpg                    what JFIF says of it
    several IN.jpg OUT.jpg              IN with an index of a smaller copy and of a map, which lie behind it, and a film
    corners FILE WIDTH HEIGHT           the colours of its four corners, upper row first, of raw RGB
    cmyk OUT.jpg                        a CMYK JPEG of one colour, with a profile for it
    primaries FILE.png srgb|p3          writes into it that its primaries are those
    retag IN.tiff OUT.tiff TAG AS VALUE  a TIFF in which an entry has another tag and, if not -, value
    coloured IN.png OUT.png CHUNK HEX   with that chunk
    without IN.jpg OUT.jpg dht|dqt      a JPEG without its tables
    spoilt IN OUT WORD AT               the byte that lies AT behind WORD is another
    seen FILE LEVEL                     of raw RGBA, how far visible red is off that level
    head OUT.png WIDTH HEIGHT TYPE      a PNG whose pixels are missing
    rows FILE FILE WIDTH                rows that are alike at the beginning of two files of raw RGB
"""
import struct
import sys
import zlib

XMP = b'http://ns.adobe.com/xap/1.0/\0'


def exif(orientation):
    return b'MM\0*\0\0\0\x08' + struct.pack('>H', 2) + struct.pack('>HHII', 0x10f, 2, 4, 0x6d6f6e00) + \
        struct.pack('>HHIHH', 0x112, 3, 1, orientation, 0) + b'\0\0\0\0'


def xmp(orientation):
    return b'<x:xmpmeta><rdf:Description tiff:Orientation="%d"/></x:xmpmeta>' % orientation


def profile(colours):
    """Longer than a JPEG segment can be."""
    body = b''.join(struct.pack('>I', i * 2654435761 % 2**32) for i in range(30000))
    return struct.pack('>I', 128 + len(body)) + b'mona' + bytes(8) + colours.encode() + bytes(108) + body


def segment(code, data):
    return bytes([255, code]) + struct.pack('>H', len(data) + 2) + data


def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


def turned(path, orientation, out):
    file = open(path, 'rb').read()
    data = segment(0xe1, b'Exif\0\0' + exif(int(orientation)))
    open(out, 'wb').write(file[:2] + data + file[2:])


def marked(path, out, colours):
    file, icc = open(path, 'rb').read(), profile(colours)
    if file[:2] == b'\xff\xd8':
        pieces = [icc[i:i + 60000] for i in range(0, len(icc), 60000)]
        data = segment(0xe1, b'Exif\0\0' + exif(6)) + segment(0xe1, XMP + xmp(6))
        data += segment(0xe2, b'MPF\0MM\0*')
        for i, piece in enumerate(pieces):
            data += segment(0xe2, b'ICC_PROFILE\0' + bytes([i + 1, len(pieces)]) + piece)
        data += segment(0xfe, b'a comment')
        file = file[:2] + data + file[2:]
    elif file[:4] == b'RIFF':
        kind, width, height = file[12:16], 48, 32
        data = chunk_webp(b'VP8X', struct.pack('<I', 0x2c)[:1] + bytes(3) + struct.pack('<I', width - 1)[:3] +
                          struct.pack('<I', height - 1)[:3])
        data += chunk_webp(b'ICCP', icc) + file[12:] + chunk_webp(b'EXIF', exif(6)) + chunk_webp(b'XMP ', xmp(6))
        assert kind in (b'VP8 ', b'VP8L')
        file = b'RIFF' + struct.pack('<I', 4 + len(data)) + b'WEBP' + data
    else:
        data = chunk(b'iCCP', b'name\0\0' + zlib.compress(icc)) + chunk(b'eXIf', exif(6)) + \
            chunk(b'iTXt', b'XML:com.adobe.xmp\0\0\0\0\0' + xmp(6)) + chunk(b'pHYs', struct.pack('>IIB', 3000, 3000, 1)) + \
            chunk(b'tEXt', b'Comment\0a comment')
        file = file[:33] + data + file[33:]
    open(out, 'wb').write(file)


def dense(path, said, out):
    file = open(path, 'rb').read()
    open(out, 'wb').write(file[:13] + struct.pack('>BHH', *(int(n) for n in said.split(','))) + file[18:])


def density(path):
    print(*struct.unpack('>BHH', open(path, 'rb').read()[13:18]), sep=',')


def several(path, out):
    file = open(path, 'rb').read()
    entries = b''.join(struct.pack('>IIIHH', kind, len(file), 0, 0, 0) for kind in (0x30000, 0x10001, 0))
    index = b'MM\0*\0\0\0\x08' + struct.pack('>HHHII', 1, 0xb002, 7, len(entries), 26) + bytes(4) + entries
    film = b'\0\0\0\x18ftypmp42' + bytes(12)
    open(out, 'wb').write(file[:2] + segment(0xe2, b'MPF\0' + index) + file[2:] + file + file + film)


def coloured(path, out, kind, data):
    file = open(path, 'rb').read()
    open(out, 'wb').write(file[:33] + chunk(kind.encode(), bytes.fromhex(data)) + file[33:])


def chunk_webp(kind, data):
    return kind + struct.pack('<I', len(data)) + data + bytes(len(data) % 2)


def found_in_jpeg(file):
    at, found = 2, {}
    while file[at + 1] != 0xda:
        code, size = file[at + 1], struct.unpack('>H', file[at + 2:at + 4])[0]
        data = file[at + 4:at + 2 + size]
        if data[:6] == b'Exif\0\0':
            found['exif'] = data[6:]
        elif data[:len(XMP)] == XMP:
            found['xmp'] = data[len(XMP):]
        elif data[:12] == b'ICC_PROFILE\0':
            found['profile'] = found.get('profile', b'') + data[14:]
        elif code in (0xe2, 0xfe) and data[:4] != b'Lavc':
            found['other'] = found.get('other', b'') + data.split(b'\0')[0]
        at += 2 + size
    return found


def found_in_png(file):
    at, found, order = 8, {}, []
    while at < len(file):
        size, kind = struct.unpack('>I', file[at:at + 4])[0], file[at + 4:at + 8]
        data = file[at + 8:at + 8 + size]
        assert chunk(kind, data) == file[at:at + 12 + size], kind
        order.append(kind)
        if kind == b'eXIf':
            found['exif'] = data
        elif kind == b'iTXt':
            found['xmp'] = data.split(b'\0\0\0\0\0', 1)[1]
        elif kind == b'iCCP':
            name, rest = data.split(b'\0', 1)
            assert name and rest[0] == 0
            found['profile'] = zlib.decompress(rest[1:])
        elif kind == b'pHYs' and data[:4] == struct.pack('>I', 3000) or kind == b'tEXt': # ffmpeg writes one of its own
            found['other'] = found.get('other', b'') + kind
        at += 12 + size
    assert order[0] == b'IHDR' and order[-2:] == [b'IDAT', b'IEND'], order
    return found


def marks(path):
    file = open(path, 'rb').read()
    found = found_in_jpeg(file) if file[:2] == b'\xff\xd8' else found_in_png(file)
    says = []
    for n in range(9):
        if found.get('exif') == exif(n):
            says.append('exif %d' % n)
        if found.get('xmp') == xmp(n):
            says.append('xmp %d' % n)
    for colours in ('RGB ', 'GRAY', 'CMYK'):
        if found.get('profile') == profile(colours):
            says.append('profile ' + colours.strip())
    if 'other' in found:
        says.append('other ' + found['other'].decode())
    print(', '.join(says))


def corners(path, width, height):
    raw, width, height = open(path, 'rb').read(), int(width), int(height)
    assert len(raw) == 3 * width * height, len(raw)
    names = {(1, 0, 0): 'red', (0, 1, 0): 'green', (0, 0, 1): 'blue', (1, 1, 1): 'white'}
    at = [3 * (y * width + x) for y in (height // 4, 3 * height // 4) for x in (width // 4, 3 * width // 4)]
    print(*[names.get(tuple(v // 128 for v in raw[i:i + 3]), 'other') for i in at])


def primaries(path, name):
    file = open(path, 'rb').read()
    white, blue = (0.3127, 0.3290), (0.15, 0.06)
    values = (*white, *{'srgb': (0.64, 0.33, 0.30, 0.60), 'p3': (0.68, 0.32, 0.265, 0.69)}[name], *blue)
    told = chunk(b'cHRM', struct.pack('>8I', *(round(100000 * v) for v in values)))
    open(path, 'wb').write(file[:33] + told + file[33:])


class Bits:
    def __init__(self):
        self.value, self.count = 0, 0

    def put(self, value, count):
        self.value, self.count = self.value << count | value, self.count + count

    def bytes(self):
        pad = -self.count % 8
        data = ((self.value << pad) | ((1 << pad) - 1)).to_bytes((self.count + pad) // 8, 'big')
        return data.replace(b'\xff', b'\xff\0')


def cmyk(out):
    """16 x 16, samples as Adobe stores them, inverted: 200, 100, 50, 255. Categories of DC have codes of 4 bits, and
    the end of a block is the one code of AC."""
    data = b'\xff\xd8' + segment(0xee, b'Adobe\0\x64\0\0\0\0\0')
    icc = profile('CMYK')
    pieces = [icc[i:i + 60000] for i in range(0, len(icc), 60000)]
    for i, piece in enumerate(pieces):
        data += segment(0xe2, b'ICC_PROFILE\0' + bytes([i + 1, len(pieces)]) + piece)
    data += segment(0xdb, b'\0' + bytes([8] * 64))
    data += segment(0xc0, struct.pack('>BHHB', 8, 16, 16, 4) + b''.join(bytes([c, 0x11, 0]) for c in (1, 2, 3, 4)))
    data += segment(0xc4, b'\0' + bytes([0, 0, 0, 12] + [0] * 12) + bytes(range(12)))
    data += segment(0xc4, b'\x10' + bytes([1] + [0] * 15) + b'\0')
    data += segment(0xda, b'\x04' + b''.join(bytes([c, 0]) for c in (1, 2, 3, 4)) + b'\0\x3f\0')
    bits = Bits()
    for block in range(4):
        for sample in (200, 100, 50, 255):
            value = 0 if block else sample - 128
            size = abs(value).bit_length()
            bits.put(size, 4)
            bits.put(value if value >= 0 else value + (1 << size) - 1, size)
            bits.put(0, 1)
    open(out, 'wb').write(data + bits.bytes() + b'\xff\xd9')


def head(out, width, height, kind):
    ihdr = struct.pack('>IIBBBBB', int(width), int(height), 8, int(kind), 0, 0, 0)
    open(out, 'wb').write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', ihdr) + chunk(b'IDAT', zlib.compress(bytes(100))) +
                          chunk(b'IEND', b''))


def retag(path, out, tag, other, value):
    file = bytearray(open(path, 'rb').read())
    at = struct.unpack('<I', file[4:8])[0]
    for i in range(struct.unpack('<H', file[at:at + 2])[0]):
        entry = at + 2 + 12 * i
        if struct.unpack('<H', file[entry:entry + 2])[0] == int(tag):
            file[entry:entry + 2] = struct.pack('<H', int(other))
            if value != '-':
                file[entry + 8:entry + 12] = struct.pack('<I', int(value))
            open(out, 'wb').write(file)


def without(path, out, table):
    file, at = open(path, 'rb').read(), 2
    kept = file[:2]
    while file[at + 1] != 0xda:
        size = 2 + struct.unpack('>H', file[at + 2:at + 4])[0]
        kept += file[at:at + size] if file[at + 1] != {'dht': 0xc4, 'dqt': 0xdb}[table] else b''
        at += size
    open(out, 'wb').write(kept + file[at:])


def spoilt(path, out, word, offset):
    file = bytearray(open(path, 'rb').read())
    file[file.index(word.encode()) + len(word) + int(offset)] ^= 0x55
    open(out, 'wb').write(file)


def seen(path, level):
    raw = open(path, 'rb').read()
    print(max(abs(raw[i] - int(level)) for i in range(0, len(raw), 4) if raw[i + 3]))


def rows(a, b, width):
    a, b, row = open(a, 'rb').read(), open(b, 'rb').read(), 3 * int(width)
    same = 0
    while same < len(a) // row and a[same * row:(same + 1) * row] == b[same * row:(same + 1) * row]:
        same += 1
    print(same)


globals()[sys.argv[1]](*sys.argv[2:])
