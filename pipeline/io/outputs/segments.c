// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/outputs/segments.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libavutil/md5.h>
#include <libavutil/mem.h>

#include "pipeline/base/clock.h"
#include "pipeline/base/outfile.h"
#include "pipeline/base/stop.h"

static const char work_name[] = "work", part_suffix[] = ".part";
static const char heading[] = "mona resume 7 ";

/* At the beginning of a segment. */
typedef struct header {
    char magic[16];
    uint8_t key[SEGMENTS_SUM];
    uint32_t number, part, parts, zero;
} header;

static const char magic[16] = "mona segment 7\n";

/* At its end. sum: of everything before it. */
typedef struct trailer {
    uint64_t frames;
    int64_t end;
    uint8_t sum[SEGMENTS_SUM];
} trailer;

/* Precedes the bytes of a packet, which are followed by those of its alpha, if any. */
typedef struct record {
    int64_t pts, dts, duration;
    int32_t flags, size, alpha_size, zero;
} record;

static const enum AVPacketSideDataType alpha_type = AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL;

/* ---- names ---------------------------------------------------------------------------------- */

static char *folder_of(const char *target)
{
    const size_t bytes = strlen(target) + sizeof ".resume";
    char *folder = malloc(bytes);
    if (folder)
        snprintf(folder, bytes, "%s.resume", target);
    return folder;
}

/* The folder for an output of this name. */
static char *folder_for(const char *name)
{
    char *target = outfile_target(name), *folder = target ? folder_of(target) : NULL;
    free(target);
    return folder;
}

static char *path_in(const char *folder, const char *name)
{
    const size_t bytes = strlen(folder) + strlen(name) + 2;
    char *path = malloc(bytes);
    if (path)
        snprintf(path, bytes, "%s/%s", folder, name);
    return path;
}

char *segments_path(const segments *s, const char *name)
{
    return path_in(s->folder, name);
}

static char *segment_path(const segments *s, unsigned number)
{
    char name[32];
    snprintf(name, sizeof name, "%06u", number);
    return segments_path(s, name);
}

static bool fail_at(const char *folder, const char *what, pipeline_error *error)
{
    return pipeline_fail(error, "%s: cannot be %s: %s", folder, what, strerror(errno));
}

/* Creates a file that a signal removes. */
static int create_temporary(const char *path)
{
    stop_hold();
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 && !stop_removes(path, NULL)) {
        unlink(path);
        close(fd);
        errno = ENOMEM;
        fd = -1;
    }
    stop_release();
    return fd;
}

static void remove_temporary(const char *path)
{
    unlink(path);
    stop_keeps(path);
}

/* Opens a file of a name that nobody else uses, in another process or on another machine. */
static FILE *open_temporary(const segments *s, char **path)
{
    for (unsigned tries = 0; tries < 100; tries++) {
        char name[64];
        snprintf(name, sizeof name, "%lx-%" PRIx64 "%s", (long)getpid(), clock_ns() + tries,
                 part_suffix);
        *path = segments_path(s, name);
        const int fd = *path ? create_temporary(*path) : (errno = ENOMEM, -1);
        FILE *file = fd < 0 ? NULL : fdopen(fd, "w+b");
        if (file)
            return file;
        const int reason = errno;
        if (fd >= 0) {
            close(fd);
            remove_temporary(*path);
        }
        free(*path);
        *path = NULL;
        errno = reason;
        if (reason != EEXIST)
            return NULL;
    }
    return NULL;
}

/* Flushes a file to the disk and closes it. */
static bool close_durably(FILE *file)
{
    const bool durable = !fflush(file) && !fsync(fileno(file));
    const int reason = errno;
    const bool closed = !fclose(file);
    if (!durable)
        errno = reason;
    return durable && closed;
}

/* ---- sums ----------------------------------------------------------------------------------- */

static bool begin_sum(segments *s)
{
    s->sum = s->sum ? s->sum : av_md5_alloc();
    if (s->sum)
        av_md5_init(s->sum);
    return s->sum;
}

