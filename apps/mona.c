/* The mona command: finds the subcommand and hands over. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "mona.h"
#include "options.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"enhance", cmd_enhance, "make a video or a picture larger and cleaner"},
    {"compile", cmd_compile, "turn an ONNX model into a .mona model"},
    {"inspect", cmd_inspect, "show what a model is and what it needs"},
    {"run", cmd_run, "run a model on arrays in .npy files"},
    {"bench", cmd_bench, "measure how long a frame takes"},
    {"devices", cmd_devices, "list what mona can compute on"},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static int print_help(void)
{
    printf("usage: mona COMMAND [--help] ...\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].help);
    printf("\nmona COMMAND --help says more; mona --version prints %s.\n", MONA_VERSION);
    return EXIT_SUCCESS;
}

/* A result that did not reach its file or pipe is a failure too. */
static int finish(int status)
{
    if (fflush(stdout) || ferror(stdout))
        return status ? status : cli_fail(EXIT_FAILED, "standard output cannot be written");
    return status;
}

int main(int argc, char **argv)
{
    /* A file size limit then shows as a failed write, like a full disk. */
    signal(SIGXFSZ, SIG_IGN);

    if (argc < 2)
        return cli_fail(EXIT_USAGE, "expected a command; mona --help lists them");
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
        return finish(print_help());
    if (!strcmp(argv[1], "--version")) {
        printf("mona %s\n", MONA_VERSION);
        return finish(EXIT_SUCCESS);
    }
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(argv[1], commands[i].name))
            return finish(commands[i].run(argc - 1, argv + 1));
    return cli_fail(EXIT_USAGE, "unknown %s '%s'; mona --help lists the commands",
                    argv[1][0] == '-' ? "option" : "command", argv[1]);
}
