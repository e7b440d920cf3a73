/* The networks of a pipeline: those inside mona, or files in their place. */
#ifndef MONA_STAGE_MODELS_H
#define MONA_STAGE_MODELS_H

#include "model_source.h"

typedef struct model_choice {
    const char *sr, *denoise; /* .mona files; NULL: inside mona */
    bool balanced;            /* the tier: better and slower than fast */
    bool video;               /* the content: compressed before */
    bool temporal;            /* frames of one video: the denoiser sees what it made before */
} model_choice;

typedef struct stage_models {
    model_source sr, denoise, bicubic;
} stage_models;

/* Opens them and points stage at them. Prints one line and gives false when one cannot be used.
 * Zeroed or opened ones, whether or not all are there, are closed by stage_models_close. */
bool stage_models_open(stage_models *models, const model_choice *choice, stage_settings *stage);

void stage_models_close(stage_models *models);

#endif
