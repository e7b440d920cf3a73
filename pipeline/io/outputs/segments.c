// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/outputs/segments.h"

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

#include "pipeline/base/outfile.h"

static const char journal_name[] = "journal";
static const char heading[] = "mona resume 5 ";

/* Precedes the bytes of a packet, which are followed by those of its alpha, if any. */
typedef struct record {
    int64_t pts, dts, duration;
    int32_t flags, size, alpha_size, zero;
} record;

enum { LINE = 8192 }; /* longest line of the journal */

static const enum AVPacketSideDataType alpha_type = AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL;

/* ---- names ---------------------------------------------------------------------------------- */

char *segments_path(const segments *s, const char *name)
{
    size_t bytes = strlen(s->folder) + strlen(name) + 2;
    char *path = malloc(bytes);
    if (path)
        snprintf(path, bytes, "%s/%s", s->folder, name);
    return path;
}

static char *segment_path(const segments *s, unsigned number)
{
    char name[32];
    snprintf(name, sizeof name, "%06u", number);
    return segments_path(s, name);
}

static bool fail_at(const segments *s, const char *what, pipeline_error *error)
{
    return pipeline_fail(error, "%s: cannot be %s: %s", s->folder, what, strerror(errno));
}

/* ---- the journal ---------------------------------------------------------------------------- */

/* Parses pairs of hexadecimal digits. */
static bool parse_bytes(const char *text, void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned value;
        if (sscanf(text + 2 * i, "%2x", &value) != 1)
            return false;
        ((uint8_t *)bytes)[i] = (uint8_t)value;
    }
    return true;
}

/* Parses what each stage remembers: " -" for nothing, or the bytes up to the last that is not 0. */
static bool parse_memory(const char *text, chain_memory *memory)
{
    *memory = (chain_memory){0};
    for (int i = 0; i < CHAIN_MAX_STAGES; i++) {
        if (*text++ != ' ')
            return false;
        const size_t length = strcspn(text, " \n");
        const bool nothing = length == 1 && *text == '-';
        if (!nothing && (length % 2 || length > 2 * STAGE_MEMORY ||
                         !parse_bytes(text, memory->stages[i].bytes, length / 2)))
            return false;
        text += length;
    }
    return true;
}

static int print_memory(char *text, const stage_memory *memory)
{
    size_t count = STAGE_MEMORY;
    while (count && !memory->bytes[count - 1])
        count--;
    int length = sprintf(text, count ? " " : " -");
    for (size_t i = 0; i < count; i++)
        length += sprintf(text + length, "%02x", memory->bytes[i]);
    return length;
}

enum { SUM = 16 }; /* bytes of an MD5 */

static bool begin_sum(segments *s)
{
    s->sum = s->sum ? s->sum : av_md5_alloc();
    if (s->sum)
        av_md5_init(s->sum);
    return s->sum;
}

/* Completes the sum of a segment with the line that describes it. */
static void end_sum(segments *s, uint8_t sum[SUM], const char *line, size_t length)
{
    av_md5_update(s->sum, (const uint8_t *)line, length);
    av_md5_final(s->sum, sum);
}

/* Whether the file of the next segment, and the line up to its sum, are as they were written. */
static bool has_segment(segments *s, const char *line)
{
    const char *end = strstr(line, " sum ");
    char *path = segment_path(s, s->count);
    FILE *file = path && end ? fopen(path, "rb") : NULL;
    uint8_t bytes[16384], sum[SUM], written[SUM];
    size_t count = 0;
    free(path);
    bool good = file && begin_sum(s);
    while (good && (count = fread(bytes, 1, sizeof bytes, file)))
        av_md5_update(s->sum, bytes, count);
    good = good && !ferror(file);
    if (file)
        fclose(file);
    if (!good)
        return false;
    end_sum(s, sum, line, (size_t)(end - line));
    end += sizeof " sum " - 1;
    return strlen(end) == 2 * SUM + 1 && parse_bytes(end, written, SUM) &&
           !memcmp(sum, written, SUM);
}

