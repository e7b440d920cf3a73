#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the seeds of the targets that read films and pictures, with ffmpeg: sh tests/fuzz/seeds_media.sh
set -eu
cd "$(dirname "$0")/corpus" # media is source
mkdir -p source y4m raw playlist still options command

film() { # SIZE OPTION... FILE
    size=$1
    shift
    ffmpeg -v error -y -fflags +bitexact -f lavfi -i "testsrc=s=$size:d=0.12:r=25" -map_metadata -1 -flags +bitexact "$@"
}
x264="-c:v libx264 -preset ultrafast -x264-params info=0"
film 16x16 -pix_fmt yuv420p -c:v mpeg2video source/a.ts
film 16x16 -pix_fmt yuv420p -c:v mpeg4 source/mpeg4.mp4
film 16x16 -pix_fmt yuv420p $x264 source/h264.mp4
film 16x16 -pix_fmt yuv420p $x264 source/h264.flv
film 16x16 -pix_fmt yuv420p -c:v ffv1 source/ffv1.mkv
film 16x16 -pix_fmt yuva420p -c:v ffv1 source/alpha.mkv
film 16x16 -pix_fmt yuv420p -c:v libvpx-vp9 source/vp9.webm
film 16x16 -pix_fmt yuv420p -c:v libtheora source/theora.ogv
film 16x16 -pix_fmt rgb8 -c:v gif source/a.gif
film 16x16 -pix_fmt yuv422p10le -c:v prores_ks source/prores.mov
film 16x16 -pix_fmt yuv420p -c:v rawvideo source/raw.nut
film 16x16 -pix_fmt yuvj420p -c:v mjpeg -frames:v 1 source/mjpeg.avi
film 16x16 -pix_fmt yuv420p -c:v mpeg2video -flags +bitexact+ilme+ildct -top 1 source/fields.mpg
film 16x16 -pix_fmt yuv420p -c:v mpeg2video -frames:v 1 source/mpeg2.mxf
ffmpeg -v error -y -fflags +bitexact -f lavfi -i color=s=16x16:r=25:d=3 -c:v mpeg4 -g 1 -flags +bitexact -map_metadata -1 source/keys.mkv
ffmpeg -v error -y -fflags +bitexact -f lavfi -i testsrc=s=16x16:r=25:d=0.6 -vf "select=not(between(n\,2\,7))" -vsync vfr -c:v mpeg2video -flags +bitexact \
    -map_metadata -1 source/gap.ts
film 16x16 -pix_fmt argb -c:v qtrle source/argb.mov
film 16x16 -pix_fmt pal8 -c:v png source/pal8.mkv
film 16x16 -pix_fmt rgb24 -c:v ffv1 source/rgb.mkv
film 16x16 -pix_fmt yuv420p -c:v libaom-av1 -cpu-used 8 -usage realtime -aom-params film-grain-test=2 source/grain.mkv
film 16x16 -r 30000/1001 -pix_fmt yuv420p -c:v mpeg2video -flags +bitexact+ilme+ildct -top 1 source/film.ts
film 16x16 -vf "format=yuva420p,geq=lum='p(X,Y)':a='16*X'" -c:v libvpx-vp9 -auto-alt-ref 0 source/alpha.webm
film 32x16 -pix_fmt yuv420p -c:v mpeg2video wide.ts
cat source/a.ts wide.ts > source/sizes.ts # one film with frames of two sizes
rm wide.ts
ffmpeg -v error -y -fflags +bitexact -i source/h264.mp4 -c copy -metadata:s:v rotate=90 -flags +bitexact source/turned.mp4
printf ';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=60\ntitle=a\n' > chapters.txt
ffmpeg -v error -y -fflags +bitexact -i source/ffv1.mkv -i source/mpeg4.mp4 -i chapters.txt -map 0 -map 1 -map_metadata 2 -c copy -flags +bitexact source/two.mkv
rm chapters.txt
printf '1\n00:00:00,000 --> 00:00:00,080\nhi\n' > words.srt
for kind in "mkv pcm_s16le srt" "mp4 aac mov_text"; do
    set -- $kind
    ffmpeg -v error -y -fflags +bitexact -i source/mpeg4.mp4 -f lavfi -i sine=d=0.12:r=8000 -i words.srt -map 0:v -map 1:a -map 2:s \
        -c:v copy -c:a "$2" -c:s "$3" -flags +bitexact -map_metadata -1 "source/streams.$1"
