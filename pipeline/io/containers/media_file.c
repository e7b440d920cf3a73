// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/containers/media_file.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavutil/avstring.h>
#include <libavutil/bprint.h>
#include <libavutil/opt.h>

#define MEDIA                                                                                      \
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,mpegvideo,m4v,h261,h263,h264,hevc,vvc," \
    "evc,obu,av1,ivf,vc1,vc1test,mjpeg,mjpeg_2000,mpjpeg,cavsvideo,avs,avs2,avs3,dirac,dnxhd,dv,"  \
    "flv,live_flv,kux,asf,asf_o,ogg,rm,nut,nuv,nsv,mxf,gxf,lxf,wtv,ty,r3d,rawvideo,yuv4mpegpipe,"  \
    "gif,apng,flic,smk,bink,roq,film_cpk,swf,svs,dhav,ifv,lmlm4,xmv,vividas,ipmovie,cine,ser,ipu," \
    "image2pipe,bmp_pipe,dds_pipe,dpx_pipe,exr_pipe,gem_pipe,gif_pipe,hdr_pipe,ico,j2k_pipe,"      \
    "jpeg_pipe,jpegls_pipe,jpegxl_pipe,jpegxl_anim,pam_pipe,pbm_pipe,pcx_pipe,pfm_pipe,pgm_pipe,"  \
    "pgmyuv_pipe,pgx_pipe,phm_pipe,photocd_pipe,pictor_pipe,png_pipe,ppm_pipe,psd_pipe,qdraw_"     \
    "pipe,"                                                                                        \
    "qoi_pipe,sgi_pipe,sunrast_pipe,tiff_pipe,vbn_pipe,webp_pipe,xbm_pipe,xpm_pipe,xwd_pipe,fits," \
    "aac,ac3,aiff,amr,caf,dts,eac3,flac,mp3,truehd,w64,wav"

/* A context's opaque value is mona's: how many files were opened before there were streams, of
 * which lists that name themselves have no end, marks, and how many files of a list were not
 * read. */
enum {
    MOST_BEFORE_STREAMS = 100,
    ENDS_LISTS = 1 << 16,
    HAS_ENDED = 1 << 17,
    HAS_BREAKS = 1 << 18,
    BREAKS_KNOWN = 1 << 19, /* of a server's list */
    ONE_LOST = 1 << 20
};

static uintptr_t marks(const AVFormatContext *media)
{
    return (uintptr_t)media->opaque;
}

static void mark(AVFormatContext *media, uintptr_t bits)
{
    media->opaque = (void *)(marks(media) | bits);
}

/* Whether url is a file below the folder of list; *found: its address, without links. */
static bool is_below(const char *list, const char *url, char found[PATH_MAX + 8])
{
    char folder[PATH_MAX], path[PATH_MAX];
    av_strstart(list, "file:", &list);
    av_strstart(url, "file:", &url);
    if (!realpath(list, folder) || !realpath(url, path))
        return false;
    *(strrchr(folder, '/') + 1) = 0;
    snprintf(found, PATH_MAX + 8, "file:%s", path);
    return av_strstart(path, folder, NULL);
}

/* Opens what a list names, or the list, if it is read. */
static int open_counted(AVFormatContext *media, AVIOContext **part, const char *url, int flags,
                        AVDictionary **options)
{
    AVDictionary *own = NULL;
    if (!media->nb_streams)
        media->opaque = (void *)(marks(media) + 1);
    if (marks(media) % ENDS_LISTS > MOST_BEFORE_STREAMS)
        return AVERROR(ELOOP);
    if (flags & AVIO_FLAG_WRITE)
        return AVERROR(EACCES);
    options = options ? options : &own;
    int code = av_dict_set(options, "protocol_whitelist", media->protocol_whitelist, 0);
    if (code >= 0)
        code = avio_open2(part, url, flags, &media->interrupt_callback, options);
    av_dict_free(&own);
    return code;
}

static bool is_playlist(AVIOContext *file)
{
    static const char first[] = "#EXTM3U";
    unsigned char head[sizeof first - 1];
    const bool playlist =
        avio_read(file, head, sizeof head) == (int)sizeof head && !memcmp(head, first, sizeof head);
    avio_seek(file, 0, SEEK_SET);
    return playlist;
}

