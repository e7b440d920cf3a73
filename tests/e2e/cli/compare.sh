#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mona compare: its figures equal those of FFmpeg's psnr and ssim filters on every kind of frame; what cannot be
# compared is reported in one line.
. tests/tap.inc

film 12 "$tmp/scene.y4m" 320x180
both='[0:v]settb=1/25,setpts=N,split[a][c];[1:v]settb=1/25,setpts=N,split[b][d]'

# Compares both results: $1 name, $2 A, $3 B. FFmpeg prints two to six digits. Its C code is used, because the
# x86 code of the ssim filter gets the last window wrong in rows of 4 n + 1 windows. It leaves alpha out.
like_ffmpeg() {
    "$mona" compare "$2" "$3" --json > "$tmp/json" 2> "$tmp/log" || { not_ok "$1" "$(cat "$tmp/log")"; return; }
    rm -f "$tmp/psnr" "$tmp/ssim"
    ffmpeg -v info -cpuflags 0 -i "$2" -i "$3" -lavfi "$both;[a][b]psnr=stats_file=$tmp/psnr[e];[c][d]ssim=stats_file=$tmp/ssim[f]" \
        -map '[e]' -map '[f]' -f null - > "$tmp/all" 2>&1
    for filter in psnr ssim; do
        grep -i " $filter [a-z]*:" "$tmp/all" | tail -n 1 > "$tmp/$filter.all"
    done
    same "$1" "$(python3 - "$tmp" <<'PYTHON'
import json, re, sys
tmp = sys.argv[1]
found = json.load(open(tmp + '/json'))
inf = float('inf')
def number(x): return inf if x is None else x
def differ(a, b, least): return not (a == b or abs(a - b) <= least)
names = {'average': 'all', 'All': 'all'}
planes = {p['plane']: p for p in found['planes']}
grey = list(planes) == ['grey']
def key(name): return 'grey' if grey and name in ('y', 'Y', 'average', 'All') else names.get(name, name.lower())
wrong, checked = [], 0
for kind, unit, least in (('psnr', 'PSNR', 0.01), ('ssim', 'SSIM', 0.0001)):
    for name, value in re.findall(r'(\w+):([\d.]+|inf)', open(f'{tmp}/{kind}.all').read()):
        if name in ('min', 'max') or (name == 'All' and 'a' in planes):
            continue
        checked += 1
        if differ(number(planes[key(name)][kind]), float(value), least):
            wrong.append(f'{kind} {name}: {planes[key(name)][kind]}, FFmpeg {value}')
    lines = open(f'{tmp}/{kind}').read().splitlines()
    if len(lines) != found['frames']:
        wrong.append(f'{found["frames"]} frames, FFmpeg {len(lines)}')
    for frame, line in zip(found['per_frame'], lines):
        for name, value in re.findall(r'\b(?:psnr_)?(avg|All|[yuvrgbaYUVRGBA]):([\d.]+|inf)', line):
            name = 'all' if name == 'avg' else name
            if name == 'All' and 'a' in planes:
                continue
            checked += 1
            if differ(number(frame[kind]['grey' if grey else key(name)]), float(value), least):
                wrong.append(f'frame {frame["frame"]} {kind} {name}: {frame[kind]}, FFmpeg {value}')
    for plane in planes.values():
        values = [number(f[kind][plane['plane']]) for f in found['per_frame']]
        if min(values) != number(plane[kind + '_worst']) or values[plane[kind + '_worst_frame']] != min(values):
            wrong.append(f'worst {kind} of {plane["plane"]}')
if checked < 4 + found['frames']:
    wrong.append(f'only {checked} figures of FFmpeg')
print('\n'.join(wrong[:5]) or 'the same')
PYTHON
)" "the same"
}

# ---- real clips, encoded again --------------------------------------------------------------------
again() {
    ffmpeg -v error -y -i "$1" -map 0:v:0 -frames:v 12 -fps_mode passthrough -c:v libx264 -crf 33 -preset veryfast "$tmp/again.mkv" \
        -map 0:v:0 -frames:v 12 -fps_mode passthrough -c:v libx264 -qp 0 -preset ultrafast "$tmp/first.mkv"
}
if ! full; then
    : # every kind of frame comes below, small
elif [ -n "$clips" ]; then
    for clip in bunny_720p_audio.mp4 bedroom_540p.mp4 hevc_10bit.mp4 h264_10bit.mp4 yuv422p.mp4 odd_152x100.264 \
        full_range_bt709.mp4 carphone_distorted_sar.mp4; do
        again "$clips/$clip"
        like_ffmpeg "$clip as FFmpeg measures it" "$tmp/first.mkv" "$tmp/again.mkv"
    done
else
    skip "the real clips are not here"
fi

