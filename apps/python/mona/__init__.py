# SPDX-License-Identifier: Apache-2.0
"""mona: networks and video enhancement from Python, over mona's shared libraries.

    Model       a network, called with numpy arrays
    compile     ONNX to .mona
    from_torch  a PyTorch module as a Model
    enhance     a film or picture into a larger and cleaner one
    Video       the same for frames in memory
    options     what both of them take

The environment variable MONA_LIBRARIES names a folder with libmona.so and libmonavideo.so, where they
are not installed, and MONA names the command."""
from ._compile import compile, from_torch
from ._library import Error, version as __version__
from ._model import Model, Tensor
from ._video import Video, enhance, options

Error.__module__ = 'mona'
__all__ = ['Error', 'Model', 'Tensor', 'Video', 'compile', 'enhance', 'from_torch', 'options']
