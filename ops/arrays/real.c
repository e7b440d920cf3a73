// SPDX-License-Identifier: Apache-2.0
/* Roots, exponentials, logarithms, and functions made of them. */
#include "ops/arrays/real.h"

#define REAL_INFINITY ((double)__builtin_inff())
#define REAL_NAN ((double)__builtin_nanf(""))

static const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;

/* ---- square root ------------------------------------------------------------------------------
 *
 * Halving the exponent's bits gives a first guess within 6 %; every step of Newton's squares the
 * error and halves it, so after four it is below the last bit. Of an fp32 number the root's
 * distance from the nearest midpoint of two fp32 numbers is at least 2^-50 of it, far more than
 * what is left, so that rounding to fp32 is always right. */
double mona_real_sqrt(double x)
{
    if (!(x > 0) || x == REAL_INFINITY)
        return x < 0 ? REAL_NAN : x;
    double root = real_of_bits((real_bits(x) >> 1) + ((uint64_t)0x1ff7a3be << 32));
    for (int i = 0; i < 5; i++)
        root = 0.5 * (root + x / root);
    return root;
}

/* ---- exponential ------------------------------------------------------------------------------
 *
 * exp(x) = 2^k * exp(r) with k the nearest integer to x / ln 2, so |r| <= 0.347; exp(r) - 1 is
 * Taylor's polynomial of degree 12, the next term being below 10^-16. */
typedef struct power {
    double scale, more; /* exp(x) = scale * (1 + more) */
} power;

static inline power power_of(double x)
{
    x = x < -700 ? -700 : x;
    x = x > 700 ? 700 : x;
    const double shifted = x * 0x1.71547652b82fep+0 + 0x1.8p52; /* its low bits are k */
    const double k = shifted - 0x1.8p52;
    const double r = x - k * ln2_high - k * ln2_low;
    static const double factors[] = {1.0 / 12, 1.0 / 11, 1.0 / 10, 1.0 / 9, 1.0 / 8, 1.0 / 7,
                                     1.0 / 6,  1.0 / 5,  1.0 / 4,  1.0 / 3, 1.0 / 2};
    double p = 1;
    for (unsigned i = 0; i < sizeof factors / sizeof *factors; i++)
        p = 1 + r * factors[i] * p;
    const uint64_t exponent = real_bits(shifted) - real_bits(0x1.8p52) + 1023;
    return (power){real_of_bits(exponent << 52), r * p};
}

static inline double exp_of(double x)
{
    const power p = power_of(x);
    const double inside = p.scale + p.scale * p.more, most = x > 700 ? REAL_INFINITY : inside;
    return x < -700 ? 0 : most;
}

double mona_real_exp(double x)
{
    return exp_of(x);
}

void mona_real_exp_row(float *y, const float *x, float less, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        y[i] = (float)exp_of((double)(x[i] - less));
}

double mona_real_expm1(double x)
{
    const power p = power_of(x);
    return x == 0 ? x : p.scale * p.more + (p.scale - 1);
}

/* ---- logarithm --------------------------------------------------------------------------------
 *
 * x = 2^k m with m in [0.71, 1.42); log m = 2 artanh(s) = 2 (s + s^3 / 3 + ...), s = (m - 1) / (m +
 * 1) within 0.172: after s^21 less than 10^-17 of the sum is left. */
double mona_real_log(double x)
{
    if (!(x > 0) || x == REAL_INFINITY)
        return x < 0 ? REAL_NAN : x == 0 ? -REAL_INFINITY : x;
    const uint64_t half_root = 0x3fe6a09e667f3bcd; /* sqrt(1 / 2) */
    const uint64_t above = real_bits(x) - half_root;
    const double k = (double)((int64_t)above >> 52);
    const double m = real_of_bits((above & (((uint64_t)1 << 52) - 1)) + half_root);
    const double s = (m - 1) / (m + 1), s2 = s * s;
    double p = 0;
    for (int n = 21; n > 1; n -= 2)
        p = s2 * (1.0 / n + p);
    return k * ln2_high + (k * ln2_low + 2 * (s + s * p));
}

/* The logarithm lacks what rounding 1 + x has lost, divided by 1 + x. */
static double real_log1p(double x)
{
    const double w = 1 + x;
    if (!(w > 0) || w == REAL_INFINITY || x == 0)
        return x == 0 ? x : mona_real_log(w);
    return mona_real_log(w) - ((w - 1) - x) / w;
}

/* ---- power --------------------------------------------------------------------------------- */

static bool is_whole(double x)
{
    return real_abs(x) >= 0x1p51 || real_round(x) == x;
}