/* Writes bytes of a segment and adds them to its sum. bytes: NULL if there are none. */
static bool put(segments *s, const void *bytes, size_t count)
{
    if (!count)
        return true;
    av_md5_update(s->sum, bytes, count);
    return fwrite(bytes, 1, count, s->file) == count;
}

/* ---- the work ------------------------------------------------------------------------------- */

/* The first word of a line that another line does not have; NULL: it has all. */
static const char *find_word(const char *line, const char *other, size_t *length)
{
    for (const char *word = line; *word; word += *length + (word[*length] == ' ')) {
        *length = strcspn(word, " ");
        const char *at = other;
        while (strcspn(at, " ") != *length || memcmp(at, word, *length)) {
            at += strcspn(at, " ");
            if (!*at++)
                return word;
        }
    }
    return NULL;
}

/* In what the work that was begun differs from this one: " (it was begun with --crf=20)". The words
 * of files have no meaning for people. */
static void tell_difference(char *text, size_t size, const char *begun, const char *now)
{
    size_t length = 0;
    const char *with = find_word(begun, now, &length), *word = with;
    if (!with)
        word = find_word(now, begun, &length);
    const char *file = word ? strstr(word, "=@") : NULL;
    *text = 0;
    if (file && file < word + length)
        snprintf(text, size, " (it was begun with another file as %.*s)", (int)(file - word), word);
    else if (word)
        snprintf(text, size, " (it was begun %s %.*s)", with ? "with" : "without", (int)length,
                 word);
}

static bool check_work(const segments *s, const char *begun, const char *key, pipeline_error *error)
{
    char difference[160] = "";
    const bool known = !strncmp(begun, heading, sizeof heading - 1);
    if (known && !strcmp(begun + sizeof heading - 1, key))
        return true;
    if (known)
        tell_difference(difference, sizeof difference, begun + sizeof heading - 1, key);
    return pipeline_fail(error,
                         "%s: expected work on the same input with the same options and the same "
                         "versions of mona and libav, found different work%s; repeat it with the "
                         "same ones or remove the folder",
                         s->folder, difference);
}

static void sum_text(uint8_t sum[SEGMENTS_SUM], const char *text, size_t length)
{
    av_md5_sum(sum, (const uint8_t *)text, length);
}

static const char sum_word[] = "sum ";

static void print_sum(char text[2 * SEGMENTS_SUM + 1], const char *of, size_t length)
{
    uint8_t sum[SEGMENTS_SUM];
    sum_text(sum, of, length);
    for (int i = 0; i < SEGMENTS_SUM; i++)
        snprintf(text + 2 * i, 3, "%02x", sum[i]);
}

/* Two lines of the work, those of the cuts, and one of the sum of all that. The caller frees it. */
static char *compose_work(const cuts *c, const segments_work *work)
{
    char *text = NULL, sum[2 * SEGMENTS_SUM + 1];
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    if (!f)
        return NULL;
    fprintf(f, "%s%s\n%s\n", heading, work->key, work->words);
    cuts_print(c, f);
    fflush(f);
    print_sum(sum, text, bytes);
    fprintf(f, "%s%s\n", sum_word, sum);
    if (!fclose(f))
        return text;
    free(text);
    return NULL;
}

/* Gives the file of the work its name, unless another run was faster. */
static bool write_work(segments *s, const char *text, pipeline_error *error)
{
    char *temporary, *path = segments_path(s, work_name);
    FILE *file = path ? open_temporary(s, &temporary) : NULL;
    if (!file) {
        free(path);
        return fail_at(s->folder, "written", error);
    }
    bool good = fputs(text, file) >= 0;
    good = close_durably(file) && good && (!link(temporary, path) || errno == EEXIST);
    good = good || fail_at(s->folder, "written", error);
    outfile_sync_folder(path);
    outfile_sync_folder(s->folder);
    remove_temporary(temporary);
    free(temporary);
    free(path);
    return good;
}

