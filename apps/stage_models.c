#include "stage_models.h"

/* There is no balanced network for compressed film. */
static const char *inside(const model_choice *choice)
{
    return choice->balanced ? "sr_x2_balanced" : choice->video ? "sr_x2_fast_video" : "sr_x2_fast";
}

bool stage_models_open(stage_models *models, const model_choice *choice, stage_settings *stage)
{
    stage->sr = &models->sr.model;
    stage->denoise = &models->denoise.model;
    stage->bicubic = &models->bicubic.model;
    return model_source_open(&models->sr, choice->sr, inside(choice)) &&
           model_source_open(&models->denoise, choice->denoise,
                             choice->temporal ? "denoise_fast_temporal" : "denoise_fast") &&
           model_source_open(&models->bicubic, NULL, "bicubic_x2");
}

void stage_models_close(stage_models *models)
{
    model_source_close(&models->sr);
    model_source_close(&models->denoise);
    model_source_close(&models->bicubic);
}
