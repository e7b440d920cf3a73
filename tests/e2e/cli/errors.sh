#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What cannot work is refused: one clear line on stderr, the right exit status, and no new file under the
# output's name.
. tests/tap.inc

clip=$tmp/clip.mp4
film 6 "$tmp/scene.y4m" 320x180
ffmpeg -v error -i "$tmp/scene.y4m" -vf scale=160:90 -c:v libx264 -pix_fmt yuv420p "$clip" \
    -frames:v 1 -vf scale=40:30 "$tmp/a.png" -frames:v 1 -vf scale=40:30 -pix_fmt rgba "$tmp/rgba.png"

# The lines of the log from mona; sanitisers may add others.
check_log() {
    lines=$(wc -l < "$tmp/log")
    [ "$lines" -eq 1 ] && grep -q '^mona: ' "$tmp/log"
}

# $1: name, $2: exit status, $3: what the line must contain, $4: output name that must not exist afterwards ("":
# none), rest: command
refused() {
    name=$1 status=$2 pattern=$3 absent=$4
    shift 4
    "$@" > "$tmp/stdout" 2> "$tmp/log" < /dev/null
    found=$?
    why=
    [ $found -eq "$status" ] || why="exit status $found, expected $status"
    check_log || why="$why
expected one line that begins with 'mona: '"
    grep -q -- "$pattern" "$tmp/log" || why="$why
expected '$pattern' in it"
    if [ -n "$absent" ] && [ -e "$absent" ]; then why="$why
$absent exists"; rm -f "$absent"; fi
    left=$(find "$tmp" -name '*.part')
    [ -z "$left" ] || why="$why
left behind: $left"
    if [ -z "$why" ]; then ok "$name"; else not_ok "$name" "$why
$(head -n 5 "$tmp/log")"; fi
}
out=$tmp/out.mp4

# ---- inputs -----------------------------------------------------------------------------------
printf 'just some text\nand more of it\n' > "$tmp/text.txt"
cp "$tmp/text.txt" "$tmp/text.mp4"
: > "$tmp/empty.mp4"
head -c 3000 /dev/urandom > "$tmp/noise.bin"
ffmpeg -v error -f lavfi -i sine=300:duration=0.5 "$tmp/sound.wav"
head -c 100 "$clip" > "$tmp/cut.mp4"
refused "a missing file" 1 "missing.mp4.*No such file" "$out" "$mona" enhance "$tmp/missing.mp4" -o "$out"
refused "a folder" 1 "found a directory; --out-dir" "$out" "$mona" enhance "$tmp" -o "$out"
refused "a folder for a picture" 1 "found a directory; --out-dir" "$tmp/out.png" "$mona" enhance "$tmp" -o "$tmp/out.png"
! full || refused "a text file" 1 "expected a video" "$out" "$mona" enhance "$tmp/text.txt" -o "$out"
refused "a text file named .mp4" 1 "expected a video" "$out" "$mona" enhance "$tmp/text.mp4" -o "$out"
refused "an empty file" 1 "empty file" "$out" "$mona" enhance "$tmp/empty.mp4" -o "$out"
refused "an empty file for a picture" 1 "empty file" "$tmp/out.png" "$mona" enhance "$tmp/empty.mp4" -o "$tmp/out.png"
! full || refused "random bytes" 1 "noise.bin" "$out" "$mona" enhance "$tmp/noise.bin" -o "$out"
! full || refused "a file that ends in its first box" 1 "cut.mp4" "$out" "$mona" enhance "$tmp/cut.mp4" -o "$out"
refused "sound alone" 1 "expected a video stream" "$out" "$mona" enhance "$tmp/sound.wav" -o "$out"
refused "no frame after the start" 1 "expected frames at 100 s or later" "$out" \
    "$mona" enhance "$clip" -o "$out" --start 100 --quiet

