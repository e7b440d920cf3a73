#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernels of one's own: from Python to a model that calls them, in Python, as C, and where they are missing.
. tests/tap.inc
CC=${CC:-gcc}
needs_python cffi numpy
helper() {
    PYTHONPATH="$(cd "$BUILD" && pwd)/python" python3 tests/e2e/engine/user_kernels.py "$@" 2>&1
}
same "the examples' rows in C have the bytes of numpy" "$(helper examples "$tmp")" 18
same "the fused convolution, boxes, tone mapping, NV12 of six kinds and the demosaic are what plain formulas give" "$(helper meaning "$tmp")" same
randoms=2
full && randoms=60
same "so have kernels of random expressions" "$(helper random "$tmp" $randoms)" $randoms
same "a kernel before a convolution" "$(helper network "$tmp")" same
for planes in 3 20; do
    same "kernels among operators on maps, with $planes channels" "$(helper joined "$tmp" $planes)" 64
done
same "a kernel in place of a function" "$(helper function "$tmp")" same
same "numbers of lists, and choices between constants, are made while a kernel is read" "$(helper constants "$tmp")" same
same "zeros keep their sign" "$(helper zeros "$tmp")" same
same "two kernels of one name, and what is none, are refused" "$(helper names "$tmp")" "expected one kernel com.example::By, found two
expected kernels of mona.kernel, found 'a path'"
same "kernels of one name in several domains run beside each other" "$(helper domains "$tmp")" same
same "numpy refuses more columns than a grid may have" "$(helper wide "$tmp")" "x: expected up to 32768 rows and columns of cells, found 1 x 60000"
same "mistakes are told with line and column" "$(helper errors "$tmp")" 48

if full; then
    helper targets "$tmp" 20 > "$tmp/targets"
    nothing "and so on CPUs with $(tail -n 1 "$tmp/targets")" "$(sed '$d' "$tmp/targets")"
    at_least "which are" "$(tail -n 1 "$tmp/targets" | tr , '\n' | grep -c .)" 1
fi


# ---- speed: what keeps a compiler from vectors makes rows ten times as slow
if $CC --version 2> /dev/null | grep -q 'Free Software' && [ "$(uname -m)" = x86_64 ] && [ -z "${CROSS:-}" ]; then
    for kernel in demosaic nv12 demosaic_half nv12_half blend boxes fused; do # tables of shading and tone are read in vectors on some CPUs alone
        PYTHONPATH="$(cd "$BUILD" && pwd)/python" python3 -m mona.kernel "apps/examples/kernels/$kernel.py" -o "$tmp/vectors" > "$tmp/log" 2>&1
    done
    nothing "the examples' loops become vector code" "$(for file in "$tmp"/vectors/*.c; do
        $CC -std=c11 -O3 -mavx2 -ffp-contract=off -Iengine -fopt-info-vec -c "$file" -o "$tmp/vectors.o" 2>&1 | grep -q 'loop vectorized' ||
            echo "$file"; done)"
else
    skip "vectors are looked for where gcc builds for x86-64"
fi

# ---- the command
cat > "$tmp/twice.py" << 'PYTHON'
from mona.kernel import kernel, rows, u8


@kernel('com.example::Twice')
def twice(x: rows(u8), *, y: rows(u8)):
    y[0, 0] = x[0, 0] * 2
PYTHON
succeeds "python3 -m mona.kernel" env PYTHONPATH="$(cd "$BUILD" && pwd)/python" python3 -m mona.kernel "$tmp/twice.py" -o "$tmp/kernels"
helper onnx "$tmp/net.onnx" com.example::Twice
succeeds "mona compile --kernels" "$mona" compile "$tmp/net.onnx" -o "$tmp/net.mona" --kernels "$tmp/kernels"
sed s/com.example/com_example/ "$tmp/twice.py" > "$tmp/twice_.py"
same "kernels whose names differ in a dot and an underscore have tables of different names" "$(for kernel in twice twice_; do
    PYTHONPATH="$(cd "$BUILD" && pwd)/python" python3 -m mona.kernel "$tmp/$kernel.py" -o "$tmp/$kernel" --build > "$tmp/log" 2>&1
    helper onnx "$tmp/$kernel.onnx" "$(sed -n 's/^kernel \([^ ]*\) .*/\1/p' "$tmp/$kernel/Twice.kernel")"
    "$mona" compile "$tmp/$kernel.onnx" -o "$tmp/$kernel.mona" --kernels "$tmp/$kernel" > "$tmp/log" 2>&1
    "$mona" compile "$tmp/$kernel.onnx" -o "$tmp/$kernel.c" --kernels "$tmp/$kernel" --emit c --target c > "$tmp/log" 2>&1
    cat "$tmp/$kernel.c" "$tmp/$kernel/Twice.c" | sed -n 's/^extern const mona_kernel \(.*\);/\1/p'
    "$mona" inspect "$tmp/$kernel.mona" --kernels "$tmp/$kernel" > "$tmp/log" 2>&1 || cat "$tmp/log"
