// SPDX-License-Identifier: Apache-2.0
/* Readers of ONNX files, .npy arrays, fp16 and whole files, and the writer of .mona models. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/file.h"
#include "formats/element.h"
#include "formats/mona_writer.h"
#include "formats/npy.h"
#include "formats/onnx/onnx_reader.h"
#include "tests/unit/onnx_builder.h"

/* ---- fp16 --------------------------------------------------------------------------------- */

static void every_half_survives_the_round_trip(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++)
        if ((bits & 0x7c00) != 0x7c00)
            assert_int_equal(half_from_double(half_value((uint16_t)bits)), bits);
}

static void halves_round_to_even(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x7bff; bits++) {
        const double low = half_value((uint16_t)bits), high = half_value((uint16_t)(bits + 1));
        const double middle = (low + high) / 2;
        assert_int_equal(half_from_double(middle), bits + (bits & 1));
        assert_int_equal(half_from_double(nextafter(middle, 0)), bits);
        assert_int_equal(half_from_double(nextafter(middle, 1e9)), bits + 1);
        assert_int_equal(half_from_double(-middle), 0x8000 | (bits + (bits & 1)));
    }
}

static void halves_saturate(void **state)
{
    (void)state;
    assert_int_equal(half_from_double(65519.9), 0x7bff);
    assert_int_equal(half_from_double(1e30), 0x7bff);
    assert_int_equal(half_from_double(-INFINITY), 0xfbff);
    assert_true(isnan(half_value(half_from_double(NAN))));
    assert_true(isinf(half_value(0x7c00)));
}

/* ---- files -------------------------------------------------------------------------------- */

static void files_are_read_or_refused(void **state)
{
    (void)state;
    char path[] = "/tmp/mona-test-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    uint8_t *bytes;
    size_t size;
    format_error error = {0};
    assert_false(file_read(path, "a model", 100, &bytes, &size, &error));
    assert_non_null(strstr(error.text, "empty"));
    assert_int_equal(write(fd, "0123456789", 10), 10);
    close(fd);
    error.text[0] = 0;
    assert_true(file_read(path, "a model", 10, &bytes, &size, &error));
    assert_int_equal(size, 10);
    assert_memory_equal(bytes, "0123456789", 10);
    assert_int_equal((uintptr_t)bytes % 64, 0);
    free(bytes);
    assert_false(file_read(path, "a model", 9, &bytes, &size, &error));
    assert_non_null(strstr(error.text, "10 bytes"));
    error.text[0] = 0;
    assert_false(file_read("/tmp", "a model", 9, &bytes, &size, &error));
    assert_non_null(strstr(error.text, "folder"));
    error.text[0] = 0;
    assert_false(file_read("/nowhere/at/all", "a model", 9, &bytes, &size, &error));
    assert_non_null(strstr(error.text, "/nowhere/at/all: No such file"));
    error.text[0] = 0;
    assert_false(file_read("/dev/zero", "a model", 100000, &bytes, &size, &error));
    assert_non_null(strstr(error.text, "larger than"));
    unlink(path);
}

static void errors_stay_one_clean_line(void **state)
{
    (void)state;
    format_error error = {0};
    assert_false(format_fail(&error, "node '%s'", "a\nb\x1b[2J\xc3"));
    assert_string_equal(error.text, "node 'a?b?[2J?'");
    assert_false(format_fail(&error, "later"));
    assert_string_equal(error.text, "node 'a?b?[2J?'");
}

/* ---- .npy --------------------------------------------------------------------------------- */

