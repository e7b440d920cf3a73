// SPDX-License-Identifier: Apache-2.0
/* Calls the simulator of AI Cores inside AKG, a shared library that the developer has. Its functions
 * have the names of the intrinsics; those that it lacks are null. It tells illegal operands by
 * abort(). */
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <iostream>

#include "tests/ascend/csim.h"

class half
{
  public:
    half(const half &other) : bits(other.bits) {}
    explicit half(uint16_t bits) : bits(bits) {}
    ~half() {}
    uint16_t bits;
};
enum ConvRelu_t { NO_CONVERSION };
enum pad_t { NO_PADDING };

#define WEAK __attribute__((weak))
typedef uint8_t b8;
typedef uint16_t b16;
#define COPY(name) void name(void *, void *, b8, b16, b16, b16, b16) WEAK;
template <typename T> struct of {
    typedef T type;
};
template <> struct of<uint16_t> {
    typedef void type;
};
#define OF(T) of<T>::type *
#define VEC2(op, told, name, T) void name(OF(T), OF(T), OF(T), b8, b8, b8, b8, b8, b8, b8) WEAK;
#define VECS(op, told, name, T) void name(T *, T *, const T &, b8, b16, b16, b8, b8) WEAK;
#define VCONV(op, name, D, S) void name(D *, S *, b8, b16, b16, b8, b8) WEAK;
void copy_gm_to_cbuf(void *, void *, b8, b16, b16, b16, b16, pad_t) WEAK;
COPY(copy_gm_to_ubuf)
COPY(copy_cbuf_to_ubuf)
COPY(copy_ubuf_to_cbuf)
COPY(copy_ubuf_to_gm)
void load_cbuf_to_cb(half *, half *, b16, b8, b16, b8, bool) WEAK;
void mad(float *, half *, half *, b16, b16, b16, bool) WEAK;
void mad(int32_t *, int8_t *, int8_t *, b16, b16, b16, bool) WEAK;
void mad(int32_t *, uint8_t *, int8_t *, b16, b16, b16, bool) WEAK;
void copy_matrix_cc_to_ubuf(half *, float *, b8, b16, b16, b16, b16, ConvRelu_t) WEAK;
void vector_dup(half *, const half &, b8, b16, b16, b8, b8) WEAK;
void vtranspose(uint16_t *, uint16_t *) WEAK;
void set_vector_mask(uint64_t, uint64_t) WEAK;
AC_VEC2_ROWS(VEC2, VEC2)
AC_VECS_ROWS(VECS)
AC_VCONV_ROWS(VCONV)

/* Calls one of them, if there is one of these types. */
template <typename... Types, typename... Values>
static csim_answer call(void (*f)(Types...), Values... values)
{
    if (!f)
        return CSIM_ABSENT;
    f(static_cast<Types>(values)...);
    return CSIM_DONE;
}

typedef const csim_instruction &instruction;

template <typename T> static T *at(uint8_t *bytes)
{
    return reinterpret_cast<T *>(bytes);
}

static csim_answer copy(void (*f)(void *, void *, b8, b16, b16, b16, b16), instruction i)
{
    return call(f, i.dst, i.a, 0, i.field[0], i.field[1], i.field[2], i.field[3]);
}

template <typename C, typename A, typename B> static csim_answer product(instruction i)
{
    void (*f)(C *, A *, B *, b16, b16, b16, bool) = mad;
    return call(f, at<C>(i.dst), at<A>(i.a), at<B>(i.b), i.field[0], i.field[1], i.field[2],
                i.field[3]);
}

template <typename T>
static csim_answer vec2(void (*f)(T *, T *, T *, b8, b8, b8, b8, b8, b8, b8), instruction i)
{
    const uint32_t *v = i.field;
    return call(f, at<T>(i.dst), at<T>(i.a), at<T>(i.b), v[0], v[1], v[2], v[3], v[4], v[5], v[6]);
}

template <typename T>
static csim_answer vecs(void (*f)(T *, T *, const T &, b8, b16, b16, b8, b8), instruction i,
                        const T &s)
{
    if (!f)
        return CSIM_ABSENT;
    const uint32_t *v = i.field;
    f(at<T>(i.dst), at<T>(i.a), s, (b8)v[0], (b16)v[1], (b16)v[2], (b8)v[4], (b8)v[5]);
    return CSIM_DONE;
}

