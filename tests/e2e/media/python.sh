#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The Python package as it is installed: the examples in its texts, and the bytes of the command.
. tests/tap.inc
CC=${CC:-gcc}
needs_python cffi numpy
succeeds "make install" make -s --no-print-directory install BUILD="$BUILD" CC="$CC" PREFIX="$tmp/usr"
export PYTHONPATH="$tmp/usr/lib/python3/dist-packages" MONA_LIBRARIES="$tmp/usr/lib" MONA="$tmp/usr/bin/mona"
film 4 "$tmp/in.y4m" 96x54
film 60 "$tmp/long.y4m" 96x54
"$BUILD/neutral" "$tmp/net.onnx" 2
found=$(python3 tests/e2e/media/doctests.py "$tmp" "$tmp/in.y4m" "$tmp/net.onnx" 2>&1)
same "the examples in the package's texts" "$(echo "$found" | sed 's/ of .*//')" 0
at_least "were tried" "${found##* }" 12
version=$(sed -n 's/^#define MONA_VERSION "\(.*\)"/\1/p' engine/mona.h)
same "its version" "$(python3 -c 'import mona; print(mona.__version__)')" "$version"
cat > "$tmp/place.py" << 'PYTHON'
import sys
import mona
import numpy
assert sys.argv[1] in mona.__file__, mona.__file__
mona.compile(sys.argv[2], sys.argv[3])
print(mona.__version__, mona.Model('sr_x2_fast', size=(8, 12))(numpy.zeros((8, 12), 'u1')).shape, type(mona.Video((54, 96))).__name__)
PYTHON
same "the build folder works in place, with no variable but PYTHONPATH" "$(env -u MONA_LIBRARIES -u MONA PYTHONPATH="$BUILD/python" \
    python3 "$tmp/place.py" "$BUILD/python/mona/" "$tmp/net.onnx" "$tmp/place.mona" 2>&1)" "$version (16, 24) Video"

same "so does an install below any PREFIX" "$(env -u MONA_LIBRARIES \
    python3 "$tmp/place.py" "$tmp/usr/lib/python3/dist-packages/mona/" "$tmp/net.onnx" "$tmp/place.mona" 2>&1)" "$version (16, 24) Video"
cat > "$tmp/first.py" << 'PYTHON'
import concurrent.futures
import sys
import mona
sys.setswitchinterval(1e-6)
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    found = [pool.submit(mona.options) for _ in range(8)]
print(len({tuple(f.result()) for f in found}))
PYTHON
same "the first uses come from several threads" "$(python3 "$tmp/first.py" 2>&1 | tail -n 1)" 1
same "a library that is not found is told in one line, with what helps" "$(MONA_LIBRARIES=$tmp/none \
    python3 -c "import mona; mona.Model('sr_x2_fast', size=(8, 12))" 2>&1 | tail -n 1 | grep -c 'none/libmona.*: cannot open shared object file: No such file or directory; ldconfig .* MONA_LIBRARIES')" 1

# ---- the same bytes -----------------------------------------------------------------------------
cat > "$tmp/same.py" << 'PYTHON'
import os
import signal
import sys
import time
import mona
import numpy
folder = sys.argv[1]
plane = numpy.random.default_rng(1).integers(0, 256, (54, 96), numpy.uint8)
numpy.save(folder + '/plane.npy', plane)
numpy.save(folder + '/python.npy', mona.Model('sr_x2_fast', size=plane.shape)(plane))
# A view with other strides is read where it lies.
wide = numpy.zeros((108, 128), numpy.uint8)
wide[::2, 16:112] = plane
assert (mona.Model('sr_x2_fast', size=plane.shape)(wide[::2, 16:112]) == numpy.load(folder + '/python.npy')).all()
# Of a batch, each image is what it is alone.
batch = numpy.stack([plane, plane[::-1], plane.T.reshape(plane.shape)])[:, None]
network = mona.Model('sr_x2_fast', size=plane.shape)
made, space = network(batch), numpy.empty((3, 1, 108, 192), numpy.uint8)
assert made.shape == space.shape and network(batch, out=space) is space
assert all((made[i, 0] == network(batch[i, 0])).all() for i in range(3)) and (made == space).all()
for wrong in (batch[:, :, 1:], batch[:, 0], batch.repeat(2, 1)):
    try:
        network(wrong)
        raise SystemExit(f'took {wrong.shape}')
    except ValueError:
        pass