static bool has_breaks(const char *list)
{
    static const char tag[] = "\n#EXT-X-DISCONTINUITY"; /* and its -SEQUENCE, which is none */
    while ((list = strstr(list, tag)) && *(list += sizeof tag - 1) == '-')
        continue;
    return list;
}

enum { MOST_OF_LIST = 64 << 20 }; /* bytes: a month of seconds */

/* Puts the list with an end behind it in its place; a second end says nothing more. */
static int end_list(AVFormatContext *media, AVIOContext **part)
{
    static const char end[] = "\n#EXT-X-ENDLIST";
    AVDictionary *options = NULL;
    AVBPrint text;
    char *data = NULL;
    av_bprint_init(&text, 0, MOST_OF_LIST);
    int code = avio_read_to_bprint(*part, &text, MOST_OF_LIST);
    if (code >= 0) {
        mark(media, strstr(text.str, "#EXTINF") && !strstr(text.str, end) ? HAS_ENDED : 0);
        mark(media, has_breaks(text.str) ? HAS_BREAKS : 0);
        avio_closep(part);
        data = av_asprintf("data:text/plain,%s%s\n", text.str, end);
        code = data ? av_dict_set(&options, "protocol_whitelist", "data", 0) : AVERROR(ENOMEM);
        if (code >= 0)
            code = avio_open2(part, data, AVIO_FLAG_READ, &media->interrupt_callback, &options);
    }
    av_bprint_finalize(&text, NULL);
    av_dict_free(&options);
    av_free(data);
    return code;
}

/* libav's reader of HLS goes on with the next file where it cannot open one, and says nothing. */
static int count_lost(AVFormatContext *media, int code)
{
    enum { MOST = 1 << 12 };
    if (code < 0 && code != AVERROR_EXIT && media->iformat && reader_of(media->iformat)->list &&
        media_lost_files(media) < MOST)
        media->opaque = (void *)(marks(media) + ONE_LOST);
    return code;
}

/* Whether the file has the bytes that a list wants of it; libav's reader of HLS does not ask. */
static bool is_long_enough(AVIOContext *file, const AVDictionary *options)
{
    const AVDictionaryEntry *end = av_dict_get(options, "end_offset", NULL, 0);
    const int64_t size = avio_size(file);
    return size < 0 || (size > 0 && (!end || strtoll(end->value, NULL, 10) <= size));
}

unsigned media_lost_files(const AVFormatContext *media)
{
    return (unsigned)(marks(media) / ONE_LOST);
}

void media_pass_lost(AVFormatContext *to, AVFormatContext *from)
{
    const uintptr_t lost = media_lost_files(from) * (uintptr_t)ONE_LOST;
    from->opaque = (void *)(marks(from) - lost);
    to->opaque = (void *)(marks(to) + lost);
}

static int open_part(AVFormatContext *media, AVIOContext **part, const char *url, int flags,
                     AVDictionary **options)
{
    const reader *kind = media->iformat ? reader_of(media->iformat) : NULL;
    const bool itself = !strcmp(url, media->url);
    char address[PATH_MAX + 8];
    if (!itself && !(kind && kind->pattern)) { /* which was given */
        if (!kind || !kind->below || !is_below(media->url, url, address))
            return count_lost(media, AVERROR(EACCES));
        url = address;
    }
    const int code = count_lost(media, open_counted(media, part, url, flags, options));
    if (code >= 0 && !itself && !is_long_enough(*part, options ? *options : NULL))
        count_lost(media, AVERROR_EOF);
    return code >= 0 && marks(media) & ENDS_LISTS && is_playlist(*part) ? end_list(media, part)
                                                                        : code;
}

void media_end_lists(AVFormatContext *media)
{
    mark(media, ENDS_LISTS);
}

bool media_list_ended(const AVFormatContext *media)
{
    return marks(media) & HAS_ENDED;
}

/* libav's reader of HLS asks for playlists over one connection past io_open, if the server lets
 * it. */
static const char one_connection[] = "http_persistent";

static int open_remote(AVFormatContext *media, AVIOContext **part, const char *url, int flags,
                       AVDictionary **options)
{
    return count_lost(media, open_counted(media, part, url, flags, options));
}

/* Reads a server's list once more. Where that fails, and of a list of lists, it is not known, and
 * so nothing is missing for certain. */
