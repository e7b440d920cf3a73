// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/sources/source.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include <libavutil/parseutils.h>

#include "pipeline/image/metadata.h"
#include "pipeline/image/orientation.h"
#include "pipeline/image/picture_kind.h"
#include "pipeline/image/stills.h"
#include "pipeline/io/sources/input.h"

enum { LONGEST_NAME = 4096, MAX_DIGITS = 9 };

/* The last part of a pattern: the text before the number, its minimum width, and the text after
 * it. */
typedef struct parts {
    const char *name, *percent, *tail;
    int width;
} parts;

static bool split(parts *p, const char *pattern)
{
    const char *slash = strrchr(pattern, '/');
    *p = (parts){.name = slash ? slash + 1 : pattern};
    p->percent = strchr(p->name, '%');
    if (!p->percent)
        return false;
    const char *digit = p->percent + 1;
    if (*digit == '0' && isdigit((unsigned char)digit[1]))
        p->width = *++digit - '0', digit++;
    p->tail = digit + 1;
    return *digit == 'd' && p->width <= MAX_DIGITS && !strchr(p->tail, '%');
}

/* Pictures that are read as a film, besides those that are written. */
static bool is_read(const char *name)
{
    static const char *const suffixes[] = {".tif", ".tiff", ".bmp", ".dpx", ".pgm", ".ppm"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof suffixes / sizeof *suffixes; i++)
        if (!strcasecmp(dot, suffixes[i]))
            return true;
    return still_can_write(name);
}

bool picture_pattern(const char *name)
{
    parts p;
    struct stat status;
    return split(&p, name) && is_read(name) && stat(name, &status);
}

bool picture_name(char *name, size_t size, const char *pattern, uint32_t n)
{
    parts p;
    return split(&p, pattern) && snprintf(name, size, "%.*s%0*u%s", (int)(p.percent - pattern),
                                          pattern, p.width, n, p.tail) < (int)size;
}