static void arrays_survive_the_round_trip(void **state)
{
    (void)state;
    union {
        double aligned;
        uint8_t bytes[48];
    } data;
    for (int i = 0; i < 48; i++)
        data.bytes[i] = (uint8_t)(i * 37 & 0x3f);
    const element_type types[] = {ELEMENT_FLOAT32, ELEMENT_FLOAT16, ELEMENT_DOUBLE, ELEMENT_UINT8,
                                  ELEMENT_INT8,    ELEMENT_UINT16,  ELEMENT_INT32,  ELEMENT_INT64,
                                  ELEMENT_INT16,   ELEMENT_UINT32,  ELEMENT_UINT64, ELEMENT_BOOL};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (unsigned rank = 0; rank <= 3; rank++) {
            npy_array a = {types[t], rank, {1, 3, 2}, 1, data.bytes}, b;
            for (unsigned i = 0; i < rank; i++)
                a.count *= a.shape[i];
            size_t size;
            uint8_t *bytes = npy_format(&a, &size);
            assert_non_null(bytes);
            format_error error = {0};
            assert_true(npy_parse(&b, bytes, size, &error));
            assert_int_equal(b.type, a.type);
            assert_int_equal(b.rank, rank);
            assert_int_equal(b.count, a.count);
            assert_memory_equal(b.shape, a.shape, rank * sizeof *a.shape);
            assert_memory_equal(b.data, a.data, a.count * element_size(a.type));
            for (uint64_t i = 0; i < a.count; i++)
                assert_true(npy_value(&a, i) == npy_value(&b, i));
            free(bytes);
        }
}

static uint8_t *small_npy(size_t *size)
{
    static float data[6] = {0, 1, 2, 3, 4, 5};
    const npy_array a = {ELEMENT_FLOAT32, 2, {2, 3}, 6, data};
    return npy_format(&a, size);
}

static void damaged_arrays_are_refused(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = small_npy(&size);
    npy_array a;
    for (size_t cut = 0; cut < size; cut++) {
        format_error error = {0};
        uint8_t *copy = malloc(cut + 1); /* the exact size, so that sanitisers see accesses
                                            beyond */
        memcpy(copy, bytes, cut);
        copy = realloc(copy, cut ? cut : 1);
        assert_false(npy_parse(&a, copy, cut, &error));
        assert_true(error.text[0]);
        free(copy);
    }
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit++) {
            format_error error = {0};
            bytes[i] ^= (uint8_t)(1 << bit);
            if (npy_parse(&a, bytes, size, &error))
                for (uint64_t k = 0; k < a.count; k++)
                    (void)npy_value(&a, k);
            bytes[i] ^= (uint8_t)(1 << bit);
        }
    free(bytes);
}

static void npy_headers_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *header, *error;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }", "fortran_order"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "element type '>f4' is"},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }", "element type '<c16' is"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "needs 8 bytes, found 4"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
         "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296), }",
         "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", "more than"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1", "shape"},
        {"{'descr': '<f4', 'fortran_order': False, }", "no shape"},
        {"{}", "fortran_order"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[256] = "\x93NUMPY\x01\x00";
        const size_t length = strlen(cases[i].header);
        bytes[8] = (uint8_t)length;
        memcpy(bytes + 10, cases[i].header, length);
        npy_array a;
        format_error error = {0};
        assert_false(npy_parse(&a, bytes, 10 + length + 4, &error));
        if (!strstr(error.text, cases[i].error))
            fail_msg("'%s' does not say '%s'", error.text, cases[i].error);
    }
}

/* ---- ONNX tensors ------------------------------------------------------------------------- */

/* The elements as floats in out[count]. */
static bool read_floats(const Onnx__TensorProto *proto, float *out, size_t count,
                        format_error *error)
{
    tensor t;
    if (!onnx_tensor_read(proto, NULL, &t, error))
        return false;
    assert_int_equal(t.count, count);
    for (size_t i = 0; i < count; i++)
        out[i] = (float)tensor_number(&t, i);
    tensor_free(&t);
    return true;
}

