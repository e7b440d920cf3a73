# SPDX-License-Identifier: Apache-2.0
import os
import tempfile
import threading

import cffi
import numpy as np

from ._compile import compile
from ._library import Error, engine, video

_types = (np.uint8, np.int8, np.float16, np.uint16, np.float32, np.int16, np.int32, np.uint32, np.int64, np.uint64)


def _check(status, what):
    if status:
        raise Error(f'{what}: {engine.ffi.string(engine.lib.mona_status_text(status)).decode()}')


def _aligned(size):
    """Bytes at a multiple of MONA_ALIGNMENT."""
    step = engine.lib.MONA_ALIGNMENT
    memory = np.empty(size + step, np.uint8)
    begin = -memory.ctypes.data % step
    return memory[begin:begin + size]


def _pointer(array):
    return engine.ffi.cast('void *', array.ctypes.data)


def _ends(shape):
    """How many elements the last dimensions of a shape have. Shapes of which one has all that the other has are the same
    but for dimensions that are split or joined."""
    return {1, *(int(n) for n in np.cumprod(shape[::-1]))}


class Tensor:
    """An input or output: name, shape and dtype of its array.

    Real values are scale times those of the array."""

    def __init__(self, info):
        self.name = engine.ffi.string(info.name).decode()
        self.dtype = np.dtype(_types[info.type])
        self.scale = info.scale
        self.array = info.array
        planes = (info.height, info.width)
        self._planes = planes if info.channels == 1 and not info.array else (info.channels,) + planes
        self._dims = tuple(info.dims[i] for i in range(info.rank))
        self.shape = self._dims or self._planes

    def __repr__(self):
        return f'Tensor({self.name!r}, {self.shape}, {self.dtype})'

    def rounded(self, array):
        """An array of floats as floats of the tensor's own type; any other array as it is."""
        own, given = self.dtype.kind, getattr(getattr(array, 'dtype', None), 'kind', None)
        if own != 'f' or given != 'f' or array.dtype == self.dtype:
            return array
        with np.errstate(over='ignore'):
            result = array.astype(self.dtype)
        if (np.isinf(result) & np.isfinite(array)).any():
            raise ValueError(f'{self.name}: expected numbers that {self.dtype} can hold, up to '
                             f'{np.finfo(self.dtype).max}, found {abs(array[np.isfinite(array)]).max()}')
        return result

    def check_numbers(self, array):
        """Of NaN, planes of float16 would make 0, and of infinities 65504."""
        most = (array.view(np.uint16) & 0x7fff).max() if not self.array and self.dtype == np.float16 else 0
        if most >= 0x7c00:
            raise ValueError(f'{self.name}: expected numbers, found {"NaN" if most > 0x7c00 else "infinity"}, which planes '
                             'do not have')

    def images(self, array):
        """How many images an array N x C x H x W holds; None: it is one, as the tensor's own shape."""
        planes = (1,) * (3 - len(self.shape)) + self.shape
        several = getattr(array, 'ndim', 0) == 4 and len(array) > 1 and array.size == len(array) * np.prod(self.shape)
        return len(array) if several and (self.array or array.shape[1:] == planes) else None

    def _view(self, array):
        """Of planes, a view of the tensor's shape, where only sides of 1 differ: tokens may be 1 x 7 x 12 or 7 x 1 x 12.
        Several images of one channel are no image of several."""
        same = [n for n in array.shape if n != 1] == [n for n in self.shape if n != 1]
        one = array.ndim < 4 or len(array) == 1
        return array.reshape(self.shape) if same and one and not self.array else array

    def check(self, array):
        if not isinstance(array, np.ndarray) or array.dtype != self.dtype:
            raise TypeError(f'{self.name}: expected an array of {self.dtype}, '
                            f'found {getattr(array, "dtype", type(array).__name__)}')
        array = self._view(array)
        if self.array:
            if array.size != np.prod(self.shape) or not array.flags.c_contiguous:
                raise ValueError(f'{self.name}: expected {int(np.prod(self.shape))} elements without gaps, '
                                 f'found shape {array.shape}')
            if self._dims and not (_ends(array.shape) <= _ends(self._dims) or _ends(self._dims) <= _ends(array.shape)):
                raise ValueError(f'{self.name}: expected shape {self.shape}, found {array.shape}')
        elif array.shape[-len(self.shape):] != self.shape or array.size != np.prod(self.shape):
            raise ValueError(f'{self.name}: expected shape {self.shape}, found {array.shape}')
        elif array.strides[-1] != array.itemsize:
            raise ValueError(f'{self.name}: expected samples of a row side by side, found a stride of '
                             f'{array.strides[-1]} bytes')

    def fill(self, buffer, array):
        """Points a mona_buffer at an array that was checked."""
        array = self._view(array)
        buffer.data = _pointer(array)
        if self.array:
            channels, height, width = self._planes
            buffer.row_stride = width * array.itemsize
            buffer.channel_stride = height * width * array.itemsize
        else:
            buffer.row_stride = array.strides[-2]
            buffer.channel_stride = array.strides[-3] if len(self.shape) == 3 else 0


