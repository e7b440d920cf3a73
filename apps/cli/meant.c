// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/commands.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct line {
    char *text;
    size_t length;
} line;

static void put(line *l, const char *text, size_t length)
{
    for (size_t i = 0; i < length && l->length < MEANT_TEXT - 4; i++)
        l->text[l->length++] = text[i];
    strcpy(l->text + l->length, l->length < MEANT_TEXT - 4 ? "" : "...");
}

static bool is_plain(const char *word)
{
    return *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789_-./:=,%+@")];
}

/* A word in quotes where a shell would not take it as it is. */
static void put_word(line *l, const char *word)
{
    put(l, " ", l->length > 0);
    if (is_plain(word)) {
        put(l, word, strlen(word));
        return;
    }
    put(l, "'", 1);
    for (; *word; word++)
        put(l, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    put(l, "'", 1);
}

const char *meant_output(const char *input)
{
    struct stat status;
    return !stat(input, &status) && S_ISDIR(status.st_mode) ? "--out-dir" : "-o";
}

const char *meant_text(char *buffer, const char *command, char **words, int count,
                       const char *option, const char *output)
{
    line l = {buffer, 0};
    put_word(&l, "mona");
    put_word(&l, command);
    for (int i = 0; i < count; i++) {
        if (output && words[i] == output)
            put_word(&l, option);
        put_word(&l, words[i]);
    }
    return buffer;
}

static bool has_option(const command *c, const char *name)
{
    option o;
    for (size_t i = 0; options_at(c, i, &o); i++)
        if (!strcmp(o.name, name) || (o.letter && !strcmp(o.letter, name)))
            return true;
    return false;
}

/* The command that such a file, or an option of it, is for. */
static const command *command_for(const char *word)
{
    const bool network = ends_in(word, ".onnx") || ends_in(word, ".mona") || ends_in(word, ".om");
    const command *c = command_named(network ? "inspect" : "enhance");
    const bool file = strpbrk(word, "./") || !access(word, F_OK);
    return c && (*word == '-' ? has_option(c, word) : file) ? c : NULL;
}

bool meant_tell(int argc, char **argv)
{
    char text[MEANT_TEXT];
    const command *c = command_for(argv[0]);
    if (!c)
        return false;
    const char *option = meant_output(argv[0]);
    /* "in.mp4 out.mp4" */
    const char *output = argc == 2 && argv[0][0] != '-' && argv[1][0] != '-' ? argv[1] : NULL;
    meant_text(text, c->name, argv, argc, option, output);
    if (argc == 1 && has_option(c, "--output"))
        return !cli_misuse("expected a command before '%s', such as: %s %s OUT", argv[0], text,
                           option);
    return !cli_misuse("expected a command before '%s', such as: %s", argv[0], text);
}