/* The number in a file's name; -1: the name does not match the pattern. */
static int64_t number_in(const parts *p, const char *file)
{
    char again[NAME_MAX + 1];
    const size_t before = (size_t)(p->percent - p->name);
    if (strncmp(file, p->name, before) || !isdigit((unsigned char)file[before]))
        return -1;
    const size_t digits = strspn(file + before, "0123456789");
    if (digits > MAX_DIGITS)
        return -1;
    const unsigned long number = strtoul(file + before, NULL, 10);
    snprintf(again, sizeof again, "%.*s%0*lu%s", (int)before, p->name, p->width, number, p->tail);
    return strcmp(again, file) ? -1 : (int64_t)number;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool add(picture_list *list, size_t *room, uint32_t number)
{
    if (list->count == *room) {
        const size_t more = *room ? 2 * *room : 256;
        uint32_t *numbers = realloc(list->numbers, more * sizeof *numbers);
        if (!numbers)
            return false;
        list->numbers = numbers;
        *room = more;
    }
    list->numbers[list->count++] = number;
    return true;
}

static bool find(picture_list *list, const parts *p, DIR *folder)
{
    size_t room = 0;
    const struct dirent *entry;
    while ((entry = readdir(folder))) {
        const int64_t number = number_in(p, entry->d_name);
        if (number >= 0 && !add(list, &room, (uint32_t)number))
            return false;
    }
    if (list->count)
        qsort(list->numbers, list->count, sizeof *list->numbers, by_number);
    return true;
}

/* The video's length in pictures, missing ones included. */
static int64_t picture_list_length(const picture_list *list)
{
    return list->count ? (int64_t)list->numbers[list->count - 1] - list->numbers[0] + 1 : 0;
}

static void tell_gaps(const picture_list *list, const pipeline_notes *notes)
{
    char name[LONGEST_NAME];
    const uint64_t missing = (uint64_t)picture_list_length(list) - list->count;
    if (!missing)
        return;
    size_t i = 1;
    while (list->numbers[i] == list->numbers[i - 1] + 1)
        i++;
    if (picture_name(name, sizeof name, list->pattern, list->numbers[i - 1] + 1))
        pipeline_note(notes,
                      missing == 1 ? "%s: of %llu pictures, %llu is missing, %s; the one before it "
                                     "is shown for longer"
                                   : "%s: of %llu pictures, %llu are missing, the first of them "
                                     "%s; the one before each gap is shown for longer",
                      list->pattern, (unsigned long long)picture_list_length(list),
                      (unsigned long long)missing, name);
}

bool picture_list_open(picture_list *list, const char *pattern, const pipeline_notes *notes,
                       pipeline_error *error)
{
    parts p;
    *list = (picture_list){.pattern = pattern};
    if (!split(&p, pattern))
        return pipeline_fail(error, "%s: expected one %%d in the name", pattern);
    char *path = p.name == pattern ? strdup(".") : strndup(pattern, (size_t)(p.name - pattern));
    DIR *folder = path ? opendir(path) : NULL;
    const int reason = errno;
    free(path);
    if (!folder)
        return pipeline_fail(error, "%s: cannot be read: %s", pattern, strerror(reason));
    const bool found = find(list, &p, folder);
    closedir(folder);
    if (!found)
        return pipeline_fail(error, "out of memory");
    if (!list->count)
        return pipeline_fail(error, "%s: expected pictures with names like this, found none",
                             pattern);
    tell_gaps(list, notes);
    return true;
}

/* The next picture's file as a packet, at its number less the first one's. A libav code. */
static int picture_list_read(picture_list *list, AVPacket *packet)
{
    char name[LONGEST_NAME];
    struct stat status;
    if (list->next == list->count)
        return AVERROR_EOF;
    const uint32_t number = list->numbers[list->next++];
    if (!picture_name(name, sizeof name, list->pattern, number))
        return AVERROR(ENAMETOOLONG);
    FILE *file = fopen(name, "rb");
    if (!file)
        return AVERROR(errno);
    int code = fstat(fileno(file), &status) ? AVERROR(errno) : 0;
    if (!code && (status.st_size <= 0 || status.st_size > INT_MAX / 2))
        code = AVERROR_INVALIDDATA;
    if (!code)
        code = av_new_packet(packet, (int)status.st_size);
    if (!code && fread(packet->data, 1, (size_t)packet->size, file) != (size_t)packet->size) {
        av_packet_unref(packet);
        code = AVERROR(EIO);
    }
    fclose(file);
    if (code)
        return code;
    packet->pts = packet->dts = number - list->numbers[0];
    packet->duration = list->next < list->count ? list->numbers[list->next] - number : 1;
    packet->flags |= AV_PKT_FLAG_KEY;
    packet->stream_index = 0;
    return 0;
}

void picture_list_close(picture_list *list)
{
    free(list->numbers);
    *list = (picture_list){0};
}

bool picture_list_check(const char *name, const AVPacket *packet, tiff_info *info,
                        pipeline_error *error)
{
    const size_t size = (size_t)packet->size;
    *info = (tiff_info){0};
    return jpeg_check(name, packet->data, size, error) &&
           (picture_kind_of(packet->data, size) != PICTURE_TIFF ||
            tiff_check(info, name, packet->data, size, error));
}

/* ---- as a source ----------------------------------------------------------------------------- */

static bool is_pattern(const input_settings *settings)
{
    return picture_pattern(settings->path);
}

/* Before libav looks at the first one. */
static bool check_first(const source *s, pipeline_error *error)
{
    char name[LONGEST_NAME];
    tiff_info info;
    source first = *s;
    AVPacket *packet = av_packet_alloc();
    const bool good = packet && (picture_list_read(&first.pictures, packet) < 0 ||
                                 picture_list_check(source_file(&first, name, sizeof name), packet,
                                                    &info, error));
    if (good && packet->size && info.pages > 1)
        pipeline_note(s->notes, "%s: holds %u pictures; only the first is used",
                      source_file(&first, name, sizeof name), info.pages);
    av_packet_free(&packet);
    return good;
}

/* libav probes the first one, mona reads them all. */
static bool probe(source *s, const input_settings *settings, const char *rate,
                  pipeline_error *error)
{
    char address[SOURCE_ADDRESS];
    AVDictionary *options = NULL;
    if (snprintf(address, sizeof address, "file:%s", settings->path) >= (int)sizeof address)
        return pipeline_fail(error, "%s: the name is too long", s->path);
    const bool opened =
        ((av_dict_set(&options, "framerate", rate, 0) >= 0 &&
          av_dict_set(&options, "pattern_type", "sequence", 0) >= 0 &&
          av_dict_set_int(&options, "start_number", s->pictures.numbers[0], 0) >= 0) ||
         pipeline_fail(error, "out of memory")) &&
        source_open_media(s, address, av_find_input_format("image2"), "image2", &options, error);
    av_dict_free(&options);
    return opened;
}

static bool open_source(source *s, const input_settings *settings, pipeline_error *error)
{
    AVRational rate;
    const char *text = settings->rate ? settings->rate : "25";
    if (av_parse_video_rate(&rate, text) < 0)
        return pipeline_misuse(error, "--fps: expected a rate such as 25 or 24000/1001, found '%s'",
                               text);
    if (!picture_list_open(&s->pictures, settings->path, s->notes, error) ||
        !check_first(s, error) || !probe(s, settings, text, error))
        return false;
    AVStream *video = s->format->streams[0];
    video->nb_frames = (int64_t)s->pictures.count;
    video->duration = picture_list_length(&s->pictures);
    s->format->duration = av_rescale_q(video->duration, video->time_base, AV_TIME_BASE_Q);
    return true;
}

/* libav turns JPEGs alone. A PNG's tag few viewers read. */
static int tell_turn(AVPacket *packet)
{
    const size_t size = (size_t)packet->size;
    const picture_kind kind = picture_kind_of(packet->data, size);
    picture_metadata m;
    if (kind != PICTURE_WEBP && kind != PICTURE_TIFF)
        return 0;
    const bool good = metadata_read(&m, packet->data, size);
    const orientation turn = orientation_of_exif(metadata_orientation(&m));
    metadata_free(&m);
    uint8_t *matrix =
        good && orientation_changes(turn)
            ? av_packet_new_side_data(packet, AV_PKT_DATA_DISPLAYMATRIX, sizeof(int32_t[9]))
            : NULL;
    if (matrix)
        orientation_matrix((int32_t *)(void *)matrix, turn);
    return matrix || (good && !orientation_changes(turn)) ? 0 : AVERROR(ENOMEM);
}

static int read_packet(source *s, AVPacket *packet)
{
    const int code = picture_list_read(&s->pictures, packet);
    return code < 0 ? code : tell_turn(packet);
}

static void close_source(source *s)
{
    picture_list_close(&s->pictures);
    avformat_close_input(&s->format);
}

const source_kind source_pictures = {is_pattern, open_source,  read_packet, NULL, NULL,
                                     NULL,       close_source, false,       true};