# ---- outputs ----------------------------------------------------------------------------------
! full || refused "a folder that is not there" 1 "No such file" "" "$mona" enhance "$clip" -o "$tmp/none/out.mp4"
! full || refused "a folder that is a file" 1 "Not a directory" "" "$mona" enhance "$clip" -o "$tmp/text.txt/out.mp4"
mkdir "$tmp/dir.mp4"
! full || refused "a folder named like a video" 1 "found a directory" "" "$mona" enhance "$clip" -o "$tmp/dir.mp4"
! full || refused "an unknown container" 1 "expected a video name" "$tmp/out.xyz" "$mona" enhance "$clip" -o "$tmp/out.xyz"
mkdir "$tmp/folder"
refused "a folder as output" 1 "folder: expected a file for the output, found a folder; name the file in it" "" "$mona" enhance "$clip" -o "$tmp/folder"
! full || refused "one that is not there" 1 "none/: expected a file for the output, found a folder" "" "$mona" enhance "$clip" -o "$tmp/none/"
head -c 40000 /dev/zero > "$tmp/frames.yuv"
refused "raw frames without a description" 1 "expected --raw WIDTHxHEIGHT:FORMAT:RATE, such as" "$tmp/no.mp4" "$mona" enhance "$tmp/frames.yuv" -o "$tmp/no.mp4"
# Downloads that broke off: with the index at the front, and at the end.
ffmpeg -v error -i "$tmp/scene.y4m" -c:v libx264 -crf 1 -pix_fmt yuv420p -movflags +faststart "$tmp/front.mp4" -c:v libx264 -pix_fmt yuv420p "$tmp/end.mp4"
head -c 6000 "$tmp/front.mp4" > "$tmp/cut.mp4"
refused "a film cut off in its first frame" 1 "the file is cut off: it has 6000 of at least $(wc -c < "$tmp/front.mp4") bytes" "$tmp/no.mp4" "$mona" enhance "$tmp/cut.mp4" -o "$tmp/no.mp4"
head -c 6000 "$tmp/end.mp4" > "$tmp/cut.mp4"
refused "a film cut off before its index" 1 "the file is cut off: it has 6000 of at least" "$tmp/no.mp4" "$mona" enhance "$tmp/cut.mp4" -o "$tmp/no.mp4"
head -c 40 "$tmp/end.mp4" > "$tmp/cut.mp4"
refused "a film without an index" 1 "the file has no index (moov)" "$tmp/no.mp4" "$mona" enhance "$tmp/cut.mp4" -o "$tmp/no.mp4"
refused "a device as output" 1 "/dev/full\|expected a video name" "" "$mona" enhance "$clip" -o /dev/full
[ -c /dev/full ] && ok "the device is still there" || not_ok "the device is still there" "it is gone"
cp "$clip" "$tmp/self.mp4"
refused "the input as output" 2 "the output is the input" "" "$mona" enhance "$tmp/self.mp4" -o "$tmp/self.mp4"
succeeds "which keeps its bytes" cmp "$clip" "$tmp/self.mp4"

# A limit on file sizes replaces a full disk; where it is allowed to, the test also makes a small disk.
limited() {
    (ulimit -f 8 && exec "$@")
}
refused "an output that grows too large" 1 "cannot be written.*File too large" "$out" \
    limited "$mona" enhance "$clip" -o "$out" --quiet --crf 0
echo precious > "$tmp/kept.mp4"
refused "the same over an older file" 1 "cannot be written" "" \
    limited "$mona" enhance "$clip" -o "$tmp/kept.mp4" -y --quiet --crf 0
same "which keeps its bytes" "$(cat "$tmp/kept.mp4")" precious
mkdir "$tmp/disk"
if mount -t tmpfs -o size=16k tmpfs "$tmp/disk" 2> /dev/null; then
    refused "a full disk" 1 "cannot be written.*No space left" "$tmp/disk/out.mp4" \
        "$mona" enhance "$clip" -o "$tmp/disk/out.mp4" --quiet --crf 0
    refused "a full disk for a picture" 1 "cannot be written.*No space left" "$tmp/disk/out.png" \
        "$mona" enhance "$tmp/a.png" -o "$tmp/disk/out.png" --stages sr,sr --quiet
    head -c 16384 /dev/zero > "$tmp/disk/zeros" 2> /dev/null
    "$mona" enhance "$clip" -o "$tmp/measured.mkv" --live --metrics "$tmp/disk/m.prom" --quiet 2> "$tmp/log"
    same "a full disk for metrics: told, and nothing is left" \
        "$(grep -c 'm.prom: cannot be written: No space left' "$tmp/log") $(ls "$tmp/disk")" "1 zeros"
    umount "$tmp/disk"
else
    skip "no right to mount a small disk; the size limit above stands for a full one"
fi
if [ "$(id -u)" -ne 0 ]; then
    mkdir "$tmp/closed" && chmod 555 "$tmp/closed"
    refused "a folder without the right to write" 1 "Permission denied" "" "$mona" enhance "$clip" -o "$tmp/closed/out.mp4"
fi

