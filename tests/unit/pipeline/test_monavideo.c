// SPDX-License-Identifier: Apache-2.0
/* libmonavideo: every order of calls gets a status, threads may share a handle, and thousands of
 * handles leave nothing behind (the sanitisers look for that). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pipeline/monavideo.h"
#include "tests/cases.h"

enum { WIDTH = 34, HEIGHT = 18, CHROMA = (WIDTH / 2) * (HEIGHT / 2), THREADS = 4, CYCLES = 10000 };

static const mona_video_format format = {
    .width = WIDTH, .height = HEIGHT, .planes = 3, .shift_x = 1, .shift_y = 1, .bits = 8};

typedef struct picture {
    uint8_t luma[WIDTH * HEIGHT], u[CHROMA], v[CHROMA];
} picture;

static mona_video_frame draw(picture *p, unsigned n)
{
    for (unsigned i = 0; i < sizeof p->luma; i++)
        p->luma[i] = (uint8_t)(16 + (i % WIDTH * 5 + i / WIDTH * 3 + n * 7) % 220);
    memset(p->u, 100, sizeof p->u);
    memset(p->v, 150, sizeof p->v);
    return (mona_video_frame){
        .data = {p->luma, p->u, p->v}, .stride = {WIDTH, WIDTH / 2, WIDTH / 2}, .time = n};
}

static mona_video *open_with(const char *stages)
{
    mona_video *video = mona_video_open();
    assert_non_null(video);
    assert_int_equal(mona_video_set(video, "threads", "1"), MONA_VIDEO_OK);
    assert_int_equal(mona_video_set(video, "stages", stages), MONA_VIDEO_OK);
    return video;
}

static void frames_come_in_order(void **state)
{
    picture p;
    mona_video_format out;
    mona_video_frame frame, made;
    mona_video *video = open_with("denoise,sr");
    (void)state;
    assert_int_equal(mona_video_start(video, &format, &out), MONA_VIDEO_OK);
    assert_int_equal(out.width, 2 * WIDTH);
    assert_int_equal(out.height, 2 * HEIGHT);
    int64_t next = 0;
    for (unsigned n = 0; n < 10; n++) {
        frame = draw(&p, n);
        frame.user = &p.luma[n];
        while (mona_video_push(video, &frame) == MONA_VIDEO_AGAIN) {
            assert_int_equal(mona_video_pull(video, &made), MONA_VIDEO_OK);
            assert_int_equal(made.time, next);
            assert_ptr_equal(made.user, &p.luma[next++]);
        }
    }
    while (mona_video_pull(video, &made) == MONA_VIDEO_OK)
        assert_int_equal(made.time, next++);
    assert_int_equal(next, 10);
    assert_int_equal(mona_video_pull(video, &made), MONA_VIDEO_AGAIN);
    mona_video_close(video);
}

static void a_pulled_frame_stays(void **state)
{
    picture p;
    mona_video_format out;
    mona_video_frame made, frame = draw(&p, 0);
    static uint8_t row[2 * WIDTH];
    mona_video *video = open_with("sr");
    (void)state;
    assert_int_equal(mona_video_start(video, &format, &out), MONA_VIDEO_OK);
    assert_int_equal(mona_video_push(video, &frame), MONA_VIDEO_OK);
    assert_int_equal(mona_video_pull(video, &made), MONA_VIDEO_OK);
    memcpy(row, made.data[0], sizeof row);
    unsigned taken = 0;
    for (unsigned n = 1; n < 9; n++) {
        frame = draw(&p, n);
        taken += mona_video_push(video, &frame) == MONA_VIDEO_OK;
    }
    assert_int_equal(taken, MONA_VIDEO_FRAMES - 1);
    assert_memory_equal(row, made.data[0], sizeof row);
    mona_video_close(video);
}

static void rows_may_lie_upside_down(void **state)
{
    picture p;
    mona_video_format out;
    mona_video_frame made, frame = draw(&p, 3);
    static uint8_t first[2 * HEIGHT][2 * WIDTH];
    (void)state;
    for (int down = 0; down < 2; down++) {
        mona_video *video = open_with("sr");
        assert_int_equal(mona_video_start(video, &format, &out), MONA_VIDEO_OK);
        if (down) {
            static uint8_t turned[HEIGHT][WIDTH];
            for (int y = 0; y < HEIGHT; y++)
                memcpy(turned[HEIGHT - 1 - y], p.luma + y * WIDTH, WIDTH);
            frame.data[0] = turned[HEIGHT - 1];
            frame.stride[0] = -WIDTH;
        }
        assert_int_equal(mona_video_push(video, &frame), MONA_VIDEO_OK);
        assert_int_equal(mona_video_pull(video, &made), MONA_VIDEO_OK);
        for (int y = 0; y < 2 * HEIGHT; y++) {
            const uint8_t *row = (const uint8_t *)made.data[0] + y * made.stride[0];
            if (down)
                assert_memory_equal(first[y], row, sizeof first[y]);
            else
                memcpy(first[y], row, sizeof first[y]);
        }
        mona_video_close(video);
    }
}

/* What the calls of a string of letters return. */
static void expect(const char *calls, mona_video_status last)
{
    picture p;
    mona_video_format out;
    mona_video_frame made, frame = draw(&p, 0);
    mona_video_status status = MONA_VIDEO_OK;
    mona_video *video = open_with("sr");
    for (const char *c = calls; *c; c++)
        status = *c == 's'   ? mona_video_start(video, &format, &out)
                 : *c == 'u' ? mona_video_push(video, &frame)
                 : *c == 'l' ? mona_video_pull(video, &made)
                 : *c == 'o' ? mona_video_set(video, "scale", "3")
                             : mona_video_run(video, "/nonexistent.mkv", "/tmp/x.mkv", NULL);
    if (status != last)
        print_message("%s: expected %d, found %d\n", calls, last, status);
    assert_int_equal(status, last);
    mona_video_close(video);
}

