// SPDX-License-Identifier: Apache-2.0
#include "pipeline/base/refused_thread.h"

_Thread_local atomic_bool *refused_thread;
