// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/containers/url.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long a call may wait. RTP goes over the connection that is there: no packet is lost or
 * passes a firewall anew. */
#define RTSP "rtsp_transport=tcp:timeout="
#define OTHERS "rw_timeout="

static const url urls[] = {
    {"rtsp", "rtsp,rtp,tcp,udp", "rtsp", RTSP, false},
    {"rtsps", "rtsps,rtsp,rtp,tcp,udp,tls,crypto", "rtsp", RTSP, false},
    {"rtmp", "rtmp,tcp", "flv", OTHERS, false},
    {"rtmps", "rtmps,rtmp,tcp,tls,crypto", "flv", OTHERS, false},
    {"udp", "udp", "mpegts", OTHERS, false},
    {"rtp", "rtp,udp", "rtp_mpegts", OTHERS, false},
    {"srt", "srt", "mpegts", OTHERS, false},
    {"tcp", "tcp", "mpegts", OTHERS, false},
    {"http", "http,tcp", "mpegts", OTHERS, false},
    {"https", "https,http,tls,tcp,crypto", "mpegts", OTHERS, false},
};
static const url camera = {"v4l2", "file", NULL, NULL, true};

/* The length of a scheme that path begins with; 0: it has none. */
static size_t scheme_length(const char *path)
{
    const size_t length =
        strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
    return !strncmp(path + length, "://", 3) ? length : 0;
}

const url *url_find(const char *path)
{
    struct stat status;
    const size_t length = scheme_length(path);
    if (!strncmp(path, "/dev/video", 10) && !stat(path, &status) && S_ISCHR(status.st_mode))
        return &camera;
    for (size_t i = 0; length && i < sizeof urls / sizeof *urls; i++)
        if (strlen(urls[i].scheme) == length && !memcmp(urls[i].scheme, path, length))
            return &urls[i];
    return NULL;
}

bool url_check(const char *path, pipeline_error *error)
{
    char known[256] = "";
    if (!scheme_length(path) || url_find(path) || !access(path, F_OK))
        return true;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                 urls[i].scheme);
    return pipeline_fail(error, "%s: expected a file or one of %s, found '%.*s'", path, known,
                         (int)scheme_length(path), path);
}

bool url_is_playlist(const char *path)
{
    const char *suffix = strrchr(path, '.');
    return suffix && !strcmp(suffix, ".m3u8");
}

bool url_options(const url *u, double seconds, AVDictionary **options)
{
    char text[64];
    if (av_dict_set(options, "protocol_whitelist", u->protocols, 0) < 0)
        return false;
    if (!u->options)
        return true;
    snprintf(text, sizeof text, "%s%.0f", u->options, 1e6 * seconds);
    return av_dict_parse_string(options, text, "=", ":", 0) >= 0;
}

const AVInputFormat *url_input_format(const url *u, pipeline_error *error)
{
    /* libavdevice brings windows and sound along, which only who has a camera need load. Its number
     * is libavformat's. */
    char name[32];
    snprintf(name, sizeof name, "libavdevice.so.%d", LIBAVFORMAT_VERSION_MAJOR);
    void *library = u->camera ? dlopen(name, RTLD_NOW) : NULL;
    void (*register_all)(void) = NULL;
    if (library)
        *(void **)&register_all = dlsym(library, "avdevice_register_all");
    if (register_all)
        register_all();
    const AVInputFormat *found = register_all ? av_find_input_format("v4l2") : NULL;
    if (u->camera && !found)
        pipeline_fail(error, "cameras are read by %s, which is not installed", name);
    return found;
}
