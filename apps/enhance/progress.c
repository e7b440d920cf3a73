// SPDX-License-Identifier: Apache-2.0
#include "apps/enhance/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "apps/cli/json_output.h"
#include "apps/devices/machine.h"
#include "apps/enhance/dry_run.h"
#include "pipeline/job/stage_models.h"
#include "pipeline/base/clock.h"
#include "apps/cli/printable.h"

#define MIB (1024.0 * 1024.0)

enum { NARROWEST_BAR = 10, WIDEST_BAR = 40, LINE = 400 };

static double now(void)
{
    return 1e-9 * (double)clock_ns();
}

progress progress_begin(bool quiet, progress_style style)
{
    if (style == PROGRESS_AUTO)
        style = isatty(STDERR_FILENO) ? PROGRESS_BAR : PROGRESS_PLAIN;
    return (progress){.quiet = quiet, .started = now(), .style = style, .notify = -1};
}

void progress_watch(progress *p, job *settings)
{
    step_clock_open(&p->clock, settings->kinds, settings->count);
    p->settings = settings;
    settings->probe = &p->clock.probe;
    settings->progress = progress_show;
    settings->progress_context = p;
    if (p->stats || p->metrics)
        telemetry_log_open(&p->sensors, settings->stage.devices.at[0]);
}

/* Seconds between two lines. */
static double interval(const progress *p)
{
    return p->style == PROGRESS_PLAIN ? 5 : 0.2;
}

/* ---- figures -------------------------------------------------------------------------------- */

static double frames_per_second(const progress *p, const enhance_report *r)
{
    const double seconds = now() - p->began;
    return seconds > 0 ? (double)(r->frames - r->resumed) / seconds : 0;
}

/* Negative: unknown. */
static double seconds_left(const progress *p, const enhance_report *r)
{
    const double rate = frames_per_second(p, r);
    return r->expected >= r->frames && r->expected && rate > 0
               ? (double)(r->expected - r->frames) / rate
               : -1;
}

typedef struct step {
    const char *name;
    double ms; /* per frame, over about the last second */
} step;

/* All steps except the upload, which takes no time on a CPU. */
static unsigned list_steps(const progress *p, const enhance_report *r, step steps[CHAIN_MAX_STEPS])
{
    uint64_t spent[CHAIN_MAX_STEPS];
    const double frames = (double)(r->frames - p->last_frames);
    unsigned count = 0;
    step_clock_read(&p->clock, spent);
    for (unsigned i = 0; i < p->clock.steps; i++)
        if (i != PROBE_UPLOAD)
            steps[count++] =
                (step){p->clock.names[i],
                       frames > 0 ? 1e-6 * (double)(spent[i] - p->last_spent[i]) / frames : 0};
    return count;
}

/* ---- JSON lines ----------------------------------------------------------------------------- */

static cJSON *event_of(const char *name)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "event", name);
    return o;
}

static void put_event(cJSON *event)
{
    char *text = json_text(event, false);
    if (text)
        fprintf(stderr, "%s\n", text);
    free(text);
    cJSON_Delete(event);
}

static void add_counts(cJSON *event, const enhance_report *r)
{
    JSON_ADD(event, NUMBER("lost_packets", r->faults.lost_packets),
             NUMBER("damaged_frames", r->faults.damaged_frames),
             NUMBER("moved_frames", r->faults.moved_frames));
}

static void put_json(const progress *p, const enhance_report *r)
{
    cJSON *event = event_of("progress");
    step steps[CHAIN_MAX_STEPS];
    const unsigned count = list_steps(p, r, steps);
    cJSON_AddNumberToObject(event, "frame", (double)r->frames);
    if (r->expected)
        cJSON_AddNumberToObject(event, "expected", (double)r->expected);
    cJSON_AddNumberToObject(event, "fps", frames_per_second(p, r));
    if (seconds_left(p, r) >= 0)
        cJSON_AddNumberToObject(event, "eta_s", seconds_left(p, r));
    cJSON_AddNumberToObject(event, "latency_ms", 1e-6 * (double)p->clock.latency);
    cJSON *list = cJSON_AddArrayToObject(event, "steps");
    for (unsigned i = 0; i < count; i++) {
        cJSON *o = json_add_object(list);
        JSON_ADD(o, TEXT("name", steps[i].name), NUMBER("ms", steps[i].ms));
    }
    add_counts(event, r);
    put_event(event);
}

