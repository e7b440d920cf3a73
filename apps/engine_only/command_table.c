// SPDX-License-Identifier: Apache-2.0
/* The commands of a mona without video: make engine-only. */
#include "apps/cli/commands.h"

const command *const commands[] = {
    &command_compile, &command_verify, &command_ops,     &command_inspect, &command_run,
    &command_sign,    &command_bench,  &command_devices, &command_help,
};
const size_t command_count = sizeof commands / sizeof *commands;