done)" 'mona_kernel_com_example__Twice
mona_kernel_com_example__Twice
mona_kernel_com_example__Twice_8787c832
mona_kernel_com_example__Twice_8787c832'
fails "a model whose kernel the command does not have" "net.mona: calls the kernel com.example::Twice, which mona does not have" "$mona" inspect "$tmp/net.mona"
fails "a node of another domain without kernels" "expected ONNX's own, or a kernel of that name (mona compile --kernels)" "$mona" compile "$tmp/net.onnx" -o "$tmp/no.mona"
helper onnx "$tmp/other.onnx" com.example::Thrice
fails "and one that is not among them" "--kernels has none" "$mona" compile "$tmp/other.onnx" -o "$tmp/no.mona" --kernels "$tmp/kernels"
fails "a folder that is missing" "expected a folder with kernels, found none" "$mona" compile "$tmp/net.onnx" -o "$tmp/no.mona" --kernels "$tmp/none"
fails "one without kernels" "expected files *.kernel" "$mona" compile "$tmp/net.onnx" -o "$tmp/no.mona" --kernels "$BUILD/python"
# Nine outputs, each with a program.
many=$(echo 'kernel a::B'; echo 'input x u8 planes 1 cell 1 1 around 0 0'
    for i in 1 2 3 4 5 6 7 8 9; do echo "output y$i u8 planes 1 cell 1 1 around 0 0"; done
    for i in 0 1 2 3 4 5 6 7 8; do printf 'program %s 1 1\nsample 0 0 0 0\n' $i; done)
for wrong in 'kernel a::B' 'input x u8 planes 1 cell 1 1 around 0 0' 'kernel a::B
input x u8 planes 1 cell 0 0 around 0 0
output y u8 planes 1 cell 1 1 around 0 0' 'kernel a::B
input x u8 planes 1 cell 1 1 around 0 0
output y u8 table 3' 'kernel a::B
output y u8 planes 1 cell 1 1 around 0 0
input x u8 planes 1 cell 1 1 around 0 0' 'kernel a::B
input x u9 planes 1 cell 1 1 around 0 0
output y u8 planes 1 cell 1 1 around 0 0' 'kernel a::B
input x u8 planes 1 cell 1 1 around 0 0
output y u8 planes 1 cell 1 1 around 0 0
program 1 1 1' 'kernel a::B
input x u8 planes 1 cell 1 1 around 0 0
output y u8 planes 1 cell 1 1 around 0 0
program 0 1 1
divide f0 s0 s0' 'kernel a::B
input x u8 planes 1 cell 1 1 around 0 0
output y u8 planes 1 cell 1 1 around 0 0
program 0 1 1
add f0 x0 s0' 'kernel a::B
input x u8 planes 1 cell 1 1 around 0 0 0
output y u8 planes 1 cell 1 1 around 0 0' "$many"; do
    mkdir -p "$tmp/wrong"
    printf '%s\n' "$wrong" > "$tmp/wrong/b.kernel"
    helper seal "$tmp/wrong/b.kernel"
    fails "an interface that is wrong" "wrong/b.kernel: expected a kernel's interface" "$mona" compile "$tmp/net.onnx" -o "$tmp/no.mona" --kernels "$tmp/wrong"
done

