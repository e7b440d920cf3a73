# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import tempfile

import numpy as np

from ._library import Error, beside


def _text(name, value):
    """A value as the command line has it."""
    if name == 'size' and isinstance(value, tuple):
        return f'{value[1]}x{value[0]}'
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _arguments(options, folder):
    for name, value in options.items():
        if value is None or value is False:
            continue
        option = '--' + name.replace('_', '-')
        if value is True:
            yield option
            continue
        for number, item in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(item, np.ndarray):
                path = os.path.join(folder, f'{name}{number}.npy')
                np.save(path, item)
                item = path
            yield f'{option}={_text(name, item)}'


def compile(model, output, **options):
    """Compiles an ONNX model into a .mona file, as `mona compile` does, with its options by their names: underscores
    for dashes, True for those without a value, lists for those that can be given more than once, (rows, columns) for
    size, arrays for calibrate.

    >>> import mona
    >>> mona.compile(onnx, folder + '/net.mona', precision='fp16')
    >>> mona.Model(folder + '/net.mona', size=(24, 32)).outputs[0].shape
    (48, 64)
    >>> mona.compile('missing.onnx', folder + '/x.mona')
    Traceback (most recent call last):
        ...
    mona.Error: missing.onnx: No such file or directory
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [os.environ.get('MONA') or beside('mona'), 'compile', os.fspath(model), '-o', os.fspath(output)]
        run = subprocess.run(command + list(_arguments(options, folder)), stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, check=False)
    if run.returncode:
        raise Error(run.stderr.strip().removeprefix('mona: ') or f'mona compile ended with status {run.returncode}')


def from_torch(module, example, **options):
    """A Model of a PyTorch module. example: an input tensor N x C x H x W, or a tuple of them; the model takes arrays
    of its size. The remaining options are those of mona.compile and mona.Model."""
    import torch
    from ._model import Model
    module = module.eval()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'module.onnx')
        with torch.no_grad():
            torch.onnx.export(module, example, path, opset_version=13)
        return Model(path, **options)
