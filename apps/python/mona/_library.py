# SPDX-License-Identifier: Apache-2.0
"""The shared libraries, bound by the text of their own headers."""
import os
import re
import threading
import cffi

_here = os.path.dirname(os.path.abspath(__file__))


def _header(name):
    with open(os.path.join(_here, name), encoding='utf-8') as file:
        return file.read()


version = re.search(r'#define MONA_VERSION "(.*)"', _header('mona.h'))[1]


def beside(name):
    """The file of this name that lies in the package, as in the build folder; else the name itself, for the system to
    find."""
    path = os.path.join(_here, name)
    return path if os.path.exists(path) else name


def _declarations(name):
    """What a public header declares, in the C that cffi reads."""
    text = re.sub(r'/\*.*?\*/', '', _header(name), flags=re.S)
    text = re.sub(r'extern "C" \{.*?^#endif', '', text, count=1, flags=re.S | re.M)
    text = re.sub(r'#ifdef __cplusplus\s*\}\s*#endif', '', text)
    text = re.sub(r'^static inline .*?^}$', '', text, flags=re.S | re.M)
    text = text.replace('extern const ', 'extern ')
    return re.sub(r'^\s*#.*$', '', text, flags=re.M)


def _open(headers, soname, plain):
    ffi = cffi.FFI()
    for header in headers:
        ffi.cdef(_declarations(header))
    folder = os.environ.get('MONA_LIBRARIES')
    # The last is where make install puts libraries, seen from PREFIX/lib/python3/dist-packages/mona.
    near = (os.path.normpath(os.path.join(_here, there, soname)) for there in ('', '../../..'))
    path = next((p for p in near if os.path.exists(p)), soname)
    if folder:
        path = next((p for p in (os.path.join(folder, n) for n in (soname, plain)) if os.path.exists(p)),
                    os.path.join(folder, soname))
    try:
        return ffi, ffi.dlopen(path)
    except OSError as error:
        raise OSError(f'{str(error).split(".  Additionally")[0]}; ldconfig makes libraries below /usr/local known, '
                      'and MONA_LIBRARIES names any other folder of theirs') from None


class Error(Exception):
    """What a library refused, as one line."""


class _Lazy:
    """Opened on first use, by one thread: libmonavideo needs FFmpeg's libraries, libmona needs nothing."""

    def __init__(self, *names):
        self._names = names
        self._opens = threading.Lock()

    def __getattr__(self, name):
        if name not in ('ffi', 'lib'):
            raise AttributeError(name)
        with self._opens:
            if 'lib' not in self.__dict__:
                self.ffi, self.lib = _open(*self._names)
        return self.__dict__[name]


engine = _Lazy(('mona.h', 'mona_op.h'), 'libmona.so.0', 'libmona.so')
video = _Lazy(('monavideo.h',), 'libmonavideo.so.0', 'libmonavideo.so')
