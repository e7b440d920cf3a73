// SPDX-License-Identifier: Apache-2.0
/* Other programs that run networks: each answers lines on its standard input (onnxruntime.js,
 * torch_peer.py). */
#ifndef MONA_JUDGE_PEERS_H
#define MONA_JUDGE_PEERS_H

#include <stdio.h>
#include <sys/types.h>

#include "tests/judges/networks/judge.h"

typedef struct peer {
    const char *name; /* of its files */
    FILE *to, *from;
    pid_t process;
} peer;

/* command: for the shell. False: it does not start. */
bool peer_open(peer *p, const char *name, const char *command);
void peer_close(peer *p);

/* Writes model.onnx, inputs.txt and in_N.bin. */
bool network_save(const network *n, const char *folder);
/* Runs the network that was saved. */
void peer_run(peer *p, const char *folder, peer_result *result);
void peer_result_free(peer_result *result);

#endif
