// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/commands.h"

const command *const commands[] = {
    &command_enhance, &command_join,    &command_compare, &command_compile, &command_verify,
    &command_ops,     &command_inspect, &command_run,     &command_eval,    &command_sign,
    &command_bench,   &command_devices, &command_help,
};
const size_t command_count = sizeof commands / sizeof *commands;