static bool is_odd(double x)
{
    return real_abs(x) < 0x1p51 && is_whole(x) && !is_whole(x / 2);
}

double mona_real_pow(double x, double y)
{
    if (y == 0 || x == 1)
        return 1;
    if (x != x || y != y)
        return REAL_NAN;
    const double magnitude = real_abs(x);
    if (x < 0 && !is_whole(y))
        return x == -REAL_INFINITY ? (y > 0 ? REAL_INFINITY : 0) : REAL_NAN;
    const double power = magnitude == 1 ? 1
                         : magnitude == 0 || magnitude == REAL_INFINITY
                             ? ((magnitude > 0) == (y > 0) ? REAL_INFINITY : 0)
                             : mona_real_exp(y * mona_real_log(magnitude));
    return is_odd(y) ? real_signed(power, x) : power;
}

/* x - n y, with n y taken as 2^52 y, ... down to y. The difference is exact in each step. */
double mona_real_fmod(double x, double y)
{
    double rest = real_abs(x);
    const double divisor = real_abs(y);
    if (!(divisor > 0) || !(rest < REAL_INFINITY))
        return REAL_NAN;
    if (divisor == REAL_INFINITY)
        return x;
    while (rest >= divisor) {
        const int64_t apart =
            (int64_t)(real_bits(rest) >> 52) - (int64_t)(real_bits(divisor) >> 52);
        double step = divisor * real_power_of_2(apart);
        step = step > rest ? step / 2 : step;
        rest -= step;
    }
    return real_signed(rest, x);
}

/* ---- hyperbolic functions ------------------------------------------------------------------ */

double mona_real_sinh(double x)
{
    const double e = mona_real_expm1(real_abs(x));
    return real_signed((e + e / (e + 1)) / 2, x);
}

double mona_real_cosh(double x)
{
    return (mona_real_exp(x) + mona_real_exp(-x)) / 2;
}

double mona_real_tanh(double x)
{
    const double a = real_abs(x), e = mona_real_expm1(2 * (a > 30 ? 30 : a));
    return real_signed(e / (e + 2), x);
}

double mona_real_asinh(double x)
{
    const double a = real_abs(x), square = a * a;
    const double large = mona_real_log(a) + (ln2_high + ln2_low);
    const double small = real_log1p(a + square / (1 + mona_real_sqrt(square + 1)));
    return real_signed(a > 0x1p30 ? large : small, x);
}

double mona_real_acosh(double x)
{
    const double more = x - 1;
    return x < 1 ? REAL_NAN : real_log1p(more + mona_real_sqrt(more * (more + 2)));
}

double mona_real_atanh(double x)
{
    const double a = real_abs(x);
    return real_signed(real_log1p(2 * a / (1 - a)) / 2, x);
}

/* ---- error function --------------------------------------------------------------------------
 *
 * Within [0, 0.5) x * P(x^2); within [n / 2, (n + 1) / 2) a polynomial in t = 4 (x - middle), -1 <=
 * t < 1; from 6 on 1. The coefficients are Chebyshev fits, computed with 40 digits; the largest
 * error is 1.5 * 10^-13. */
enum { ERF_PIECES = 12, ERF_TERMS = 11, ERF_FIRST_TERMS = 9 };

static const double erf_first[ERF_FIRST_TERMS] = {
    1.1283791670955126,     -0.37612638903183476,    0.11283791670925353,
    -0.026866170632887928,  0.00522397737302147,     -0.0008548297753674966,
    0.00012053335124353741, -1.4845849259707869e-05, 1.4725865480556744e-06};
