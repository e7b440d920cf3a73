// SPDX-License-Identifier: Apache-2.0
/* The parts of a frame on each device for mona bench --advise, and the trials of its advice. */
#ifndef BENCH_ADVICE_H
#define BENCH_ADVICE_H

#include "apps/bench/bench_model.h"
#include "apps/bench/modelled_report.h"
#include "apps/devices/peak.h"

/* Of a model on model310: own, by a kernel of its own; replay, by the replay kernel, which runs
 * unless somebody compiles one. False, with a message. */
bool bench_advise_modelled(cJSON *result, const bench_model_job *job, const modelled_sample *own,
                           const modelled_sample *replay);

/* Of a result of bench_model, which on the host has "layers", with these limits. limit NULL: on the
 * chip, where the result has "chip" and the model stands for layers. */
bool bench_advise(cJSON *result, const bench_model_job *job, const peak *limit);

#endif