# Words that are no numbers of their fields, as one that was cut to 8 bits would be; more words, or fewer.
for wrong in 'sample 0 256 0 0' 'sample 0 0 -129 0' 'sample 65536 0 0 0' 'sample 0 0 0 1x' 'sample 0 0 0' 'add f65536 s0 s0' 'add f0 s0 s0 1 1' \
    'const f0 4294967296' 'const f0 -1' 'store 256 0 s0' 'store 0 0 s0 0' 'width f0 1' 'half u0' 'gather f0 s0 4294967297'; do
    { sed 's/^store .*//; /^$/d' "$tmp/kernels/Twice.kernel" && printf '%s\nstore 0 0 s0\n' "$wrong"; } > "$tmp/wrong/b.kernel"
    helper seal "$tmp/wrong/b.kernel"
    fails "a step that is wrong" "wrong/b.kernel: expected a kernel's interface, which" "$mona" compile "$tmp/net.onnx" -o "$tmp/no.mona" --kernels "$tmp/wrong"
done
for part in 'head -c -1' 'sed 2d' 'sed 4d' 'sed 1s/crc/crd/' 'sed $s/0/1/'; do
    $part "$tmp/kernels/Twice.kernel" > "$tmp/wrong/b.kernel"
    fails "a part of an interface" "wrong/b.kernel: expected a kernel's interface as python3 -m mona.kernel wrote it" "$mona" compile "$tmp/net.onnx" -o "$tmp/no.mona" \
        --kernels "$tmp/wrong"
done
cp "$tmp/kernels/Twice.kernel" "$tmp/wrong/a.kernel"
cp "$tmp/kernels/Twice.kernel" "$tmp/wrong/b.kernel"
fails "two kernels of one name" "expected one kernel com.example::Twice in the folder, found two" "$mona" compile "$tmp/net.onnx" -o "$tmp/no.mona" \
    --kernels "$tmp/wrong"
{ cat "$tmp/by2.py" && sed 's/def by/def other/' "$tmp/by3.py"; } > "$tmp/both.py"
fails "two of one name in a file" "expected one kernel com.example::By, found two" env PYTHONPATH="$(cd "$BUILD" && pwd)/python" \
    python3 -m mona.kernel "$tmp/both.py" -o "$tmp/both"

# ---- what is no file, or none of Python
# $1: which, $2: words of the line
file_fails() {
    fails "$1" "$2" env PYTHONPATH="$(cd "$BUILD" && pwd)/python" timeout 60 python3 -m mona.kernel "$tmp/no.py" -o "$tmp/no"
}
file_fails "a file that is missing" "no.py: expected a file of Python with kernels, found none"
mkfifo "$tmp/no.py"
file_fails "a pipe" "no.py: expected a file of Python with kernels, found a folder, a pipe or a device"
rm "$tmp/no.py"
printf 'x = 1\nx = = 2\n' > "$tmp/no.py"
file_fails "no Python" "no.py:2: expected a file of Python that runs, found SyntaxError: invalid syntax"
printf 'x = 1\nx = z\n' > "$tmp/no.py"
file_fails "names that there are not" "no.py:2: expected a file of Python that runs, found NameError: name 'z' is not defined"
printf 'y = %s1\n' "$(head -c 100000 /dev/zero | tr '\0' -)" > "$tmp/no.py"
file_fails "signs without end" "no.py: expected a file of Python that runs, found MemoryError"
printf 'from mona.kernel import *\n\nrows(u8, planes=0)\n' > "$tmp/no.py"
file_fails "operands that there are not" "no.py:3: expected 1 to 128 planes"
for file in kernel so onnx; do
    rm -rf "$tmp/pipe" && cp -r "$tmp/kernels" "$tmp/pipe" && rm -f "$tmp/pipe/Twice.$file"
    mkfifo "$tmp/pipe/Twice.$file"
    fails "a pipe among kernels" "Twice.$file: expected a file, found a folder, a pipe or a device" timeout 60 "$mona" compile "$tmp/net.onnx" -o "$tmp/no.mona" \
        --kernels "$tmp/pipe"
done

# ---- their code, with which the command calibrates, measures and runs
helper evidence "$tmp"
build() {
    env PYTHONPATH="$(cd "$BUILD" && pwd)/python" python3 -m mona.kernel "$tmp/double.py" -o "$tmp/built" "$@"
}
succeeds "an interface" build
fails "calibration without code" "or libraries that python3 -m mona.kernel --build writes" "$mona" compile "$tmp/conv.onnx" -o "$tmp/no.mona" \
    --kernels "$tmp/built" --calibrate "x=$tmp/x.npy"
