#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernels of one's own as AI Core programs: on the modelled chip, which checks them, and on the replay kernel.
. tests/tap.inc
CC=${CC:-gcc}
needs_python numpy

# $1: a kernel's identifier, $2: its C, $3: the program to link
cat > "$tmp/link" << SH
exec $CC -std=c11 -O0 -w $sanitisers -ffp-contract=off -D_GNU_SOURCE -I. -Iengine -I"$BUILD/gen" -DKERNEL=\$1 -o \$3 \$2 \\
    tests/e2e/engine/kernel_chip.c "$BUILD/engine/ascend/kernel/replay.o" "$BUILD/engine/ascend/kernel/emulation.o" \\
    "$BUILD/formats/file.o" "$BUILD/formats/error.o" "$BUILD/libmona-ascend.a" "$BUILD/libmona-model310.a" "$BUILD/libmona-plan.a" \\
    "$BUILD/libmona.a" -pthread -lm
SH

# $@: ROWSxCOLUMNS... -- FILE.py...
chip() {
    MONA=$mona BUILD_CHIP="sh $tmp/link" PYTHONPATH="$(cd "$BUILD" && pwd)/python" python3 tests/e2e/engine/kernel_chip.py "$tmp" "$@" 2>&1
}

cat > "$tmp/double.py" << 'PYTHON'
from mona.kernel import kernel, rows, u8


@kernel('com.example::Double')
def double(x: rows(u8), *, y: rows(u8)):
    y[0, 0] = x[0, 0] * 2
PYTHON
cat > "$tmp/thirds.py" << 'PYTHON'
from mona.kernel import *


@kernel('com.example::Thirds')
def thirds(x: rows(u16, cell=(1, 3)), *, y: rows(s8, planes=3, cell=(2, 3))):
    for dx in range(3):
        y[0, 0, dx] = x[-1, dx - 1] - x[1, dx + 1] >> 5
        y[2, 1, 2 - dx] = x[-1, dx - 1] - x[1, dx + 1] >> 5
        y[2, 0, dx] = x[-1, 0] - x[1, 2] >> 5
        y[0, 1, dx] = f32(min(x[0, dx], 999)) * 0.3
        y[1, 0, dx] = clamp(x[0, dx], 100, 300) - 200
        y[1, 1, dx] = f32(x[0, dx] & 255) * -0.7
PYTHON
cat > "$tmp/lit.py" << 'PYTHON'
from mona.kernel import *


@kernel('com.example::Lit')
def lit(x: rows(u8, planes=2, cell=(2, 3)), light: rows(u8), *, y: rows(s8, planes=2, cell=(2, 3)), z: rows(u8, cell=(1, 4))):
    shade = f16(f32(light[-1, 0]) + f32(light[0, 1]))
    for dy in range(2):
        for dx in range(3):
            y[0, dy, dx] = f16(f16(f32(x[1, dy, dx]) * f16(0.3)) - shade)
            y[1, dy, dx] = x[0, dy, dx] >> 3
    for dx in range(4):
        z[0, dx] = f16(shade * f16(0.5))
PYTHON
cat > "$tmp/sums.py" << 'PYTHON'
from mona.kernel import *


@kernel('com.example::Sharpen')
def sharpen(x: rows(u8), *, y: rows(u8)):
    y[0, 0] = f16(f32(x[0, 0] * 12 - x[-1, 0] - x[1, 0] * 2 - x[0, -1] - x[0, 1] - x[-2, 3] * 3) * f16(0.25))


@kernel('com.example::Grey')
def grey(x: rows(u8, planes=3, cell=(1, 4)), k: table(f32, 4), *, y: rows(s8, planes=2, cell=(2, 4))):
    for dx in range(4):
        total = x[0, 0, dx] * 77 + x[1, 0, dx] * 100 + x[2, 0, dx] * 29
        y[0, 0, dx] = f16(f32(total) * f16(clamp(k[dx], -1, 1)))
        y[0, 1, dx] = f16(f32(x[0, 0, dx - 2] + x[1, 0, dx + 2] * -7) * f16(0.5))
        y[1, 0, dx] = f16(f16(clamp(k[0], -1, 1)) * f32(x[2, 0, dx] - x[1, 0, dx]))
        y[1, 1, dx] = f16(f32(x[0, 0, 3 - dx]) * f16(-0.25))