/* Reads all of the file of the work, which the caller frees. NULL: failed. */
static char *read_work(int fd)
{
    struct stat status;
    char *text = !fstat(fd, &status) && status.st_size > 0 && status.st_size < INT_MAX
                     ? malloc((size_t)status.st_size + 1)
                     : NULL;
    const ssize_t got = text ? pread(fd, text, (size_t)status.st_size, 0) : -1;
    if (got == status.st_size) {
        text[got] = 0;
        return text;
    }
    free(text);
    return NULL;
}

/* Ends the first lines of the text. Returns the line after each, or NULL if it is damaged. */
static bool split_work(char *text, char **words, char **rest)
{
    char sum[2 * SEGMENTS_SUM + 1];
    const size_t bytes = strlen(text), tail = sizeof sum_word - 1 + 2 * SEGMENTS_SUM + 1;
    if (bytes < tail)
        return false;
    print_sum(sum, text, bytes - tail);
    const char *last = text + bytes - tail;
    if (memcmp(last, sum_word, sizeof sum_word - 1) ||
        memcmp(last + sizeof sum_word - 1, sum, 2 * SEGMENTS_SUM) || text[bytes - 1] != '\n')
        return false;
    *words = strchr(text, '\n');
    *rest = *words ? strchr(*words + 1, '\n') : NULL;
    if (!*rest)
        return false;
    *(*words)++ = 0;
    *(*rest)++ = 0;
    return true;
}

static bool take_work(segments *s, const segments_work *work, pipeline_error *error)
{
    char *text = read_work(s->lock), *words, *rest;
    if (!text)
        return fail_at(s->folder, "read", error);
    const bool whole = split_work(text, &words, &rest);
    bool good = !whole || check_work(s, text, work->key, error);
    if (good && (!whole || !cuts_parse(&s->cuts, rest)))
        good = pipeline_fail(error, "%s: %s is damaged; remove the folder to begin anew", s->folder,
                             work_name);
    free(text);
    return good;
}

/* Opens the file of the work, and writes it first where there is none. */
static bool open_work(segments *s, const segments_work *work, segments_find find, void *context,
                      pipeline_error *error)
{
    char *path = segments_path(s, work_name);
    if (!path)
        return pipeline_fail(error, "out of memory");
    s->lock = open(path, O_RDWR | O_CLOEXEC);
    if (s->lock < 0 && errno == ENOENT) {
        cuts c;
        char *text = NULL;
        bool good = find(context, &c, error) &&
                    ((text = compose_work(&c, work)) || pipeline_fail(error, "out of memory")) &&
                    write_work(s, text, error);
        free(text);
        cuts_free(&c);
        s->lock = good ? open(path, O_RDWR | O_CLOEXEC) : -1;
    }
    free(path);
    return s->lock >= 0 || (!error->text[0] && fail_at(s->folder, "written", error));
}

/* Where the file system has no locks, as some networks', two runs do the same work twice. */
static bool lock_work(const segments *s, pipeline_error *error)
{
    const int how = s->part.parts ? LOCK_SH : LOCK_EX;
    return !flock(s->lock, how | LOCK_NB) || errno != EWOULDBLOCK ||
           pipeline_fail(error, "%s: another mona is working on it", s->folder);
}

char *segments_words(const char *name, pipeline_error *error)
{
    char *folder = folder_for(name), *path = folder ? path_in(folder, work_name) : NULL;
    char *text = NULL, *words = NULL, *rest, *copy = NULL;
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (!path)
        pipeline_fail(error, "out of memory");
    else if (fd < 0)
        pipeline_fail(error, "%s: expected parts of a film there, which enhance --part makes: %s",
                      folder, strerror(errno));
    else if (!(text = read_work(fd)))
        fail_at(folder, "read", error);
    else if (!split_work(text, &words, &rest) || strncmp(text, heading, sizeof heading - 1))
        pipeline_fail(error, "%s: %s is damaged, or of another version of mona", folder, work_name);
    else if (!(copy = strdup(words)))
        pipeline_fail(error, "out of memory");
    if (fd >= 0)
        close(fd);
    free(text);
    free(path);
    free(folder);
    return copy;
}

