#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The device ascend with the sanitisers of addresses and undefined behaviour.
. tests/tap.inc
. tests/ascend/sanitised.inc

sanitised 1 "leaks and bad addresses"
