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
    if isinstance(value, tuple):
        return ','.join(map(str, value))
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _option(name):
    return '--' + name.replace('_', '-')


def _arguments(options, folder):
    for name, value in options.items():
        if value is None or value is False:
            continue
        if value is True:
            yield _option(name)
            continue
        items = value.items() if isinstance(value, dict) else [('', v) for v in (value if isinstance(value, list) else [value])]
        for number, (key, item) in enumerate(items):
            if isinstance(item, np.ndarray):
                path = os.path.join(folder, f'{name}{number}.npy')
                np.save(path, item)
                item = path
            yield f'{_option(name)}={key}{"=" if key else ""}{_text(name, item)}'


def _run(command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def _run_well(command):
    run = _run(command)
    if run.returncode:
        raise Error(run.stderr.strip().removeprefix('mona: ') or f'mona compile ended with status {run.returncode}')
    return run.stdout


def compile(model, output, **options):
    """Compiles an ONNX model into a .mona file, as `mona compile` does, with its options by their names: underscores
    for dashes, True or False for those without a value, None for what is not given, lists for those that can be given more than once, (rows, columns) for
    size, tuples for numbers with commas, arrays for calibrate ({name: array} for several inputs). The model takes and gives floats, the network's own numbers; picture=True makes it take
    and give 8-bit samples. Returns what the command says of it.

    >>> import mona
    >>> print(mona.compile(onnx, folder + '/net.mona').splitlines()[1])
      in  luma: 1 x f16, scale 1
    >>> mona.Model(folder + '/net.mona', size=(24, 32)).outputs[0].shape
    (48, 64)
    >>> mona.compile('missing.onnx', folder + '/x.mona')
    Traceback (most recent call last):
        ...
    mona.Error: missing.onnx: No such file or directory
    """
    command = [os.environ.get('MONA') or beside('mona'), 'compile']
    for name, value in options.items():
        if value is False and _run(command + [_option(name), '--help']).returncode:
            _run_well(command + [_option(name)])  # says that the name is unknown or needs a value
    with tempfile.TemporaryDirectory() as folder:
        return _run_well(command + [os.fspath(model), '-o', os.fspath(output), *_arguments(options, folder)])


def _export(module, example, path):
    """Writes the module as it is in use, and leaves it as it was."""
    import inspect
    import torch
    modes = [(part, part.training) for part in module.modules()]
    # The exporter that needs no further package, where there is another.
    older = {'dynamo': False} if 'dynamo' in inspect.signature(torch.onnx.export).parameters else {}
    try:
        module.eval()
        with torch.no_grad():
            torch.onnx.export(module, example, path, opset_version=17, **older)
    finally:
        for part, training in modes:
            part.training = training


def from_torch(module, example, **options):
    """A Model of a PyTorch module as it is in use (eval), which is left as it was. example: an input tensor
    N x C x H x W, or a tuple of them; the model takes arrays of its size, of float32 as well as float16. The remaining
    options are those of mona.compile and mona.Model."""
    from ._model import Model
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'module.onnx')
        _export(module, example, path)
        return Model(path, **options)