fails "a run without code" "expected their code" "$mona" run "$tmp/conv.onnx" -i "$tmp/x.npy" -o "$tmp/y.npy" --kernels "$tmp/built"
succeeds "its code" build --build
succeeds "calibration" "$mona" compile "$tmp/conv.onnx" -o "$tmp/conv.mona" --kernels "$tmp/built" --calibrate "x=$tmp/x.npy" --precision fp16
same "accuracy is measured" "$("$mona" compile "$tmp/conv.onnx" -o "$tmp/conv.mona" --kernels "$tmp/built" --calibrate "x=$tmp/x.npy" |
    grep -c 'dB against fp32 on the calibration images')" 1
for how in "$tmp/conv.mona" "$tmp/conv.onnx" "$tmp/conv.onnx --reference"; do
    # shellcheck disable=SC2086
    succeeds "a run of ${how##*/}" "$mona" run $how -i "$tmp/x.npy" -o "$tmp/y.npy" --kernels "$tmp/built"
    same "it is what numpy makes" "$(python3 -c 'import numpy, sys
print((numpy.load(sys.argv[1]).ravel() == numpy.load(sys.argv[2]).ravel()).all())' "$tmp/y.npy" "$tmp/wanted.npy")" True
done
succeeds "bench runs it" "$mona" bench "$tmp/conv.mona" --kernels "$tmp/built" --iterations 3 --warmup 1
fails "bench without code" "expected their code" "$mona" bench "$tmp/net.mona" --kernels "$tmp/kernels"
succeeds "inspect describes it" "$mona" inspect "$tmp/conv.mona" --kernels "$tmp/built"
cp -r "$tmp/built" "$tmp/stale"
PYTHONPATH="$(cd "$BUILD" && pwd)/python" python3 -m mona.kernel "$tmp/double.py" -o "$tmp/stale" > "$tmp/log" 2>&1
fails "code of what the kernel was before" "expected their code" "$mona" run "$tmp/conv.mona" -i "$tmp/x.npy" -o "$tmp/y.npy" --kernels "$tmp/stale"
cp "$tmp/built/Double.so" "$tmp/kernels/Twice.so"
fails "the code of another kernel" "expected a library with mona_kernel_com_example__Twice" "$mona" compile "$tmp/net.onnx" -o "$tmp/no.mona" --kernels "$tmp/kernels"
rm "$tmp/kernels/Twice.so"
succeeds "a plan in the model" "$mona" compile "$tmp/net.onnx" -o "$tmp/plan.mona" --kernels "$tmp/kernels" --target host

# ---- whether it is an operator on maps
cat > "$tmp/apart.py" << 'PYTHON'
from mona.kernel import *


@kernel('com.example::Wide')
def wide(x: rows(u16), *, y: rows(u8)):
    y[0, 0] = x[0, 0] >> 8


@kernel('com.example::Flat')
def flat(x: rows(f32), *, y: rows(f32, cell=(1, 2))):
    y[0, 0] = x[0, 0]
    y[0, 1] = x[0, 1]


@kernel('com.example::Gain')
def gain(x: rows(f32), t: table(f32, 1), *, y: rows(f32)):
    y[0, 0] = x[0, 0] * t[0]
PYTHON
PYTHONPATH="$(cd "$BUILD" && pwd)/python" python3 -m mona.kernel "$tmp/apart.py" -o "$tmp/apart" > "$tmp/log" 2>&1
# $1: what reads and is read by convolutions; $2...: options
why() {
    name=$1
    shift
    helper between "$tmp/between.onnx" "$tmp/apart.py" "$name" > "$tmp/log" 2>&1 &&
        "$mona" compile "$tmp/between.onnx" -o "$tmp/between.mona" --kernels "$tmp/apart" --report "$tmp/report.json" "$@" > "$tmp/log" 2>&1 &&
        python3 -c 'import json, sys
print(*{a["why"] for a in json.load(open(sys.argv[1]))["arrays"] if a["operator"] == sys.argv[2] and a["kind"] == "kernel"})' \
            "$tmp/report.json" "$name"
}
same "of u16 it is none, which the report tells" "$(why Wide)" "reads u16, which no map has"
same "nor of cells that are no squares" "$(why Flat)" "makes cells of 1 x 2 samples; those of maps are squares"
same "nor with a table that is an input" "$(why Gain)" "reads a table that is computed or an input"

