# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# corpora TARGET: folders with inputs of a fuzz target, its own and those of others that it takes too.
corpora() {
    others=
    case $1 in
    onnx | tensor | external) others=tests/conformance ;;
    int8) others="tests/conformance tests/fuzz/corpus/onnx" ;;
    metadata | media) others=tests/fuzz/corpus/still ;;
    still | pixels | numbered) others=tests/fuzz/corpus/metadata ;;
    esac
    for folder in "tests/fuzz/corpus/$1" $others; do [ ! -d "$folder" ] || printf '%s ' "$folder"; done
}
