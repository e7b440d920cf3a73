/* The mona command: finds the subcommand and hands over. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "help.h"
#include "mona.h"

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
    /* And a reader that has gone is one too. */
    signal(SIGPIPE, SIG_IGN);

    if (argc < 2)
        return cli_fail(EXIT_USAGE, "expected a command; mona --help lists them");
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        help_print_commands();
        return finish(EXIT_SUCCESS);
    }
    if (!strcmp(argv[1], "--version")) {
        printf("mona %s\n", MONA_VERSION);
        return finish(EXIT_SUCCESS);
    }
    const command *wanted = command_find(argv[1]);
    if (wanted)
        return finish(wanted->run(argc - 1, argv + 1));
    return cli_fail(EXIT_USAGE, "unknown %s '%s'; mona --help lists the commands",
                    argv[1][0] == '-' ? "option" : "command", argv[1]);
}