/* ---- text ----------------------------------------------------------------------------------- */

static void show_needs(const progress *p, const enhance_report *r)
{
    if (p->style == PROGRESS_JSON) {
        cJSON *event = event_of("begin");
        JSON_ADD(event, NUMBER("in_width", r->in_width), NUMBER("in_height", r->in_height),
                 NUMBER("out_width", r->out_width), NUMBER("out_height", r->out_height));
        enhance_describe(event, p->settings, r);
        JSON_ADD(event, NUMBER("expected", r->expected), NUMBER("engine_bytes", r->engine_bytes),
                 NUMBER("frame_bytes", r->frame_bytes));
        put_event(event);
        return;
    }
    char networks[NETWORKS_TEXT];
    stage_models_describe(networks, p->settings);
    fprintf(stderr, "mona: %ux%u -> %ux%u by %s; needs %.1f MiB: engine %.1f, frames %.1f\n",
            r->in_width, r->in_height, r->out_width, r->out_height, networks,
            (double)(r->engine_bytes + r->frame_bytes) / MIB, (double)r->engine_bytes / MIB,
            (double)r->frame_bytes / MIB);
}

static void append(char line[LINE], const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char line[LINE], const char *format, ...)
{
    const size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + used, LINE - used, format, arguments);
    va_end(arguments);
}

/* Appends "120/264 frames  22.1 fps  ETA 0:00:07". */
static void append_place(char line[LINE], const progress *p, const enhance_report *r)
{
    const double left = seconds_left(p, r);
    append(line, "%" PRIu64, r->frames);
    if (r->expected)
        append(line, "/%" PRIu64, r->expected);
    append(line, " frames  %.1f fps", frames_per_second(p, r));
    if (left >= 0) {
        const unsigned long s = (unsigned long)(left + 0.5);
        append(line, "  ETA %lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
    }
}

/* Appends "  decode 1.0  sr 12.2  encode 30.1 ms". */
static void append_steps(char line[LINE], const progress *p, const enhance_report *r)
{
    step steps[CHAIN_MAX_STEPS];
    const unsigned count = list_steps(p, r, steps);
    for (unsigned i = 0; i < count; i++)
        append(line, "  %s %.1f", steps[i].name, steps[i].ms);
    append(line, " ms");
}

static void append_damage(char line[LINE], const enhance_report *r)
{
    if (r->faults.lost_packets)
        append(line, "  %" PRIu64 " packets lost", r->faults.lost_packets);
    if (r->faults.damaged_frames)
        append(line, "  %" PRIu64 " damaged", r->faults.damaged_frames);
    if (r->faults.moved_frames)
        append(line, "  %" PRIu64 " moved", r->faults.moved_frames);
}

static int terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col ? 80 : size.ws_col;
}

/* Prints as much as the terminal has room for, the most important first; the bar fills the rest. */
static void redraw(progress *p, const enhance_report *r)
{
    const int columns = terminal_columns() - 1;
    char place[LINE] = "", steps[LINE] = "";
    append_place(place, p, r);
    append_damage(place, r);
    append_steps(steps, p, r);
    if ((int)(strlen(place) + strlen(steps)) <= columns)
        append(place, "%s", steps);
    int room = r->expected ? columns - (int)strlen(place) - 9 : 0; /* "[] 100%  " */
    fputc('\r', stderr);
    if (room >= NARROWEST_BAR) {
        room = room < WIDEST_BAR ? room : WIDEST_BAR;
        const double done = r->frames < r->expected ? (double)r->frames / (double)r->expected : 1;
        const int full = (int)(done * room);
        fputc('[', stderr);
        for (int i = 0; i < room; i++)
            fputc(i < full ? '#' : '.', stderr);
        fprintf(stderr, "] %3d%%  ", (int)(100 * done));
    }
    fprintf(stderr, "%.*s\033[K", columns, place);
    p->drawn = true;
}

