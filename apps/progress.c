#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define REDRAW 0.2 /* seconds */
#define MIB (1024.0 * 1024.0)

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

progress progress_begin(bool quiet)
{
    return (progress){.quiet = quiet, .terminal = isatty(STDERR_FILENO), .started = now()};
}

static void show_needs(const enhance_report *r)
{
    fprintf(stderr, "mona: %ux%u -> %ux%u, needs %.1f MiB: engine %.1f, frames %.1f\n", r->in_width,
            r->in_height, r->out_width, r->out_height,
            (double)(r->engine_bytes + r->frame_bytes) / MIB, (double)r->engine_bytes / MIB,
            (double)r->frame_bytes / MIB);
}

static void redraw(const progress *p, const enhance_report *r)
{
    double seconds = p->shown - p->began;
    double rate = seconds > 0 ? (double)r->frames / seconds : 0;
    fprintf(stderr, "\r  %" PRIu64, r->frames);
    if (r->expected)
        fprintf(stderr, "/%" PRIu64, r->expected);
    fprintf(stderr, " frames  %.1f fps", rate);
    if (r->expected > r->frames && rate > 0) {
        unsigned long left = (unsigned long)((double)(r->expected - r->frames) / rate + 0.5);
        fprintf(stderr, "  ETA %lu:%02lu:%02lu", left / 3600, left / 60 % 60, left % 60);
    }
    fputs("\033[K", stderr);
}

void progress_show(void *context, const enhance_report *report)
{
    progress *p = context;
    double time = now();
    if (p->quiet)
        return;
    if (!report->frames) {
        show_needs(report);
        p->began = time;
        return;
    }
    if (!p->first)
        p->first = time;
    if (p->terminal && time - p->shown >= REDRAW) {
        p->shown = time;
        redraw(p, report);
    }
}

void progress_note(void *context, const char *line)
{
    const progress *p = context;
    if (!p->quiet)
        fprintf(stderr, "%smona: %s\n", p->terminal ? "\r\033[K" : "", line);
}

void progress_end(progress *p)
{
    if (p->shown > 0)
        fputs("\r\033[K", stderr);
    p->shown = 0;
}

static void summarise_damage(const enhance_report *r)
{
    if (r->lost_packets || r->damaged_frames)
        fprintf(stderr,
                "mona: damaged input: %" PRIu64 " packets could not be decoded, %" PRIu64
                " frames have errors\n",
                r->lost_packets, r->damaged_frames);
    if (r->moved_frames)
        fprintf(stderr, "mona: %" PRIu64 " frames had timestamps that did not ascend; moved them\n",
                r->moved_frames);
}

void progress_summary(progress *p, const char *output, const enhance_report *r)
{
    struct rusage usage;
    char noise[32] = "";
    double seconds = now() - p->began;
    summarise_damage(r);
    if (p->quiet)
        return;
    if (r->metadata_lost)
        fprintf(stderr, "mona: %s: EXIF and colour profile stay behind; a .jpg would keep them\n",
                output);
    getrusage(RUSAGE_SELF, &usage);
    if (r->noise >= 0)
        snprintf(noise, sizeof noise, "; noise %.1f steps", (double)r->noise);
    fprintf(stderr,
            "mona: %s: %" PRIu64
            " %s %ux%u in %.2f s, %.2f fps, the first after %.0f ms; engine %.1f MiB, frames %.1f "
            "MiB, whole process %.0f MiB%s\n",
            output, r->frames, r->frames == 1 ? "frame" : "frames", r->out_width, r->out_height,
            seconds, (double)r->frames / seconds, 1e3 * (p->first - p->started),
            (double)r->engine_bytes / MIB, (double)r->frame_bytes / MIB,
            (double)usage.ru_maxrss / 1024, noise);
}
