#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every call of the vendor's libraries fails once, and every code that mona knows is answered: each ends the run with one
# line, exit status 1 and nothing left behind. What fails before the first frame, auto does on the host.
. tests/tap.inc

kits=$PWD/$BUILD/ascend
python3 tests/ascend/make_kernel.py "$tmp/kernel.o" mona_replay3__kernel0
export MONA_ASCEND_KERNEL="$tmp/kernel.o" MONA="$PWD/$mona"
film 6 "$tmp/in.y4m" 96x64
set -- --stages sr --quiet -y
"$mona" enhance "$tmp/in.y4m" -o "$tmp/host.y4m" --device host "$@"
mkdir "$tmp/bin"
cp tests/ascend/atc.py "$tmp/bin/atc"
chmod +x "$tmp/bin/atc"
for size in "--size 96x64" "--size 64x48 --size 96x64"; do # of one size, and of two
    # shellcheck disable=SC2086
    ATC_TYPE=u8 PATH="$tmp/bin:$PATH" "$mona" compile models/sr_x2_best.onnx -o "$tmp/net$(echo "$size" | wc -w).om" --picture --target ascend310-om $size
done

# run KIT KNOBS OPTIONS...
run() {
    kit=$1
    knobs=$2
    shift 2
    rm -f "$tmp/out.y4m"
    LD_LIBRARY_PATH=$kits/$kit FAKE_ASCEND=$knobs timeout 60 \
        "$mona" enhance "$tmp/in.y4m" -o "$tmp/out.y4m" --stages sr --quiet -y "$@" < /dev/null 2> "$tmp/err"
}

# refused NAME WORDS: what the last run told; nothing of it is left
refused() {
    [ "$status" -ne 2 ] || status=1 # an option that is refused
    same "$1" "$status $(grep -c . "$tmp/err") $(grep -c "$2" "$tmp/err") $(find "$tmp" -name 'out.y4m*')" "1 1 1 "
}

# In the short tier every fourth of many is tried.
turn=0
tried() {
    turn=$((turn + 1))
    full || [ $((turn % 4)) -eq 1 ]
}

# early KIT FUNCTION...: their first call, before the first frame
early() {
    kit=$1
    shift
    for function in "$@"; do
        known="$known $function"
        tried || continue
        run "$kit" "fail=$function" --device ascend
        status=$?
        refused "$kit: $function fails" "$failed"
        run "$kit" "fail=$function" --device auto
        same "$kit: then auto takes the host" "$? $(cmp "$tmp/host.y4m" "$tmp/out.y4m" && echo equal) $(
            grep -v "$failed.*; the CPU runs it\$" "$tmp/err")" "0 equal "
    done
}
# late KIT CALL FUNCTION...: this call of each, while frames are under way
late() {
    kit=$1
    at=$2
    shift 2
    for function in "$@"; do
        known="$known $function"
        for device in ascend auto; do
            tried || continue
            run "$kit" "fail=$function,fail_call=$at" --device $device
            status=$?
            refused "$kit: call $at of $function fails, $device" "$failed"
        done
    done
}
# models CALL NET FUNCTION...: the same with a model of the vendor's compiler; $where: a card, or mode=0, for a module
where=mode=1
models() {
    at=$1
    net=$2
    shift 2
    for function in "$@"; do
        known="$known $function"
        tried || continue
        run full "$where,fail=$function,fail_call=$at" --sr "$tmp/$net.om"
        status=$?
        refused "$net.om: call $at of $function fails" "$failed"
    done
}

# What is told of a failure: the code, or what a call without one means.
failed="(code 507000): \[TsdClient\] [A-Za-z0-9]* failed\|no Ascend chip answers\|the host has no memory left (code 200000)"
known=
early full aclInit aclrtGetDeviceCount aclrtSetDevice aclrtGetRunMode aclrtCreateContext aclrtSetCurrentContext aclrtMalloc \
    aclrtMallocHost aclrtMemcpyAsync aclrtCreateStream rtDevBinaryRegister rtFunctionRegister
