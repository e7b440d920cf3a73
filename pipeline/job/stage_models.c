// SPDX-License-Identifier: Apache-2.0
#include "pipeline/job/stage_models.h"

#include <stdio.h>
#include <string.h>

#include "models/embedded.h"
#include "pipeline/job/job.h"

#define TIER_ROW(tier, name, instead, plain) {name, TIER_##instead, plain},
static const struct {
    const char *name;
    network_tier instead;
    bool plain_chroma;
} tiers[TIERS] = {NETWORK_TIER_ROWS(TIER_ROW, TIER_ROW)};

/* The built-in network that comes closest to the request. The content matters more than the tier,
 * since networks for clean pictures sharpen the damage of compression, and better ones do so more.
 * *distance: how many others would have been closer. NULL: there is none for the task. */
static const embedded_model *closest(const char *task, const model_choice *choice,
                                     unsigned *distance)
{
    const char *const variants[] = {choice->job->content == CONTENT_ANIME ? "_anime" : NULL,
                                    choice->lossy_picture ? "_jpeg" : NULL,
                                    choice->video || choice->lossy_picture ? "_video" : NULL, ""};
    const embedded_model *found = NULL;
    char name[64];
    *distance = 0;
    for (unsigned v = 0; v < sizeof variants / sizeof *variants; v++)
        for (network_tier tier = choice->job->tier, last = TIERS;
             variants[v] && tier != last && !found; last = tier, tier = tiers[tier].instead) {
            snprintf(name, sizeof name, "%s_%s%s", task, tiers[tier].name, variants[v]);
            found = embedded_model_find(name);
            *distance += !found;
        }
    return found;
}

static bool open_inside(model_source *source, const char *task, const model_choice *choice,
                        pipeline_error *error)
{
    unsigned unused;
    const embedded_model *found = closest(task, choice, &unused);
    if (source->model.name)
        return true;
    if (!found)
        return pipeline_fail(error, "mona was built without a network for %s", task);
    return model_source_open(source, found->name, error);
}

/* ---- scales ---------------------------------------------------------------------------------- */

/* How often each scale is applied to enlarge `scale` times. */
static void split(unsigned of[NETWORK_MAX_SCALE + 1], unsigned scale, const model_choice *choice)
{
    unsigned to_2, to_4;
    closest("sr_x2", choice, &to_2);
    /* Pictures gain nothing from the network for compressed ones if it must run twice. */
    const bool at_once = closest("sr_x4", choice, &to_4) && (to_4 <= to_2 || choice->lossy_picture);
    for (; scale % 3 == 0; scale /= 3)
        of[3]++;
    for (; at_once && scale % 4 == 0; scale /= 4)
        of[4]++;
    for (; scale % 2 == 0; scale /= 2)
        of[2]++;
}

static bool add(job *j, stage_kind kind, const named_model *sr, pipeline_error *error)
{
    if (j->count == CHAIN_MAX_STAGES)
        return pipeline_fail(error, "--stages and --scale: expected up to %d stages, found more",
                             CHAIN_MAX_STAGES);
    j->stage.sr[j->count] = sr;
    j->kinds[j->count++] = kind;
    return true;
}

/* The smallest whole factor that is enough, of those that 2 and 3 make or `base` alone. */
static unsigned enlargement(resize_scale scale, unsigned base)
{
    static const unsigned made[] = {1, 2, 3, 4, 6, 8, 9, RESIZE_MAX};
    const double wanted = scale.x > scale.y ? scale.x : scale.y;
    unsigned i = 0, power = 1;
    while (made[i] < wanted)
        i++;
    while (base && power < wanted)
        power *= base;
    return base ? power : made[i];
}

/* The way down from it, where what is wanted is less. */
static bool add_resize(job *j, resize_scale scale, unsigned whole, pipeline_error *error)
{
    if (scale.x == whole && scale.y == whole)
        return true;
    if (j->stage.resize.x > 0)
        return pipeline_fail(
            error, "--stages: expected sr once for a size that is no whole multiple of the "
                   "input's, found it more often");
    j->stage.resize = scale;
    return add(j, STAGE_RESIZE, NULL, error);
}

