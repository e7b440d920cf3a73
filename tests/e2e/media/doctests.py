# SPDX-License-Identifier: Apache-2.0
"""Runs the examples in the package's texts: doctests.py FOLDER CLIP NET.onnx. Prints one line: failures of examples."""
import doctest
import importlib
import sys

folder, clip, onnx = sys.argv[1:]
failed = tried = 0
for name in ('_model', '_compile', '_video'):
    result = doctest.testmod(importlib.import_module('mona.' + name),
                             extraglobs={'folder': folder, 'clip': clip, 'onnx': onnx})
    failed += result.failed
    tried += result.attempted
print(f'{failed} of {tried}')