# ---- command lines ----------------------------------------------------------------------------
! full || refused "no command" 2 "expected a command" "" "$mona"
refused "an unknown command" 2 "unknown command 'enhanse'" "" "$mona" enhanse
! full || refused "an unknown option before a command" 2 "unknown option '--bogus'" "" "$mona" --bogus
refused "an unknown option" 2 "unknown option '--bogus'" "$out" "$mona" enhance "$clip" -o "$out" --bogus
refused "an option of another command" 2 "unknown option '--picture', which mona compile has" "" "$mona" inspect sr_x2_fast --picture
refused "no output" 2 "expected an output: -o" "" "$mona" enhance "$clip"
! full || refused "no input" 2 "usage: mona enhance" "$out" "$mona" enhance -o "$out"
refused "no command" 2 "expected a command before '$clip', such as: mona enhance $clip -o $out" "$out" "$mona" "$clip" -o "$out"
refused "no command, no -o" 2 "such as: mona enhance $clip -o $out" "$out" "$mona" "$clip" "$out"
refused "no command, as for ffmpeg" 2 "such as: mona enhance -i $clip -o $out" "$out" "$mona" -i "$clip" -o "$out"
refused "no command, a network" 2 "such as: mona inspect net.onnx" "" "$mona" net.onnx
refused "no command, a folder" 2 "such as: mona enhance $tmp --out-dir OUT" "" "$mona" "$tmp"
refused "an output without -o" 2 "to write into the second: mona enhance $clip -o $out -s 3" "$out" "$mona" enhance "$clip" "$out" -s 3
refused "the same after -i" 2 "to write into the second: mona enhance -i $clip -o $out" "$out" "$mona" enhance -i "$clip" "$out"
refused "it is quoted for a shell" 2 "to write into the second: mona enhance $clip -o 'the result.mp4'" "" "$mona" enhance "$clip" "the result.mp4"
for name in version -v -V; do
    same "mona $name" "$("$mona" $name | md5sum)" "$("$mona" --version | md5sum)"
done
! full || refused "two inputs" 2 "expected one input or --out-dir" "$out" "$mona" enhance "$clip" "$clip" -o "$out"
refused "--content drawn" 2 "--content: expected clean|video|anime, found 'drawn'" "$out" "$mona" enhance "$clip" -o "$out" --content drawn
refused "--crf 99" 2 "--crf: h264 expects a number from 0 to 51, found 99" "$out" "$mona" enhance "$clip" -o "$out" --crf 99
refused "--crf 60 for h264" 2 "--crf: h264 expects a number from 0 to 51, found 60" "$out" "$mona" enhance "$clip" -o "$out" -c h264 --crf 60
# 0 is no quality at all to libav, and a fraction is dropped.
refused "--crf 0 for av1" 2 "--crf: av1 expects a whole number from 1 to 63, found 0" "$out" "$mona" enhance "$clip" -o "$out" -c av1 --crf 0
refused "--crf 20.5 for vp9" 2 "--crf: vp9 expects a whole number from 0 to 63, found 20.5" "$out" "$mona" enhance "$clip" -o "$out" -c vp9 --crf 20.5
# $1: what one of the lines must be, rest: options. The run goes on.
warned() {
    line=$1
    shift
    "$mona" enhance -y "$@" --frames 2 2> "$tmp/log"
    same "a line says: $line" "$? $(grep -c -- "^mona: $line" "$tmp/log")" "0 1"
}
warned "$tmp/crf.mkv: --crf 0 makes h264 lossless" "$clip" -o "$tmp/crf.mkv" --stages sr --crf 0
ffmpeg -v error -i "$clip" -frames:v 1 "$tmp/crf.png"
warned "--crf has no effect on a picture" "$tmp/crf.png" -o "$tmp/crf_x2.png" --crf 20
warned "--resume has no effect on a picture" "$tmp/crf.png" -o "$tmp/crf_x2.png" --resume
warned "--drop-unsupported has no effect on a picture" "$tmp/crf.png" -o "$tmp/crf_x2.jpg" --drop-unsupported
for option in start duration end; do warned "--$option has no effect on a picture" "$tmp/crf.png" -o "$tmp/crf_x2.png" --$option 3; done
refused "--stages magic" 2 "--stages: expected" "$out" "$mona" enhance "$clip" -o "$out" --stages magic
refused "--device nowhere" 2 "--device: there is no device .nowhere." "$out" "$mona" enhance "$clip" -o "$out" --device nowhere
refused "--cpu mmx" 2 "--cpu: expected .* found .mmx" "$out" "$mona" enhance "$clip" -o "$out" --cpu mmx
refused "--crf -1" 2 "--crf: expected a number of at least 0, found '-1'" "$out" "$mona" enhance "$clip" -o "$out" --crf -1
refused "--crf and --match-bitrate" 2 "--crf and --match-bitrate: expected only one" "$out" "$mona" enhance "$clip" -o "$out" --crf 10 --match-bitrate
refused "-f foo" 2 "-f: expected a video container" "$out" "$mona" enhance "$clip" -o "$out" -f foo
refused "-e foo" 2 "-e: expected KEY=VALUE" "$out" "$mona" enhance "$clip" -o "$out" -e foo
refused "-e foo=1" 2 "libx264 has no such option" "$out" "$mona" enhance "$clip" -o "$out" -e foo=1
refused "--preview and --dry-run" 2 "--preview does not work with --dry-run" "$tmp/out.png" "$mona" enhance "$clip" -o "$tmp/out.png" --preview 0 --dry-run
refused "--preview and --html" 2 "--html does not work with --preview" "$tmp/page.html" "$mona" enhance "$clip" -o "$tmp/out.png" --preview 0 --html "$tmp/page.html"
refused "--dry-run and --metrics" 2 "--metrics does not work with --dry-run" "$out" "$mona" enhance "$clip" -o "$out" --dry-run --metrics "$tmp/m.prom"
"$mona" enhance - -o "$tmp/out.png" < "$clip" 2> "$tmp/log"
same "a video on standard input for a picture: 1 and what is read there" \
    "$? $(grep -c '/dev/stdin: expected PNG.*found none of them' "$tmp/log") $(ls "$tmp/out.png" 2> /dev/null)" "1 1 "