/* ---- what is done --------------------------------------------------------------------------- */

enum { MISSING, GOOD, DAMAGED, FOREIGN, DOUBLED }; /* conditions of segments */

/* Reads a file of `bytes` up to its trailer, and whether its sum is right. */
static bool is_whole(segments *s, FILE *file, off_t bytes, trailer *t)
{
    uint8_t piece[16384], sum[SEGMENTS_SUM];
    off_t left = bytes - (off_t)sizeof *t;
    if (fseek(file, 0, SEEK_SET) || !begin_sum(s))
        return false;
    while (left > 0) {
        const size_t want = left < (off_t)sizeof piece ? (size_t)left : sizeof piece;
        if (fread(piece, 1, want, file) != want)
            return false;
        av_md5_update(s->sum, piece, want);
        left -= (off_t)want;
    }
    if (fread(t, sizeof *t, 1, file) != 1)
        return false;
    av_md5_update(s->sum, (const uint8_t *)t, offsetof(trailer, sum));
    av_md5_final(s->sum, sum);
    return !memcmp(sum, t->sum, sizeof sum);
}

static uint8_t look(segments *s, unsigned number, header *h, trailer *t)
{
    struct stat status;
    char *path = segment_path(s, number);
    FILE *file = path ? fopen(path, "rb") : NULL;
    free(path);
    if (!file)
        return MISSING;
    uint8_t found = DAMAGED;
    if (!fstat(fileno(file), &status) && status.st_size >= (off_t)(sizeof *h + sizeof *t) &&
        fread(h, sizeof *h, 1, file) == 1 && !memcmp(h->magic, magic, sizeof magic) &&
        is_whole(s, file, status.st_size, t))
        found = memcmp(h->key, s->key, sizeof s->key) ? FOREIGN
                : h->number != number                 ? DOUBLED
                                                      : GOOD;
    fclose(file);
    return found;
}

static bool find_done(segments *s, pipeline_error *error)
{
    const uint64_t all = s->cuts.count, parts = s->part.parts, part = s->part.part;
    s->first = parts ? (unsigned)((part - 1) * all / parts) : 0;
    s->end = parts ? (unsigned)(part * all / parts) : s->cuts.count;
    s->found = calloc(s->cuts.count, sizeof *s->found);
    if (!s->found)
        return pipeline_fail(error, "out of memory");
    for (unsigned i = s->first; i < s->end; i++) {
        header h = {.parts = 0};
        trailer t;
        const uint8_t found = s->found[i] = look(s, i, &h, &t);
        s->frames += found == GOOD ? t.frames : 0;
        s->kept += found == GOOD;
        s->damaged += found != GOOD && found != MISSING;
        s->parts = found == GOOD && h.parts ? h.parts : s->parts;
    }
    return true;
}

bool segments_has(const segments *s, unsigned number)
{
    return s->found[number] == GOOD;
}

bool segments_open(segments *s, const char *name, const segments_work *work, segments_find find,
                   void *context, pipeline_error *error)
{
    *s = (segments){.folder = folder_of(name), .lock = -1, .part = work->part};
    if (!s->folder)
        return pipeline_fail(error, "out of memory");
    sum_text(s->key, work->key, strlen(work->key));
    if (mkdir(s->folder, 0777) && errno != EEXIST)
        return fail_at(s->folder, "created", error);
    return open_work(s, work, find, context, error) && lock_work(s, error) &&
           take_work(s, work, error) && find_done(s, error);
}

bool segments_exist(const char *name)
{
    char *folder = folder_for(name);
    const bool there = folder && !access(folder, F_OK);
    free(folder);
    return there;
}

/* The part that makes a segment, where the film has so many. */
static unsigned part_of(const segments *s, unsigned number, unsigned parts)
{
    const uint64_t all = s->cuts.count;
    return (unsigned)((((uint64_t)number + 1) * parts + all - 1) / all);
}