static const double erf_pieces[ERF_PIECES - 1][ERF_TERMS] = {
    {0.7111556336535151, 0.16073276730036695, -0.030137393868590937, 0.00041857488352654637,
     0.0005886209753073597, -5.1994677172143355e-05, -6.560678636338837e-06, 1.124795454544249e-06,
     3.5139390837361386e-08, -1.473398292585899e-08, 1.6040053558180437e-10},
    {0.9229001282564583, 0.059130280611017265, -0.018478212691228676, 0.0026177468140365693,
     -2.4060172093443445e-05, -4.6075321247420845e-05, 5.2005022795264106e-06,
     2.2151958744146277e-07, -8.693095491997926e-08, 3.1394765007374457e-09, 7.480551891813977e-10},
    {0.9866716712191824, 0.013193748982516003, -0.005772265179816739, 0.0014087075740854293,
     -0.00018789925802626035, 6.4691006331963606e-06, 2.1882483033642628e-06,
     -3.6979162375055673e-07, 1.1128551799868148e-08, 3.406212335360791e-09,
     -4.110668118368795e-10},
    {0.9985372834133188, 0.001785579755670688, -0.0010043886124854312, 0.00033944614811297065,
     -7.454446704866772e-05, 1.0407908428478243e-05, -7.090731383439336e-07,
     -4.0963956427325536e-08, 1.5254701974425542e-08, -1.3664696422876294e-09,
     -1.4593217848518803e-11},
    {0.9998993780778803, 0.00014656931173405294, -0.00010076640184503077, 4.313107430499845e-05,
     -1.2727006467263821e-05, 2.6912147335110515e-06, -4.0462103538594884e-07,
     3.944134406676441e-08, -1.3580117996417248e-09, -2.8188990019407794e-10,
     5.2257419439131956e-11},
    {0.9999956972205363, 7.29725633832144e-06, -5.929020779820657e-06, 3.059526900584312e-06,
     -1.1194114999745594e-06, 3.064417564511991e-07, -6.433787715330909e-08, 1.0377381849523239e-08,
     -1.2461561362936586e-09, 9.693661183398255e-11, -1.9088143280140934e-12},
    {0.9999998862727434, 2.2035804976780637e-07, -2.0658566987296884e-07, 1.245252117681327e-07,
     -5.406734221117918e-08, 1.7940624966642014e-08, -4.70526023148422e-09, 9.92862854314878e-10,
     -1.6978951121547176e-10, 2.3807686384081874e-11, -2.496719538848899e-12},
    {0.9999999981494259, 4.0359987902322735e-09, -4.288248367867176e-09, 2.953418729984196e-09,
     -1.479668298375742e-09, 5.735229027469839e-10, -1.7845131304954147e-10, 4.554558015292373e-11,
     -9.723314533068828e-12, 1.834891939179516e-12, -2.715377104548573e-13},
    {0.9999999999815149, 4.483591269868369e-11, -5.324262520796606e-11, 4.121592641019007e-11,
     -2.3362918438495643e-11, 1.0326852444485092e-11, -3.6977491679012664e-12,
     1.0957363394304558e-12, -2.765916767370006e-13, 6.486242881295528e-14, -1.18195076901069e-14},
    {0.9999999999998869, 3.0210237235391274e-13, -3.9650878577917756e-13, 3.4064124839025343e-13,
     -2.152901525133303e-13, 1.0669725029540755e-13, -4.3076633762301945e-14,
     1.4435547469135208e-14, -4.180425705802728e-15, 1.1745077365398747e-15,
     -2.4968294218874237e-16},
    {0.9999999999999996, 1.2346276667008105e-15, -1.7747693293795039e-15, 1.6749707349135114e-15,
     -1.1669778566190367e-15, 6.403287707891137e-16, -2.8717103539657473e-16,
     1.0676095586223958e-16, -3.4789922650879055e-17, 1.1475362332507501e-17,
     -2.761906462102515e-18},
};

static double polynomial(const double *coefficients, int terms, double x)
{
    double sum = coefficients[terms - 1];
    for (int i = terms - 2; i >= 0; i--)
        sum = sum * x + coefficients[i];
    return sum;
}

double mona_real_erf(double x)
{
    const double a = real_abs(x);
    if (!(a >= 0.5))
        return x * polynomial(erf_first, ERF_FIRST_TERMS, x * x);
    if (a >= ERF_PIECES / 2)
        return real_signed(1, x);
    const int piece = (int)(2 * a);
    const double t = 4 * a - 2 * piece - 1;
    return real_signed(polynomial(erf_pieces[piece - 1], ERF_TERMS, t), x);
}

/* ---- what networks make of them ------------------------------------------------------------ */

double mona_real_sigmoid(double x)
{
    return 1 / (1 + mona_real_exp(-x));
}

double mona_real_softplus(double x)
{
    return (x < 0 ? 0 : x) + real_log1p(mona_real_exp(-real_abs(x)));
}

/* tanh(log(1 + e)) = (e^2 + 2 e) / (e^2 + 2 e + 2) */
double mona_real_mish(double x)
{
    const double e = mona_real_exp(x > 40 ? 40 : x), n = e * (e + 2);
    return x * (n / (n + 2));
}

double mona_real_gelu(double x)
{
    return x / 2 * (1 + mona_real_erf(x * 0x1.6a09e667f3bcdp-1));
}

double mona_real_gelu_tanh(double x)
{
    const double root = 0x1.9884533d43651p-1; /* sqrt(2 / pi) */
    return x / 2 * (1 + mona_real_tanh(root * (x + 0.044715 * x * x * x)));
}
