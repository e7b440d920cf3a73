// SPDX-License-Identifier: Apache-2.0
/* Command lines, an argument on each line, of which the first is the command's name: what parsing
 * makes of them. Nothing is run. Every second one is made from the tables of options. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/cli/commands.h"
#include "pipeline/io/containers/url.h"
#include "pipeline/job/limits.h"
#include "pipeline/job/stage_models.h"
#include "tests/fuzz/option_lines.h"

enum { MAX_ARGUMENTS = 64, VALUES = 1 << 16 /* more than a command's values take */ };

static void parse(const command *line, int count, char **arguments)
{
    static uint64_t values[VALUES / sizeof(uint64_t)];
    command alone = *line; /* parsing confines the process of a command that is, for good */
    option_set given = {0};
    const char **operands = calloc(line->operands_max + 2, sizeof *operands);
    alone.confined = CONFINED_LATER;
    memset(values, 0, sizeof values);
    if (operands &&
        options_parse(&alone, values, count, arguments, operands, &given) == OPTIONS_RUN) {
        options_given_of(&alone, &given, line->parts[0].rows, line->parts[0].count);
        for (unsigned modes = 0; modes < 1u << OPTION_MODES_MAX; modes = modes ? 2 * modes : 1)
            options_suit(&alone, &given, modes);
    }
    free(operands);
}

/* What commands make of values that their tables leave to them. */
static void read_value(const char *text)
{
    pipeline_error error = {0};
    const option_computing computing = {.device = text};
    limits most = {0};
    stage_list stages;
    mona_config config;
    mona_size size;
    double number;
    options_size(text, MONA_MAX_SIDE, &size);
    if (*text && strchr("ahm", *text)) { /* as devices begin: other names have them all searched */
        options_config(&computing, &config);
        options_device(text);
    }
    limits_read(&most, "--limit", text, &error);
    stage_list_read(&stages, text, true, &error);
    option_cut_complete(1, -1, &(double){limits_count(text, 1000, &number) ? number : 0}, &error);
    option_cut_complete(0, 2, &number, &error);
    quantity_ms("--max-delay", text, &number);
    quantity_share("--tolerance", text, &number);
    cli_fail_of(&error);
    cli_note(NULL, text);
    cli_misuse("%s", text);
    if (!cli_failed() || !cli_misused())
        abort();
}

static void read_address(const char *text)
{
    pipeline_error error = {0};
    AVDictionary *options = NULL;
    const url *u = url_find(text);
    url_is_playlist(text);
    url_check(text, &error);
    if (u && !u->camera && (url_input_format(u, &error) || !url_options(u, 1, &options)))
        abort(); /* servers send what libav finds out */
    av_dict_free(&options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *arguments[MAX_ARGUMENTS + 1], *text = malloc(size + 1);
    int count = 0;
    static FILE *quiet;
    FILE *const out = stdout, *const err = stderr;
    if (!quiet)
        quiet = fopen("/dev/null", "w");
    if (!text || !quiet)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    for (char *rest = text, *one; count < MAX_ARGUMENTS && (one = strsep(&rest, "\n"));)
        arguments[count++] = one;
    arguments[count] = NULL;
    stdout = stderr = quiet;
    for (int i = 0; i < count; i++) {
        const char *value = strchr(arguments[i], '=');
        read_value(value ? value + 1 : arguments[i]);
        read_address(value ? value + 1 : arguments[i]);
    }
    for (size_t i = 0; i < command_count; i++)
        if (!strcmp(commands[i]->name, arguments[0]))
            parse(commands[i], count, arguments);
    stdout = out;
    stderr = err;
    free(text);
    return 0;
}

static void put_option(option_lines *l, const command *line)
{
    option o;
    size_t count = 0;
    while (options_at(line, count, &o))
        count++;
    options_at(line, lines_draw(l, count), &o);
    const char *name = o.letter && lines_draw(l, 2) ? o.letter : o.name;
    if (o.kind == OPTION_FLAG && lines_draw(l, 8)) {
        lines_put(l, "\n%s", name);
        return;
    }
    if (name == o.letter && lines_draw(l, 2))
        lines_put(l, "\n%s", name);
    else
        lines_put(l, "\n%s%c", name, lines_draw(l, 2) ? '\n' : '=');
    lines_put_value(l, &o);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static const char *const others[] = {"in.mp4", "out.mkv", "-", "--", "--hepl", "-x", "--help"};
    option_lines l = {(char *)data, room, 0, seed};
    if ((LLVMFuzzerMutate && seed % 2) || !room)
        return LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, room) : size;
    const command *line = commands[lines_draw(&l, command_count)];
    lines_put(&l, "%s", line->name);
    for (uint32_t n = lines_draw(&l, 8); n; n--) {
        if (lines_draw(&l, 3))
            put_option(&l, line);
        else
            lines_put(&l, "\n%s", others[lines_draw(&l, sizeof others / sizeof *others)]);
    }
    return l.used;
}
