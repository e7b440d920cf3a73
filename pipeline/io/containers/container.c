// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/containers/container.h"

#include <string.h>

#include <libavutil/display.h>

#include "pipeline/base/av_compat.h"

/* ---- codecs --------------------------------------------------------------------------------- */

/* Those with a stream type in the MPEG transport stream. Its writer accepts anything else as
 * private data, which nothing can read back. */
static const enum AVCodecID transport[] = {
    AV_CODEC_ID_H264,         AV_CODEC_ID_HEVC,      AV_CODEC_ID_MPEG1VIDEO,
    AV_CODEC_ID_MPEG2VIDEO,   AV_CODEC_ID_MPEG4,     AV_CODEC_ID_MP2,
    AV_CODEC_ID_MP3,          AV_CODEC_ID_AAC,       AV_CODEC_ID_AAC_LATM,
    AV_CODEC_ID_AC3,          AV_CODEC_ID_EAC3,      AV_CODEC_ID_DTS,
    AV_CODEC_ID_TRUEHD,       AV_CODEC_ID_OPUS,      AV_CODEC_ID_DVB_SUBTITLE,
    AV_CODEC_ID_DVB_TELETEXT, AV_CODEC_ID_SMPTE_KLV, AV_CODEC_ID_TIMED_ID3,
    AV_CODEC_ID_BIN_DATA,     AV_CODEC_ID_NONE};
/* QuickTime's writer reports these as supported, but refuses them. */
static const enum AVCodecID not_in_mov[] = {AV_CODEC_ID_FLAC, AV_CODEC_ID_OPUS, AV_CODEC_ID_VP9,
                                            AV_CODEC_ID_AV1, AV_CODEC_ID_NONE};
static const enum AVCodecID not_in_ismv[] = {AV_CODEC_ID_VP9,  AV_CODEC_ID_AV1,  AV_CODEC_ID_AC3,
                                             AV_CODEC_ID_EAC3, AV_CODEC_ID_FLAC, AV_CODEC_ID_OPUS,
                                             AV_CODEC_ID_NONE};
static const enum AVCodecID not_in_psp[] = {AV_CODEC_ID_VP9,      AV_CODEC_ID_AV1,
                                            AV_CODEC_ID_FLAC,     AV_CODEC_ID_OPUS,
                                            AV_CODEC_ID_MOV_TEXT, AV_CODEC_ID_NONE};
/* What these need to be decoded, the size of a block or of a sample, is not in NUT. */
static const enum AVCodecID not_in_nut[] = {
    AV_CODEC_ID_WMAV1,       AV_CODEC_ID_WMAV2,      AV_CODEC_ID_WMAPRO,
    AV_CODEC_ID_WMALOSSLESS, AV_CODEC_ID_WMAVOICE,   AV_CODEC_ID_ATRAC3,
    AV_CODEC_ID_COOK,        AV_CODEC_ID_ADPCM_G726, AV_CODEC_ID_NONE};
/* AVI's writer gives these a clock that is not theirs: two seconds of DTS last half a second. */
static const enum AVCodecID not_in_avi[] = {AV_CODEC_ID_VORBIS, AV_CODEC_ID_DTS, AV_CODEC_ID_NONE};
static const enum AVCodecID av1[] = {AV_CODEC_ID_AV1, AV_CODEC_ID_NONE};
static const enum AVCodecID png[] = {AV_CODEC_ID_PNG, AV_CODEC_ID_NONE};
static const enum AVCodecID raw[] = {AV_CODEC_ID_RAWVIDEO, AV_CODEC_ID_NONE};

/* ---- tags, as the writers in libav 59 store them -------------------------------------------- */

