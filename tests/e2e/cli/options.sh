#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One table of options serves the parser, --help, the man page and the completions, so all of them have the same
# options. The completions are tested in real bash and zsh.
. tests/tap.inc

"$mona" help --man > "$tmp/mona.1"
"$mona" help --completion bash > "$tmp/mona.bash"
"$mona" help --completion zsh > "$tmp/_mona"
commands=$("$mona" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')

# ---- completion driven in bash ------------------------------------------------------------------
# $1: typed words, separated by spaces (a space at the end: the next word is empty). Prints one candidate per
# line.
complete_bash() {
    bash --norc -c '. "$1"; cur=; set -f
        COMP_WORDS=(); word=; line=$2
        # In bash, "=" is a word of its own.
        read -ra COMP_WORDS <<< "${line//=/ = }"
        [[ $line == *" " ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _mona 2> /dev/null; printf "%s\n" "${COMPREPLY[@]}"' bash "$tmp/mona.bash" "$1"
}

# ---- the same options everywhere ----------------------------------------------------------------
# Text of the man page: the section of one command.
man_of() {
    sed 's/\\-/-/g; s/\\f[BIR]//g' "$tmp/mona.1" | sed -n "/^\\.SS mona $1\\b/,/^\\.S[SH] /p" | sed '1!{/^\.S/d}'
}
zsh_of() {
    sed -n "/^        $1)\$/,/;;\$/p" "$tmp/_mona"
}
# All commands use one table; the short tier checks a few.
full || commands=enhance
for command in $commands; do
    "$mona" $command --help > "$tmp/help"
    options=$(grep -oE '^  (   |-[a-z]{1,2},) --[a-z0-9-]+' "$tmp/help" | grep -oE -- '-[-a-zA-Z0-9]+')
    man_of "$command" > "$tmp/man"
    zsh_of "$command" > "$tmp/zsh"
    complete_bash "mona $command -" > "$tmp/bash"
    missing=
    for option in $options; do
        grep -qE -- "(^|, )$option( |,|\$)" "$tmp/man" || missing="$missing man:$option"
        grep -qx -- "$option" "$tmp/bash" || missing="$missing bash:$option"
        grep -qE -- "(^ +|[{,(]|\\*')$option[]},'[]" "$tmp/zsh" || missing="$missing zsh:$option"
    done
    nothing "$command: $(echo "$options" | wc -w) options of --help are in man page and completions" "$missing"
    same "$command: bash offers no others" "$(sort "$tmp/bash" | tr '\n' ' ')" "$(echo "$options" | sort | tr '\n' ' ')"
    same "$command: help $command says the same" "$("$mona" help "$command" | md5sum)" "$(md5sum < "$tmp/help")"
done
nothing "no line of any --help is longer than 90 columns" "$(for command in $("$mona" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    "$mona" $command --help | awk -v command="$command" 'length > 90 { print command ": " $0 }'
done)"

# ---- the man page -------------------------------------------------------------------------------
if command -v man > /dev/null && man --version > /dev/null 2>&1; then
    MANWIDTH=80 man -l --warnings "$tmp/mona.1" > "$tmp/page" 2> "$tmp/warnings"
    nothing "man has nothing to warn about" "$(cat "$tmp/warnings")"
    same "the page shows an option" "$(grep -c -- '-o, --output FILE' "$tmp/page")" 3
else
    skip "no man here"
fi

# ---- bash ---------------------------------------------------------------------------------------
succeeds "bash accepts its completion" bash -n "$tmp/mona.bash"
same "commands are completed" "$(complete_bash "mona ins")" inspect
same "options are completed" "$(complete_bash "mona enhance --str" | sort | tr '\n' ' ')" "--strength --strip-rows "
same "values are completed" "$(complete_bash "mona enhance --preset ultra")" ultrafast
same "values after = too" "$(complete_bash "mona enhance --preset=ultra")" ultrafast
same "choices are completed" "$(complete_bash "mona help --completion " | tr '\n' ' ')" "bash zsh "
same "models inside mona are completed" "$(complete_bash "mona bench bicu")" bicubic_x2
same "and of an option, those for it" "$(complete_bash "mona enhance --sr sr_x4_b" | tr '\n' ' ')" \
    "sr_x4_balanced sr_x4_balanced_video sr_x4_best sr_x4_best_video "
touch "$tmp/a video.mp4"
same "files are completed, spaces and all" "$(cd "$tmp" && complete_bash "mona enhance -o a")" "a video.mp4"

# ---- zsh ----------------------------------------------------------------------------------------
if command -v zsh > /dev/null; then
    succeeds "zsh accepts its completion" zsh -n "$tmp/_mona"
    # Presses the tab key in a terminal and writes zsh's line to a file.
    complete_zsh() {
        rm -f "$tmp/line"
        (cd "$tmp" && timeout 60 zsh -f -c '
            zmodload zsh/zpty
            zpty shell zsh -f -i
            zpty -w shell "PROMPT=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D"
            zpty -w shell "keep() { print -r -- \$BUFFER > $1/line }; zle -N keep; bindkey ^K keep"
            zpty -w shell "touch $1/ready"
            for i in {1..100}; do [[ -e $1/ready ]] && break; sleep 0.1; done
            zpty -w -n shell "$2"$'"'\\t\\v'"'
            for i in {1..100}; do [[ -s $1/line ]] && break; sleep 0.1; done
            zpty -d shell' zsh "$tmp" "$1")
        cat "$tmp/line"
    }
    same "zsh completes an option" "$(complete_zsh "mona enhance --pres")" "mona enhance --preset "
    same "zsh completes a value" "$(complete_zsh "mona enhance --preset ultra")" "mona enhance --preset ultrafast "
    same "zsh completes a model" "$(complete_zsh "mona bench bicu")" "mona bench bicubic_x2 "
    same "and that of an option" "$(complete_zsh "mona enhance --sr sr_x2_t")" "mona enhance --sr sr_x2_tiny "
else
    skip "no zsh here"
fi

# ---- what make install installs -----------------------------------------------------------------
film 2 "$tmp/scene.y4m" 96x54
if full; then # build.sh installs too
    succeeds "make install" make --no-print-directory -s install BUILD="$BUILD" PREFIX=/usr DESTDIR="$tmp/root" SANITIZE="$SANITIZE"
    for file in share/man/man1/mona.1:mona.1 share/bash-completion/completions/mona:mona.bash \
        share/zsh/site-functions/_mona:_mona; do
        succeeds "installs ${file%:*}" cmp "$tmp/root/usr/${file%:*}" "$tmp/${file#*:}"
    done
    same "and the programs beside mona, which tell what they are for" "$(for script in mona-cameras mona-plan mona-slurm mona-task; do
        "$tmp/root/usr/bin/$script" --help | grep -c "^ .*$script [a-z-]"
    done | tr "\n" " ")" "2 1 1 2 "
    MONA=$mona "$tmp/root/usr/bin/mona-slurm" "$tmp/scene.y4m" -o "$tmp/planned" --parts 2 --plan 2> "$tmp/said"
    same "mona-slurm plans from there" "$? $(grep -c "exec $tmp/root/usr/bin/mona-task part " "$tmp"/planned/.mona/*/part.sbatch)" "0 1"
    make --no-print-directory -s uninstall PREFIX=/usr DESTDIR="$tmp/root"
    nothing "make uninstall removes everything" "$(find "$tmp/root" -type f)"
fi

# ---- parsing ------------------------------------------------------------------------------------
succeeds "-i names the input" "$mona" enhance -i "$tmp/scene.y4m" -o "$tmp/out.mkv" --preset=ultrafast
# ---- an output that exists ----------------------------------------------------------------------
ffmpeg -v error -f lavfi -i testsrc=s=64x48:r=25:d=0.08 -c:v ffv1 "$tmp/small.mkv"
over() {
    "$mona" enhance "$tmp/small.mkv" -o "$tmp/over.mkv" --preset ultrafast --frames 1 --quiet "$@"
}
echo precious > "$tmp/over.mkv"
fails "without a terminal an output that exists is refused" "over.mkv: exists already; -y would overwrite it" over
! full || fails "-n keeps it" "over.mkv: exists already, and -n keeps it" over -n
fails "-y and -n" "expected -y or -n, found both" over -y -n
same "these leave it as it was" "$(cat "$tmp/over.mkv")" precious
same "--dry-run writes nothing, and so asks nothing" "$(over --dry-run > /dev/null; echo $?)" 0
chmod 640 "$tmp/over.mkv"
over -y
same "-y overwrites it" "$(video_times "$tmp/over.mkv")" 0.000000
same "which stays as private as it was" "$(umask 0; over -y; stat -c %a "$tmp/over.mkv")" 640
chmod 444 "$tmp/over.mkv"
same "and its owner may write it" "$(umask 0; over -y; stat -c %a "$tmp/over.mkv")" 644
same "what is new has the mode of new files" "$(umask 027; "$mona" enhance "$tmp/small.mkv" -o "$tmp/new.mkv" --frames 1 --quiet; stat -c %a "$tmp/new.mkv")" 640
film 40 "$tmp/late.y4m" 96x54
# A file gets the result's name while it is made. Prints the exit status, what was said, and what there is. $@: options.
meanwhile() {
    rm -f "$tmp"/late.mkv*
    {
        head -c 200000 "$tmp/late.y4m"
        waited=0
        until [ -e "$tmp/late.mkv.mona.part" ] || [ $waited -ge 100 ]; do
            sleep 0.1
            waited=$((waited + 1))
        done
        echo precious > "$tmp/late.mkv"
        tail -c +200001 "$tmp/late.y4m"
    } | "$mona" enhance - -o "$tmp/late.mkv" --preset ultrafast --quiet "$@" 2> "$tmp/log"
    echo "$? $(sed "s|$tmp/||g" "$tmp/log") $(grep -x precious "$tmp/late.mkv") $(cd "$tmp" && echo late.mkv*)"
}
for option in --quiet -n; do
    same "a file that gets the name meanwhile is kept ($option)" "$(meanwhile $option)" \
        "1 mona: late.mkv: exists by now and is kept; the result is late.mkv.1 precious late.mkv late.mkv.1"
done
same "and the result, beside it, is whole" "$(video_times "$tmp/late.mkv.1" | wc -l)" 40
same "-y overwrites that too" "$(meanwhile -y)" "0   late.mkv"
# $1: the answer on a terminal. Prints the exit status, how often the question was asked, and what became of the
# file.
answer() {
    echo precious > "$tmp/over.mkv"
    python3 - "$1" "$mona" enhance "$tmp/small.mkv" -o "$tmp/over.mkv" --preset ultrafast --frames 1 --quiet <<'PYTHON'
import os, pty, sys
child, terminal = pty.fork()
if not child:
    os.execv(sys.argv[2], sys.argv[2:])
os.write(terminal, (sys.argv[1] + "\n").encode())
said = b""
try:
    while True:
        said += os.read(terminal, 4096)
except OSError:
    pass
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said.count(b"over.mkv' exists. Overwrite? [y/N] "), end=" ")
PYTHON
    if [ "$(cat "$tmp/over.mkv")" = precious ]; then echo kept; else echo overwritten; fi
}
same "on a terminal: y overwrites it" "$(answer y)" "0 1 overwritten"
same "on a terminal: n keeps it" "$(answer n)" "1 1 kept"
! full || same "on a terminal: so does an empty line" "$(answer "")" "1 1 kept"
mkdir "$tmp/work" "$tmp/pictures"
cp "$tmp/small.mkv" "$tmp/work/a.mkv"
"$mona" enhance "$tmp/work" --out-dir "$tmp/results" --preset ultrafast --quiet
result_of() {
    echo "$? $(sed -n 's/.*"result":[^"]*"\(.*\)".*/\1/p' "$tmp/results/manifest.json")"
}
"$mona" enhance "$tmp/work" --out-dir "$tmp/results" --preset ultrafast 2> "$tmp/log"
same "--out-dir keeps what is not older than its input" "$(result_of) $(grep -c '1 of 1 results exist already' "$tmp/log")" "0 kept 1"
touch "$tmp/work/a.mkv"
"$mona" enhance "$tmp/work" --out-dir "$tmp/results" --preset ultrafast --quiet 2> "$tmp/log"
same "--out-dir refuses what is older" "$(result_of) $(grep -c -- '-y would overwrite it' "$tmp/log")" "1 failed 1"
"$mona" enhance "$tmp/work" --out-dir "$tmp/results" --preset ultrafast --quiet -n
same "--out-dir -n keeps it" "$(result_of)" "0 kept"
"$mona" enhance "$tmp/work" --out-dir "$tmp/results" --preset ultrafast --quiet -y
same "--out-dir -y makes it anew" "$(result_of)" "0 done"
echo precious > "$tmp/pictures/0007.png"
fails "numbered pictures that are there" "%04d.png: exists already" "$mona" enhance "$tmp/small.mkv" -o "$tmp/pictures/%04d.png" --quiet

