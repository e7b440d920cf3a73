/* Row programs in portable C: the reference every instruction set's version must equal bit for bit,
 * and what those versions fall back on for shapes not worth a special path. Private to
 * engine/aicore. */
#ifndef AC_ROWS_H
#define AC_ROWS_H

#include "aicore.h"

void ac_c_pack_row(const ac_pack_row *p);
void ac_c_unpack_row(const ac_unpack_row *u);
void ac_c_resize_row(const ac_resize_row *r);
void ac_c_elementwise_row(const ac_elementwise_row *e);

#endif