/* " 3", " 3 to 5" */
static void print_range(FILE *f, const char *what, const segments *s, unsigned from, unsigned to)
{
    const unsigned parts = s->parts;
    fprintf(f, from == to ? "%s %06u" : "%s %06u to %06u", what, from, to);
    if (!parts)
        return;
    const unsigned first = part_of(s, from, parts), last = part_of(s, to, parts);
    fprintf(f, first == last ? " (part %u/%u)" : " (parts %u/%u to %u/%u)", first, parts, last,
            parts);
}

static void print_faults(FILE *f, const segments *s)
{
    static const char *const names[] = {[MISSING] = "missing",
                                        [DAMAGED] = "damaged",
                                        [FOREIGN] = "of other work",
                                        [DOUBLED] = "a copy of another one"};
    enum { MOST = 6 };
    unsigned told = 0;
    for (unsigned i = 0, end; i < s->cuts.count; i = end) {
        for (end = i + 1; end < s->cuts.count && s->found[end] == s->found[i];)
            end++;
        if (s->found[i] == GOOD)
            continue;
        if (told++ == MOST) {
            fprintf(f, ", and others");
            return;
        }
        char what[64];
        snprintf(what, sizeof what, "%s%s:", told > 1 ? ", " : "", names[s->found[i]]);
        print_range(f, what, s, i, end - 1);
    }
}

bool segments_check(const segments *s, pipeline_error *error)
{
    if (s->kept == s->cuts.count)
        return true;
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    if (f)
        print_faults(f, s);
    if (f && !fclose(f))
        pipeline_fail(error, "%s: expected %u whole segments, found %u; %s", s->folder,
                      s->cuts.count, s->kept, text);
    else
        pipeline_fail(error, "out of memory");
    free(text);
    return false;
}

/* ---- writing -------------------------------------------------------------------------------- */

static bool begin(segments *s, unsigned number, pipeline_error *error)
{
    header h = {.number = number, .part = s->part.part, .parts = s->part.parts};
    memcpy(h.magic, magic, sizeof magic);
    memcpy(h.key, s->key, sizeof s->key);
    if (!begin_sum(s))
        return pipeline_fail(error, "out of memory");
    s->file = open_temporary(s, &s->writing);
    return (s->file && put(s, &h, sizeof h)) || fail_at(s->folder, "written", error);
}

bool segments_write(segments *s, unsigned number, const AVPacket *packet, pipeline_error *error)
{
    size_t alpha_size = 0;
    const uint8_t *alpha = av_packet_get_side_data(packet, alpha_type, &alpha_size);
    const record r = {packet->pts,
                      packet->dts,
                      packet->duration,
                      packet->flags,
                      packet->size,
                      (int32_t)alpha_size,
                      0};
    if (!s->file && !begin(s, number, error))
        return false;
    return (put(s, &r, sizeof r) && put(s, packet->data, (size_t)packet->size) &&
            put(s, alpha, alpha_size)) ||
           fail_at(s->folder, "written", error);
}

bool segments_seal(segments *s, unsigned number, uint64_t frames, int64_t end,
                   pipeline_error *error)
{
    trailer t = {.frames = frames, .end = end};
    if (!s->file && !begin(s, number, error))
        return false;
    av_md5_update(s->sum, (const uint8_t *)&t, offsetof(trailer, sum));
    av_md5_final(s->sum, t.sum);
    FILE *file = s->file;
    s->file = NULL;
    bool good = fwrite(&t, sizeof t, 1, file) == 1;
    good = close_durably(file) && good;
    char *path = segment_path(s, number);
    stop_hold();
    good = path && good && !rename(s->writing, path);
    if (good)
        stop_keeps(s->writing);
    stop_release();
    if (good)
        outfile_sync_folder(path);
    free(path);
    if (!good)
        return fail_at(s->folder, "written", error);
    free(s->writing);
    s->writing = NULL;
    s->found[number] = GOOD;
    s->frames += frames;
    return true;
}