# ---- in films
helper enhance "$tmp"
succeeds "the code of a kernel in a network for films" env PYTHONPATH="$(cd "$BUILD" && pwd)/python" python3 -m mona.kernel "$tmp/crisp.py" -o "$tmp/crisp" --build
succeeds "which takes frames of any size" "$mona" compile "$tmp/crisp.onnx" -o "$tmp/crisp.mona" --kernels "$tmp/crisp" --input-type u8 --output-type u8
# $@: options
crisp() {
    "$mona" enhance "$tmp/in.y4m" -o "$tmp/out.y4m" -y --stages sr "$@"
}
succeeds "mona enhance --kernels" crisp --sr "$tmp/crisp.mona" --kernels "$tmp/crisp"
same "makes what numpy does" "$(helper enhance "$tmp" "$tmp/out.y4m")" same
fails "without kernels" "calls the kernel com.example::Crisp, which mona does not have" crisp --sr "$tmp/crisp.mona"
succeeds "mona bench --pipeline runs it" "$mona" bench --pipeline "$tmp/in.y4m" --stages sr --sr "$tmp/crisp.mona" --kernels "$tmp/crisp" --iterations 4
fails "also with kernels, where no network calls them" "--kernels: expected a network that calls them" "$mona" bench --pipeline "$tmp/in.y4m" --kernels "$tmp/crisp"
cp -r "$tmp/crisp" "$tmp/twins"
for end in kernel so; do
    cp "$tmp/twins/Crisp.$end" "$tmp/twins/Other.$end"
done
fails "with two of one name" "Other.kernel: expected one kernel com.example::Crisp in the folder, found two" crisp --sr "$tmp/crisp.mona" --kernels "$tmp/twins"
rm "$tmp"/twins/Other.*
head -c 3000 "$tmp/crisp/Crisp.so" > "$tmp/twins/Crisp.so"
fails "with code that is cut short" "Crisp.so: expected a library, found one that is cut short" crisp --sr "$tmp/crisp.mona" --kernels "$tmp/twins"
for file in kernel so; do
    rm -rf "$tmp/pipe" && cp -r "$tmp/crisp" "$tmp/pipe" && rm "$tmp/pipe/Crisp.$file"
    mkfifo "$tmp/pipe/Crisp.$file"
    fails "with a pipe among them" "Crisp.$file: expected a file, found a folder, a pipe or a device" timeout 60 "$mona" enhance "$tmp/in.y4m" -o "$tmp/out.y4m" -y \
        --stages sr --sr "$tmp/crisp.mona" --kernels "$tmp/pipe"
done
fails "with those of no network" "--kernels: expected a network that calls them: --sr, --denoise or --colour-model" crisp --kernels "$tmp/crisp"
fails "with a folder that has none" "expected a folder with files *.kernel, found none" crisp --sr "$tmp/crisp.mona" --kernels "$BUILD/python"
cp "$tmp/crisp/Crisp.kernel" "$tmp/wrong/b.kernel"
fails "without their code" "expected its code beside it" crisp --sr "$tmp/crisp.mona" --kernels "$tmp/wrong"

# ---- in place of operators
helper pattern "$tmp"
succeeds "a kernel with a pattern" env PYTHONPATH="$(cd "$BUILD" && pwd)/python" python3 -m mona.kernel "$tmp/scale.py" -o "$tmp/fused" --build
# $1: which result is wanted, $2...: options
fused() {
    wanted=$1
    shift
    "$mona" compile "$tmp/pattern.onnx" -o "$tmp/p.mona" --kernels "$tmp/fused" --calibrate "x=$tmp/px.npy" --report "$tmp/report.json" "$@" > "$tmp/log"
    "$mona" run "$tmp/p.mona" -i "$tmp/px.npy" -o "$tmp/y.npy" --kernels "$tmp/fused"
    python3 -c 'import numpy, sys
print(numpy.allclose(numpy.load(sys.argv[1]).ravel(), numpy.load(sys.argv[2]).ravel(), rtol=1e-5))' "$tmp/y.npy" "$tmp/$wanted.npy"
}
rule() {
    python3 -c 'import json, sys
print(*[(r["matched"], r["applied"]) for r in json.load(open(sys.argv[1]))["rules"] if "kernel" in r.values()])' "$tmp/report.json"
}
same "operators become a call of the kernel whose pattern they are" "$(fused kernel)" True
same "the report tells it" "$(rule)" "(1, 1)"
same "accuracy is that of the kernel beside those operators" "$(sed -n 's/^ *y: \([-0-9]*\)[.0-9]* dB.*/\1/p' "$tmp/log" | awk '{ print ($1 < 20) }')" 1
printf 'kernel:off\n' > "$tmp/rules"
same "the rule can be switched off" "$(fused plain --fusion "$tmp/rules")" True
same "which the report tells" "$(rule)" "(1, 0)"
helper along "$tmp"
"$mona" compile "$tmp/along.onnx" -o "$tmp/a.mona" --kernels "$tmp/along" --report "$tmp/report.json" > "$tmp/log"
"$mona" run "$tmp/a.mona" -i "$tmp/ax.npy" -o "$tmp/y.npy" --kernels "$tmp/along"
same "a table along another axis than the pattern's is none of the kernel's" "$(python3 -c 'import numpy, sys
print(numpy.allclose(numpy.load(sys.argv[1]).ravel(), numpy.load(sys.argv[2]).ravel(), atol=0.01))' "$tmp/y.npy" "$tmp/along.npy") $(rule)" "True (1, 0)"
cp "$tmp/net.onnx" "$tmp/fused/Scale.onnx"
fails "a pattern of unknown operators" "Scale.onnx: node 'Twice'" "$mona" compile "$tmp/pattern.onnx" -o "$tmp/no.mona" --kernels "$tmp/fused"