@kernel('com.example::Wide')
def wide(x: rows(u16, planes=2, cell=(3, 1)), *, y: rows(u8, cell=(2, 1))):
    y[0, 0] = f16(f32(x[0, 0, 0] + x[1, -3, 4] - x[1, 5, -4] + x[0, 2, 0] * 2) * f16(0.002))
    y[1, 0] = f16(f32(x[1, 1, 0]) * f16(0.004))
PYTHON
cat > "$tmp/without.py" << 'PYTHON'
from mona.kernel import *


@kernel('com.example::Without')
def without(x: rows(f32), u: rows(u8), *, half: rows(u8), square: rows(u8), sum: rows(u8), large: rows(u8), shift: rows(u8),
            quotient: rows(f32), whole: rows(s32), mask: rows(u8)):
    half[0, 0] = f16(x[0, 0])
    square[0, 0] = f16(f32(u[0, 0]) * f32(u[0, 0]) + 1.0)
    sum[0, 0] = f16(f32(u[0, 0] * 21) + 1.0)
    large[0, 0] = f16(f32(u[0, 0]) + 1e6)
    shift[0, 0] = s32(x[0, 0]) >> 3
    quotient[0, 0] = 1.0 / x[0, 0]
    whole[0, 0] = x[0, 0]
    mask[0, 0] = 1 if x[0, 0] < 3.0 else 0
PYTHON
PYTHONPATH="$(cd "$BUILD" && pwd)/python" python3 -m mona.kernel "$tmp/without.py" -o "$tmp/without" 2>&1 > "$tmp/log" | sed 's/^com.example::Without: //' > "$tmp/found"
same "what has no program is told" "$(cat "$tmp/found")" "half has no AI Core program: numbers of f16: samples of f32
square has no AI Core program: numbers of f16: mul without f16(...)
sum has no AI Core program: numbers of f16: whole numbers up to 5355
large has no AI Core program: numbers of f16: a number that may be none of f16
shift has no AI Core program: s32(...) of a float of unknown size; clamp it first
quotient has no AI Core program: /, but of whole numbers that are not negative by one of at least 1 that is the same in all cells
whole has no AI Core program: s32(...) of a float of unknown size; clamp it first"
PYTHONPATH="$(cd "$BUILD" && pwd)/python" python3 tests/e2e/engine/user_kernels.py onnx "$tmp/f16.onnx" com.example::Shift
cat > "$tmp/shift.py" << 'PYTHON'
from mona.kernel import *


@kernel('com.example::Shift')
def shift(x: rows(u8), *, y: rows(u8)):
    y[0, 0] = 1000.0 / f32(x[0, 0])
PYTHON
PYTHONPATH="$(cd "$BUILD" && pwd)/python" python3 -m mona.kernel "$tmp/shift.py" -o "$tmp/shift" > "$tmp/log" 2>&1
"$mona" compile "$tmp/f16.onnx" -o "$tmp/f16.mona" --kernels "$tmp/shift" --target ascend310 > "$tmp/log" 2>&1
at_least "and where a model calls it" "$(grep -c '^    Shift.* runs on the AI CPUs: its kernel is no AI Core program$' "$tmp/log")" 1
seal() {
    python3 tests/e2e/engine/user_kernels.py seal "$tmp/shift/Shift.kernel"
}
# Steps that name values, samples or places that there are not.
printf 'kernel com.example::Shift\ninput x u8 planes 1 cell 1 1 around 0 0\noutput y u8 planes 1 cell 1 1 around 0 0\nprogram 0 1 1\n%s\n' \
    'sample 0 0 0 0' > "$tmp/steps"
for step in 'add f1 s0 s0' 'add f0 s1 s0' 'add f0 s0 u1' 'const f0 3' 'entry u0 0 0' 'sample 0 0 0 1' 'sample 1 0 0 0' 'gather f0 s0 0' 'store 1 0 s0' \
    'store 0 2 s0' 'add u0 s0 s0' 'add f0 s0 s0 2' 'add f0 s0 s0 0' 'add u0 u0 u0 2' 'half u0 u0' 'hadd f0 s0 s0' 'spread f0 s0 1'; do
    { cat "$tmp/steps" && printf '%s\nstore 0 0 s0\n' "$step"; } > "$tmp/shift/Shift.kernel" && seal
    "$mona" compile "$tmp/f16.onnx" -o "$tmp/f16.mona" --kernels "$tmp/shift" --target ascend310 2>&1 | grep -q 'runs on the AI CPUs' || echo "$step"