static void put_line(const progress *p, const enhance_report *r)
{
    char line[LINE] = "";
    append_place(line, p, r);
    append_steps(line, p, r);
    append_damage(line, r);
    fprintf(stderr, "mona: %s\n", line);
}

/* ---- calls ---------------------------------------------------------------------------------- */

/* Frames of an earlier run have no latency. */
static void keep_latency(progress *p, const enhance_report *r)
{
    while (p->latency.count < r->resumed)
        if (!samples_add(&p->latency, NAN))
            return;
    samples_add(&p->latency, 1e-6 * (double)p->clock.latency);
}

/* Once a second, and at the end. A disk that is full for a while stops no stream. */
static void write_metrics(progress *p, const enhance_report *report)
{
    if (!p->metrics)
        return;
    p->metrics_written = now();
    const bool written =
        live_log_write(&p->frames, p->metrics, p->camera, report, &p->sensors.last);
    if (!written && !p->metrics_failed)
        fprintf(stderr, "mona: %s: cannot be written: %s\n", p->metrics, strerror(errno));
    p->metrics_failed = !written;
}

static void count_frame(progress *p, const enhance_report *report, double time)
{
    if (p->keep_latency && !p->settings->input.live)
        keep_latency(p, report);
    if (p->settings->input.live || p->metrics)
        live_log_add(&p->frames, report->latency ? report->latency : p->clock.latency);
    if (p->stats || p->metrics)
        telemetry_log_look(&p->sensors);
    if (time - p->metrics_written >= 1)
        write_metrics(p, report);
    if (time - p->notified >= 1) {
        watchdog_tell(p->notify);
        p->notified = time;
    }
}

void progress_show(void *context, const enhance_report *report)
{
    progress *p = context;
    const double time = now();
    if (!p->began) {
        p->shown = p->lasted = time;
        p->began = p->settings->stage.still ? p->started : time; /* a picture is decoded by now */
        step_clock_name(&p->clock, p->settings->kinds, p->settings->count); /* maybe chosen late */
        p->last_frames = report->frames;
        write_metrics(p, report);
        if (!p->quiet)
            show_needs(p, report);
        return;
    }
    if (!p->first)
        p->first = time;
    count_frame(p, report, time);
    if (p->quiet || time - p->shown < interval(p))
        return;
    p->shown = time;
    if (p->style == PROGRESS_JSON)
        put_json(p, report);
    else if (p->style == PROGRESS_BAR)
        redraw(p, report);
    else
        put_line(p, report);
    /* Over a few frames times vary too much; a second has enough of them. */
    if (time - p->lasted >= 1) {
        p->lasted = time;
        p->last_frames = report->frames;
        step_clock_read(&p->clock, p->last_spent);
    }
}

void progress_note(void *context, const char *line)
{
    progress *p = context;
    if (p->quiet)
        return;
    if (p->style == PROGRESS_JSON) {
        cJSON *event = event_of("note");
        cJSON_AddStringToObject(event, "text", line);
        put_event(event);
        return;
    }
    fputs(p->drawn ? "\r\033[Kmona: " : "mona: ", stderr);
    printable_put(stderr, line);
    fputc('\n', stderr);
}

void progress_end(progress *p)
{
    p->ended = now();
    if (p->stats || p->metrics)
        telemetry_log_end(&p->sensors);
    if (p->drawn)
        fputs("\r\033[K", stderr);
    p->drawn = false;
}