for space in (numpy.zeros((108, 192), numpy.uint8), numpy.zeros((3, 1, 108, 192), numpy.uint8)):
    try:
        network(space[..., :54, :96], out=space)
        raise SystemExit('took an output that overlaps the input')
    except ValueError as error:
        assert 'overlaps' in str(error), error

data = open(folder + '/in.y4m', 'rb').read()
header, rest = data.split(b'\n', 1)
size = 54 * 96
frames = [numpy.frombuffer(rest, numpy.uint8, size * 3 // 2, n * (size * 3 // 2 + 6) + 6) for n in range(4)]
planes = [[f[:size].reshape(54, 96), f[size:size * 5 // 4].reshape(27, 48), f[size * 5 // 4:].reshape(27, 48)]
          for f in frames]
with open(folder + '/python.raw', 'wb') as out:
    for made in mona.Video((54, 96), stages='denoise,sr').frames(planes):
        for plane in made:
            out.write(plane.tobytes())
# Planes that are kept live on without the Video they came from.
kept = next(mona.Video((54, 96), stages='denoise,sr').frames(planes))
first = numpy.concatenate([plane.ravel() for plane in kept]).tobytes()
assert open(folder + '/python.raw', 'rb').read(len(first)) == first
# Ctrl-C and exceptions in functions of the caller end a run, and are raised.
long, begin = (folder + '/long.y4m', folder + '/long.mkv'), time.monotonic()
mona.enhance(*long, codec='ffv1', tier='best')
whole, spent = os.path.getsize(long[1]), time.monotonic() - begin
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, spent / 4)
try:
    mona.enhance(*long, codec='ffv1', tier='best')
    sys.exit('no interrupt')
except KeyboardInterrupt:
    assert os.path.getsize(long[1]) < whole, whole
for option in ({'note': lambda line: 1 // 0}, {'progress': lambda done, expected: 1 // 0}):
    try:
        mona.enhance(*long, codec='prores', **option)  # which holds other samples, and says so
        sys.exit('no error')
    except ZeroDivisionError:
        pass
lines = []
mona.enhance(folder + '/in.y4m', folder + '/python.mkv', codec='ffv1', low_latency=False, crf=None, note=lines.append)
mona.enhance(folder + '/in.y4m', folder + '/listed.mkv', codec='h264', size=(108, 160), encoder_option=['bf=0', 'g=2'], threads='1:1:1')
assert 'encoder_option' in mona.options() and 'dry_run' not in mona.options()
for wrong in (lambda: mona.Model('sr_x2_fats'), lambda: mona.Model(folder + '/plane.npy'),
              lambda: mona.Model(b'no model' * 100), lambda: mona.Model('sr_x2_fast', size=(0, 5)),
              lambda: mona.Video((54, 96), planes=2), lambda: mona.Video((54, 96), tier='bset'),
              lambda: mona.enhance(folder + '/in.y4m', folder + '/x.mkv', scale='many')):
    try:
        wrong()
        sys.exit('no error')
    except mona.Error as error:
        assert len(str(error).splitlines()) == 1, error
model = mona.Model('sr_x2_fast', size=(8, 12))
plane = numpy.arange(96, dtype=numpy.uint8).reshape(8, 12)
assert (model(plane[None, None]) == model(plane)).all()
larger = numpy.eye(8, 12, 11, dtype=numpy.uint16) # one of the last column
try:
    mona.Model(numpy.float32(0.5))
    sys.exit('no error')
except TypeError as error:
    assert str(error) == 'expected a file, a name or bytes of a model, found float32', error
for kind, wrong, line in (
        (mona.Error, lambda: mona.enhance(folder + '/in.y4m', folder + '/python.mkv', overwrite=False), folder + '/python.mkv: exists already'),
        (mona.Error, lambda: mona.enhance(b'\xe9.mkv', folder + '/x.mkv'), '\udce9.mkv: cannot be read'),
        (mona.Error, lambda: mona.enhance('\xe9' * 600, folder + '/x.mkv'), '\xe9\xe9'),
        (mona.Error, lambda: mona.Model('sr_x2_fast'), 'sr_x2_fast: size: expected (rows, columns), found None'),
        (mona.Error, lambda: mona.Model(folder + '/sizes.mona', size=(9, 9)),
         folder + '/sizes.mona: size: expected (8, 12) or (16, 24), found (9, 9)'),
        (ValueError, lambda: model(plane[:4]), 'luma: expected shape (8, 12), found (4, 12)'),
        (ValueError, lambda: model(plane[:, None, None]), 'luma: expected shape (8, 12), found (8, 1, 1, 12)'),
        (ValueError, lambda: model(numpy.stack([plane, plane])), 'luma: expected shape (8, 12), found (2, 8, 12)'),
        (ValueError, lambda: mona.Video((54, 96)).push([numpy.asfortranarray(planes[0][0])] + planes[0][1:]),
         'plane 0: expected samples of a row side by side, found a stride of 54 bytes'),
        (TypeError, lambda: mona.Model('sr_x2_fast', size=(8, 8), thread=1), 'thread: expected only with an .onnx file'),
        (mona.Error, lambda: mona.enhance(folder + '/in.y4m', folder + '/x.mkv', low_latencey=False), 'expected an option of mona enhance'),
        (mona.Error, lambda: mona.enhance(folder + '/in.y4m', folder + '/x.mkv', temporal=False), '--temporal: expected a value'),
        (mona.Error, lambda: mona.compile(folder + '/net.onnx', folder + '/x.mona', any_sizes=False), "unknown option '--any-sizes'"),
        (mona.Error, lambda: mona.compile(folder + '/net.onnx', folder + '/x.mona', name=False), '--name: expected a value'),
        (ValueError, lambda: mona.Video((54, 96), subsampling=(3, 3)), 'subsampling: expected 1, 2 or 4'),
        *((mona.Error, lambda bits=bits, samples=samples: mona.Video((8, 12), planes=1, bits=bits, stages='denoise').push([samples]),
           "push: expected samples of the format's bits, in the low bits of 16, found larger ones")
          for bits, samples in ((9, larger * 512), (10, larger * 1024), (11, larger * 2048), (10, larger << 15)))):
    try:
        wrong()
        sys.exit('no error')
    except kind as error:
        assert str(error).startswith(line), error
# Floats in and out, in the bytes of the command; float32 is rounded to float16 on the way.
real = numpy.random.default_rng(2).standard_normal((54, 96)).astype(numpy.float32)
numpy.save(folder + '/real.npy', real)
model = mona.Model(folder + '/net.onnx', size=real.shape)
made = model(real)
assert model.inputs[0].dtype == made.dtype == numpy.float16 and (made == model(real.astype(numpy.float16))).all()
numpy.save(folder + '/python_floats.npy', made)
# Sides of 1 may stand anywhere, as tokens have them: the rows are read and written where they lie.
apart = numpy.zeros((54, 2, 96), numpy.float16)[:, 1:]
apart[:] = real[:, None]
written = numpy.zeros(made.shape[:1] + (3,) + made.shape[1:], numpy.float16)
assert model(apart, out=written[:, 1:2]).shape == (made.shape[0], 1, made.shape[1])
assert (written[:, 1] == made).all() and not written[:, ::2].any()
picture = mona.Model(folder + '/net.onnx', size=real.shape, picture=True)
said = mona.compile(folder + '/net.onnx', folder + '/int8.mona', any_size=False, name=None, calibrate={'luma': real[None, None]})
assert 'calibrated on 1 of 1' in said, said
assert picture.inputs[0].dtype == picture.outputs[0].dtype == numpy.uint8
# An input that is an array has the sides of the network, which may be split or joined.
arrays = mona.Model('tests/conformance/array_reduce/model.onnx')
numbers = numpy.arange(24).astype(numpy.float32) % 7
wanted = arrays(numbers.reshape(2, 3, 4))
assert arrays.inputs[0].shape == (2, 3, 4), arrays.inputs
for shape in ((6, 4), (1, 2, 12), (24,)):
    assert all((a == b).all() for a, b in zip(wanted, arrays(numbers.reshape(shape))))
for kind, wrong, line in (
        (ValueError, lambda: arrays(numbers.reshape(3, 2, 4)), 'x: expected shape (2, 3, 4), found (3, 2, 4)'),
        (ValueError, lambda: arrays(numbers.reshape(4, 3, 2)), 'x: expected shape (2, 3, 4), found (4, 3, 2)'),
        (TypeError, lambda: model(real.astype(numpy.uint8)), 'luma: expected an array of float16, found uint8'),
        (TypeError, lambda: picture(real), 'luma: expected an array of uint8, found float32'),
        (ValueError, lambda: model(real + 1e6), 'luma: expected numbers that float16 can hold, up to 65504.0, found'),
        (ValueError, lambda: model(real * numpy.nan), 'luma: expected numbers, found NaN'),
        (ValueError, lambda: model(real * numpy.where(real > real.min(), 1, -numpy.inf)), 'luma: expected numbers, found infinity'),
        (ValueError, lambda: model((real * -numpy.nan).astype(numpy.float16)), 'luma: expected numbers, found NaN')):
    try:
        wrong()
        sys.exit('no error')
    except kind as error:
        assert str(error).startswith(line), error
PYTHON
"$mona" compile models/sr_x2_fast.onnx -o "$tmp/sizes.mona" --picture --size 12x8 --size 24x16 > "$tmp/log"
succeeds "a run, and a line for what is wrong" python3 "$tmp/same.py" "$tmp"
"$mona" run sr_x2_fast -i "$tmp/plane.npy" -o "$tmp/command.npy" --raw > /dev/null
same "a network's bytes in Python are those of the command" "$(tail -c 20736 "$tmp/python.npy" | md5sum)" \
    "$(tail -c 20736 "$tmp/command.npy" | md5sum)"
"$mona" run "$tmp/net.onnx" -i "$tmp/real.npy" -o "$tmp/command_floats.npy" --raw > /dev/null
same "and its floats, not compiled before" "$(tail -c 41472 "$tmp/python_floats.npy" | md5sum)" \
    "$(tail -c 41472 "$tmp/command_floats.npy" | md5sum)"
"$mona" enhance --quiet "$tmp/in.y4m" -o "$tmp/listed_command.mkv" -c h264 --size 160x108 -e bf=0 -e g=2 -j 1:1:1
same "lists and sizes are those of the command" "$(frames_md5 "$tmp/listed.mkv")" "$(frames_md5 "$tmp/listed_command.mkv")"
"$mona" enhance --quiet "$tmp/in.y4m" -o "$tmp/command.mkv" -c ffv1
same "a film's" "$(frames_md5 "$tmp/python.mkv")" "$(frames_md5 "$tmp/command.mkv")"
ffmpeg -v error -i "$tmp/command.mkv" -f rawvideo "$tmp/command.raw"
same "those of frames from memory" "$(md5sum < "$tmp/python.raw")" "$(md5sum < "$tmp/command.raw")"

# ---- what a call costs --------------------------------------------------------------------------
at_least "microseconds below 1000 that a call on 1920x1080 takes beyond the library's own" "$(python3 - << 'PYTHON'
import time
import types
import mona
import numpy
from mona._library import engine
model = mona.Model('sr_x2_fast', size=(1080, 1920), threads=1)
plane = numpy.zeros((1080, 1920), numpy.uint8)
engine.lib = types.SimpleNamespace(mona_session_run=lambda *arguments: 0, mona_session_close=lambda session: None)
times = []
for turn in range(50):
    began = time.perf_counter()
    model(plane)
    times.append(time.perf_counter() - began)
print(round(1000 - 1e6 * sorted(times)[25]))
PYTHON
)" 1

# ---- examples -----------------------------------------------------------------------------------
same "examples/frames.py" "$(python3 apps/examples/frames.py "$tmp/in.y4m" "$tmp/x.mkv" | tr '\r' '\n' | grep -c '180\|360\|4/4')" 6
if python3 -c 'import onnx' 2> /dev/null; then
    python3 tests/e2e/media/make_detector.py "$tmp/detector.onnx" "$tmp/cells.ppm"
    same "examples/detect.py: the boxes of a detector that is known" \
        "$(python3 apps/examples/detect.py "$tmp/detector.onnx" "$tmp/cells.ppm" "$tmp/boxes.ppm" | sed 's/0.99 //' | sort)" \
        "class 1: at 24 56 88 120
class 1: at 56 24 120 88
class 1: at 8 40 72 104
class 2: at -16 16 112 144"
    at_least "bytes that boxes change in the picture" "$(cmp -l "$tmp/cells.ppm" "$tmp/boxes.ppm" | wc -l)" 2000
else
    skip "no python3-onnx: examples/detect.py is not run"
fi
if python3 -c 'import torch' 2> /dev/null; then
    succeeds "examples/network.py: a network of PyTorch" python3 apps/examples/network.py
else
    skip "no python3-torch"
fi
