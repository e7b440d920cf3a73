# SPDX-License-Identifier: Apache-2.0
import glob
import os
import re

import numpy as np

from ._library import Error, video


def _rows():
    row, i = video.ffi.new('mona_video_option *'), 0
    while video.lib.mona_video_option_at(i, row):
        yield row
        i += 1


def options():
    """What enhance and Video take besides their own arguments: the name of each option, and what it does.

    >>> import mona
    >>> sorted(name for name in mona.options() if name.startswith('st'))
    ['stages', 'start', 'strength', 'strip_rows']
    >>> mona.options()['temporal'][:6]
    'on|off'
    """
    def told(row):
        value, initial = (video.ffi.string(t).decode() if t else '' for t in (row.value, row.initial))
        return (f'{value}: ' if value else '') + video.ffi.string(row.help).decode() + (f' (default {initial})' if initial else '')
    return {video.ffi.string(row.name).decode().replace('-', '_'): told(row) for row in _rows()}


def _values(name, value):
    """The texts to give to an option."""
    kind = next((row.kind for row in _rows() if video.ffi.string(row.name).decode() == name), None)
    if kind == video.lib.MONA_VIDEO_LIST and isinstance(value, (list, tuple)):
        return [str(item) for item in value]
    if kind == video.lib.MONA_VIDEO_SIZE and isinstance(value, tuple):
        return ['x'.join(str(side) for side in reversed(value))]
    if kind == video.lib.MONA_VIDEO_FILE and isinstance(value, os.PathLike):
        return [os.fspath(value)]
    return [str(value)]


class _Handle:
    """A mona_video with options."""

    def __init__(self, options):
        self.pointer = video.ffi.gc(video.lib.mona_video_open(), video.lib.mona_video_close)
        for name, value in options.items():
            name = name.replace('_', '-')
            if value is False:
                _Handle({name: True})  # refuses a name that is unknown or needs a value
            elif value is True:
                self.check(video.lib.mona_video_set(self.pointer, name.encode(), video.ffi.NULL))
            elif value is not None:
                for text in _values(name, value):
                    self.check(video.lib.mona_video_set(self.pointer, name.encode(), os.fsencode(text)))

    def check(self, status):
        if status < 0:
            text = video.ffi.new('char[1024]')
            video.lib.mona_video_error(self.pointer, text, 1024)
            line = video.ffi.string(text) or video.ffi.string(video.lib.mona_video_status_text(status))
            raise Error(os.fsdecode(line))
        return status


def _exists(output):
    """Whether there is such a file, or one of numbered pictures."""
    pattern = re.sub('%0?[0-9]*d', '[0-9]*', glob.escape(os.fsdecode(output)))
    return os.path.isfile(output) or ('%' in os.fsdecode(output) and bool(glob.glob(pattern)))


def enhance(input, output, progress=None, note=None, overwrite=True, **options):
    """Enhances a file into another, as `mona enhance -y` does, with its options by their names: underscores for
    dashes, True or False for those without a value, None for what is not given, lists for those that can be given more
    than once, (rows, columns) for size. mona.options() lists them.

    overwrite: False keeps an output that exists, which is an error. progress: called with (frames, expected) after each frame; False ends the run there. note: called with lines about
    what was changed or left out. An exception in either ends the run there and is raised, as Ctrl-C is.

    >>> import mona
    >>> mona.enhance(clip, folder + '/larger.mkv', scale=2, codec='ffv1', progress=lambda done, expected: done < 3)
    >>> mona.enhance('missing.mkv', folder + '/x.mkv')
    Traceback (most recent call last):
        ...
    mona.Error: missing.mkv: cannot be read: No such file or directory
    """
    ffi = video.ffi
    handle = _Handle(options)
    if not overwrite and _exists(output):
        raise Error(f'{os.fsdecode(output)}: exists already; overwrite=True would replace it')
    raised = []

    def keep(kind, error, trace):
        raised.append(error)

    # There even without progress, since Python hears Ctrl-C only between two of its own steps.
    @ffi.callback('bool(void *, const mona_video_progress *)', error=False, onerror=keep)
    def tell(_, told):
        return not raised and (progress is None or progress(told.frames, told.expected) is not False)

    @ffi.callback('void(void *, const char *)', onerror=keep)
    def say(_, line):
        note(os.fsdecode(ffi.string(line)))

    callbacks = ffi.new('mona_video_callbacks *')
    callbacks.progress = tell
    callbacks.note = say if note else ffi.NULL
    status = video.lib.mona_video_run(handle.pointer, os.fsencode(input), os.fsencode(output), callbacks)
    if raised:
        raise raised[0]
    handle.check(status)