# What has no effect without something else.
alone() {
    words=$1
    shift
    refused "$*" 2 "$words" "$out" "$mona" enhance "$clip" -o "$out" "$@"
}
alone "--segment works only with --resume" --segment 3
alone "--json works only with --dry-run" --json
alone "--max-delay works only with --live" --max-delay 1
alone "--reconnect works only with --live" --reconnect 1
alone "--stall works only with --live" --stall 1
alone "--scale: expected sr among --stages, found 'denoise'" --stages denoise -s 3
alone "--sr: expected sr among --stages, found 'denoise'" --stages denoise --sr sr_x2_best
alone "--denoise: expected denoise among --stages, found 'sr'" --stages sr --denoise denoise_balanced
alone "--strength: expected denoise among --stages, found 'sr'" --stages sr --strength 0.5
alone "--detail: expected denoise among --stages, found 'sr'" --stages sr --detail 0.5
alone "--grain: expected denoise among --stages, found 'sr'" --stages sr --grain keep
alone "--grain: expected keep, remove or a number from 0 to 1, found 'auto'" --grain auto
alone "--grain: expected keep, remove or a number from 0 to 1, found '1.5'" --grain 1.5
alone "--grain: expected keep, remove or a number from 0 to 1, found 'nan'" --grain nan
alone "--colour-model: expected colour among --stages, found 'denoise,sr'" --colour-model colour
onnx=models/bicubic_x2.onnx
refused "--equalise alone" 2 "--equalise works only with --calibrate" "$tmp/out.mona" "$mona" compile $onnx -o "$tmp/out.mona" --equalise
refused "--learn-rounding alone" 2 "--learn-rounding works only with --calibrate" "$tmp/out.mona" "$mona" compile $onnx -o "$tmp/out.mona" --learn-rounding
refused "--learn-rounding for FP16" 2 "--learn-rounding works only with --precision int8 or auto" "$tmp/out.mona" \
    "$mona" compile $onnx -o "$tmp/out.mona" --calibrate "$tmp/a.png" --learn-rounding --precision fp16
refused "--calibration for FP16" 2 "--calibration does not work with FP16 alone" "$tmp/out.mona" \
    "$mona" compile $onnx -o "$tmp/out.mona" --calibrate "$tmp/a.png" --calibration kl --precision fp16
refused "--mean of a compiled model" 2 "--mean does not work with a model that is compiled already" "$tmp/out.mona" \
    "$mona" compile sr_x2_fast -o "$tmp/out.mona" --size 64x64 --target host --mean 127
refused "--bits for atc" 2 "--bits does not work with --target ascend310-om" "$tmp/out.om" \
    "$mona" compile $onnx -o "$tmp/out.om" --picture --size 64x64 --target ascend310-om --bits 12