done
rm words.srt

for format in yuv420p yuv444p gray yuv422p10le yuva444p; do
    film 6x4 -pix_fmt $format -strict -1 -f yuv4mpegpipe - | tail -c +11 > y4m/$format # without "YUV4MPEG2 "
    { echo "6x4:$format:25" && film 6x4 -pix_fmt $format -f rawvideo -; } > raw/$format
done
film 6x4 -pix_fmt yuv420p -f yuv4mpegpipe source/a.y4m
for format in nv12 nv24 p010le yuyv422 uyvy422 rgb24 bgra rgba64le rgb565le gbrp gbrap12le gray10le ya8 pal8 yuv411p yuv440p \
    yuv410p yuvj420p xyz12le grayf32le yuv420p16be monow; do
    { echo "6x4:$format:25" && film 6x4 -frames:v 1 -pix_fmt $format -f rawvideo -; } > raw/$format
done
printf '6x4:yuv420p:30000/1001\n%036d%036d%036d' 1 2 3 > raw/rate
printf 'frames of 6x4' > raw/no_line

for kind in rgb24.png rgba.png gray.png rgb48be.png ya16be.png pal8.png yuvj420p.jpg yuvj444p.jpg gray.jpg rgb24.tiff rgb24.bmp rgba.webp rgb8.gif; do
    film 9x7 -frames:v 1 -pix_fmt ${kind%.*} "still/$kind"
done

{ printf '#EXTM3U\n#EXT-X-VERSION:4\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:4,\na.ts\n#EXTINF:4,\n#EXT-X-BYTERANGE:752@0\na.ts\n'
  printf '#EXT-X-DISCONTINUITY\n#EXTINF:0.1,\n./a.ts\n#EXT-X-ENDLIST\n'; } > playlist/segments
printf '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="x",AUDIO="s"\nb.m3u8\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="s",NAME="n",URI="b.m3u8"\n' > playlist/variants
printf '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\na.ts\n' > playlist/endless
printf '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlist.m3u8\n' > playlist/itself
printf '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-KEY:METHOD=AES-128,URI="a.ts",IV=0x0\n#EXT-X-MAP:URI="a.ts"\n#EXTINF:1,\n../a.ts\n#EXTINF:1,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n' > playlist/elsewhere

printf 'scale 2\nstages denoise,sr\ntier fast\n\020\010\003\001\001\010\000\000' > options/film
printf 'sr bicubic_x2\nstrength 0.4\ndetail auto\nthreads 2\nstrip-rows 1\n\011\007\001\000\000\012\000\001' > options/deep
printf 'width 20\nheight 20\ncolour 0.5\ntemporal off\nno-such 1\n\020\020\004\000\001\010\002\000' > options/sizes
printf 'enhance\nin.mp4\n-o\nout.mp4\n--scale=1.5\n-j2\n--stages\ndenoise,sr\n--limit\nmemory=2G,pixels=100M,time=10m' > command/enhance
printf 'enhance\n--live\nrtsp://host/x\n-o\n-\n-f\nmpegts\n--max-delay\n33.3ms\n-ss\n01:02:03.250\n-t\n5' > command/live
printf 'compile\nnet.onnx\n-o\nnet.mona\n--size\n320x180\n--target=armv8\n--emit\nc' > command/compile
printf 'bench\n--help\n--\n-x' > command/bench
printf 'enhanse\n--scal\n2' > command/typo