/* Processes a line. False: it does not describe a complete segment, so the rest of the journal is
 * ignored. */
static bool take_line(segments *s, const char *line)
{
    uint64_t frames;
    int64_t end;
    int read = 0;
    chain_memory memory;
    if (sscanf(line, "segment %" SCNu64 " %" SCNd64 " memory%n", &frames, &end, &read) != 2 ||
        !read || !strchr(line, '\n') || !parse_memory(line + read, &memory) ||
        !has_segment(s, line))
        return false;
    s->count++;
    s->frames += frames;
    s->end = end;
    s->memory = memory;
    return true;
}

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

/* In what the work that was begun differs from this one: " (it was begun with --crf=20)". The words of
 * files have no meaning for people. */
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

static bool check_work(const segments *s, const char *begun, const char *work,
                       pipeline_error *error)
{
    char difference[160] = "";
    const bool known = !strncmp(begun, heading, sizeof heading - 1);
    if (known && !strcmp(begun + sizeof heading - 1, work))
        return true;
    if (known)
        tell_difference(difference, sizeof difference, begun + sizeof heading - 1, work);
    return pipeline_fail(error,
                         "%s: expected work on the same input with the same options and the same "
                         "versions of mona and libav, found different work%s; repeat it with the "
                         "same ones or remove the folder",
                         s->folder, difference);
}

/* Reads an existing journal. *good: the end of its valid part. */
static bool read_journal(segments *s, const char *work, long *good, pipeline_error *error)
{
    char line[LINE], *begun = NULL;
    size_t room = 0;
    *good = 0;
    const ssize_t length = getline(&begun, &room, s->journal);
    const bool whole = length > 0 && begun[length - 1] == '\n';
    if (whole)
        begun[length - 1] = 0;
    /* Without it the journal is new, or was interrupted before its first line was complete. */
    const bool same = !whole || check_work(s, begun, work, error);
    free(begun);
    if (!whole || !same)
        return same;
    *good = ftell(s->journal);
    while (fgets(line, sizeof line, s->journal) && take_line(s, line))
        *good = ftell(s->journal);
    return true;
}

static bool append(segments *s, const char *line, pipeline_error *error)
{
    return (fputs(line, s->journal) >= 0 && !fflush(s->journal) && !fsync(fileno(s->journal))) ||
           fail_at(s, "written", error);
}

static bool open_journal(segments *s, const char *work, pipeline_error *error)
{
    long good;
    char *path = segments_path(s, journal_name);
    if (!path)
        return pipeline_fail(error, "out of memory");
    s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    free(path);
    if (s->lock < 0)
        return fail_at(s, "written", error);
    if (flock(s->lock, LOCK_EX | LOCK_NB))
        return pipeline_fail(error, "%s: another mona is working on it", s->folder);
    s->journal = fdopen(s->lock, "r+");
    if (!s->journal)
        return fail_at(s, "read", error);
    if (!read_journal(s, work, &good, error))
        return false;
    if (fseek(s->journal, good, SEEK_SET) || ftruncate(s->lock, good))
        return fail_at(s, "written", error);
    if (good)
        return true;
    return append(s, heading, error) && append(s, work, error) && append(s, "\n", error);
}

bool segments_open(segments *s, const char *name, const char *work, pipeline_error *error)
{
    size_t bytes = strlen(name) + sizeof ".resume";
    *s = (segments){.folder = malloc(bytes), .lock = -1, .end = 0};
    if (!s->folder)
        return pipeline_fail(error, "out of memory");
    snprintf(s->folder, bytes, "%s.resume", name);
    if (mkdir(s->folder, 0777) && errno != EEXIST)
        return fail_at(s, "created", error);
    return open_journal(s, work, error);
}

