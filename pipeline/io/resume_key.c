// SPDX-License-Identifier: Apache-2.0
#include "pipeline/io/resume_key.h"

#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <libavutil/avutil.h>

#include "engine/model_format.h"
#include "mona.h"

/* Continues an FNV-1a hash with a string and its final zero. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    while (*text++);
    return hash;
}

/* Continues a hash with the names and times of the encoders' own libraries: libx264.so.164. */
static int hash_library(struct dl_phdr_info *library, size_t size, void *context)
{
    static const char *const encoders[] = {"x264", "x265", "SvtAv1", "vpx", "avcodec"};
    uint64_t *hash = context;
    struct stat file = {0};
    (void)size;
    for (size_t i = 0; i < sizeof encoders / sizeof *encoders; i++)
        if (library->dlpi_name && strstr(library->dlpi_name, encoders[i])) {
            stat(library->dlpi_name, &file);
            *hash = hash_text(*hash, library->dlpi_name);
            *hash = (*hash ^ (uint64_t)file.st_mtime) * 0x100000001b3u;
        }
    return 0;
}

static uint32_t key_of(const named_model *model)
{
    return model->om ? mona_crc32(0, model->om, model->om_bytes) : model->model.header->crc32;
}

void resume_key_write(char text[RESUME_KEY_TEXT], const enhance_settings *s,
                      const encoder_settings *e)
{
    const encoder_choice *c = &e->choice;
    char stages[CHAIN_MAX_STAGES + 1] = "", models[9 * CHAIN_MAX_STAGES + 1] = "";
    uint64_t options = hash_text(0xcbf29ce484222325u, c->preset ? c->preset : "");
    struct stat file = {0};
    stat(s->input.path, &file);
    dl_iterate_phdr(hash_library, &options);
    for (unsigned i = 0; i < s->count; i++)
        stages[i] = (char)('0' + s->kinds[i]);
    for (unsigned i = 0; i < s->count; i++)
        if (s->kinds[i] == STAGE_SR)
            snprintf(models + strlen(models), 10, "%08x ", key_of(s->stage.sr[i]));
    for (size_t i = 0; i < c->option_count; i++)
        options = hash_text(options, c->options[i]);
    snprintf(
        text, RESUME_KEY_TEXT,
        "mona " MONA_VERSION " libav %s libavcodec %u encoder %s "
        "input %lld %lld.%09ld segment %llu start %a end %a frames %llu deinterlace %d fields %d "
        "rotate %d "
        "stages %s models %s%08x %08x resize %a %a strength %a detail %a compressed %d steady %d "
        "colour %a "
        "codec %s %dx%d crf %a bitrate %d latency %d options %016llx",
        av_version_info(), avcodec_version(), c->codec->encoder, (long long)file.st_size,
        (long long)file.st_mtim.tv_sec, file.st_mtim.tv_nsec, (unsigned long long)s->segment_frames,
        s->input.start, s->input.end, (unsigned long long)s->frames, s->input.deinterlace,
        s->input.double_fields, s->input.rotate, stages, models,
        s->stage.denoise->model.header->crc32, s->stage.colour->model.header->crc32,
        s->stage.resize.x, s->stage.resize.y, s->stage.strength, s->stage.detail,
        s->stage.compressed, s->stage.temporal, s->stage.colour_strength, c->codec->name, e->width,
        e->height, c->crf, c->match_bitrate, c->low_latency, (unsigned long long)options);
}