static void wrong_orders_get_a_status(void **state)
{
    (void)state;
    expect("u", MONA_VIDEO_ERR_STATE);
    expect("l", MONA_VIDEO_ERR_STATE);
    expect("ss", MONA_VIDEO_ERR_STATE);
    expect("so", MONA_VIDEO_ERR_STATE);
    expect("sr", MONA_VIDEO_ERR_STATE);
    expect("r", MONA_VIDEO_ERR_FAILED);
    expect("rs", MONA_VIDEO_OK);
    expect("rrosul", MONA_VIDEO_OK);
    expect("sl", MONA_VIDEO_AGAIN);
    expect("sull", MONA_VIDEO_AGAIN);
    expect("suuuu", MONA_VIDEO_AGAIN);
    expect("suuulu", MONA_VIDEO_AGAIN); /* the pulled frame is still the caller's */
    expect("suuullu", MONA_VIDEO_OK);
    expect("ul", MONA_VIDEO_ERR_STATE);
    expect("uls", MONA_VIDEO_OK);
}

/* A call with a bad argument is told as such, whatever failed before. */
static void expect_bad_argument(mona_video *video, mona_video_status status, const char *line)
{
    char text[256];
    assert_int_equal(status, MONA_VIDEO_ERR_ARGUMENT);
    mona_video_error(video, text, sizeof text);
    assert_string_equal(text, line);
}

static void bad_arguments_get_a_status_and_a_line(void **state)
{
    picture p;
    char text[8] = "xxxxxxx";
    mona_video_format out, bad = format;
    mona_video_frame frame = draw(&p, 0), made;
    mona_video *video = open_with("sr");
    (void)state;
    assert_int_equal(mona_video_set(NULL, "scale", "2"), MONA_VIDEO_ERR_ARGUMENT);
    expect_bad_argument(video, mona_video_set(video, NULL, "2"),
                        "set: expected the name of an option, found none");
    assert_int_equal(mona_video_set(video, "scale", "many"), MONA_VIDEO_ERR_OPTION);
    assert_int_equal(mona_video_set(video, "scale", NULL), MONA_VIDEO_ERR_OPTION);
    assert_int_equal(mona_video_set(video, "help", NULL), MONA_VIDEO_ERR_OPTION);
    assert_int_equal(mona_video_set(video, "low-latency", "1"), MONA_VIDEO_ERR_OPTION);
    assert_int_equal(mona_video_set(video, "dry-run", NULL), MONA_VIDEO_ERR_OPTION);
    assert_true(mona_video_error(video, text, sizeof text) > sizeof text);
    assert_string_equal(text, "expecte");
    expect_bad_argument(video, mona_video_start(video, NULL, &out),
                        "start: expected a format for frames and one for results, found none");
    expect_bad_argument(video, mona_video_run(video, NULL, "out.mkv", NULL),
                        "run: expected the names of an input and an output, found none");
    bad.planes = 2;
    assert_int_equal(mona_video_start(video, &bad, &out), MONA_VIDEO_ERR_FORMAT);
    bad = format;
    bad.bits = 12;
    assert_int_equal(mona_video_start(video, &bad, &out), MONA_VIDEO_ERR_FORMAT);
    bad = format;
    bad.width = 0;
    assert_int_equal(mona_video_start(video, &bad, &out), MONA_VIDEO_ERR_FORMAT);
    bad.width = 40000;
    assert_int_equal(mona_video_start(video, &bad, &out), MONA_VIDEO_ERR_FORMAT);
    bad = format;
    bad.chroma = MONA_VIDEO_CHROMA_TOP_LEFT + 1;
    assert_int_equal(mona_video_start(video, &bad, &out), MONA_VIDEO_ERR_FORMAT);
    char why[80];
    mona_video_error(video, why, sizeof why);
    assert_string_equal(why, "expected one of mona_video_chroma, 0 to 2, found 3");
    assert_int_equal(mona_video_start(video, &format, &out), MONA_VIDEO_OK);
    expect_bad_argument(video, mona_video_push(video, NULL), "push: expected a frame, found none");
    expect_bad_argument(video, mona_video_pull(video, NULL), "pull: expected a frame, found none");
    static const char planes[] =
        "push: expected samples in each plane, and a stride of a row or more";
    frame.stride[0] = WIDTH - 1;
    expect_bad_argument(video, mona_video_push(video, &frame), planes);
    frame.stride[0] = WIDTH;
    frame.data[2] = NULL;
    expect_bad_argument(video, mona_video_push(video, &frame), planes);
    assert_int_equal(mona_video_pull(video, &made), MONA_VIDEO_AGAIN);
    mona_video_close(video);
    mona_video_close(NULL);
}