/* ---- reading -------------------------------------------------------------------------------- */

static bool take_packet(segments *s, const record *r, AVPacket *packet, pipeline_error *error)
{
    if (r->size <= 0 || r->size > INT_MAX / 2 || av_new_packet(packet, r->size) < 0)
        return pipeline_fail(error, "%s: expected a packet in segment %u, found none", s->folder,
                             s->reading);
    packet->pts = r->pts;
    packet->dts = r->dts;
    packet->duration = r->duration;
    packet->flags = r->flags;
    uint8_t *alpha = NULL;
    if (r->alpha_size > 0 && r->alpha_size < INT_MAX / 2)
        alpha = av_packet_new_side_data(packet, alpha_type, (size_t)r->alpha_size);
    return (fread(packet->data, 1, (size_t)r->size, s->file) == (size_t)r->size &&
            (!r->alpha_size || (alpha && fread(alpha, 1, (size_t)r->alpha_size, s->file) ==
                                             (size_t)r->alpha_size))) ||
           pipeline_fail(error, "%s: segment %u ends within a packet", s->folder, s->reading);
}

static bool open_to_read(segments *s, pipeline_error *error)
{
    struct stat status;
    char *path = segment_path(s, s->reading);
    s->file = path ? fopen(path, "rb") : NULL;
    free(path);
    if (!s->file || fstat(fileno(s->file), &status) || fseek(s->file, sizeof(header), SEEK_SET))
        return fail_at(s->folder, "read", error);
    s->read_end = (long)(status.st_size - (off_t)sizeof(trailer));
    return true;
}

int segments_read(segments *s, AVPacket *packet, pipeline_error *error)
{
    record r;
    for (;;) {
        if (!s->file && s->reading == s->cuts.count)
            return 0;
        if (!s->file && !open_to_read(s, error))
            return -1;
        if (ftell(s->file) < s->read_end && fread(&r, sizeof r, 1, s->file) == 1)
            return take_packet(s, &r, packet, error) ? 1 : -1;
        if (ferror(s->file))
            return fail_at(s->folder, "read", error) ? 1 : -1;
        fclose(s->file);
        s->file = NULL;
        s->reading++;
    }
}

bool segments_end(segments *s, int64_t *end, pipeline_error *error)
{
    *end = INT64_MIN;
    for (unsigned i = s->cuts.count; i-- > 0 && *end == INT64_MIN;) {
        trailer t = {0};
        s->reading = i;
        if (!open_to_read(s, error))
            return false;
        const bool got =
            !fseek(s->file, s->read_end, SEEK_SET) && fread(&t, sizeof t, 1, s->file) == 1;
        fclose(s->file);
        s->file = NULL;
        if (!got)
            return fail_at(s->folder, "read", error);
        *end = t.frames ? t.end : INT64_MIN;
    }
    s->reading = 0;
    return true;
}

/* ---- the end -------------------------------------------------------------------------------- */

/* A segment, the work, or a temporary file that a run left that was killed. */
static bool is_ours(const char *name)
{
    const size_t length = strlen(name), suffix = sizeof part_suffix - 1;
    return !strcmp(name, work_name) || strspn(name, "0123456789") == length ||
           (length > suffix && !strcmp(name + length - suffix, part_suffix));
}

bool segments_remove(segments *s)
{
    DIR *folder = opendir(s->folder);
    if (!folder)
        return false;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (is_ours(entry->d_name))
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    return !rmdir(s->folder) || errno == ENOTEMPTY || errno == EEXIST;
}

void segments_close(segments *s)
{
    if (s->file)
        fclose(s->file);
    if (s->writing)
        remove_temporary(s->writing);
    if (s->lock > 0)
        close(s->lock);
    cuts_free(&s->cuts);
    free(s->writing);
    free(s->found);
    free(s->folder);
    av_free(s->sum);
    *s = (segments){0};
}
