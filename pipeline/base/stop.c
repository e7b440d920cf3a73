// SPDX-License-Identifier: Apache-2.0
#include "pipeline/base/stop.h"

#include <dirent.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

typedef struct unfinished {
    char *path, *result;
    struct unfinished *next;
} unfinished;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unfinished *first;
static bool any_ended; /* of the results, complete or given up */
static char *line;
static bool ends_itself; /* after passing a signal on; it is given a moment for that */
static pid_t child;
static atomic_int told;
static atomic_bool *asked; /* NULL: the process is ended at once */
static sigset_t signals;
static double allowed; /* seconds */
static pthread_t waiter;
static const char *excuse = ""; /* of failures; with one, crashes are failures like others */

/* ---- the end -------------------------------------------------------------------------------- */

static void remove_path(const char *path)
{
    char name[4096];
    const struct dirent *entry;
    DIR *folder = unlink(path) ? opendir(path) : NULL;
    while (folder && (entry = readdir(folder)))
        if (snprintf(name, sizeof name, "%s/%s", path, entry->d_name) < (int)sizeof name)
            unlink(name);
    if (folder)
        rmdir(path);
}

/* Prints the line. A reader of stderr that has stopped reading must not keep the process from
 * ending: if poll reports it as writable, it takes at least PIPE_BUF bytes. */
static void say(void)
{
    char text[1024];
    const char *end = isatty(STDERR_FILENO) ? "\r\033[K" : "";
    const char *result = first ? first->result : NULL;
    int length;
    if (atomic_load(&told) == SIGALRM)
        length =
            snprintf(text, sizeof text, "%smona: %s%sgiven up after %g s, as --limit time says\n",
                     end, result ? result : "", result ? ": " : "", allowed);
    else if (line)
        length = snprintf(text, sizeof text, "%smona: %s\n", end, line);
    else if (result)
        length = snprintf(text, sizeof text, "%smona: %s: interrupted, nothing was written\n", end,
                          result);
    else
        length = snprintf(text, sizeof text, "%smona: interrupted\n", end);
    struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (length > 0 && poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) &&
        write(STDERR_FILENO, text, strnlen(text, sizeof text)) < 0)
        return; /* there is nobody to tell */
}

static void remove_unfinished(void)
{
    for (const unfinished *u = first; u; u = u->next)
        remove_path(u->path);
}

static void end_process(int number)
{
    remove_unfinished();
    say();
    _exit(number == SIGALRM ? 1 : 128 + number);
}

/* Takes the lock for good, so that no other thread can begin an unfinished step. A thread that
 * hangs with the lock is not waited for. */
static void take_lock(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 500000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_timedlock(&lock, &until);
}

/* Waits for a signal after the first. timeout, shells and sudo send one to a process and to its
 * group, too: those of the first half second are one. */
static void wait_for_another(const struct timespec *longer)
{
    static const struct timespec burst = {.tv_nsec = 500000000}, none = {0};
    sigset_t again = signals;
    sigdelset(&again, SIGALRM);
    nanosleep(&burst, NULL);
    while (sigtimedwait(&again, NULL, &none) > 0)
        ;
    sigtimedwait(&signals, NULL, longer);
}

static void *wait_for_signals(void *unused)
{
    const struct timespec grace = {.tv_nsec = 600000000}, longer = {.tv_sec = STOP_SECONDS};
    int number;
    (void)unused;
    if (sigwait(&signals, &number))
        return NULL;
    take_lock();
    atomic_store(&told, number);
    if (asked) {
        atomic_store(asked, true);
        pthread_mutex_unlock(&lock);
        wait_for_another(&longer);
        take_lock();
    }
    if (ends_itself) {
        if (child > 0)
            kill(child, number);
        pthread_mutex_unlock(&lock);
        nanosleep(&grace, NULL);
        take_lock();
    }
    end_process(number);
    return NULL;
}

void stop_fail(void)
{
    take_lock();
    remove_unfinished();
    _exit(1);
}

