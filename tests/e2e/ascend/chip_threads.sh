#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The device ascend with the sanitiser of threads.
. tests/tap.inc
. tests/ascend/sanitised.inc

sanitised thread "races"
