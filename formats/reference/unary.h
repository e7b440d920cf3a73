// SPDX-License-Identifier: Apache-2.0
/* A function of one number, as a node asks for it. */
#ifndef MONA_REFERENCE_UNARY_H
#define MONA_REFERENCE_UNARY_H

#include "formats/onnx/onnx_graph.h"

typedef struct op_unary_form {
    uint32_t row;        /* of functions.inc */
    bool on_ints;        /* takes integers as they are */
    bool approximate;    /* Gelu by tanh */
    float parameters[2]; /* the attributes of the row */
} op_unary_form;

/* operators.inc names only functions that exist. */
op_unary_form op_unary_read(const onnx_node *node);

#endif