/* Forwards a signal from a thread that does not block it: libraries such as OpenBLAS start threads
 * before main. */
static void pass_on(int number)
{
    pthread_kill(waiter, number);
}

/* A codec has crashed, or mona: files that are not complete must not stay. Nothing else can be
 * relied on, so no lock is taken; unless crashes were to be expected, the process then dies of the
 * signal, as the fault happens again. */
static void crash(int number)
{
    char text[1024];
    const unfinished *u = first;
    const char *result = u && u->result ? u->result : "";
    const char *left = u || !any_ended ? "nothing was written" : "what was complete is kept";
    for (; u; u = u->next)
        unlink(u->path);
    const int length = snprintf(text, sizeof text,
                                "mona: %.512s%scrashed (signal %d) where it reads, computes or "
                                "writes; %s%s\n",
                                result, *result ? ": " : "", number, left, excuse);
    if ((length > 0 && write(STDERR_FILENO, text, strnlen(text, sizeof text)) < 0) || *excuse)
        _exit(*excuse ? 1 : 128 + number);
    raise(number);
}

/* Sanitisers have handlers of their own. */
static void prepare_for_crashes(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    const struct sigaction action = {.sa_handler = crash, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!sigaction(numbers[i], NULL, &before) && before.sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);
}

bool stop_begin(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM};
    struct sigaction action;
    sigemptyset(&signals);
    prepare_for_crashes();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] != SIGHUP || sigaction(SIGHUP, NULL, &action) ||
            action.sa_handler != SIG_IGN)
            sigaddset(&signals, numbers[i]);
    if (pthread_sigmask(SIG_BLOCK, &signals, NULL) ||
        pthread_create(&waiter, NULL, wait_for_signals, NULL))
        return false;
    action = (struct sigaction){.sa_handler = pass_on, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigismember(&signals, numbers[i]) && sigaction(numbers[i], &action, NULL))
            return false;
    return !pthread_detach(waiter);
}

/* ---- what there is to do then --------------------------------------------------------------- */

static void free_unfinished(unfinished *u)
{
    free(u->path);
    free(u->result);
    free(u);
}

bool stop_removes(const char *path, const char *result)
{
    unfinished *u = calloc(1, sizeof *u), **end = &first;
    if (!u)
        return false;
    u->path = strdup(path);
    u->result = result ? strdup(result) : NULL;
    if (!u->path || (result && !u->result)) {
        free_unfinished(u);
        return false;
    }
    stop_hold();
    while (*end)
        end = &(*end)->next;
    *end = u;
    stop_release();
    return true;
}

void stop_keeps(const char *path)
{
    stop_hold();
    unfinished **at = &first;
    while (*at && strcmp((*at)->path, path))
        at = &(*at)->next;
    unfinished *found = *at;
    if (found)
        *at = found->next;
    any_ended |= found && found->result;
    stop_release();
    if (found)
        free_unfinished(found);
}

void stop_says(const char *text)
{
    char *copy = text ? strdup(text) : NULL;
    stop_hold();
    char *before = line;
    line = copy;
    stop_release();
    free(before);
}

/* A thread that holds the end may hold it again, since such a step may include another. */
static _Thread_local int held;

void stop_hold(void)
{
    if (!held++)
        pthread_mutex_lock(&lock);
}

void stop_release(void)
{
    if (!--held)
        pthread_mutex_unlock(&lock);
}

void stop_passes_to(pid_t process)
{
    ends_itself = true;
    child = process;
}

void stop_after(double seconds)
{
    const double whole = floor(seconds);
    const struct itimerval timer = {
        .it_value = {(time_t)whole, (suseconds_t)(1e6 * (seconds - whole))}};
    allowed = seconds;
    setitimer(ITIMER_REAL, &timer, NULL);
}

void stop_excuses(const char *why)
{
    excuse = why;
}

const char *stop_excuse(void)
{
    return excuse;
}

void stop_asks(atomic_bool *flag)
{
    stop_hold();
    asked = flag;
    stop_release();
}

int stop_signal(void)
{
    return atomic_load(&told);
}
