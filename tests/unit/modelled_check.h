// SPDX-License-Identifier: Apache-2.0
/* For tests that run sessions on model310. Included after cmocka.h. */
#ifndef MODELLED_CHECK_H
#define MODELLED_CHECK_H

#include "engine/model_format.h"
#include "engine/model310/modelled.h"

/* Fails with the first finding of the session's last run, if its device is model310. */
static inline void assert_nothing_found(const mona_session *session)
{
    const ac_model_report *r;
    for (unsigned core = 0; (r = mona_session_modelled(session, core)); core++) {
        const ac_finding *f = &r->findings[0];
        if (r->finding_count)
            fail_msg("core %u, %llu findings: %s: %s, instruction %llu (%s), %s: found %lld, limit "
                     "%lld, "
                     "against %s %llu",
                     core, (unsigned long long)r->finding_count, ac_finding_kind_name(f->kind),
                     f->kernel ? f->kernel : "-", (unsigned long long)f->index, f->instruction,
                     f->operand ? f->operand : "-", (long long)f->found, (long long)f->limit,
                     f->other ? f->other : "-", (unsigned long long)f->other_index);
    }
}

#endif