template <typename D, typename S>
static csim_answer vconv(void (*f)(D *, S *, b8, b16, b16, b8, b8), instruction i)
{
    const uint32_t *v = i.field;
    return call(f, at<D>(i.dst), at<S>(i.a), v[0], v[1], v[2], v[4], v[5]);
}

static csim_answer dup(instruction i)
{
    void (*f)(half *, const half &, b8, b16, b16, b8, b8) = vector_dup;
    if (!f)
        return CSIM_ABSENT;
    f(at<half>(i.dst), half(i.half), (b8)i.field[0], (b16)i.field[1], 0, (b8)i.field[4], 0);
    return CSIM_DONE;
}

static half scalar_of(instruction i, half *)
{
    return half(i.half);
}

static float scalar_of(instruction i, float *)
{
    return i.scalar;
}

#define CALL_VEC2(op, told, name, T)                                                               \
    case AC_OP_VEC2 + op:                                                                          \
        return vec2<of<T>::type>(name, i);
#define CALL_VECS(op, told, name, T)                                                               \
    case AC_OP_VECS + op:                                                                          \
        return vecs<T>(name, i, scalar_of(i, (T *)nullptr));
#define CALL_VCONV(op, name, D, S)                                                                 \
    case AC_OP_VCONV + op:                                                                         \
        return vconv<D, S>(name, i);

static csim_answer perform(instruction i)
{
    switch ((uint32_t)i.opcode) {
    case AC_OP_COPY + AC_GM_L1:
        return call(copy_gm_to_cbuf, i.dst, i.a, 0, i.field[0], i.field[1], i.field[2], i.field[3],
                    NO_PADDING);
    case AC_OP_COPY + AC_GM_UB:
        return copy(copy_gm_to_ubuf, i);
    case AC_OP_COPY + AC_L1_UB:
        return copy(copy_cbuf_to_ubuf, i);
    case AC_OP_COPY + AC_UB_L1:
        return copy(copy_ubuf_to_cbuf, i);
    case AC_OP_COPY + AC_UB_GM:
        return copy(copy_ubuf_to_gm, i);
    case AC_OP_LOAD2D:
        return call(load_cbuf_to_cb, at<half>(i.dst), at<half>(i.a), 0, i.field[0], 1, 0, false);
    case AC_OP_MMAD + AC_MAD_S32U8S8:
        return product<int32_t, uint8_t, int8_t>(i);
    case AC_OP_MMAD + AC_MAD_S32S8S8:
        return product<int32_t, int8_t, int8_t>(i);
    case AC_OP_MMAD + AC_MAD_F32F16F16:
        return product<float, half, half>(i);
    case AC_OP_DRAIN + AC_DRAIN_F32_F16:
        return call(copy_matrix_cc_to_ubuf, at<half>(i.dst), at<float>(i.a), 0, i.field[0],
                    i.field[1], i.field[2], i.field[3], NO_CONVERSION);
    case AC_OP_DUP:
        return dup(i);
        AC_VEC2_ROWS(CALL_VEC2, CALL_VEC2)
        AC_VECS_ROWS(CALL_VECS)
        AC_VCONV_ROWS(CALL_VCONV)
    case AC_OP_TRANSPOSE:
        return call(vtranspose, at<uint16_t>(i.dst), at<uint16_t>(i.a));
    default:
        return CSIM_ABSENT;
    }
}

static sigjmp_buf back;

static void refused(int)
{
    siglongjmp(back, 1);
}

csim_answer csim_execute(const csim_instruction *i)
{
    std::cerr.rdbuf(nullptr); /* which operand it minds */
    signal(SIGABRT, refused);
    if (sigsetjmp(back, 1))
        return CSIM_REFUSED;
    if (set_vector_mask)
        set_vector_mask(i->lanes > 64 ? ~UINT64_C(0) >> (128 - i->lanes) : 0,
                        i->lanes >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << i->lanes) - 1);
    return perform(*i);
}