enum {
    /* Some cannot store "default" either; it is not reported, as nobody set it on purpose. */
    MARKS_NONE = AV_DISPOSITION_DEFAULT,
    MARKS_WEBM =
        MARKS_NONE | AV_DISPOSITION_FORCED | AV_DISPOSITION_CAPTIONS | AV_DISPOSITION_DESCRIPTIONS,
    MARKS_MATROSKA = MARKS_NONE | AV_DISPOSITION_FORCED | AV_DISPOSITION_DUB |
                     AV_DISPOSITION_ORIGINAL | AV_DISPOSITION_COMMENT |
                     AV_DISPOSITION_HEARING_IMPAIRED | AV_DISPOSITION_VISUAL_IMPAIRED |
                     AV_DISPOSITION_DESCRIPTIONS,
    MARKS_MP4 = MARKS_NONE | AV_DISPOSITION_FORCED | AV_DISPOSITION_DUB | AV_DISPOSITION_COMMENT |
                AV_DISPOSITION_HEARING_IMPAIRED | AV_DISPOSITION_VISUAL_IMPAIRED |
                AV_DISPOSITION_CAPTIONS | AV_DISPOSITION_DESCRIPTIONS,
    MARKS_TS = MARKS_NONE | AV_DISPOSITION_HEARING_IMPAIRED | AV_DISPOSITION_VISUAL_IMPAIRED |
               AV_DISPOSITION_CLEAN_EFFECTS
};

/* Names that players look for in QuickTime's containers. The first becomes a track, which .m4v and
 * the like have not. */
static const char *const of_mp4[] = {
    "timecode",   "title",    "artist",           "album_artist", "composer",
    "album",      "date",     "comment",          "genre",        "copyright",
    "grouping",   "lyrics",   "description",      "synopsis",     "show",
    "episode_id", "network",  "keywords",         "episode_sort", "season_number",
    "media_type", "hd_video", "gapless_playback", "compilation",  "track",
    "disc",       NULL};
static const char *const of_mov[] = {"timecode", "title", "artist",    "album",    "date",
                                     "comment",  "genre", "copyright", "keywords", NULL};
static const char *const of_3gp[] = {"title", "artist",  "author",    "album",
                                     "genre", "comment", "copyright", NULL};
static const char *const of_avi[] = {"title",    "artist",   "album", "comment",    "copyright",
                                     "date",     "genre",    "track", "encoded_by", "language",
                                     "timecode", "software", /* set by its own writer */
                                     NULL};
static const char *const of_ts[] = {"service_name", "service_provider", NULL};
static const char *const of_track[] = {"timecode", "language", NULL}, *const title[] = {"title",
                                                                                        NULL};
static const char *const none[] = {NULL};

/* libav writes QuickTime's own numbers of languages, and reads these codes from them. */
static const char macintosh[] =
    "eng fra ger ita dut sve spa dan por nor heb jpn ara fin gre ice mlt tur hr  chi urd hin tha "
    "kor lit pol hun est lav smi fo  per rus iri alb ron ces slk slv yid sr  mac bul ukr bel uzb "
    "kaz aze arm geo mol kir tgk tuk mon pus kur kas snd tib nep san mar ben asm guj pa  ori mal "
    "kan tam tel sin bur khm lao vie ind tgl may amh tir orm som swa kin run nya mlg epo wel baq "
    "cat lat que grn aym tat uig dzo jav ";

static const container_tags mkv_tags = {NULL, NULL, MARKS_MATROSKA, NULL},
                            webm_tags = {NULL, NULL, MARKS_WEBM, NULL},
                            mp4_tags = {of_mp4, of_track, MARKS_MP4, NULL},
                            ipod_tags = {of_mp4 + 1, of_track + 1, MARKS_NONE, NULL},
                            psp_tags = {none, of_track + 1, MARKS_NONE, NULL},
                            mov_tags = {of_mov, of_track, MARKS_NONE, macintosh},
                            gp_tags = {of_3gp, of_track + 1, MARKS_NONE, NULL},
                            avi_tags = {of_avi, title, MARKS_NONE, NULL},
                            ts_tags = {of_ts, of_track + 1, MARKS_TS, NULL},
                            avif_tags = {none, none, MARKS_NONE, NULL},
                            flv_tags = {NULL, none, MARKS_NONE, NULL};

/* ---- options -------------------------------------------------------------------------------- */

/* The index is moved to the front, so that players can begin before they have the end of the file.
 * For that the whole file is read and written a second time. */