static const char *s_of(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void summarise_damage(const enhance_report *r)
{
    if (r->faults.lost_packets || r->faults.damaged_frames)
        fprintf(stderr,
                "mona: damaged input: %" PRIu64
                " packet%s could not be decoded (the frame before stays on screen), %" PRIu64
                " frame%s with errors (the decoder concealed them)\n",
                r->faults.lost_packets, s_of(r->faults.lost_packets), r->faults.damaged_frames,
                s_of(r->faults.damaged_frames));
    if (r->faults.moved_frames)
        fprintf(stderr, "mona: %" PRIu64 " frame%s had timestamps that did not ascend; moved %s\n",
                r->faults.moved_frames, s_of(r->faults.moved_frames),
                r->faults.moved_frames == 1 ? "it" : "them");
    if (r->moved_packets)
        fprintf(stderr,
                "mona: %" PRIu64
                " packet%s of other streams had timestamps that did not ascend; moved %s\n",
                r->moved_packets, s_of(r->moved_packets), r->moved_packets == 1 ? "it" : "them");
    if (r->clock_jumps)
        fprintf(stderr, "mona: the input's clock jumped %" PRIu64 " time%s; joined the pieces\n",
                r->clock_jumps, s_of(r->clock_jumps));
}

static void summarise_live(const enhance_report *r)
{
    fprintf(stderr,
            "mona: live: %" PRIu64 " frames came in, %" PRIu64 " went out, %" PRIu64
            " were left out (too late, or before a key frame)",
            r->live.arrived, r->frames, r->live.dropped);
    if (r->undecoded)
        fprintf(stderr, ", %" PRIu64 " could not be decoded", r->undecoded);
    if (r->live.reconnects)
        fprintf(stderr, "; connected again %" PRIu64 " times", r->live.reconnects);
    fputc('\n', stderr);
}

static void add_live(cJSON *event, const enhance_report *r)
{
    JSON_ADD(event, NUMBER("arrived", r->live.arrived), NUMBER("dropped", r->live.dropped),
             NUMBER("reconnects", r->live.reconnects));
}

static void summarise_json(const progress *p, const char *output, const enhance_report *r)
{
    cJSON *event = event_of("end");
    JSON_ADD(event, TEXT("output", output), NUMBER("frames", r->frames),
             NUMBER("seconds", now() - p->began), NUMBER("fps", frames_per_second(p, r)),
             NUMBER("first_frame_ms", 1e3 * (p->first - p->started)),
             NUMBER("resident_mib", machine_peak_bytes() / MIB));
    if (r->noise >= 0)
        cJSON_AddNumberToObject(event, "noise", (double)r->noise);
    if (r->compression > 0)
        cJSON_AddNumberToObject(event, "compression", (double)r->compression);
    add_counts(event, r);
    if (p->settings->input.live)
        add_live(event, r);
    if (p->stats)
        cJSON_AddItemToObject(event, "stats", enhance_stats(p, r));
    put_event(event);
}

void progress_summary(progress *p, const char *output, const enhance_report *r)
{
    char noise[64] = "";
    const double seconds = now() - p->began;
    write_metrics(p, r);
    if (!p->first) /* a picture is done once it is written */
        p->first = now();
    if (p->style == PROGRESS_JSON && !p->quiet) {
        summarise_json(p, output, r);
        return;
    }
    summarise_damage(r);
    if (p->quiet)
        return;
    if (p->settings->input.live)
        summarise_live(r);
    if (r->noise >= 0)
        snprintf(noise, sizeof noise, "; noise %.1f steps", (double)r->noise);
    if (r->compression > 0)
        snprintf(noise + strlen(noise), sizeof noise - strlen(noise), ", of compression %.1f",
                 (double)r->compression);
    printable_print(
        stderr,
        "mona: %s: %" PRIu64
        " %s %ux%u in %.2f s, %.2f fps, the first after %.0f ms; engine %.1f MiB, frames %.1f "
        "MiB, whole process %.0f MiB%s",
        output, r->frames, r->frames == 1 ? "frame" : "frames", r->out_width, r->out_height,
        seconds, frames_per_second(p, r), 1e3 * (p->first - p->started),
        (double)r->engine_bytes / MIB, (double)r->frame_bytes / MIB, machine_peak_bytes() / MIB,
        noise);
    fputc('\n', stderr);
    if (p->stats)
        enhance_stats_print(stderr, p, r);
}

void progress_close(progress *p)
{
    samples_free(&p->latency);
}