class Video:
    """Frames in, frames out. A frame is a list of planes: grey, or Y, U and V, or those with alpha.

    shape: (rows, columns) of luma. subsampling: of chroma, (2, 2) for 4:2:0. bits: of a sample, from 9 on in the low bits of uint16.

    >>> import mona, numpy
    >>> video = mona.Video((36, 64), stages='denoise,sr')
    >>> frame = [numpy.full((36, 64), 90, numpy.uint8)] + 2 * [numpy.full((18, 32), 128, numpy.uint8)]
    >>> [[plane.shape for plane in made] for made in video.frames([frame, frame])]
    [[(72, 128), (36, 64), (36, 64)], [(72, 128), (36, 64), (36, 64)]]
    """

    def __init__(self, shape, planes=3, subsampling=(2, 2), bits=8, full_range=False, **options):
        self._handle = _Handle(options)
        self.format, self.result = (video.ffi.new('mona_video_format *') for _ in range(2))
        f = self.format
        f.height, f.width = shape
        f.planes, f.bits, f.full_range = planes, bits, full_range
        if not set(subsampling) <= {1, 2, 4}:
            raise ValueError(f'subsampling: expected 1, 2 or 4 rows and columns, found {subsampling}')
        f.shift_y, f.shift_x = (n.bit_length() - 1 for n in subsampling)
        self._handle.check(video.lib.mona_video_start(self._handle.pointer, f, self.result))
        self._dtype = np.dtype(np.uint8 if bits == 8 else np.uint16)
        self._frame = video.ffi.new('mona_video_frame *')

    def _shape(self, f, plane):
        chroma = plane in (1, 2)
        down, across = (f.shift_y, f.shift_x) if chroma else (0, 0)
        return -(-f.height >> down), -(-f.width >> across)

    def push(self, planes):
        """Starts a frame. False: as many as possible are on their way; pull one first."""
        frame, f = self._frame, self.format
        if len(planes) != f.planes:
            raise ValueError(f'expected {f.planes} planes, found {len(planes)}')
        for i, plane in enumerate(planes):
            shape = -(-f.height // (1 << (f.shift_y if i in (1, 2) else 0))), \
                -(-f.width // (1 << (f.shift_x if i in (1, 2) else 0)))
            if plane.dtype != self._dtype or plane.shape != shape:
                raise ValueError(f'plane {i}: expected rows of {self._dtype} with shape {shape}, '
                                 f'found {plane.dtype} with {plane.shape}')
            if plane.strides[1] != plane.itemsize:
                raise ValueError(f'plane {i}: expected samples of a row side by side, found a stride of '
                                 f'{plane.strides[1]} bytes')
            frame.data[i] = video.ffi.cast('void *', plane.ctypes.data)
            frame.stride[i] = plane.strides[0]
        return self._handle.check(video.lib.mona_video_push(self._handle.pointer, frame)) == 0

    def pull(self):
        """The planes of the oldest frame, which stay until the next pull; None: every frame has been pulled."""
        made, f = video.ffi.new('mona_video_frame *'), self.result
        if self._handle.check(video.lib.mona_video_pull(self._handle.pointer, made)):
            return None
        planes = []
        for i in range(f.planes):
            rows = -(-f.height // (1 << (f.shift_y if i in (1, 2) else 0)))
            columns = -(-f.width // (1 << (f.shift_x if i in (1, 2) else 0)))
            # Whoever keeps a plane keeps the handle that owns it.
            owned = video.ffi.gc(made.data[i], lambda _, handle=self._handle: None)
            memory = video.ffi.buffer(owned, made.stride[i] * (rows - 1) + columns * self._dtype.itemsize)
            planes.append(np.ndarray((rows, columns), self._dtype, memory, strides=(made.stride[i], self._dtype.itemsize)))
        return planes

    def frames(self, source):
        """Enhances all frames of a source, in order. The planes of each stay until the next one."""
        for planes in source:
            while not self.push(planes):
                yield self.pull()
        while (made := self.pull()) is not None:
            yield made
