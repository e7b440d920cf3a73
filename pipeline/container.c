#include "container.h"

#include <string.h>

#include <libavcodec/avcodec.h>

static const struct {
    const char *format, *suffix;
} alternatives[] = {{"matroska", ".mkv"}, {"mp4", ".mp4"}, {"mov", ".mov"}, {"nut", ".nut"}};

bool container_regenerates(const AVStream *stream)
{
    return stream->codecpar->codec_tag == MKTAG('t', 'm', 'c', 'd');
}

static bool is_matroska(const AVOutputFormat *format)
{
    return !strcmp(format->name, "matroska");
}

static bool holds(const AVOutputFormat *format, const AVStream *stream)
{
    const AVCodecParameters *codec = stream->codecpar;
    if (codec->codec_type == AVMEDIA_TYPE_ATTACHMENT)
        return is_matroska(format);
    if (codec->codec_type == AVMEDIA_TYPE_DATA && is_matroska(format))
        return false;
    /* Writers that do not say what they hold say so with AVERROR_PATCHWELCOME. */
    int answer = avformat_query_codec(format, codec->codec_id, FF_COMPLIANCE_NORMAL);
    return answer == 1 || answer == AVERROR_PATCHWELCOME;
}

/* The first stream that does not fit, or -1. */
static int first_misfit(const AVOutputFormat *format, const AVFormatContext *input,
                        const AVStream *video)
{
    for (unsigned i = 0; i < input->nb_streams; i++) {
        const AVStream *stream = input->streams[i];
        if (stream != video && !container_regenerates(stream) && !holds(format, stream))
            return (int)i;
    }
    return -1;
}

bool container_check(const AVOutputFormat *format, const char *path, const AVFormatContext *input,
                     const AVStream *video, pipeline_error *error)
{
    int misfit = first_misfit(format, input, video);
    if (misfit < 0)
        return true;

    const AVCodecParameters *codec = input->streams[misfit]->codecpar;
    const char *type = av_get_media_type_string(codec->codec_type);
    const char *suffix = NULL;
    for (size_t i = 0; i < sizeof alternatives / sizeof *alternatives && !suffix; i++) {
        const AVOutputFormat *other = av_guess_format(alternatives[i].format, NULL, NULL);
        if (other && first_misfit(other, input, video) < 0)
            suffix = alternatives[i].suffix;
    }
    return pipeline_fail(error, "%s: %s cannot hold stream %d (%s, %s); %s%s%s", path, format->name,
                         misfit, type ? type : "unknown", avcodec_get_name(codec->codec_id),
                         suffix ? "a name in " : "no container of mona's holds all streams",
                         suffix ? suffix : "", suffix ? " would" : "");
}