class Model:
    """A network for frames of one size, called with numpy arrays. They are not copied, but for inputs of floats of
    another size, such as float32 for float16, which are rounded.

    model: a .mona file, its bytes, the name of a network that is built in, or an .onnx file, which goes
    through mona.compile with the remaining options.
    size: (rows, columns) of the inputs that the model leaves open; a list of them for several.
    kernels: those of mona.kernel that it calls, which the C compiler, cc, compiles for this machine.

    >>> import mona, numpy
    >>> model = mona.Model('sr_x2_fast', size=(36, 64))
    >>> model.inputs, model.outputs
    ([Tensor('luma', (36, 64), uint8)], [Tensor('luma_x2', (72, 128), uint8)])
    >>> float(model(numpy.full((36, 64), 90, numpy.uint8)).mean().round())
    90.0

    One call runs at a time; several threads may call."""

    def __init__(self, model, size=None, device='auto', cpu=None, threads=0, kernels=(), **options):
        self._session = self._lock = None
        name = model if isinstance(model, (str, os.PathLike)) else 'model'
        if kernels:
            from .kernel import one_of_each
            kernels = list(one_of_each(kernels).values())
        self._bytes = self._read(model, size, kernels, options)
        ffi, lib = engine.ffi, engine.lib
        self._model = ffi.new('mona_model *')
        guard = ffi.new('mona_guard *')
        self._kernels = self._load(kernels)
        guard.kernels = self._kernels
        status = lib.mona_model_open_guarded(self._model, _pointer(self._bytes), self._bytes.size, guard)
        if status == lib.MONA_ERR_KERNEL:
            missing = lib.mona_model_missing_kernel(_pointer(self._bytes), self._bytes.size, self._kernels)
            raise Error(f'{name}: calls the kernel {ffi.string(missing).decode()}: expected it in kernels=[...]')
        _check(status, name)
        config = self._config(size, device, cpu, threads, str(name))
        self._plan_memory = _aligned(lib.mona_plan_bytes(self._model))
        plan = ffi.new('mona_plan **')
        status = lib.mona_plan_make(plan, _pointer(self._plan_memory), self._model, config)
        if status == lib.MONA_ERR_SHAPE:
            raise Error(f'{name}: size: expected {self._sizes()}, found {size}')
        _check(status, name)
        self._arena = _aligned(lib.mona_plan_arena_bytes(plan[0]))
        session = ffi.new('mona_session **')
        _check(lib.mona_session_open(session, plan[0], _pointer(self._arena), self._arena.size), name)
        self._session = session[0]
        self._lock = threading.Lock()
        self.inputs = [Tensor(lib.mona_plan_input(plan[0], i)) for i in range(lib.mona_model_input_count(self._model))]
        self.outputs = [Tensor(lib.mona_plan_output(plan[0], i))
                        for i in range(lib.mona_model_output_count(self._model))]
        self._in = ffi.new('mona_buffer[]', len(self.inputs))
        self._out = ffi.new('mona_buffer[]', len(self.outputs))

    def _load(self, kernels):
        """The kernels of mona.kernel, compiled for this machine, as a list for mona_guard."""
        ffi, self._libraries, found = engine.ffi, [], []
        with tempfile.TemporaryDirectory() as folder:
            for k in kernels:
                path, symbol = k.build(tempfile.mkdtemp(dir=folder)) # files have no domains in their names
                own = cffi.FFI()
                own.cdef(f'extern const char {symbol}[];')
                self._libraries.append(own.dlopen(path))
                found.append(ffi.cast('struct mona_kernel *', int(own.cast('uintptr_t', getattr(self._libraries[-1], symbol)))))
        return ffi.new('struct mona_kernel *[]', [*found, ffi.NULL])

    @staticmethod
    def _read(model, size, kernels, options):
        if options and (not isinstance(model, (str, os.PathLike)) or not str(model).endswith('.onnx')):
            raise TypeError(f'{", ".join(options)}: expected only with an .onnx file')
        if isinstance(model, (bytes, bytearray, memoryview)):
            bytes_ = np.frombuffer(model, np.uint8)
        elif not isinstance(model, (str, os.PathLike)):
            raise TypeError(f'expected a file, a name or bytes of a model, found {type(model).__name__}')
        elif not {'/', '.'} & set(str(model)):
            found = video.ffi.new('size_t *')
            inside = video.lib.mona_video_model(str(model).encode(), found)
            if not inside:
                raise Error(f'{model}: expected a .mona or .onnx file or a built-in network, found none')
            return np.frombuffer(video.ffi.buffer(inside, found[0]), np.uint8)
        elif str(model).endswith('.mona'):
            bytes_ = np.fromfile(model, np.uint8)
        else:
            sizes = {} if size is None else {'size': size}
            with tempfile.TemporaryDirectory() as folder:
                compiled = os.path.join(folder, 'model.mona')
                if kernels:
                    options['kernels'] = os.path.join(folder, 'kernels')
                    os.mkdir(options['kernels'])
                for i, k in enumerate(kernels):
                    with open(os.path.join(options['kernels'], f'{i}.kernel'), 'w', encoding='utf-8') as file:
                        file.write(k.interface())
                compile(model, compiled, **sizes, **options)
                bytes_ = np.fromfile(compiled, np.uint8)
        aligned = _aligned(bytes_.size)
        aligned[:] = bytes_
        return aligned

    def _sizes(self):
        """What size may be: that of the first input, which a file may hold for several."""
        sizes = []
        model = engine.ffi.new('mona_model *', self._model[0])
        while not sizes or engine.lib.mona_model_next(model, model):
            first = engine.lib.mona_model_input(model, 0)
            sizes.append(f'({first.height}, {first.width})' if first.height else '(rows, columns)')
        return ' or '.join(sizes)

    def _config(self, size, device, cpu, threads, name):
        ffi, lib = engine.ffi, engine.lib
        config = ffi.new('mona_config *')
        devices = ffi.new('mona_device *[]', [ffi.addressof(lib, 'mona_device_host'),
                                              ffi.addressof(lib, 'mona_device_model310'), ffi.NULL])
        config.device = lib.mona_device_find(devices, device.encode())
        if not config.device:
            raise Error(f'{name}: there is no device {device!r}')
        if cpu:
            self._cpu = ffi.new('char[]', cpu.encode())
            config.cpu = self._cpu
        config.threads = threads
        sizes = [] if size is None else size if isinstance(size, list) else [size]
        for i, (rows, columns) in enumerate(sizes):
            config.sizes[i].width, config.sizes[i].height = columns, rows
        return config

    def __call__(self, *arrays, out=None):
        """Runs the network. out: an array, or a list of them, to write to, which must not overlap the inputs; else new
        ones. Returns the output, or a list where there are several. Of arrays N x C x H x W, it runs on each image, and
        so are the outputs."""
        if len(arrays) == len(self.inputs):
            images = [tensor.images(array) for tensor, array in zip(self.inputs, arrays)]
            if any(images):
                return self._each(arrays, images, out)
        if out is None:
            results = [np.empty(t.shape, t.dtype) for t in self.outputs]
        else:
            results = list(out) if isinstance(out, (list, tuple)) else [out]
        if len(arrays) == len(self.inputs):
            arrays = [tensor.rounded(array) for tensor, array in zip(self.inputs, arrays)]
        for tensors, given, kind in ((self.inputs, arrays, 'input'), (self.outputs, results, 'output')):
            if len(given) != len(tensors):
                raise TypeError(f'expected {len(tensors)} {kind} arrays, found {len(given)}')
            for tensor, array in zip(tensors, given):
                tensor.check(array)
                if kind == 'input':
                    tensor.check_numbers(array)
                elif not array.flags.writeable:
                    raise ValueError(f'{tensor.name}: expected an array that can be written')
        self._apart(arrays, results)
        with self._lock:
            for i, tensor in enumerate(self.inputs):
                tensor.fill(self._in[i], arrays[i])
            for i, tensor in enumerate(self.outputs):
                tensor.fill(self._out[i], results[i])
            _check(engine.lib.mona_session_run(self._session, self._in, self._out), 'computing')
        return results[0] if len(results) == 1 else results

    def _apart(self, arrays, results):
        for i, (tensor, result) in enumerate(zip(self.outputs, results)):
            if any(np.shares_memory(result, other) for other in (*arrays, *results[:i])):
                raise ValueError(f'{tensor.name}: expected an array of its own, found one that overlaps another')

    def _each(self, arrays, images, out):
        """Runs the network on each image of the arrays."""
        count = images[0]
        if images != [count] * len(images):
            raise ValueError(f'expected as many images of every input, found {", ".join(str(n or 1) for n in images)}')
        if out is None:
            results = [np.empty((count,) + (1,) * (3 - len(t.shape)) + t.shape, t.dtype) for t in self.outputs]
        else:
            results = list(out) if isinstance(out, (list, tuple)) else [out]
        for tensor, array in zip(self.outputs, results):
            if tensor.images(array) != count:
                raise ValueError(f'{tensor.name}: expected {count} images of {tensor.shape}, found '
                                 f'{getattr(array, "shape", type(array).__name__)}')
        self._apart(arrays, results)
        for i in range(count):
            self(*(array[i] for array in arrays), out=[array[i] for array in results])
        return results[0] if len(results) == 1 else results

    def __del__(self):
        if self._session is not None:
            engine.lib.mona_session_close(self._session)
