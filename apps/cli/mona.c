// SPDX-License-Identifier: Apache-2.0
/* The mona command: finds the subcommand and calls it. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "apps/cli/commands.h"
#include "apps/cli/json_output.h"
#include "mona.h"
#include "pipeline/base/av_library.h"
#include "pipeline/job/devices.h"
#include "pipeline/stages/session_binding.h"

/* It is also a failure if a result did not reach its file or pipe. */
static int finish(int status)
{
    devices_close();
    if (status == EXIT_FAILED && cli_misused())
        status = EXIT_USAGE;
    if (status == EXIT_FAILED && json_is_short() && !cli_failed())
        cli_fail(0, "out of memory");
    if (fflush(stdout) || ferror(stdout))
        return status ? status : cli_fail(EXIT_FAILED, "standard output cannot be written");
    return status;
}

/* If the caller closed a standard stream, no file may get its number, since messages would be
 * written into that file. Using the stream fails as before. */
static void occupy_closed_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            exit(EXIT_FAILED);
}

/* What a command and the threads of FFmpeg's encoders, which have the same limit, use at most,
 * with room. */
static bool stack_suffices(void)
{
    enum { LEAST = 1 << 20 };
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) || stack.rlim_cur >= LEAST)
        return true;
    cli_fail(EXIT_FAILED, "the stack is limited to %lu KiB; expected at least %d (ulimit -s)",
             (unsigned long)stack.rlim_cur >> 10, LEAST >> 10);
    return false;
}

static void print_versions(void)
{
    printf("mona %s\n", MONA_VERSION);
    av_library library;
    for (unsigned i = 0; av_library_at(i, &library); i++)
        printf("%s %u.%u.%u\n", library.name, library.version >> 16, library.version >> 8 & 0xff,
               library.version & 0xff);
    if (*av_library_release())
        printf("built with these libraries, runs with those of FFmpeg %s\n"
               "licence of these libraries: %s\n",
               av_library_release(), av_library_licence());
}

int main(int argc, char **argv)
{
    occupy_closed_streams();
    /* A file size limit then shows as a failed write, like a full disk. */
    signal(SIGXFSZ, SIG_IGN);
    /* A reader that has gone then shows in the same way. */
    signal(SIGPIPE, SIG_IGN);
    av_library_quiet();
    json_begin();
    session_binding_rules.notes = (pipeline_notes){cli_note, NULL};
    if (!stack_suffices())
        return EXIT_FAILED;

    if (argc < 2)
        return cli_fail(EXIT_USAGE, "expected a command; mona --help lists them");
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        help_print_commands();
        return finish(EXIT_SUCCESS);
    }
    static const char *const version_names[] = {"--version", "-V", "-v", "-version", "version"};
    for (size_t i = 0; i < sizeof version_names / sizeof *version_names; i++)
        if (!strcmp(argv[1], version_names[i])) {
            print_versions();
            return finish(EXIT_SUCCESS);
        }
    if (!command_named(argv[1]) && meant_tell(argc - 1, argv + 1))
        return EXIT_USAGE;
    const command *wanted = command_find(argv[1]);
    return wanted ? finish(options_run(wanted, argc - 1, argv + 1)) : EXIT_USAGE;
}