#define MOV_FILE "movflags=+faststart"
#define MOV_LIVE "movflags=+frag_keyframe+delay_moov+default_base_moof"
#define MOV_ANY "movflags=+use_metadata_tags"
/* The last minute stays; an older segment goes, so that a camera fills no disk. */
#define HLS_FILE "hls_time=2:hls_list_size=0"
#define HLS_LIVE "hls_time=2:hls_list_size=30:hls_flags=delete_segments+independent_segments"

/* ---- the rows ------------------------------------------------------------------------------- */

/* A trait that is forgotten does not compile. */
#define CALLED(name_, called_, suffix_) .name = name_, .called = called_, .suffix = suffix_
#define CODECS(only_, never_, raw_) .only = only_, .never = never_, .raw = raw_
#define WRITER(tags_, options_, live_, any_)                                                       \
    .tags = tags_, .options = options_, .live_options = live_, .any_option = any_
#define IS(one_, frames_, pictures_, quicktime_, seeks_, counts_, old_, itself_, ids_, bare_,      \
           mute_, loops_)                                                                          \
    .one = one_, .frames = frames_, .pictures = pictures_, .quicktime = quicktime_,                \
    .seeks = seeks_, .counts = counts_, .old = old_, .itself = itself_, .ids = ids_,               \
    .bare = bare_, .mute = mute_, .loops = loops_
#define HOLDS(starts_, text_, files_, data_, chapters_, colours_, range_, siting_, layout_,        \
              alpha_, lead_, whole_, speakers_, covers_)                                           \
    .starts = starts_, .text = text_, .files = files_, .data = data_, .chapters = chapters_,       \
    .colours = colours_, .range = range_, .siting = siting_, .layout = layout_, .alpha = alpha_,   \
    .lead = lead_, .whole = whole_, .speakers = speakers_, .covers = COVERS_##covers_

enum { o = false, X = true };

/* IS:    one, frames, pictures, quicktime, seeks, counts, old, itself, ids, bare, mute, loops
 * HOLDS: starts, text, files, data, chapters, colours, range, siting, layout, alpha, lead, whole,
 *        speakers, covers */