early old aclrtCreateEventWithFlag
early operators aclopRegisterCompileFunc aclopCreateKernel
early binaries aclrtBinaryLoadFromData aclrtBinaryGetFunction
late full 15 aclrtMemcpyAsync
late full 4 rtKernelLaunch
late full 15 aclrtSynchronizeStreamWithTimeout
late full 20 aclrtSetCurrentContext
for wait in full:aclrtSynchronizeStreamWithTimeout old:aclrtQueryEvent; do
    run "${wait%:*}" "fail=${wait#*:},copy_us=300000" --device ascend
    status=$?
    refused "$wait: the wait for a copy fails while it is under way" "$failed"
done
run old "fail=aclrtMemcpyAsync,fail_call=15,run_us=300000" --device ascend
status=$?
refused "old: a copy fails while frames wait to be computed" "$failed"
run old "fail=aclrtQueryEvent,fail_call=20,copy_us=2000" --device auto
status=$?
refused "old: and so does a wait on a slow chip, where an event is asked more often" "$failed"
late old 20 aclrtRecordEvent aclrtQueryEvent aclrtResetEvent aclrtSynchronizeStream
late operators 3 aclopUpdateParams aclopSetKernelArgs aclopExecuteV2 aclCreateTensorDesc aclCreateDataBuffer
late binaries 3 aclrtLaunchKernel
models 1 net2 aclmdlQuerySizeFromMem aclmdlLoadFromMemWithMem aclmdlCreateDesc aclmdlGetDesc aclmdlGetInputDims aclmdlGetOutputDims \
    aclmdlCreateDataset aclmdlAddDatasetBuffer aclCreateDataBuffer aclrtCreateStream aclrtMalloc aclrtMallocHost
models 1 net4 aclmdlSetDynamicHWSize
models 4 net2 aclmdlExecuteAsync aclrtMemcpyAsync aclrtSynchronizeStreamWithTimeout
where=mode=0
models 1 net2 aclUpdateDataBuffer

# ---- every function that can fail is among them
for function in $(sed -n 's/^FUNCTION([A-Z]*, [A-Z]*, "[^"]*", \(int\|int32_t\|struct [A-Za-z]* \*\), \([A-Za-z0-9]*\),.*/\2/p' engine/ascend/functions.inc); do
    case " $known " in *" $function "*) continue ;; esac
    case $function in
        aclFinalize | *Destroy* | *Free* | *Reset* | *Un[Ll]oad | *UnRegister) ;; # they give something back
        aclrtGetVersion | aclrtGetMemInfo) ;;                                     # they only tell
        aclmdlGet* | aclmdlSetDynamicBatchSize) ;;        # of descriptions; the stand-in cannot fail there
        dcmi_*) ;;                                        # telemetry.sh
        acldvpp* | aclvdec* | *Report | *Callback | *ElapsedTime) ;; # dvpp.sh
        *) echo "$function" ;;
    esac
done > "$tmp/unknown"
nothing "each function that can fail was tried" "$(cat "$tmp/unknown")"

# ---- every code that mona knows has its words; those that lose the chip leave it as it is
sed -n 's/^    {\([0-9]*\), [A-Z_0-9]*, \([a-z]*\), "\([^"]*\)".*/\1 \2 \3/p' engine/ascend/problem.c > "$tmp/codes"
at_least "codes" "$(wc -l < "$tmp/codes")" 29
while read -r code lost words <&3; do
    tried || continue
    run full "fail_at=2,fail_with=$code" --device ascend
    status=$?
    [ "$lost" = false ] || [ $status -ne 99 ] || status=1
    grep -v '^fake: the process ended without aclFinalize' "$tmp/err" > "$tmp/err.told"
    [ "$lost" = true ] && mv "$tmp/err.told" "$tmp/err"
    refused "code $code" "a frame cannot be computed: $words (code $code): \[TsdClient\] it failed"
done 3< "$tmp/codes"