done > "$tmp/found"
nothing "steps that are none make no program" "$(cat "$tmp/found")"
cat "$tmp/steps" > "$tmp/shift/Shift.kernel" && seal
"$mona" compile "$tmp/f16.onnx" -o "$tmp/f16.mona" --kernels "$tmp/shift" --target ascend310 > "$tmp/log" 2>&1
at_least "nor do those that do not store all" "$(grep -c 'runs on the AI CPUs' "$tmp/log")" 1

# The same of sums.
PYTHONPATH="$(cd "$BUILD" && pwd)/python" python3 tests/e2e/engine/user_kernels.py onnx "$tmp/f16.onnx" com.example::Shift 6 32
printf 'kernel com.example::Shift\ninput x u8 planes 1 cell 1 1 around 0 0\noutput y u8 planes 1 cell 1 1 around 0 0\nprogram 0 0 2 sums\n%s\n%s\n%s\n%s\n' \
    'sample 0 0 0 0' 'const u0 1065353216' 'half u1 u0' 'term 0 0 0 s0 3' > "$tmp/steps"
sums() {
    { cat "$tmp/steps" && printf '%s\n' "$@"; } > "$tmp/shift/Shift.kernel" && seal
    "$mona" compile "$tmp/f16.onnx" -o "$tmp/f16.mona" --kernels "$tmp/shift" --target ascend310 2>&1 | grep -c 'runs on the AI CPUs'
}
same "sums make a program" "$(sums 'scale 0 0 0 u1')" 0
for step in 'scale 0 0 0 u2' 'scale 0 0 0 s0' 'scale 0 0 1 u1' 'scale 1 0 0 u1' 'term 0 0 0 s0 1' 'term 0 0 0 s1 1' 'term 0 1 0 s0 1' 'term 0 0 0 u1 1' \
    'scale 0 0 0 u1' 'store 0 0 s0' 'hadd s0 s0 s0' 'sample 0 0 0 0' 'row f0'; do
    [ "$(sums "$step" 'scale 0 0 0 u1')" -eq 1 ] || echo "$step"
done > "$tmp/found"
sed -i 's/ s0 3$/ s0 129/' "$tmp/steps"
[ "$(sums 'scale 0 0 0 u1')" -eq 1 ] || echo 'a sample that counts 129 times' >> "$tmp/found"
nothing "steps that are none of sums do not" "$(cat "$tmp/found")"
same "nor do sums without a scale" "$(sums)" 1

examples=$(for name in demosaic nv12 blend fused shading tone boxes demosaic_half nv12_half; do echo apps/examples/kernels/$name.py; done)

chip 1x32 24x37 -- "$tmp/double.py" > "$tmp/log"
chip 3x64 17x160 -- "$tmp/thirds.py" "$tmp/lit.py" "$tmp/sums.py" >> "$tmp/log"
# One row, fewer columns than lanes, several tiles of which the last ones overlap.
chip 1x32 24x64 21x320 -- $examples >> "$tmp/log"
nothing "the modelled chip and the replay kernel have the bytes of numpy" "$(grep -v ': equal, ' "$tmp/log")"
same "in runs" "$(grep -c ': equal, ' "$tmp/log")" 45
randoms=4
full && randoms=150
chip random $randoms > "$tmp/log"
nothing "so have random kernels" "$(grep -v ': equal, ' "$tmp/log")"
same "in runs" "$(grep -c ': equal, ' "$tmp/log")" $randoms


# The command has a kernel's program, not its code.
chip 24x64 -- "$tmp/double.py" > "$tmp/log"
"$mona" bench "$tmp/net.mona" --device model310 --kernels "$tmp/Double" > "$tmp/log" 2>&1
at_least "mona bench tells its time and which pipe bounds it" "$(grep -cE '^  Double .* (V|S|MTE[23])$' "$tmp/log")" 1
fails "without kernels" "calls the kernel com.example::Double" "$mona" bench "$tmp/net.mona" --device model310

if full; then
    chip 540x960 -- apps/examples/kernels/demosaic.py apps/examples/kernels/nv12.py apps/examples/kernels/demosaic_half.py apps/examples/kernels/nv12_half.py > "$tmp/log"
    nothing "and of frames of 1920x1080" "$(grep -v ': equal, ' "$tmp/log")"
    nothing "within these times" "$(awk '{ most["Demosaic"] = 735; most["Nv12ToRgb"] = 555; most["RgbToNv12"] = 895; most["DemosaicHalf"] = 257; most["Nv12ToRgbHalf"] = 224; most["RgbToNv12Half"] = 419; sub(/.*::/, "", $1) } $4 > most[$1]' "$tmp/log")"
    sed 's/^/# /' "$tmp/log"
fi