refused "--dim for one side" 2 "--dim sets one side of frames, 'h', and leaves the other, 'w', open: expected both, or --size" "$tmp/out.mona" \
    "$mona" compile $onnx -o "$tmp/out.mona" --dim h=48
refused "--sigma for enlargers" 2 "--sigma does not work with --protocol sr" "" "$mona" eval sr_x2_fast --set "$tmp" --protocol sr --sigma 9
refused "--cpu for bicubic itself" 2 "--cpu does not work with bicubic" "" "$mona" eval bicubic --scale 2 --set "$tmp" --protocol sr --cpu c
refused "--device without the engine" 2 "--device does not work with --no-engine" "" "$mona" verify tests/conformance/conv --no-engine --device model310
refused "--check --json" 2 "--json does not work with --check" "" "$mona" devices --check --json
refused "--emit c for tiles" 2 "expected --target x86-avx512" "$tmp/out.c" "$mona" compile sr_x2_fast -o "$tmp/out.c" --emit c --size 64x64 --target x86-amx
refused "--pin foo" 2 "--pin: expected LAYER=fp16" "$tmp/out.mona" "$mona" compile $onnx -o "$tmp/out.mona" --pin foo
refused "--dim batch" 2 "--dim: expected NAME=N" "$tmp/out.mona" "$mona" compile $onnx -o "$tmp/out.mona" --dim batch
refused "--size 0x1" 2 "--size: expected WIDTHxHEIGHT, each from 1 to" "$tmp/out.mona" "$mona" compile $onnx -o "$tmp/out.mona" --size 0x1
refused "--mean 2e6" 2 "each from -1000000 to 1000000, found '2e6'" "$tmp/out.mona" "$mona" compile $onnx -o "$tmp/out.mona" --calibrate "$tmp/a.png" --mean 2e6
refused "inspect --cpu mmx" 2 "--cpu: expected .* found .mmx" "" "$mona" inspect sr_x2_fast --size 64x64 --cpu mmx
refused "text as a model" 1 "text.txt: not a .mona model" "" "$mona" inspect "$tmp/text.txt"
refused "ONNX as a model" 1 "expected a .mona model, found ONNX; mona compile makes one" "" "$mona" bench $onnx --size 64x64
refused "a file as a test case" 1 "expected a folder with model.onnx and test_data_set_0, found a file" "" "$mona" verify $onnx
refused "--frames 0" 2 "--frames: expected a whole number from 1 to 1000000000000000, found '0'" "$out" "$mona" enhance "$clip" -o "$out" --frames 0
same "-j 0 means one thread per core" "$("$mona" enhance "$clip" -o "$out" -j 0 --stages sr --dry-run > /dev/null 2>&1; echo $?)" 0
same "compile --help lists every target" \
    "$("$mona" compile --help | tr -d ' \n' | grep -c 'x86-avx512|x86-amx|armv8|armv8-dot|armv8-i8mm|armv7|armv7e-m|armv8-m|armv8.1-m|rv64gcv')" 1
if full; then
    refused "--threads x" 2 "--threads: expected" "$out" "$mona" enhance "$clip" -o "$out" --threads x
    refused "--stages with a comma at the end" 2 "--stages: expected" "$out" "$mona" enhance "$clip" -o "$out" --stages sr,
    refused "--strength 2" 2 "--strength: expected" "$out" "$mona" enhance "$clip" -o "$out" --strength 2
    refused "--preset instantly" 2 "--preset: h264 expects" "$out" "$mona" enhance "$clip" -o "$out" --preset instantly
fi
! full || refused "an option at the end without its value" 2 "expected a value (N) after it" "$out" "$mona" enhance "$clip" -o "$out" --crf
! full || refused "devices with an operand" 2 "unexpected" "" "$mona" devices x
if full; then
    for command in enhance compare compile inspect run bench devices help; do
        succeeds "$command --help" "$mona" $command --help
    done
    succeeds "--version" "$mona" --version
fi
! full || succeeds "--help" "$mona" --help

# ---- models -----------------------------------------------------------------------------------
model=models/sr_x2_fast.mona
size=$(wc -c < "$model")
for bytes in $(! full || echo 1 63 127 128 1000) 0 $((size - 1)); do
    head -c "$bytes" "$model" > "$tmp/model.mona"
    refused "a model cut to $bytes bytes" 1 "model.mona" "$out" \
        "$mona" enhance "$clip" -o "$out" --sr "$tmp/model.mona"