/* Options that contradict each other show when frames start; then they can be completed. */
static void options_are_checked_together(void **state)
{
    mona_video_format out;
    mona_video *video = open_with("denoise");
    (void)state;
    assert_int_equal(mona_video_set(video, "height", "36"), MONA_VIDEO_OK);
    assert_int_equal(mona_video_start(video, &format, &out), MONA_VIDEO_ERR_OPTION);
    assert_int_equal(mona_video_set(video, "stages", "denoise,sr"), MONA_VIDEO_OK);
    assert_int_equal(mona_video_start(video, &format, &out), MONA_VIDEO_OK);
    assert_int_equal(out.height, 36);
    mona_video_close(video);
}

/* A value that an option takes, in text; NULL: it takes none. */
static const char *value_for(const mona_video_option *o, char text[64])
{
    switch (o->kind) {
    case MONA_VIDEO_FLAG:
        return NULL;
    case MONA_VIDEO_CHOICE:
        snprintf(text, 64, "%.*s", (int)strcspn(o->value, "|"), o->value);
        return text;
    case MONA_VIDEO_SIZE:
        return "68x36";
    default:
        return o->initial ? o->initial : "1";
    }
}

/* Each option says whether it works on frames, and all others are refused there. */
static void options_of_files_are_refused_for_frames(void **state)
{
    (void)state;
    mona_video_option o;
    unsigned refused = 0;
    size_t i = 0;
    for (; mona_video_option_at(i, &o); i++) {
        char text[64], line[1024], expected[128];
        mona_video_format out;
        mona_video *video = mona_video_open();
        assert_non_null(video);
        if (mona_video_set(video, o.name, value_for(&o, text)) != MONA_VIDEO_OK)
            fail_msg("%s is not taken", o.name);
        const mona_video_status status =
            o.frames ? MONA_VIDEO_OK : mona_video_start(video, &format, &out);
        mona_video_error(video, line, sizeof line);
        snprintf(expected, sizeof expected, "--%s does not work with frames in memory", o.name);
        if (!o.frames && (status != MONA_VIDEO_ERR_OPTION || strcmp(line, expected) != 0))
            fail_msg("%s: %d %s", o.name, status, line);
        refused += !o.frames;
        mona_video_close(video);
    }
    assert_true(refused > 10 && i - refused > 10);
    assert_false(mona_video_option_at(i, &o));
    assert_false(mona_video_option_at(0, NULL));
}

/* ---- threads -------------------------------------------------------------------------------- */

/* A handle from open to close, at any point of its way. */
static void cycle(unsigned n)
{
    picture p;
    mona_video_format out;
    mona_video_frame made, frame = draw(&p, n);
    mona_video *video = open_with(n % 2 ? "sr" : "denoise");
    if (n % 5) {
        assert_int_equal(mona_video_start(video, &format, &out), MONA_VIDEO_OK);
        for (unsigned i = 0; i < n % 4; i++)
            assert_int_equal(mona_video_push(video, &frame), MONA_VIDEO_OK);
        if (n % 3 == 0)
            mona_video_pull(video, &made);
    } else {
        assert_int_equal(mona_video_push(video, &frame), MONA_VIDEO_ERR_STATE);
    }
    mona_video_close(video);
}

static void *run_cycles(void *unused)
{
    const unsigned each = CASES(CYCLES) / THREADS;
    for (unsigned n = 0; n < each; n++)
        cycle(n);
    return unused;
}