static bool remote_has_breaks(AVFormatContext *media)
{
    AVIOContext *list = NULL;
    AVBPrint text;
    av_bprint_init(&text, 0, MOST_OF_LIST);
    const bool known = open_counted(media, &list, media->url, AVIO_FLAG_READ, NULL) >= 0 &&
                       avio_read_to_bprint(list, &text, MOST_OF_LIST) >= 0 &&
                       strstr(text.str, "#EXTINF") && !has_breaks(text.str);
    av_bprint_finalize(&text, NULL);
    avio_closep(&list);
    return !known;
}

bool media_list_has_breaks(AVFormatContext *media)
{
    if (!(marks(media) & BREAKS_KNOWN) && media->io_open == open_remote &&
        reader_of(media->iformat)->list)
        mark(media, BREAKS_KNOWN | (remote_has_breaks(media) ? HAS_BREAKS : 0));
    return marks(media) & HAS_BREAKS;
}

static bool guard_remote(AVFormatContext *media, AVDictionary **options)
{
    media->io_open = open_remote;
    return av_dict_set(options, one_connection, "0", 0) >= 0;
}

void media_opened_remote(AVFormatContext *media)
{
    av_opt_set(media, one_connection, "1", AV_OPT_SEARCH_CHILDREN);
}

bool media_guard(AVFormatContext *media, bool remote, const char *address, const char *list,
                 AVDictionary **options)
{
    if (remote)
        return guard_remote(media, options);
    char known[sizeof MEDIA + 32];
    snprintf(known, sizeof known, MEDIA "%s%s", list ? "," : "", list ? list : "");
    media->io_open = open_part;
    /* As FFmpeg's own commands do: else libav looks for no stream of a broadcast that comes later
     * than the first few packets of the others. */
    return av_dict_set(options, "scan_all_pmts", "1", 0) >= 0 &&
           av_dict_set(options, "protocol_whitelist",
                       !strncmp(address, "pipe", 4) ? "pipe" : "file", 0) >= 0 &&
           av_dict_set(options, "format_whitelist", known, 0) >= 0;
}

bool media_name_misleads(const char *address)
{
    return strpbrk(address, "*?{%") || av_match_ext(address, "jpg,jpeg");
}

/* The name by which libav recognises the file: from FFmpeg 7.1 on it takes a playlist for one only
 * under a playlist's name. */
static const char *name_to_probe(const char *address, AVIOContext *file)
{
    return is_playlist(file) ? "playlist.m3u8" : media_name_misleads(address) ? "" : address;
}

const AVInputFormat *media_format(const char *address)
{
    AVIOContext *file = NULL;
    const AVInputFormat *format = NULL;
    if (!av_strstart(address, "file:", NULL) || avio_open(&file, address, AVIO_FLAG_READ) < 0)
        return NULL;
    if (av_probe_input_buffer2(file, &format, name_to_probe(address, file), NULL, 0, 0) < 0)
        format = NULL;
    avio_closep(&file);
    return format;
}

static bool is_encrypted(const char *address)
{
    enum { ENOUGH = 4096 };
    char head[ENOUGH + 1];
    AVIOContext *file = NULL;
    if (avio_open(&file, address, AVIO_FLAG_READ) < 0)
        return false;
    const int got = avio_read(file, (unsigned char *)head, ENOUGH);
    avio_closep(&file);
    head[got > 0 ? got : 0] = 0;
    return strstr(head, "#EXT-X-KEY:") && !strstr(head, "METHOD=NONE");
}

bool media_refused(const char *path, const char *address, const char *allowed,
                   pipeline_error *error)
{
    const AVInputFormat *format = media_format(address);
    if (!format || av_match_list(format->name, MEDIA, ',') > 0)
        return false;
    const reader *kind = reader_of(format);
    const char *names =
        !kind->list                                       ? ""
        : kind->below && allowed && is_encrypted(address) ? ", whose files are encrypted"
        : kind->below && allowed ? ", which names a file that is not in or below its folder, or is "
                                   "no media"
        : kind->below
            ? ", which names other files; mona enhance --allow playlist reads those below "
              "its folder"
            : ", which names other files";
    return !pipeline_fail(error, "%s: expected a video or an image, found %s%s", path,
                          kind->called ? kind->called : format->long_name, names);
}