# ---- every kind of frame --------------------------------------------------------------------------
formats="yuv420p gbrp10le yuva420p"
! full || formats="yuv444p12le gray yuv422p yuv444p yuv420p10le gray10le gbrp $formats"
for format in $formats; do
    ffmpeg -v error -y -i "$tmp/scene.y4m" -frames:v 3 -vf "scale=95:63,format=$format" -c:v ffv1 "$tmp/a.mkv" \
        -frames:v 3 -vf "noise=alls=9:all_seed=5,scale=95:63,format=$format" -c:v ffv1 "$tmp/b.mkv"
    like_ffmpeg "$format as FFmpeg measures it" "$tmp/a.mkv" "$tmp/b.mkv"
done
ffmpeg -v error -i "$tmp/scene.y4m" -frames:v 1 "$tmp/a.png" -frames:v 1 -q:v 5 -pix_fmt yuvj444p "$tmp/b.jpg"
ffmpeg -v error -i "$tmp/b.jpg" "$tmp/b.png"
like_ffmpeg "pictures as FFmpeg measures them" "$tmp/a.png" "$tmp/b.png"

# ---- the extremes ---------------------------------------------------------------------------------
ffmpeg -v error -f lavfi -i color=white:s=64x48:d=0.2 -f lavfi -i color=black:s=64x48:d=0.2 -f lavfi -i color=black:s=6x6:d=0.1 \
    -map 0 -c:v ffv1 -pix_fmt gray "$tmp/white.mkv" -map 1 -c:v ffv1 -pix_fmt gray "$tmp/black.mkv" \
    -map 2 -c:v ffv1 -pix_fmt gray "$tmp/tiny.mkv"
same "identical frames have no finite PSNR" "$("$mona" compare "$tmp/a.mkv" "$tmp/a.mkv" | grep -c '^[yuva]l* *inf *inf .* 1.000000 1.000000')" 5
same "which is null in JSON" "$("$mona" compare "$tmp/white.mkv" "$tmp/white.mkv" --json | tr -d ' \t\n' | grep -c '"psnr":null,"psnr_worst":null')" 1
same "black against white is 0 dB" "$("$mona" compare "$tmp/white.mkv" "$tmp/black.mkv" | grep -c '^grey *0.0000 *0.0000 *0 ')" 1
same "frames smaller than a window are one" "$("$mona" compare "$tmp/tiny.mkv" "$tmp/tiny.mkv" --min-ssim 1 | grep -c '^grey *inf .* 1.000000 1.000000')" 1
for size in 4x3 1x1 14x14; do
    ffmpeg -v error -f lavfi -i testsrc=s=$size -frames:v 1 -pix_fmt yuv420p -c:v ffv1 "$tmp/$size.mkv"
    same "SSIM of $size with itself is 1" "$("$mona" compare "$tmp/$size.mkv" "$tmp/$size.mkv" | grep -c ' 1.000000 1.000000')" 4
done

# ---- exit status ----------------------------------------------------------------------------------
succeeds "as much alike as was asked for" "$mona" compare "$tmp/a.mkv" "$tmp/a.mkv" --min-psnr inf --min-ssim 1
# $1: name, $2: pattern of the one line, rest: arguments
refused() {
    name=$1 pattern=$2
    shift 2
    "$mona" compare "$@" > /dev/null 2> "$tmp/log"
    same "$name" "$? $(wc -l < "$tmp/log") $(grep -c -- "^mona: .*$pattern" "$tmp/log")" "1 1 1"
}
refused "less alike" "expected at least inf dB, found" "$tmp/a.mkv" "$tmp/b.mkv" --min-psnr inf
! full || refused "less alike by SSIM" "expected an SSIM of at least 0.9999" "$tmp/a.mkv" "$tmp/b.mkv" --min-ssim 0.9999
ffmpeg -v error -i "$tmp/scene.y4m" -vf scale=64:36 -c:v ffv1 "$tmp/small.mkv" -frames:v 5 -vf scale=64:36 -c:v ffv1 "$tmp/five.mkv" \
    -vf scale=64:36 -c:v ffv1 -pix_fmt yuv422p "$tmp/422.mkv" -vf scale=64:36:out_range=full -c:v ffv1 -color_range pc "$tmp/full.mkv"