# ---- misspelt, joined, other names --------------------------------------------------------------
said=$("$mona" --version)
same "--version names mona and five libraries of FFmpeg" "$(echo "$said" | grep -cE '^(mona|lib(avformat|avcodec|avutil|avfilter|swscale)) [0-9]+\.[0-9]+\.[0-9]+') of $(echo "$said" | wc -l)" \
    "6 of 8"
same "and their licence" "$(echo "$said" | grep -cE '^licence of these libraries: L?GPL version [23]')" 1
same "and the release that is used" "$(echo "$said" | grep -c "FFmpeg $(ffmpeg -version | sed -n '1s/ffmpeg version \([^ ]*\).*/\1/p')\$")" 1

printf 'P5 2 2 255\nabcd' > "$tmp/tiny.pgm"
ffmpeg -v error -y -i "$tmp/tiny.pgm" "$tmp/tiny.png"
# FFmpeg's large libraries are opened when they are needed: x86-64, without sanitisers.
if [ "$(uname -m) $SANITIZE" = "x86_64 " ]; then
    mkdir "$tmp/broken"
    for library in avcodec avformat avfilter; do
        echo broken > "$tmp/broken/$(ldd "$BUILD/libmonavideo.so" | grep -o "^[^=]*lib$library\.so\.[0-9]*" | tr -d '\t')"
    done
    for output in png jpg; do
        succeeds "a picture needs none of them, $output" env LD_LIBRARY_PATH="$tmp/broken" "$mona" enhance -y "$tmp/tiny.png" -o "$tmp/tiny_out.$output"
    done
    fails "a film says what is missing" "mona: FFmpeg cannot be used: $tmp/broken/libav" \
        env LD_LIBRARY_PATH="$tmp/broken" "$mona" enhance -y "$tmp/small.mkv" -o "$tmp/no.mkv" --quiet