/* clang-format off */
static const container rows[] = {
    {CALLED("matroska", NULL, ".mkv"), CODECS(NULL, NULL, RAW_TAGGED),
     WRITER(&mkv_tags, NULL, NULL, NULL),
     IS(o, o, o, o, o, o, o, o, X, o, o, o), HOLDS(X, X, X, o, X, X, X, X, X, X, X, o, o, FILES),
     .riff = true},
    {CALLED("mp4", NULL, ".mp4"), CODECS(NULL, NULL, RAW_TAGGED),
     WRITER(&mp4_tags, MOV_FILE, MOV_LIVE, MOV_ANY),
     IS(o, o, o, X, X, o, o, o, X, o, o, o), HOLDS(X, X, o, X, X, X, X, o, X, o, o, o, X, COMMON)},
    {CALLED("mov", NULL, ".mov"), CODECS(NULL, not_in_mov, RAW_COLOURS),
     WRITER(&mov_tags, MOV_FILE, MOV_LIVE, MOV_ANY),
     IS(o, o, o, X, X, o, o, o, X, o, o, o), HOLDS(X, X, o, X, X, X, o, o, o, o, o, o, X, NONE)},
    {CALLED("mpegts", NULL, ".ts"), CODECS(transport, NULL, RAW_TAGGED),
     WRITER(&ts_tags, NULL, NULL, NULL),
     IS(o, o, o, o, o, o, o, o, X, o, o, o), HOLDS(X, o, o, X, o, o, o, o, o, o, o, o, X, NONE),
     .programmes = true, .adts = true, .m2ts_options = "mpegts_m2ts_mode=1"},
    {CALLED("nut", NULL, ".nut"), CODECS(NULL, not_in_nut, RAW_TAGGED), WRITER(NULL, NULL, NULL, NULL),
     IS(o, o, o, o, o, o, o, o, X, o, o, o), HOLDS(X, X, o, X, X, o, o, o, o, o, o, o, o, NONE),
     .adts = true},

    {CALLED("webm", NULL, NULL), CODECS(NULL, NULL, RAW_TAGGED),
     WRITER(&webm_tags, NULL, NULL, NULL),
     IS(o, o, o, o, o, o, o, o, X, o, o, o), HOLDS(X, X, o, X, X, X, X, X, X, X, X, X, X, NONE)},
    {CALLED("ipod", NULL, NULL), CODECS(NULL, NULL, RAW_TAGGED),
     WRITER(&ipod_tags, MOV_FILE, MOV_LIVE, MOV_ANY),
     IS(o, o, o, X, X, o, o, o, X, o, o, o), HOLDS(X, X, o, X, X, o, o, o, o, o, o, o, X, COMMON)},
    {CALLED("3gp", NULL, NULL), CODECS(NULL, NULL, RAW_TAGGED),
     WRITER(&gp_tags, MOV_FILE, MOV_LIVE, NULL),
     IS(o, o, o, X, X, o, o, o, X, o, o, o), HOLDS(X, X, o, X, X, o, o, o, o, o, o, o, X, NONE)},
    {CALLED("3g2", NULL, NULL), CODECS(NULL, NULL, RAW_TAGGED),
     WRITER(&gp_tags, MOV_FILE, MOV_LIVE, NULL),
     IS(o, o, o, X, X, o, o, o, X, o, o, o), HOLDS(X, X, o, X, X, o, o, o, o, o, o, o, X, NONE)},
    {CALLED("f4v", NULL, NULL), CODECS(NULL, NULL, RAW_TAGGED),
     WRITER(&ipod_tags, MOV_FILE, MOV_LIVE, MOV_ANY),
     IS(o, o, o, X, X, o, o, o, X, o, o, o), HOLDS(X, X, o, X, X, o, o, o, o, o, o, o, X, COMMON)},
    {CALLED("ismv", NULL, NULL), CODECS(NULL, not_in_ismv, RAW_TAGGED),
     WRITER(&ipod_tags, MOV_FILE, MOV_LIVE, MOV_ANY),
     IS(o, o, o, X, o, o, o, o, X, o, o, o), HOLDS(o, X, o, X, X, o, o, o, o, o, o, o, X, NONE)},
    {CALLED("psp", NULL, NULL), CODECS(NULL, not_in_psp, RAW_TAGGED),
     WRITER(&psp_tags, MOV_FILE, MOV_LIVE, NULL),
     IS(o, o, o, X, X, o, o, o, X, o, o, o), HOLDS(X, o, o, X, o, o, o, o, o, o, o, o, X, NONE)},
    {CALLED("avi", NULL, NULL), CODECS(NULL, not_in_avi, RAW_KNOWN), WRITER(&avi_tags, NULL, NULL, NULL),
     IS(o, o, o, o, o, X, X, o, X, o, o, o), HOLDS(o, X, o, X, o, o, o, o, o, o, o, o, X, NONE)},
    {CALLED("asf", NULL, NULL), CODECS(NULL, NULL, RAW_TAGGED), WRITER(NULL, NULL, NULL, NULL),
     IS(o, o, o, o, o, o, o, o, X, o, o, o), HOLDS(X, X, o, X, X, o, o, o, o, o, o, o, X, NONE)},
    {CALLED("flv", NULL, NULL), CODECS(NULL, NULL, RAW_TAGGED), WRITER(&flv_tags, NULL, NULL, NULL),
     IS(o, o, o, o, o, o, o, o, X, o, o, o), HOLDS(X, X, o, X, o, o, o, o, o, o, o, o, o, NONE)},
    {CALLED("gif", NULL, NULL), CODECS(NULL, NULL, RAW_TAGGED), WRITER(NULL, NULL, NULL, NULL),
     IS(o, o, o, o, o, o, o, o, X, o, X, X), HOLDS(X, X, o, X, o, o, o, o, o, o, o, o, X, NONE)},
    {CALLED("avif", NULL, NULL), CODECS(av1, NULL, RAW_TAGGED),
     WRITER(&avif_tags, NULL, NULL, NULL),
     IS(X, o, o, X, X, o, o, o, X, o, X, o), HOLDS(o, o, o, o, o, X, X, o, o, o, o, o, X, NONE)},

    {CALLED("rtp_mpegts", NULL, NULL), CODECS(transport, NULL, RAW_TAGGED),
     WRITER(NULL, NULL, NULL, NULL),
     IS(o, o, o, o, o, o, o, o, X, o, o, o), HOLDS(X, o, o, X, o, o, o, o, o, o, o, o, X, NONE),
     .adts = true},
    {CALLED("hls", NULL, NULL), CODECS(transport, NULL, RAW_TAGGED),
     WRITER(NULL, HLS_FILE, HLS_LIVE, NULL),
     IS(o, o, o, o, o, o, o, X, X, o, o, o), HOLDS(X, X, o, X, o, o, o, o, o, o, o, o, X, NONE),
     .adts = true},
    /* Its writer takes a stream's number for a type of payload. */
    {CALLED("rtsp", NULL, NULL), CODECS(transport, NULL, RAW_TAGGED),
     WRITER(NULL, NULL, NULL, NULL),
     IS(o, o, o, o, o, o, o, X, o, o, o, o), HOLDS(X, o, o, X, o, o, o, o, o, o, o, o, X, NONE)},

    {CALLED("image2", "a row of pictures", NULL), CODECS(png, NULL, RAW_TAGGED),
     WRITER(NULL, NULL, NULL, NULL),
     IS(X, o, X, o, o, o, o, o, X, o, X, o), HOLDS(o, o, o, o, o, o, o, o, o, o, o, o, X, NONE)},
    {CALLED("yuv4mpegpipe", NULL, NULL), CODECS(raw, NULL, RAW_ANY), WRITER(NULL, NULL, NULL, NULL),
     IS(X, X, o, o, o, o, o, o, X, X, o, o), HOLDS(o, o, o, o, o, o, X, o, o, o, o, o, X, NONE)},
    {CALLED("rawvideo", NULL, NULL), CODECS(NULL, NULL, RAW_ANY), WRITER(NULL, NULL, NULL, NULL),
     IS(X, o, o, o, o, o, o, o, X, X, o, o), HOLDS(o, o, o, o, o, o, o, o, o, o, o, o, X, NONE)},

    /* Streams without a container, and checksums. */
#define ONE(name)                                                                                  \
    {CALLED(name, NULL, NULL), CODECS(NULL, NULL, RAW_TAGGED), WRITER(NULL, NULL, NULL, NULL),     \
     IS(X, o, o, o, o, o, o, o, X, o, o, o), HOLDS(o, o, o, o, o, o, X, o, o, o, o, o, X, NONE)}
    ONE("h264"), ONE("hevc"), ONE("obu"), ONE("ivf"), ONE("framemd5"), ONE("md5"),

    /* All others: libav knows their codecs. */
    {CALLED(NULL, NULL, NULL), CODECS(NULL, NULL, RAW_TAGGED), WRITER(NULL, NULL, NULL, NULL),
     IS(o, o, o, o, o, o, o, o, X, o, o, o), HOLDS(X, X, o, X, o, o, o, o, o, o, o, o, X, NONE)},
};
/* clang-format on */

