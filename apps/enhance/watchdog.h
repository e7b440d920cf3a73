// SPDX-License-Identifier: Apache-2.0
/* Tells systemd that frames come out, where a unit asks for that with WatchdogSec. */
#ifndef MONA_WATCHDOG_H
#define MONA_WATCHDOG_H

/* Connects to the socket that the variable NOTIFY_SOCKET names. Call it before the process is
 * confined. Negative: there is none. */
int watchdog_open(void);

/* Says that all is well. notify may be negative. */
void watchdog_tell(int notify);

#endif