static void typed_tensors_are_decoded(void **state)
{
    (void)state;
    int64_t dims[2] = {1, 3};
    Onnx__TensorProto t = ONNX__TENSOR_PROTO__INIT;
    t.has_data_type = true;
    t.dims = dims;
    t.n_dims = 2;
    float f[3] = {1.5f, -2, 3}, out[3];
    double d[3] = {1.5, -2, 3};
    int64_t i64[3] = {1, -2, 3};
    int32_t i32[3] = {0x3e00, 0xc000, 0x4200}; /* fp16 bits of 1.5, -2, 3 */
    format_error error = {0};
    t.data_type = ELEMENT_FLOAT32;
    t.float_data = f;
    t.n_float_data = 3;
    assert_true(read_floats(&t, out, 3, &error));
    assert_memory_equal(out, f, sizeof f);
    t.data_type = ELEMENT_DOUBLE;
    t.double_data = d;
    t.n_double_data = 3;
    assert_true(read_floats(&t, out, 3, &error));
    assert_memory_equal(out, f, sizeof f);
    t.data_type = ELEMENT_FLOAT16;
    t.int32_data = i32;
    t.n_int32_data = 3;
    assert_true(read_floats(&t, out, 3, &error));
    assert_memory_equal(out, f, sizeof f);
    t.data_type = ELEMENT_INT64;
    t.int64_data = i64;
    t.n_int64_data = 3;
    assert_true(read_floats(&t, out, 3, &error));
    assert_true(out[0] == 1 && out[1] == -2 && out[2] == 3);
    t.n_int64_data = 2;
    assert_false(read_floats(&t, out, 3, &error));
    assert_non_null(strstr(error.text, "needs 3 elements of int64 by its shape; found 2"));
}