const container *container_at(unsigned i)
{
    return rows[i].name ? &rows[i] : NULL;
}

const container *container_row_of(const AVOutputFormat *format)
{
    const container *row = rows;
    while (row->name && strcmp(row->name, format->name))
        row++;
    return row;
}

/* ---- what they hold ------------------------------------------------------------------------- */

static bool is_listed(const enum AVCodecID *ids, enum AVCodecID codec)
{
    while (*ids != AV_CODEC_ID_NONE && *ids != codec)
        ids++;
    return *ids != AV_CODEC_ID_NONE;
}

/* Whether WAV has a number for a codec. */
static bool is_numbered(enum AVCodecID codec)
{
    const struct AVCodecTag *const tags[] = {avformat_get_riff_audio_tags(), NULL};
    return av_codec_get_tag(tags, codec) != 0;
}

bool container_holds_id(const AVOutputFormat *format, enum AVCodecID codec)
{
    const container *row = container_row_of(format);
    if (row->only)
        return is_listed(row->only, codec);
    if (row->riff && avcodec_get_type(codec) == AVMEDIA_TYPE_AUDIO)
        return avformat_query_codec(format, codec, FF_COMPLIANCE_NORMAL) == 1 || is_numbered(codec);
    return !(row->never && is_listed(row->never, codec)) &&
           avformat_query_codec(format, codec, FF_COMPLIANCE_EXPERIMENTAL) == 1;
}

