// SPDX-License-Identifier: Apache-2.0
/* The mona command: finds the subcommand and hands over. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libavutil/log.h>

#include "apps/cli/commands.h"
#include "apps/cli/help.h"
#include "mona.h"
#include "pipeline/io/av_library.h"
#include "pipeline/io/stop.h"

/* A result that did not reach its file or pipe is a failure too. */
static int finish(int status)
{
    if (fflush(stdout) || ferror(stdout))
        return status ? status : cli_fail(EXIT_FAILED, "standard output cannot be written");
    return status;
}

/* A file must not get the number of a standard stream that the caller closed: what is said there
 * would go into it. Using the stream fails as before. */
static void occupy_closed_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            exit(EXIT_FAILED);
}

static void print_versions(void)
{
    printf("mona %s\n", MONA_VERSION);
    for (unsigned i = 0; i < AV_LIBRARY_COUNT; i++) {
        const av_library library = av_library_at(i);
        printf("%s %u.%u.%u\n", library.name, library.version >> 16, library.version >> 8 & 0xff,
               library.version & 0xff);
    }
}

int main(int argc, char **argv)
{
    occupy_closed_streams();
    /* A file size limit then shows as a failed write, like a full disk. */
    signal(SIGXFSZ, SIG_IGN);
    /* And a reader that has gone is one too. */
    signal(SIGPIPE, SIG_IGN);
    /* What libav finds is said in mona's own lines. */
    av_log_set_level(AV_LOG_QUIET);
    if (!stop_begin())
        return cli_fail(EXIT_FAILED, "a thread cannot be started");

    if (argc < 2)
        return cli_fail(EXIT_USAGE, "expected a command; mona --help lists them");
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        help_print_commands();
        return finish(EXIT_SUCCESS);
    }
    if (!strcmp(argv[1], "--version")) {
        print_versions();
        return finish(EXIT_SUCCESS);
    }
    const command *wanted = command_find(argv[1]);
    return wanted ? finish(wanted->run(argc - 1, argv + 1)) : EXIT_USAGE;
}
