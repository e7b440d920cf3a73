// SPDX-License-Identifier: Apache-2.0
/* mona bench --ablate: the gain of each of the engine's techniques, measured by leaving it out. */
#ifndef BENCH_ABLATE_H
#define BENCH_ABLATE_H

#include "apps/bench/bench_model.h"

/* A result (bench_result.h) whose samples are those of the model as it runs by default. Its
 * "ablations" has a row for each technique: the time without it, the ratio to the time "against"
 * which it is measured, and the arena. Variants take turns, one frame each, so that a disturbance
 * affects all of them; "times" is the median of the ratios within a turn.
 *
 * Operator fusion and INT8 are up to the compiler: the network is compiled again without them if
 * its ONNX file is known (job->onnx, or beside the model). "cannot" says what is left out and why.
 *
 * NULL, with a message; also if an ablation changes a byte of the output that it must not
 * change. */
cJSON *bench_ablate(const bench_model_job *job);
void bench_ablate_print(const cJSON *result);

#endif