static void raw_tensors_are_decoded(void **state)
{
    (void)state;
    static const struct {
        int32_t type;
        size_t size;
        uint8_t bytes[16];
        float expected[2];
    } cases[] = {
        {ELEMENT_UINT8, 2, {200, 3}, {200, 3}},
        {ELEMENT_INT8, 2, {200, 3}, {-56, 3}},
        {ELEMENT_BOOL, 2, {1, 0}, {1, 0}},
        {ELEMENT_UINT16, 4, {1, 0x80, 2, 0}, {32769, 2}},
        {ELEMENT_INT16, 4, {1, 0x80, 2, 0}, {-32767, 2}},
        {ELEMENT_FLOAT16, 4, {0, 0x3e, 0, 0xc0}, {1.5f, -2}},
        {ELEMENT_BFLOAT16, 4, {0xc0, 0x3f, 0, 0xc0}, {1.5f, -2}},
        {ELEMENT_FLOAT8E4M3FN, 2, {0x3c, 0xfe}, {1.5f, -448}},
        {ELEMENT_FLOAT8E4M3FNUZ, 2, {0x44, 0xff}, {1.5f, -240}},
        {ELEMENT_FLOAT8E5M2, 2, {0x3e, 0xfb}, {1.5f, -57344}},
        {ELEMENT_FLOAT8E5M2FNUZ, 2, {0x42, 0x01}, {1.5f, 0x1p-17f}},
        {ELEMENT_FLOAT8E8M0, 2, {127, 130}, {1, 8}},
        {ELEMENT_FLOAT4E2M1, 1, {0xf3}, {1.5f, -6}},
        {ELEMENT_INT4, 1, {0x8f}, {-1, -8}},
        {ELEMENT_UINT4, 1, {0x8f}, {15, 8}},
        {ELEMENT_INT2, 1, {0x0b}, {-1, -2}},
        {ELEMENT_UINT2, 1, {0x0b}, {3, 2}},
        {ELEMENT_FLOAT32, 8, {0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0}, {1.5f, -2}},
        {ELEMENT_INT32, 8, {255, 255, 255, 255, 7, 0, 0, 0}, {-1, 7}},
        {ELEMENT_UINT32, 8, {0, 0, 0, 128, 7}, {2147483648.0f, 7}},
        {ELEMENT_INT64, 16, {254, 255, 255, 255, 255, 255, 255, 255, 7}, {-2, 7}},
        {ELEMENT_DOUBLE, 16, {0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0}, {1.5f, -2}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Onnx__TensorProto t = ONNX__TENSOR_PROTO__INIT;
        float out[2] = {0};
        int64_t dims[1] = {2};
        format_error error = {0};
        t.dims = dims;
        t.n_dims = 1;
        t.has_data_type = true;
        t.data_type = cases[i].type;
        t.has_raw_data = true;
        t.raw_data.data = (uint8_t *)(uintptr_t)cases[i].bytes;
        t.raw_data.len = cases[i].size;
        assert_true(read_floats(&t, out, 2, &error));
        assert_true(out[0] == cases[i].expected[0] && out[1] == cases[i].expected[1]);
        t.raw_data.len--;
        assert_false(read_floats(&t, out, 2, &error));
    }
}

static void impossible_tensors_are_refused(void **state)
{
    (void)state;
    int64_t dims[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    float out[1];
    format_error error = {0};
    Onnx__TensorProto t = ONNX__TENSOR_PROTO__INIT;
    t.has_data_type = true;
    t.data_type = ELEMENT_FLOAT32;
    t.dims = dims;
    t.n_dims = 9;
    assert_false(read_floats(&t, out, 1, &error));
    assert_non_null(strstr(error.text, "9 dimensions"));
    t.n_dims = 2;
    dims[0] = -1;
    error.text[0] = 0;
    assert_false(read_floats(&t, out, 1, &error));
    assert_non_null(strstr(error.text, "-1"));
    dims[0] = dims[1] = (int64_t)1 << 40;
    error.text[0] = 0;
    assert_false(read_floats(&t, out, 1, &error));
    assert_non_null(strstr(error.text, "1099511627776"));
    error.text[0] = 0;
    dims[0] = dims[1] = 1;
    t.has_data_location = true;
    t.data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    assert_false(read_floats(&t, out, 1, &error));
    assert_non_null(strstr(error.text, "another file"));
    error.text[0] = 0;
    t.has_data_location = false;
    t.data_type = ELEMENT_STRING;
    assert_false(read_floats(&t, out, 1, &error));
    assert_non_null(strstr(error.text, "string"));
}

/* The value of every code of a small float is stored as that code again. Between two neighbours the
 * nearer one is chosen, and in the middle the even one. */
static void small_floats_round_to_nearest(void **state)
{
    (void)state;
    static const element_type types[] = {
        ELEMENT_FLOAT16,    ELEMENT_BFLOAT16,       ELEMENT_FLOAT8E4M3FN, ELEMENT_FLOAT8E4M3FNUZ,
        ELEMENT_FLOAT8E5M2, ELEMENT_FLOAT8E5M2FNUZ, ELEMENT_FLOAT4E2M1};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const unsigned codes = 1u << element_bits(types[t]);
        for (uint16_t code = 0; code + 1u < codes / 2; code++) {
            const uint16_t next = code + 1;
            uint16_t found = 0;
            const double low = element_number(types[t], &code);
            const double high = element_number(types[t], &next);
            if (!isfinite(low))
                continue;
            element_store_float(types[t], &found, low, ELEMENT_SATURATES);
            assert_int_equal(found, code);
            if (!isfinite(high))
                continue;
            assert_true(low < high);
            element_store_float(types[t], &found, low * 0.49 + high * 0.51, ELEMENT_SATURATES);
            assert_int_equal(found, next);
            element_store_float(types[t], &found, (low + high) / 2, ELEMENT_SATURATES);
            assert_int_equal(found, code & 1 ? next : code);
        }
    }
}

static void small_floats_overflow_as_asked(void **state)
{
    (void)state;
    static const struct {
        element_type type;
        double most, beyond; /* the largest number; the result for the first number beyond it */
    } cases[] = {
        {ELEMENT_FLOAT16, 65504, INFINITY},   {ELEMENT_FLOAT8E4M3FN, 448, NAN},
        {ELEMENT_FLOAT8E4M3FNUZ, 240, NAN},   {ELEMENT_FLOAT8E5M2, 57344, INFINITY},
        {ELEMENT_FLOAT8E5M2FNUZ, 57344, NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const element_type type = cases[i].type;
        uint16_t code = 0;
        element_store_float(type, &code, -cases[i].most * 1.2, ELEMENT_SATURATES);
        assert_true(element_number(type, &code) == -cases[i].most);
        element_store_float(type, &code, cases[i].most * 1.2, ELEMENT_OVERFLOWS);
        const double found = element_number(type, &code);
        assert_true(isnan(cases[i].beyond) ? isnan(found) : found == cases[i].beyond);
        element_store_float(type, &code, NAN, ELEMENT_SATURATES);
        assert_true(isnan(element_number(type, &code)));
    }
}

/* ---- ONNX files --------------------------------------------------------------------------- */

static uint8_t *small_onnx(size_t *size)
{
    const float weights[4] = {1, 2, 3, 4};
    onnx_builder *b = ob_new(13);
    ob_input(b, "x", 2, 0, 0);
    ob_constant(b, "w", "2 2 1 1", weights);
    ob_int(b, ob_node(b, "Conv", "x w", "y"), "group", 1);
    ob_output(b, "y");
    uint8_t *bytes = ob_pack(b, size);
    ob_free(b);
    return bytes;
}

static void damaged_models_never_crash_the_reader(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = small_onnx(&size);
    for (size_t cut = 0; cut < size; cut++) {
        format_error error = {0};
        Onnx__ModelProto *model = onnx_parse(bytes, cut, &error);
        assert_true(model || error.text[0]);
        onnx_release(model);
    }
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit++) {
            format_error error = {0};
            bytes[i] ^= (uint8_t)(1 << bit);
            Onnx__ModelProto *model = onnx_parse(bytes, size, &error);
            assert_true(model || error.text[0]);
            onnx_release(model);
            bytes[i] ^= (uint8_t)(1 << bit);
        }
    free(bytes);
}

/* graph { node { attribute { g { node { ... } } } } }, nested so deeply that recursion would
 * exhaust the stack. */
static uint8_t *nested(unsigned levels, uint8_t **memory, size_t *size)
{
    static const uint8_t tags[3] = {1 << 3 | 2, 5 << 3 | 2, 6 << 3 | 2}; /* node, attribute, g */
    const size_t room = (size_t)levels * 8 + 8;
    size_t at = room;
    *memory = malloc(room);
    for (unsigned level = levels; level-- > 0;) {
        uint8_t varint[8];
        size_t n = 0;
        for (size_t v = room - at; n == 0 || v; v >>= 7)
            varint[n++] = (uint8_t)((v & 127) | (v > 127 ? 128 : 0));
        at -= n;
        memcpy(*memory + at, varint, n);
        at--;
        (*memory)[at] = level ? tags[(level - 1) % 3] : 7 << 3 | 2;
    }
    *size = room - at;
    return *memory + at;
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    uint8_t *memory;
    size_t size;
    format_error error = {0};
    uint8_t *bytes = nested(10, &memory, &size);
    Onnx__ModelProto *model = onnx_parse(bytes, size, &error);
    assert_non_null(model);
    onnx_release(model);
    free(memory);
    bytes = nested(300000, &memory, &size);
    assert_null(onnx_parse(bytes, size, &error));
    free(memory);
}

static void text_is_no_model(void **state)
{
    (void)state;
    format_error error = {0};
    assert_null(onnx_parse("This is a text file.\n", 21, &error));
    assert_non_null(strstr(error.text, "not an ONNX model"));
}

/* ---- .mona -------------------------------------------------------------------------------- */

static void written_models_open(void **state)
{
    (void)state;
    mona_writer w = {0};
    mona_file_tensor t = {.type = MONA_U8, .channels = 1, .scale = 0.5f};
    t.name = mona_writer_string(&w, "in");
    assert_int_equal(mona_writer_tensor(&w, &t), 0);
    t.name = mona_writer_string(&w, "out");
    mona_writer_tensor(&w, &t);
    t.name = mona_writer_string(&w, "in");
    mona_writer_tensor(&w, &t);
    mona_file_op op;
    memset(&op, 0, sizeof op);
    op.kind = MONA_OP_LOAD;
    op.input_count = 1;
    op.output = 2;
    op.load.block[0] = 1;
    op.load.scale[0] = 0x3c00;
    mona_writer_op(&w, &op);
    memset(&op, 0, sizeof op);
    op.kind = MONA_OP_STORE;
    op.input_count = 1;
    op.inputs[0] = 2;
    op.output = 1;
    op.store = (mona_file_store){.block = 1, .scale = 0x3c00, .maximum = 255};
    mona_writer_op(&w, &op);
    assert_int_equal(mona_writer_data(&w, "abc", 3), 0);
    assert_int_equal(mona_writer_data(&w, "def", 3), 64);
    uint8_t *bytes;
    size_t size;
    format_error error = {0};
    assert_true(mona_writer_finish(&w, "pass", 1, 1, &bytes, &size, &error));
    mona_model model;
    assert_int_equal(mona_model_open(&model, bytes, size), MONA_OK);
    assert_string_equal(model.strings + model.header->name, "pass");
    assert_string_equal(mona_model_input(&model, 0).name, "in");
    assert_string_equal(mona_model_output(&model, 0).name, "out");
    assert_true(mona_model_output(&model, 0).scale == 0.5f);
    assert_memory_equal(model.data + 64, "def", 3);
    assert_int_equal(size % MONA_FILE_ALIGNMENT, 0);
    mona_writer_free(&w);
    free(bytes);
}

static void strings_are_shared(void **state)
{
    (void)state;
    mona_writer w = {0};
    assert_int_equal(mona_writer_string(&w, ""), 0);
    const uint32_t a = mona_writer_string(&w, "weight"), b = mona_writer_string(&w, "eight");
    assert_true(a != 0 && b != a + 1);
    assert_int_equal(mona_writer_string(&w, "weight"), a);
    assert_int_equal(mona_writer_string(&w, "eight"), b);
    mona_writer_free(&w);
}

/* Long and nearly equal: searching for one in the other at every position would take minutes. */
static void long_names_take_no_longer(void **state)
{
    (void)state;
    enum { LENGTH = 1 << 20 };
    mona_writer w = {0};
    char *name = malloc(LENGTH + 1);
    memset(name, 'a', LENGTH);
    name[LENGTH] = 0;
    assert_int_equal(mona_writer_string(&w, name), 1);
    name[LENGTH / 2] = 'b';
    assert_int_equal(mona_writer_string(&w, name), LENGTH + 2);
    assert_int_equal(mona_writer_string(&w, name), LENGTH + 2);
    free(name);
    mona_writer_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_survives_the_round_trip),
        cmocka_unit_test(halves_round_to_even),
        cmocka_unit_test(halves_saturate),
        cmocka_unit_test(files_are_read_or_refused),
        cmocka_unit_test(errors_stay_one_clean_line),
        cmocka_unit_test(arrays_survive_the_round_trip),
        cmocka_unit_test(damaged_arrays_are_refused),
        cmocka_unit_test(npy_headers_are_checked),
        cmocka_unit_test(typed_tensors_are_decoded),
        cmocka_unit_test(raw_tensors_are_decoded),
        cmocka_unit_test(impossible_tensors_are_refused),
        cmocka_unit_test(small_floats_round_to_nearest),
        cmocka_unit_test(small_floats_overflow_as_asked),
        cmocka_unit_test(damaged_models_never_crash_the_reader),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(text_is_no_model),
        cmocka_unit_test(written_models_open),
        cmocka_unit_test(strings_are_shared),
        cmocka_unit_test(long_names_take_no_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
