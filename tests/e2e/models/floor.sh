#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The minimal quality of super-resolution and denoising, on four parts of the rendered scene: lines of text, a
# striped board, a lattice beside the ball, and spokes over fine texture. Figures are for luma, over all four;
# the limits are slightly below what was measured.
. tests/tap.inc

film 1 "$tmp/film.y4m"
smooth=flags=bicubic+accurate_rnd+full_chroma_int
ffmpeg -v error -i "$tmp/film.y4m" -filter_complex "split=4[a][b][c][d];[a]crop=240:120:740:570[a1];[b]crop=240:120:880:180[b1];
    [c]crop=240:120:340:430[c1];[d]crop=240:120:180:60[d1];[a1][b1][c1][d1]concat=n=4,split=3[whole][x][y];
    [x]scale=120:60:$smooth,split=2[half][z];[z]scale=240:120:$smooth[bicubic];[y]noise=alls=40:all_seed=3[noisy]" \
    -map '[whole]' "$tmp/whole.y4m" -map '[half]' "$tmp/half.y4m" -map '[bicubic]' "$tmp/bicubic.y4m" -map '[noisy]' "$tmp/noisy.y4m"

# "PSNR SSIM" of the luma of $1.
quality() {
    "$mona" compare "$1" "$tmp/whole.y4m" | awk '$1 == "y" { print $2, $5; exit }'
}
# $1: name, $2: before, $3: after, both as quality prints them; $4: minimal gain in dB, $5: in SSIM
gains() {
    echo "# $1: from $2 to $3"
    for figure in 1 2; do
        at_least "$1: $([ $figure = 1 ] && echo PSNR || echo SSIM) gained" \
            "$(echo "$2 $3" | awk -v k=$figure 'NF == 4 { print $(k + 2) - $k }')" "$(echo "$4 $5" | cut -d ' ' -f $figure)"
    done
}

# $1: model, $2: input, $3: before, rest: minimal gains
floor() {
    model=$1 input=$2 before=$3
    shift 3
    case $model in
    sr*) options="--stages sr --sr $model" ;;
    *) options="--stages denoise --denoise $model --temporal off" ;;
    esac
    # shellcheck disable=SC2086
    succeeds "$model runs" "$mona" enhance "$tmp/$input.y4m" -o "$tmp/$model.y4m" --quiet $options
    gains "$model" "$before" "$(quality "$tmp/$model.y4m")" "$@"
}

bicubic=$(quality "$tmp/bicubic.y4m")
floor sr_x2_tiny half "$bicubic" 2.3 0.037
floor sr_x2_fast half "$bicubic" 3.7 0.048
floor sr_x2_best half "$bicubic" 4.6 0.040
floor sr_x2_fast_video half "$bicubic" 1.8 0.035
floor sr_x2_fast_anime half "$bicubic" 3.4 0.042
noisy=$(quality "$tmp/noisy.y4m")
floor denoise_fast noisy "$noisy" 5.85 0.265
floor denoise_fast_video noisy "$noisy" 5.65 0.255
if full; then
    floor sr_x2_balanced half "$bicubic" 4.3 0.051
    floor denoise_balanced noisy "$noisy" 6.8 0.28
fi
kept=$("$mona" enhance "$tmp/whole.y4m" -o "$tmp/kept.y4m" --stages denoise --temporal off --quiet && quality "$tmp/kept.y4m")
echo "# without noise: $kept"
same "what has no noise is left, dB" "${kept% *}" inf