static bool holds_cover(const container *row, enum AVCodecID codec)
{
    return row->covers == COVERS_FILES ||
           (row->covers == COVERS_COMMON &&
            (codec == AV_CODEC_ID_PNG || codec == AV_CODEC_ID_MJPEG || codec == AV_CODEC_ID_BMP));
}

static bool holds_codec(const AVOutputFormat *format, const AVStream *stream)
{
    const container *row = container_row_of(format);
    const AVCodecParameters *codec = stream->codecpar;
    if (container_is_cover(stream))
        return holds_cover(row, codec->codec_id);
    if (codec->codec_type == AVMEDIA_TYPE_ATTACHMENT)
        return row->files;
    if (container_is_unheard(stream))
        return false;
    return (codec->codec_type != AVMEDIA_TYPE_DATA || row->data) &&
           container_holds_id(format, codec->codec_id);
}

bool container_keeps_matrix(const AVOutputFormat *format)
{
    const container *row = container_row_of(format);
    return row->quicktime && !row->one;
}

bool container_holds_rotation(const AVOutputFormat *format, const AVStream *stream)
{
    const uint8_t *matrix = avstream_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, NULL);
    int32_t upright[9];
    av_display_rotation_set(upright, 0);
    return !matrix || !memcmp(matrix, upright, sizeof upright) || container_keeps_matrix(format);
}

bool container_holds(const AVOutputFormat *format, const AVStream *stream)
{
    return !container_row_of(format)->one && holds_codec(format, stream) &&
           container_holds_rotation(format, stream);
}

static bool is_m2ts(const container *row, const char *path)
{
    return row->m2ts_options && av_match_ext(path, "m2ts");
}

bool container_takes_number(const AVOutputFormat *format, const char *path, unsigned programmes,
                            int number)
{
    enum { MIN = 0x20, MAX = 0x1ffa, TABLES = 0x1000, M2TS_TABLES = 0x100, M2TS_CLOCK = 0x1001 };
    const container *row = container_row_of(format);
    const int tables = is_m2ts(row, path) ? M2TS_TABLES : TABLES;
    const bool clock = is_m2ts(row, path) && number == M2TS_CLOCK;
    const bool table = number >= tables && number < tables + (int)FFMAX(1, programmes);
    return row->only != transport || (number >= MIN && number <= MAX && !clock && !table);
}

const char *container_options(const AVOutputFormat *format, const char *path, bool live)
{
    const container *row = container_row_of(format);
    if (is_m2ts(row, path))
        return row->m2ts_options;
    return live ? row->live_options : row->options;
}

int64_t container_lead(const AVOutputFormat *format, const AVStream *stream)
{
    const AVCodecParameters *p = stream->codecpar;
    return AVFORMAT_STORES_LEAD && container_row_of(format)->lead && p->sample_rate > 0
               ? av_rescale_q(p->initial_padding, (AVRational){1, p->sample_rate},
                              (AVRational){1, 1000})
               : 0;
}

/* ---- streams -------------------------------------------------------------------------------- */

bool container_regenerates(const AVFormatContext *input, const AVStream *stream)
{
    const AVCodecParameters *codec = stream->codecpar;
    bool text = codec->codec_type == AVMEDIA_TYPE_DATA &&
                codec->codec_tag == MKTAG('t', 'e', 'x', 't') && input->nb_chapters;
    return codec->codec_tag == MKTAG('t', 'm', 'c', 'd') || text;
}

bool container_leaves_out(const AVStream *stream)
{
    return stream->discard == AVDISCARD_ALL;
}

bool container_is_unheard(const AVStream *stream)
{
    return stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO && stream->codecpar->sample_rate <= 0;
}

bool container_is_cover(const AVStream *stream)
{
    return stream->disposition & AV_DISPOSITION_ATTACHED_PIC;
}