refused "different sizes" "expected frames of 320x180 as in .*, found 64x36" "$tmp/scene.y4m" "$tmp/small.mkv"
refused "different formats" "expected pixel format yuv420p as in .*, found yuv422p" "$tmp/small.mkv" "$tmp/422.mkv"
! full || refused "different ranges" "expected samples of limited range as in .*, found full" "$tmp/small.mkv" "$tmp/full.mkv"
! full || refused "fewer frames" "five.mkv: expected as many frames as .*small.mkv has, found only 5" "$tmp/small.mkv" "$tmp/five.mkv"
refused "more frames" "five.mkv: expected as many frames as .*small.mkv has, found only 5" "$tmp/five.mkv" "$tmp/small.mkv"
succeeds "as many as asked for" "$mona" compare "$tmp/five.mkv" "$tmp/small.mkv" --frames 5 --min-psnr inf
refused "a missing file" "none.mkv.*No such file" "$tmp/small.mkv" "$tmp/none.mkv"
! full || refused "what is no video" "expected a video" "$tmp/log" "$tmp/small.mkv"
ffmpeg -v error -f lavfi -i sine=d=1 "$tmp/sound.wav"
refused "sound" "expected a video stream" "$tmp/small.mkv" "$tmp/sound.wav"
succeeds "sizes differ, scaled" "$mona" compare "$tmp/small.mkv" "$tmp/scene.y4m" --scale
# The same colours as RGB and with the matrix and range of another film: converted, they are nearly alike.
ffmpeg -v error -f lavfi -i testsrc2=s=64x36:d=0.2 -vf gblur=3 -pix_fmt gbrp -c:v ffv1 "$tmp/rgb.mkv"
for like in smpte170m:tv bt709:tv bt709:pc; do
    ffmpeg -v error -y -i "$tmp/rgb.mkv" -vf "scale=out_color_matrix=${like%:*}:out_range=${like#*:}" -pix_fmt yuv444p -c:v ffv1 \
        -colorspace "${like%:*}" -color_range "${like#*:}" "$tmp/yuv.mkv"
    succeeds "RGB against $like, converted" "$mona" compare "$tmp/rgb.mkv" "$tmp/yuv.mkv" --scale --min-psnr 45
done
succeeds "ranges differ, converted" "$mona" compare "$tmp/full.mkv" "$tmp/small.mkv" --scale --min-psnr 40
same "from a moment on" "$("$mona" compare "$tmp/small.mkv" "$tmp/small.mkv" --start 0.2 --frames 3 --min-psnr inf 2>&1 > /dev/null | wc -l)" 1

# ---- flicker --------------------------------------------------------------------------------------
# A: the right half gets brighter by 3 per frame; the left half stands still, except for its last 8 rows, which
# change by 2. B: everything is brighter by n^2 in frame n, so it changes by 1, 3, 5 and 7, by 4 on average.
for bits in $(! full || echo 10) 8; do
    python3 - "$tmp" $bits <<'PYTHON'
import struct, sys
tmp, bits = sys.argv[1], int(sys.argv[2])
one = 1 << bits - 8
def frame(sample):
    values = [one * sample(x, y) for y in range(48) for x in range(64)]
    return struct.pack('<%d%s' % (len(values), 'B' if bits == 8 else 'H'), *values)
with open(f'{tmp}/a.raw', 'wb') as a, open(f'{tmp}/b.raw', 'wb') as b:
    for n in range(5):
        a.write(frame(lambda x, y: 100 + n * (3 if x >= 32 else 2 if y >= 40 else 0) + (x * y) % 7))
        b.write(frame(lambda x, y: 60 + n * n + x // 2))
PYTHON
    format=gray
    [ $bits = 8 ] || format=gray10le
    raw="-f rawvideo -pix_fmt $format -s 64x48"
    # shellcheck disable=SC2086
    ffmpeg -v error -y $raw -i "$tmp/a.raw" $raw -i "$tmp/b.raw" -map 0 -c:v ffv1 "$tmp/flicker_a.mkv" \
        -map 1 -c:v ffv1 "$tmp/flicker_b.mkv"
    same "flicker of $bits bits is what the formula says" \
        "$("$mona" compare "$tmp/flicker_a.mkv" "$tmp/flicker_b.mkv" | sed -n '/^plane *flicker/,$p' | awk 'NR > 1 { print $1, $2, $3, $4 }')" \
        "grey 4.0000 0.3333 50.0"
done
same "flicker in JSON" "$("$mona" compare "$tmp/flicker_a.mkv" "$tmp/flicker_b.mkv" --json | tr -d ' \t\n' |
    grep -o '"flicker":[0-9.]*,"flicker_of_a":[0-9.]*,"still":[0-9.]*' | sed 's/\(\.[0-9]\{4\}\)[0-9]*/\1/g')" '"flicker":4,"flicker_of_a":0.3333,"still":0.5'
same "a single picture has none" "$("$mona" compare "$tmp/a.png" "$tmp/b.png" | grep -c flicker)" 0
# Words with the high byte first: B is brighter by 257 of 65535, as 1 of 255 is.
python3 - "$tmp" <<'PYTHON'
import struct, sys
for name, more in (('a', 0), ('b', 257)):
    values = [(x * y * 131) % 65000 + more for y in range(48) for x in range(64)]
    open(f'{sys.argv[1]}/{name}.pgm', 'wb').write(b'P5\n64 48\n65535\n' + struct.pack('>3072H', *values))
PYTHON
same "grey of 16 bits in a picture" "$("$mona" compare "$tmp/a.pgm" "$tmp/b.pgm" | awk '/^grey/ { print $1, $2 }')" "grey 48.1308"
