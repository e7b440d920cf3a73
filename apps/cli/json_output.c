// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/json_output.h"

#include <stdio.h>
#include <stdlib.h>

#include "apps/cli/options.h"

static int print_text(char *text)
{
    if (!text)
        return cli_fail(EXIT_FAILED, "out of memory");
    puts(text);
    fflush(stdout);
    cJSON_free(text);
    return EXIT_SUCCESS;
}

int json_print(const cJSON *document)
{
    return print_text(document ? cJSON_Print(document) : NULL);
}

int json_print_line(const cJSON *document)
{
    return print_text(document ? cJSON_PrintUnformatted(document) : NULL);
}