done
! full || refused "a missing model" 1 "none.mona" "$out" "$mona" enhance "$clip" -o "$out" --sr "$tmp/none.mona"
! full || refused "a video as model" 1 "clip.mp4" "$out" "$mona" enhance "$clip" -o "$out" --sr "$clip"
"$mona" compile $onnx -o "$tmp/floats.mona" > "$tmp/log"
refused "a model of floats" 1 "one plane of u8, found 1 of f16; mona compile --picture makes models of pictures" "$out" \
    "$mona" enhance "$clip" -o "$out" --stages sr --sr "$tmp/floats.mona"
"$mona" compile models/colour.onnx -o "$tmp/floats.mona" > "$tmp/log"
refused "for colour, too" 1 "mona compile --input-type u8 makes planes of u8" "$out" \
    "$mona" enhance "$clip" -o "$out" --stages colour --colour-model "$tmp/floats.mona"
refused "a denoiser for super-resolution" 1 "expected a model for one plane" "$out" \
    "$mona" enhance "$clip" -o "$out" --sr models/denoise_fast.mona
refused "super-resolution for a denoiser" 1 "expected a model for y, u, v" "$out" \
    "$mona" enhance "$clip" -o "$out" --denoise "$model"

refused "no size" 2 "takes frames of any size: expected --size WxH" "" "$mona" bench sr_x2_fast
refused "too few times for a budget" 2 "--iterations: expected 8 or more for --budget, found 3" "" \
    "$mona" bench sr_x2_fast --size 64x64 -n 3 --budget 5ms

# ---- pictures ---------------------------------------------------------------------------------
head -c 60 "$tmp/a.png" > "$tmp/cut.png"
refused "a picture as a video" 1 "expected a name that ends in .png" "$out" "$mona" enhance "$tmp/a.png" -o "$out"
! full || refused "a video as a picture" 1 "clip.*expected PNG" "$tmp/out.png" "$mona" enhance "$clip" -o "$tmp/out.png"
refused "a picture that ends before its first row" 1 "cut.png" "$tmp/out.png" "$mona" enhance "$tmp/cut.png" -o "$tmp/out.png"
refused "alpha in a JPEG" 1 "cannot hold the picture's alpha" "$tmp/out.jpg" \
    "$mona" enhance "$tmp/rgba.png" -o "$tmp/out.jpg" --quiet
refused "a picture on a full disk" 1 "cannot be written: File too large" "$tmp/out.png" \
    limited "$mona" enhance "$tmp/a.png" -o "$tmp/out.png" --stages sr,sr --quiet

# ---- interruption -----------------------------------------------------------------------------
full || exit 0 # signals.sh has more of it
ffmpeg -v error -stream_loop 40 -i "$tmp/scene.y4m" -vf scale=320:180 -c:v libx264 -preset ultrafast -pix_fmt yuv420p "$tmp/long.mp4"
for name in INT TERM; do
    "$mona" enhance "$tmp/long.mp4" -o "$out" --quiet 2> "$tmp/log" &
    job=$!
    # Background jobs of a script ignore SIGINT by default, and mona respects that.
    waited=0
    while [ $waited -lt 100 ] && [ "$(cat "$tmp"/out.mp4.*.part 2> /dev/null | wc -c)" -eq 0 ]; do
        sleep 0.1
        waited=$((waited + 1))
    done
    kill -$name $job
    wait $job
    status=$?
    expected=143
    [ $name = TERM ] || expected=130
    same "SIG$name ends it with status $expected, one line and no file" \
        "$status $(grep -c '^mona: .*interrupted' "$tmp/log") $(find "$tmp" -name 'out.mp4*' | wc -l)" "$expected 1 0"
done

# ---- little room for the stack ---------------------------------------------------------------------
for kib in 64 512; do
    fails "a stack of $kib KiB" "the stack is limited to $kib KiB; expected at least 1024" \
        sh -c "ulimit -s $kib && exec '$mona' --version"
done
[ -n "$SANITIZE" ] || succeeds "a stack of 1 MiB" sh -c "ulimit -s 1024 && exec '$mona' enhance -y '$clip' -o '$tmp/stack.mkv' --frames 2 --quiet"

# ---- few files open at a time ----------------------------------------------------------------------
for files in 5 6 7; do
    (ulimit -n $files && "$mona" enhance -y "$clip" -o "$tmp/few.mkv" --frames 2 --quiet) 2>&1
done > "$tmp/log" < /dev/null
nothing "where no file can be opened, none is said to exist" "$(grep "File exists" "$tmp/log")"