fi
mkdir "$tmp/no_jpeg"
for number in 62 7 8 9; do echo broken > "$tmp/no_jpeg/libjpeg.so.$number"; done
fails "a picture says what is missing" "mona: pictures need zlib and libjpeg: $tmp/no_jpeg/libjpeg.so" \
    env LD_LIBRARY_PATH="$tmp/no_jpeg" "$mona" enhance -y "$tmp/tiny.png" -o "$tmp/no.png"
# All ways to write a number of threads; the one line of a refusal shows which one was used.
for jobs in "-j2:2:2" "--jobs=2" "-j2" "-j 2" "--jobs 2" "--threads=2"; do
    [ "$jobs" != -j2 ] || full || break
    # shellcheck disable=SC2086
    "$mona" enhance "$tmp/none.mkv" -o "$tmp/no.mkv" $jobs 2> "$tmp/log"
    same "$jobs is taken" "$? $(grep -c 'none.mkv: cannot be read' "$tmp/log")" "1 1"
done
! full || fails "-j99 is read as a number" "found '99'" "$mona" enhance a.mkv -o b.mkv -j99
fails "a word is not joined to a letter" "did you mean '--crf'" "$mona" enhance a.mkv -o b.mkv -crf 18
# $1: the command line, $2: the suggestion
meant() {
    # shellcheck disable=SC2086
    fails "mona $1: did you mean $2" "; did you mean '$2'?" "$mona" $1
}
meant enhacne enhance
! full || meant "help enhanec" enhance
! full || meant --versoin --version
meant "enhance a.mkv -o b.mkv --teir best" --tier
! full || meant "enhance a.mkv -o b.mkv --codex=hevc" --codec
! full || meant "enhance a.mkv -o b.mkv -c:v hevc" -c
meant "enhance a.mkv -o b.mkv --tier bets" best
: > "$tmp/a.mkv"
meant "enhance $tmp/a.mkv -o b.mkv -c libx246" libx264
meant "inspect sr_x2_fsat" sr_x2_fast
meant "run sr_x2_fast -i a.npy -o b.npy --device hots" host
"$mona" enhance a.mkv -o b.mkv --xyz > /dev/null 2> "$tmp/log"
nothing "nothing is suggested for what nothing is like" "$(grep 'did you mean' "$tmp/log")"
for codec in h265 libx264 $(! full || echo h264 libx265 libsvtav1 libaom-av1 libvpx-vp9 ffv1 prores_ks); do
    "$mona" enhance "$tmp/none.mkv" -o "$tmp/no.mkv" -c $codec 2> "$tmp/log"
    same "-c $codec is a codec" "$(tail -n 1 "$tmp/log" | grep -c 'none.mkv: cannot be read')" 1
done
for line in "enhance a.mp4 -i b.mp4 -o c.mp4:expected one input" "help --completion fish:expected bash|zsh, found 'fish'" \
    "help nothing:unknown command" "compile a.onnx -o b --precision int4:expected int8|fp16|auto, found 'int4'"; do
    "$mona" ${line%%:*} > "$tmp/log" 2>&1
    same "mona ${line%%:*}: refused" "$? $(grep -c -- "${line#*:}" "$tmp/log") $(wc -l < "$tmp/log")" "2 1 1"
done
{
    sleep 0.2
    "$mona" enhance --help 2> "$tmp/log"
} | true
nothing "help ends quietly when its reader does" "$(cat "$tmp/log")"

# ---- as many streams as there is memory for ---------------------------------------------------------
succeeds "200 streams" "$mona" bench sr_x2_fast --size 64x36 --streams 200 -n 1
fails "a number of streams by a slip of the hand" "--streams: expected a number from 1 to 10000" "$mona" bench sr_x2_fast --streams 20000
