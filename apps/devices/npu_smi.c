// SPDX-License-Identifier: Apache-2.0
#include "apps/devices/telemetry.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/mona_ascend.h"
#include "pipeline/base/clock.h"

/* ---- its text -------------------------------------------------------------------------------- */

/* A line "key : value", without the blanks around both. */
typedef struct entry {
    char key[64], value[64];
} entry;

static void trim(char *to, size_t room, const char *from, size_t length)
{
    while (length && strchr(" \t", *from))
        from++, length--;
    while (length && strchr(" \t\r", from[length - 1]))
        length--;
    snprintf(to, room, "%.*s", (int)(length < room ? length : 0), from);
}

/* Reads the line at *text and moves on to the next. False: there is none. Other lines have no
 * key. */
static bool next_entry(const char **text, entry *e)
{
    if (!**text)
        return false;
    const size_t length = strcspn(*text, "\n");
    const char *colon = memchr(*text, ':', length);
    *e = (entry){{0}, {0}};
    if (colon) {
        trim(e->key, sizeof e->key, *text, (size_t)(colon - *text));
        trim(e->value, sizeof e->value, colon + 1, (size_t)(*text + length - colon - 1));
    }
    *text += length + ((*text)[length] == '\n');
    return true;
}

/* Negative: not a number, or not one from 0 to most. */
static double number(const char *value, double most)
{
    char *end;
    if (!*value || strspn(value, "0123456789.") != strlen(value))
        return -1;
    const double n = strtod(value, &end);
    return !*end && n <= most ? n : -1;
}

bool npu_smi_parse_map(const char *text, unsigned wanted, unsigned *card, unsigned *chip)
{
    unsigned logic;
    bool heading = false;
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        char line[256];
        int end = 0;
        trim(line, sizeof line, text, strcspn(text, "\n"));
        if (!heading)
            heading = !strncmp(line, "NPU ID ", 7) && strstr(line, " Chip Logic ID ");
        else if (sscanf(line, "%9u %9u %9u %n", card, chip, &logic, &end) == 3 && end &&
                 line[end] && logic == wanted)
            return true;
    }
    return false;
}

void npu_smi_parse_common(const char *text, unsigned chip, npu_figures *f)
{
    bool ours = false;
    entry e;
    while (next_entry(&text, &e)) {
        if (!strcmp(e.key, "Chip ID"))
            ours = number(e.value, 1e6) == chip;
        else if (!strcmp(e.key, "Chip Name")) /* the card's own controllers */
            ours = false;
        else if (ours && !strcmp(e.key, "Temperature(C)"))
            f->temperature_c = number(e.value, 200);
        else if (ours && !strcmp(e.key, "Aicore Usage Rate(%)"))
            f->utilisation = number(e.value, 100) < 0 ? -1 : number(e.value, 100) / 100;
        else if (ours && !strcmp(e.key, "NPU Real-time Power(W)"))
            f->power_w = number(e.value, 1000);
    }
}

void npu_smi_parse_health(const char *text, npu_figures *f)
{
    static const char *const states[][2] = {
        {"OK", "ok"}, {"Warning", "warning"}, {"Alarm", "alarm"}, {"Critical", "critical"}};
    entry e;
    while (next_entry(&text, &e))
        for (size_t i = 0; i < sizeof states / sizeof *states; i++)
            if ((!strcmp(e.key, "Health") || !strcmp(e.key, "Health Status")) &&
                !strcmp(e.value, states[i][0]))
                f->health = states[i][1];
}

/* ---- the program ----------------------------------------------------------------------------- */

enum { PATIENCE_MS = 3000, PAUSE_MS = 1000, OUTPUT = 16384 };

/* A run of it: what it has printed so far. */
typedef struct asking {
    pid_t child; /* 0: none */
    int from;
    size_t length;
    char text[OUTPUT];
    uint64_t since;
} asking;

static bool ask(asking *a, const char *command)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return false;
    a->child = fork();
    if (a->child == 0) {
        const int nothing = open("/dev/null", O_RDWR);
        setsid(); /* Ctrl-C ends mona, which ends it */
        dup2(nothing, STDIN_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    a->from = ends[0];
    a->length = 0;
    a->since = clock_ns();
    if (a->child < 0) {
        close(ends[0]);
        a->child = 0;
    }
    return a->child > 0;
}

static void end_asking(asking *a)
{
    close(a->from);
    waitpid(a->child, NULL, 0);
    a->child = 0;
}

/* Whether all it has to say is there. One that takes too long is ended. */
static bool has_answered(asking *a, int milliseconds)
{
    struct pollfd ready = {.fd = a->from, .events = POLLIN};
    while (a->child && poll(&ready, 1, milliseconds) > 0) {
        const ssize_t got = read(a->from, a->text + a->length, OUTPUT - 1 - a->length);
        if (got <= 0) {
            a->text[a->length] = 0;
            end_asking(a);
            return true;
        }
        a->length += (size_t)got;
    }
    if (a->child && clock_ns() - a->since > PATIENCE_MS * UINT64_C(1000000)) {
        kill(-a->child, SIGKILL);
        end_asking(a);
    }
    return false;
}

typedef struct watched {
    enum { UNASKED, ABSENT, PRESENT } state;
    unsigned card, chip;
    char command[128];
    asking run;
    uint64_t answered;
    npu_figures figures;
} watched;

static watched chips[MONA_ASCEND_CHIPS];

static bool find_chip(unsigned at)
{
    watched *smi = &chips[at];
    if (!ask(&smi->run, "exec npu-smi info -m") || !has_answered(&smi->run, PATIENCE_MS) ||
        !npu_smi_parse_map(smi->run.text, at, &smi->card, &smi->chip))
        return false;
    snprintf(smi->command, sizeof smi->command,
             "npu-smi info -t common -i %u; npu-smi info -t health -i %u -c %u", smi->card,
             smi->card, smi->chip);
    return true;
}

npu_figures npu_smi_read(unsigned at)
{
    watched *smi = &chips[at];
    const bool first = smi->state == UNASKED;
    if (first) {
        smi->figures = (npu_figures){-1, -1, -1, "unknown"};
        smi->state = find_chip(at) ? PRESENT : ABSENT;
    }
    if (smi->state == ABSENT)
        return smi->figures;
    if (!smi->run.child && (first || clock_ns() - smi->answered > PAUSE_MS * UINT64_C(1000000)))
        ask(&smi->run, smi->command);
    if (smi->run.child && has_answered(&smi->run, first ? PATIENCE_MS : 0)) {
        smi->figures = (npu_figures){-1, -1, -1, "unknown"};
        npu_smi_parse_common(smi->run.text, smi->chip, &smi->figures);
        npu_smi_parse_health(smi->run.text, &smi->figures);
        smi->answered = clock_ns();
    }
    return smi->figures;
}