static void thousands_of_handles(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_cycles, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

typedef struct shared_handle {
    mona_video *video;
    int pushed, pulled, wanted;
    pthread_mutex_t lock;
} shared_handle;

static void *push_some(void *argument)
{
    shared_handle *s = argument;
    picture p;
    for (;;) {
        pthread_mutex_lock(&s->lock);
        const int n = s->pushed < s->wanted ? s->pushed++ : -1;
        pthread_mutex_unlock(&s->lock);
        if (n < 0)
            return NULL;
        const mona_video_frame frame = draw(&p, (unsigned)n);
        while (mona_video_push(s->video, &frame) == MONA_VIDEO_AGAIN)
            sched_yield();
    }
}

static void *pull_some(void *argument)
{
    shared_handle *s = argument;
    for (bool more = true; more;) {
        mona_video_frame made;
        char text[64];
        const mona_video_status status = mona_video_pull(s->video, &made);
        mona_video_error(s->video, text, sizeof text);
        pthread_mutex_lock(&s->lock);
        s->pulled += status == MONA_VIDEO_OK;
        more = s->pulled < s->wanted;
        pthread_mutex_unlock(&s->lock);
        if (status == MONA_VIDEO_AGAIN)
            sched_yield();
    }
    return NULL;
}

static void threads_share_a_handle(void **state)
{
    shared_handle s = {.video = open_with("denoise,sr"), .wanted = (int)CASES(2000)};
    mona_video_format out;
    pthread_t threads[THREADS];
    (void)state;
    pthread_mutex_init(&s.lock, NULL);
    assert_int_equal(mona_video_start(s.video, &format, &out), MONA_VIDEO_OK);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i % 2 ? pull_some : push_some, &s), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(s.pulled, s.wanted);
    mona_video_close(s.video);
    pthread_mutex_destroy(&s.lock);
}

static void a_picture_that_is_not_there_is_no_video(void **state)
{
    (void)state;
    char text[256];
    mona_video *video = mona_video_open();
    assert_int_equal(mona_video_run(video, "/nonexistent.png", "/tmp/x.png", NULL),
                     MONA_VIDEO_ERR_FAILED);
    mona_video_error(video, text, sizeof text);
    assert_string_equal(text, "/nonexistent.png: cannot be read: No such file or directory");
    mona_video_close(video);
}

/* In a child, since it holds for good. Returns its exit status: 1 where more than it should is
 * left. */
static int confined(void)
{
    const char *const reads[] = {"tests/tiers", NULL}, *const writes[] = {NULL};
    const char *walls = mona_video_confine(reads, writes);
    FILE *named = fopen("tests/tiers", "r"), *other = fopen("/etc/passwd", "r");
    mona_video_format out;
    mona_video *video = open_with("denoise,sr");
    const bool works = !mona_video_start(video, &format, &out);
    mona_video_close(video);
    return works && named && !(strstr(walls, "Landlock") && other) ? 0 : 1;
}

static void a_process_can_be_confined(void **state)
{
    int status;
    (void)state;
    fflush(stdout);
    const pid_t child = fork();
    if (!child)
        _exit(confined());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Returns the exit status of a forked process: 1 where it is not told that the handle is of another
 * one. Without that it waited for threads that it does not have. */
static int forked(mona_video *video, const mona_video_frame *frame)
{
    mona_video_frame made;
    char text[256];
    alarm(20);
    const bool told = mona_video_push(video, frame) == MONA_VIDEO_ERR_STATE &&
                      mona_video_pull(video, &made) == MONA_VIDEO_ERR_STATE &&
                      mona_video_error(video, text, sizeof text) && strstr(text, "forked");
    mona_video_close(video);
    return told ? 0 : 1;
}

static void a_forked_process_is_told(void **state)
{
    int status;
    (void)state;
    mona_video_format out;
    picture p;
    mona_video_frame made;
    const mona_video_frame frame = draw(&p, 1);
    mona_video *video = open_with("denoise,sr");
    assert_int_equal(mona_video_start(video, &format, &out), MONA_VIDEO_OK);
    fflush(stdout);
    const pid_t child = fork();
    if (!child)
        _exit(forked(video, &frame));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(mona_video_push(video, &frame), MONA_VIDEO_OK);
    assert_int_equal(mona_video_pull(video, &made), MONA_VIDEO_OK);
    mona_video_close(video);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_can_be_confined),
        cmocka_unit_test(a_forked_process_is_told),
        cmocka_unit_test(frames_come_in_order),
        cmocka_unit_test(a_pulled_frame_stays),
        cmocka_unit_test(rows_may_lie_upside_down),
        cmocka_unit_test(wrong_orders_get_a_status),
        cmocka_unit_test(bad_arguments_get_a_status_and_a_line),
        cmocka_unit_test(options_are_checked_together),
        cmocka_unit_test(options_of_files_are_refused_for_frames),
        cmocka_unit_test(thousands_of_handles),
        cmocka_unit_test(threads_share_a_handle),
        cmocka_unit_test(a_picture_that_is_not_there_is_no_video),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