static bool add_inside(stage_models *models, const model_choice *choice, pipeline_error *error)
{
    const resize_scale scale = choice->scale.x > 0 ? choice->scale : (resize_scale){2, 2};
    const unsigned whole = enlargement(scale, 0);
    unsigned of[NETWORK_MAX_SCALE + 1] = {0};
    split(of, whole, choice);
    for (unsigned n = 2; n <= NETWORK_MAX_SCALE; n++)
        for (char task[16]; of[n]; of[n]--) {
            snprintf(task, sizeof task, "sr_x%u", n);
            if (!open_inside(&models->sr[n], task, choice, error) ||
                !add(choice->job, STAGE_SR, &models->sr[n].model, error))
                return false;
        }
    return add_resize(choice->job, scale, whole, error);
}

/* Adds the file's network as often as necessary. */
static bool add_file(stage_models *models, const model_choice *choice, pipeline_error *error)
{
    job *j = choice->job;
    const named_model *file = &models->sr[0].model;
    if (!(choice->scale.x > 0))
        return add(j, STAGE_SR, file, error);
    const unsigned scale = model_scale(file, j->stage.devices.at[0], error);
    if (!scale)
        return false;
    const unsigned whole = enlargement(choice->scale, scale);
    for (unsigned n = 1; n < whole; n *= scale)
        if (!add(j, STAGE_SR, file, error))
            return false;
    return add_resize(j, choice->scale, whole, error);
}

/* Whether the denoiser gets film as decoded. Frames that were enlarged no longer show compression
 * in a form that its networks know. */
static bool denoises_film(const model_choice *choice, const stage_list *list)
{
    unsigned i = 0;
    while (
        i < list->count && list->kinds[i] != STAGE_DENOISE &&
        (list->kinds[i] != STAGE_SR || (choice->scale.x > 0 && enlargement(choice->scale, 0) == 1)))
        i++;
    return choice->video && i < list->count && list->kinds[i] == STAGE_DENOISE;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* A network of --sr, which may be a chip's. */
static bool open_file(model_source *source, const stage_models *models, const job *j,
                      pipeline_error *error)
{
    return ends_in(j->sr, ".om")
               ? model_source_open_om(source, j->sr, j->stage.devices.at[0], error)
               : model_source_open_with(source, j->sr, models->kernels, error);
}

bool stage_models_open(stage_models *models, const model_choice *choice, const stage_list *list,
                       pipeline_error *error)
{
    job *j = choice->job;
    model_choice denoiser = *choice;
    denoiser.video = denoises_film(choice, list);
    denoiser.lossy_picture = false;
    j->stage.compressed = (j->stage.still || denoiser.video) && j->stage.strength < 0;
    j->stage.denoise = &models->denoise.model;
    j->stage.colour = &models->colour.model;
    j->stage.bicubic = &models->bicubic.model;
    j->stage.plain_chroma = tiers[j->tier].plain_chroma;
    j->stage.delay = list->delay;
    if ((j->kernels && !kernel_folder(models->kernels, j->kernels, error)) ||
        (j->sr && !open_file(&models->sr[0], models, j, error)) ||
        !(j->denoise ? model_source_open_with(&models->denoise, j->denoise, models->kernels, error)
                     : open_inside(&models->denoise, "denoise", &denoiser, error)) ||
        !model_source_open_with(&models->colour, j->colour_model ? j->colour_model : "colour",
                                models->kernels, error) ||
        !model_source_open(&models->bicubic, "bicubic_x2", error))
        return false;
    for (unsigned i = 0; i < list->count; i++)
        if (!(list->kinds[i] != STAGE_SR ? add(j, list->kinds[i], NULL, error)
              : j->sr                    ? add_file(models, choice, error)
                                         : add_inside(models, choice, error)))
            return false;
    if (j->stage.grain > 0 && !add(j, STAGE_GRAIN, NULL, error))
        return false;
    return j->count ||
           pipeline_fail(error, "--scale 1 leaves nothing to do, because --stages is only sr");
}

void stage_models_describe(char text[NETWORKS_TEXT], const job *j)
{
    text[0] = 0;
    for (unsigned i = 0; i < j->count; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, NETWORKS_TEXT - used, "%s%s", used ? ", then " : "",
                 job_network(j, i));
    }
}

void stage_models_close(stage_models *models)
{
    for (unsigned i = 0; i <= NETWORK_MAX_SCALE; i++)
        model_source_close(&models->sr[i]);
    model_source_close(&models->denoise);
    model_source_close(&models->colour);
    model_source_close(&models->bicubic);
}
