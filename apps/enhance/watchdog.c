// SPDX-License-Identifier: Apache-2.0
#include "apps/enhance/progress.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A name that begins with @ is no file's, but an abstract one, which begins with a zero. */
int watchdog_open(void)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const char *name = getenv("NOTIFY_SOCKET");
    const size_t length = name ? strlen(name) : 0;
    if (length < 2 || length >= sizeof to.sun_path || (*name != '/' && *name != '@'))
        return -1;
    memcpy(to.sun_path, name, length);
    if (*name == '@')
        to.sun_path[0] = 0;
    const socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    const int notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (notify >= 0 && !connect(notify, (struct sockaddr *)&to, size))
        return notify;
    if (notify >= 0)
        close(notify);
    return -1;
}

void watchdog_tell(int notify)
{
    static const char well[] = "WATCHDOG=1";
    if (notify >= 0 && write(notify, well, strlen(well)) < 0)
        return; /* whoever listens has more than it reads: it has heard of us */
}