bool segments_exist(const char *name)
{
    char path[PATH_MAX];
    char *target = outfile_target(name);
    const int length = snprintf(path, sizeof path, "%s.resume", target ? target : "");
    free(target);
    return length < (int)sizeof path && !access(path, F_OK);
}

/* ---- writing -------------------------------------------------------------------------------- */

/* what: is done with it. */
static bool open_segment(segments *s, unsigned number, const char *mode, const char *what,
                         pipeline_error *error)
{
    char *path = segment_path(s, number);
    if (!path)
        return pipeline_fail(error, "out of memory");
    s->file = fopen(path, mode);
    free(path);
    return s->file || fail_at(s, what, error);
}

bool segments_write(segments *s, const AVPacket *packet, pipeline_error *error)
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
    if (!s->file && !begin_sum(s))
        return pipeline_fail(error, "out of memory");
    if (!s->file && !open_segment(s, s->count, "wb", "written", error))
        return false;
    av_md5_update(s->sum, (const uint8_t *)&r, sizeof r);
    av_md5_update(s->sum, packet->data, (size_t)packet->size);
    av_md5_update(s->sum, alpha, alpha_size);
    return (fwrite(&r, sizeof r, 1, s->file) == 1 &&
            fwrite(packet->data, 1, (size_t)packet->size, s->file) == (size_t)packet->size &&
            (!alpha || fwrite(alpha, 1, alpha_size, s->file) == alpha_size)) ||
           fail_at(s, "written", error);
}

bool segments_seal(segments *s, uint64_t frames, int64_t end, const chain_memory *memory,
                   pipeline_error *error)
{
    char line[LINE];
    uint8_t sum[SUM];
    _Static_assert(LINE > 512 + CHAIN_MAX_STAGES * 2 * (STAGE_MEMORY + 1), "room for all");
    FILE *file = s->file;
    s->file = NULL;
    bool durable = !fflush(file) && !fsync(fileno(file));
    if (fclose(file) || !durable)
        return fail_at(s, "written", error);
    int length = snprintf(line, sizeof line, "segment %" PRIu64 " %" PRId64 " memory", frames, end);
    for (int i = 0; i < CHAIN_MAX_STAGES; i++)
        length += print_memory(line + length, &memory->stages[i]);
    end_sum(s, sum, line, (size_t)length);
    length += sprintf(line + length, " sum ");
    for (int i = 0; i < SUM; i++)
        length += sprintf(line + length, "%02x", sum[i]);
    snprintf(line + length, sizeof line - (size_t)length, "\n");
    if (!append(s, line, error))
        return false;
    s->count++;
    s->frames += frames;
    s->end = end;
    s->memory = *memory;
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

int segments_read(segments *s, AVPacket *packet, pipeline_error *error)
{
    record r;
    for (;;) {
        if (!s->file && s->reading == s->count)
            return 0;
        if (!s->file && !open_segment(s, s->reading, "rb", "read", error))
            return -1;
        if (fread(&r, sizeof r, 1, s->file) == 1)
            return take_packet(s, &r, packet, error) ? 1 : -1;
        if (ferror(s->file))
            return fail_at(s, "read", error) ? 1 : -1;
        fclose(s->file);
        s->file = NULL;
        s->reading++;
    }
}

/* ---- the end -------------------------------------------------------------------------------- */

void segments_remove(segments *s)
{
    for (unsigned i = 0; i <= s->count; i++) {
        char *path = segment_path(s, i);
        if (path)
            unlink(path);
        free(path);
    }
    char *path = segments_path(s, journal_name);
    if (path)
        unlink(path);
    free(path);
    rmdir(s->folder);
}

void segments_close(segments *s)
{
    if (s->file)
        fclose(s->file);
    if (s->journal)
        fclose(s->journal);
    else if (s->lock > 0)
        close(s->lock);
    free(s->folder);
    av_free(s->sum);
    *s = (segments){0};
}
