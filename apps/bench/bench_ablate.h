// SPDX-License-Identifier: Apache-2.0
/* mona bench --ablate: what each of the engine's ideas is worth, by doing without it. */
#ifndef BENCH_ABLATE_H
#define BENCH_ABLATE_H

#include "apps/bench/bench_model.h"

/* A result (bench_result.h) whose samples are those of the model as it runs by default.
 * "ablations" has a row for each idea: its time, by how many times that is longer than "against",
 * its arena. Frames are taken in turns, one of each, so that a disturbance meets all alike; "times"
 * is the median of the ratios within a turn. Operator fusion and INT8 are the compiler's: the
 * network is compiled again without, if its ONNX file is known (job->onnx, or beside the model).
 * "cannot" says what is left out and why. NULL, with a message: also where an ablation that must
 * not changes a byte of the output. */
cJSON *bench_ablate(const bench_model_job *job);
void bench_ablate_print(const cJSON *result);

#endif