# ---- as C
succeeds "a model with a kernel as C" "$mona" compile "$tmp/net.onnx" -o "$tmp/net.c" --kernels "$tmp/kernels" --emit c --target c
cat > "$tmp/main.c" << 'C'
#include <stdio.h>
#include "net.h"
static _Alignas(64) unsigned char arena[NET_ARENA_BYTES];
int main(void)
{
    unsigned char x[48], y[48];
    mona_session *s;
    for (int i = 0; i < 48; i++)
        x[i] = (unsigned char)(i * 5);
    if (net_open(&s, arena, sizeof arena) || net_run(s, x, 8, y, 8))
        return 1;
    for (int i = 0; i < 48; i++)
        if (y[i] != (2 * x[i] > 255 ? 255 : 2 * x[i]))
            return 2;
    return puts("same") < 0;
}
C
succeeds "links with the kernel's C" sh -c 'cd "$1" && $2 -std=c11 -Wall -Wextra -Werror -O2 -I"$3" -I"$3/engine" -o main main.c net.c kernels/Twice.c "$4/libmona.a" -pthread' \
    - "$tmp" "$CC" "$PWD" "$(cd "$BUILD" && pwd)"
same "and gives its bytes" "$("$tmp/main")" same
# Among operators on maps, line by line: the film's first frame.
succeeds "one among convolutions as C" "$mona" compile "$tmp/crisp.onnx" -o "$tmp/crisp.c" --kernels "$tmp/crisp" --input-type u8 --output-type u8 --size 96x54 --emit c --target c
cat > "$tmp/lines.c" << 'C'
#include <stdio.h>
#include "crisp.h"
static _Alignas(64) unsigned char arena[CRISP_ARENA_BYTES];
int main(void)
{
    static unsigned char x[96], y[2 * 192];
    mona_session *s;
    bool ready;
    if (crisp_open(&s, arena, sizeof arena))
        return 1;
    for (int made = 0; made < CRISP_LINES;) {
        if (fread(x, 1, sizeof x, stdin) == sizeof x && crisp_push(s, x, 96))
            return 2;
        do {
            if (crisp_pull(s, y, 192, &ready))
                return 3;
            if (ready)
                fwrite(y, 1, sizeof y, stdout);
            made += ready;
        } while (ready && made < CRISP_LINES);
    }
    return 0;
}
C
succeeds "links with the kernel's C" sh -c 'cd "$1" && $2 -std=c11 -Wall -Wextra -Werror -O2 -I"$3" -I"$3/engine" -o lines lines.c crisp.c crisp/Crisp.c "$4/libmona.a" -pthread' \
    - "$tmp" "$CC" "$PWD" "$(cd "$BUILD" && pwd)"
same "and gives what films get" "$(python3 -c 'import subprocess, sys
luma = lambda path, size: (lambda d: d[d.index(b"FRAME") + 6:][:size])(open(path, "rb").read())
made = subprocess.run([sys.argv[1] + "/lines"], input=luma(sys.argv[1] + "/in.y4m", 96 * 54), stdout=subprocess.PIPE, check=True).stdout
print(made == luma(sys.argv[1] + "/out.y4m", 4 * 96 * 54))' "$tmp")" True
