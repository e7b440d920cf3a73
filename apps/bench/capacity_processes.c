// SPDX-License-Identifier: Apache-2.0
#include "apps/bench/capacity.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/cli/json_output.h"
#include "apps/cli/options.h"

typedef struct process {
    pid_t id; /* 0: it was not started */
    FILE *text;
    char *bytes; /* what it has written */
    size_t size;
} process;

/* In the new process, which ends with its parent. Its video is thrown away. */
static _Noreturn void be_stream(capacity_stream *stream, void *context, live_gate *gate,
                                unsigned camera, int to)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
        _exit(EXIT_FAILED);
    if (gate->cameras > 1)
        dup2(nowhere, STDERR_FILENO);
    cJSON *result = stream(context, gate, camera);
    char *text = result ? json_text(result, false) : NULL;
    FILE *file = text ? fdopen(to, "w") : NULL;
    const bool written = file && fputs(text, file) >= 0 && !fclose(file);
    _exit(written ? EXIT_SUCCESS : EXIT_FAILED);
}

static bool start(process *p, capacity_stream *stream, void *context, live_gate *gate,
                  unsigned camera, int *from)
{
    int ends[2];
    p->text = open_memstream(&p->bytes, &p->size);
    if (!p->text || pipe2(ends, O_CLOEXEC))
        return cli_fail(0, "a process cannot be started: %s", strerror(errno));
    p->id = fork();
    if (!p->id)
        be_stream(stream, context, gate, camera, ends[1]);
    close(ends[1]);
    if (p->id > 0)
        *from = ends[0];
    else
        close(ends[0]); /* of a process that is not there nothing is awaited */
    return p->id > 0 || cli_fail(0, "a process cannot be started: %s", strerror(errno));
}

/* Keeps what has come from a process. False: it has ended. */
static bool take(process *p, int from)
{
    char bytes[65536];
    const ssize_t count = read(from, bytes, sizeof bytes);
    return (count > 0 && fwrite(bytes, 1, (size_t)count, p->text) == (size_t)count) ||
           (count < 0 && errno == EINTR);
}

/* Whether it has ended well. */
static bool end(process *p)
{
    int status = 0;
    FILE *text = p->text;
    p->text = NULL;
    return !fclose(text) && waitpid(p->id, &status, 0) == p->id && WIFEXITED(status) &&
           WEXITSTATUS(status) == EXIT_SUCCESS;
}

/* Waits for all; when one has failed, the others end early. */
static bool wait_for_all(process *processes, struct pollfd *from, unsigned count, live_gate *gate)
{
    unsigned running = 0;
    bool good = true;
    for (unsigned i = 0; i < count; i++)
        running += processes[i].id > 0;
    while (running && (poll(from, count, -1) > 0 || errno == EINTR))
        for (unsigned i = 0; i < count; i++) {
            if (from[i].fd < 0 || !from[i].revents || take(&processes[i], from[i].fd))
                continue;
            close(from[i].fd);
            from[i].fd = -1;
            running--;
            if (!end(&processes[i]))
                good = false;
            if (!good)
                atomic_store(&gate->broken, true);
        }
    return good;
}

static bool add_result(capacity_trial *t, const cJSON *result, unsigned streams)
{
    const cJSON *parts = json_get(result, "cpu_ms"), *ms;
    const double done = json_number(result, "iterations");
    const double left_out = fmax(0, json_number(result, "expected") - done);
    bool good = true;
    cJSON_ArrayForEach(ms, json_get(result, "samples_ms")) good =
        good && samples_add(&t->times, ms->valuedouble);
    for (unsigned i = 0; i < CAPACITY_PARTS; i++)
        t->cpu_ms[i] += json_number(parts, capacity_part_names[i]) / streams;
    t->stream_bytes += json_number(result, "stream_bytes") / streams;
    return good && capacity_leave_out(t, (size_t)left_out);
}

static bool collect(capacity_trial *t, process *processes, unsigned streams, cJSON **first)
{
    bool good = true;
    for (unsigned i = 0; i < streams && good; i++) {
        cJSON *result = cJSON_ParseWithLength(processes[i].bytes, processes[i].size);
        good = result ? add_result(t, result, streams) : cli_fail(0, "out of memory");
        if (i)
            cJSON_Delete(result);
        else
            *first = result;
    }
    return good;
}

static bool run(process *processes, struct pollfd *from, capacity_stream *stream, void *context,
                live_gate *gate)
{
    bool good = true;
    unsigned started = 0;
    for (; started < gate->cameras && good; started++) {
        from[started] = (struct pollfd){.fd = -1, .events = POLLIN};
        good = start(&processes[started], stream, context, gate, started, &from[started].fd);
    }
    if (!good)
        atomic_store(&gate->broken, true);
    return wait_for_all(processes, from, started, gate) && good;
}

bool capacity_processes_run(capacity_stream *stream, void *context, unsigned streams,
                            capacity_trial *trial, cJSON **first)
{
    process *processes = calloc(streams, sizeof *processes);
    struct pollfd *from = calloc(streams, sizeof *from);
    live_gate *gate =
        mmap(NULL, sizeof *gate, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *first = NULL;
    bool good = (processes && from && gate != MAP_FAILED) || cli_fail(0, "out of memory");
    if (good) {
        gate->cameras = streams;
        trial->times.before = machine_now();
        good = run(processes, from, stream, context, gate);
        trial->times.after = machine_now();
        good = good && collect(trial, processes, streams, first);
    }
    for (unsigned i = 0; processes && i < streams; i++) {
        if (processes[i].text)
            fclose(processes[i].text);
        free(processes[i].bytes);
    }
    free(processes);
    free(from);
    if (gate != MAP_FAILED)
        munmap(gate, sizeof *gate);
    return good;
}
