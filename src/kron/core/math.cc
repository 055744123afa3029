#include "kron/core/math.h"

#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kron/core/double_double.h"

namespace kron::math {
namespace {

static_assert(FLT_EVAL_METHOD == 0 && std::numeric_limits<double>::is_iec559,
              "decisions need doubles that are rounded after every operation");

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kRootTwoPi = 2.5066282746310005024;

// ln 2 / 64 in three parts; the first two have 36 bits, so a multiple of up to 17 bits of each is exact.
constexpr double kStep1 = 0x1.62e42fefap-7;
constexpr double kStep2 = 0x1.cf79abc9ep-46;
constexpr double kStep3 = 0x1.d9cc01f97b57ap-85;
constexpr double kStepsPerUnit = 92.332482616893658071;  // 64 / ln 2
constexpr int kSteps = 64;

constexpr DoubleDouble multiple_of_step(double count) {
  return DoubleDouble(count * kStep1) + DoubleDouble(count * kStep2) + DoubleDouble(count * kStep3);
}

// e^x - 1 by its power series at x/256 and eight doublings, e^2a - 1 = (e^a - 1)(e^a + 1): slow, for the table only.
constexpr DoubleDouble slow_expm1(DoubleDouble x) {
  const DoubleDouble t(x.high / 256, x.low / 256);
  DoubleDouble sum = 1;
  for (int n = 16; n >= 2; --n) sum = DoubleDouble(1) + t * sum / DoubleDouble(n);
  sum = t * sum;
  for (int i = 0; i < 8; ++i) sum = sum * (DoubleDouble(2) + sum);
  return sum;
}

// 2^(j/64)
constexpr std::array<DoubleDouble, kSteps> kPowers = [] {
  std::array<DoubleDouble, kSteps> powers;
  for (int j = 0; j < kSteps; ++j)
    powers[static_cast<std::size_t>(j)] = DoubleDouble(1) + slow_expm1(multiple_of_step(j));
  return powers;
}();

// 2^n for a normal result.
double power_of_two(int n) { return std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52); }

// x · 2^n, n ≥ -1100, gradual underflow included.
double scaled(double x, int n) {
  if (n >= -1000 && n <= 1000) return x * power_of_two(n);
  return n > 0 ? x * power_of_two(1000) * power_of_two(n - 1000) : x * power_of_two(-1000) * power_of_two(n + 1000);
}

// e^x = 2^exponent · power · (1 + rest), |rest| < 0.0055.
struct Reduced {
  int exponent;
  DoubleDouble power;
  DoubleDouble rest;
};

// The series of e^r - 1 up to r^3 in full; the terms from r^4 on are below 2^-27 of the result, so doubles are enough
// for 80 bits.
Reduced reduced(DoubleDouble x) {
  const auto count = static_cast<int>(std::floor(x.high * kStepsPerUnit + 0.5));
  const DoubleDouble r = x - multiple_of_step(count);
  const DoubleDouble square = r * r;
  const double h = r.high;
  const double tail = 1.0 / 24 + h * (1.0 / 120 + h * (1.0 / 720 + h * (1.0 / 5040 + h * (1.0 / 40320))));
  constexpr DoubleDouble kSixth(0x1.5555555555555p-3, 0x1.5555555555555p-57);
  const DoubleDouble cubic = square * r * kSixth;
  const DoubleDouble small = cubic + DoubleDouble(square.high * square.high * tail);
  const DoubleDouble rest = r + (DoubleDouble(square.high / 2, square.low / 2) + small);
  const int step = count & (kSteps - 1);
  return {(count - step) / kSteps, kPowers[static_cast<std::size_t>(step)], rest};
}

double exp_of(DoubleDouble x) {
  if (x.high > 709.79) return kInfinity;
  if (x.high < -745.2) return 0;
  const Reduced e = reduced(x);
  return scaled((e.power + e.power * e.rest).high, e.exponent);
}

// |x| ≤ 40
DoubleDouble expm1_of(DoubleDouble x) {
  const Reduced e = reduced(x);
  if (e.exponent == 0 && e.power.high == 1) return e.rest;
  const double scale = power_of_two(e.exponent);
  const DoubleDouble whole = e.power + e.power * e.rest;
  return DoubleDouble(whole.high * scale, whole.low * scale) - DoubleDouble(1);
}

// ln x for a finite x > 0. With x = m · 2^e and m near 1, y = ln m is first guessed to ten digits and then corrected by
// Halley's step on e^y = m, whose error is the cube of the guess's.
DoubleDouble log_of(double x) {
  int exponent = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    exponent = -54;
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  exponent += static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000F'FFFF'FFFF'FFFF) | 0x3FF0'0000'0000'0000);
  if (m > 1.4142135623730951) {
    m /= 2;
    ++exponent;
  }
  const double s = (m - 1) / (m + 1);
  const double q = s * s;
  const double guess =
      2 * s * (1 + q * (1.0 / 3 + q * (1.0 / 5 + q * (1.0 / 7 + q * (1.0 / 9 + q * (1.0 / 11 + q * (1.0 / 13)))))));
  const DoubleDouble reached = expm1_of(guess);
  const DoubleDouble missing = DoubleDouble(m - 1) - reached;
  const double correction = 2 * missing.high / (m + 1 + reached.high);
  const DoubleDouble log_m = exact_sum(guess, correction);
  return exponent == 0 ? log_m : multiple_of_step(exponent * kSteps) + log_m;
}

}  // namespace

double exp(double x) { return std::isnan(x) ? x : exp_of(x); }

double expm1(double x) {
  if (std::isnan(x) || x == 0) return x;
  if (x < -40) return -1;
  return x > 40 ? exp(x) : expm1_of(x).high;
}

double log(double x) {
  if (std::isnan(x) || x == kInfinity) return x;
  if (x <= 0) return x == 0 ? -kInfinity : kNaN;
  return log_of(x).high;
}

double log1p(double x) {
  if (std::isnan(x) || x == 0 || x == kInfinity) return x;
  if (x <= -1) return x == -1 ? -kInfinity : kNaN;
  const DoubleDouble sum = exact_sum(1, x);
  return (log_of(sum.high) + DoubleDouble(sum.low / sum.high)).high;
}

double pow(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return kNaN;
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const DoubleDouble log_x = log_of(x);
  if (y * log_x.high < -746) return 0;
  return exp_of(log_x * DoubleDouble(y));
}

namespace {

// Beyond this the normal density is too small for a double.
constexpr double kFarthest = 40;

// The normal density; z² is kept in full, for its last bits count in the far tail.
double density(double z) {
  if (z > kFarthest || z < -kFarthest) return 0;
  const DoubleDouble square = exact_product(z, z);
  return exp_of(DoubleDouble(-square.high / 2, -square.low / 2)) / kRootTwoPi;
}

// (1 + z) · Φ(-z)/φ(z) as a Chebyshev series in t = (z - 5)/(z + 5): smooth from z = 0 to infinity, where it tends
// to 1.
constexpr std::array kMillsSeries{
    2.31599524426103743335,     -0.163344938845139789053,   -0.0136831360557815764066,   0.0308220001981000397251,
    -0.0162200730120468069878,  0.00561669101646009348637,  -0.00141339337835492162805,  0.000250262546072566065464,
    -2.46890723972838700412e-5, -1.01079640618375922563e-6, 7.49541917974057290539e-7,   -7.6002742687283368758e-8,
    -1.15747714413286447483e-8, 3.33338647259984314626e-9,  7.53803962817134701893e-11,  -1.11042472637274944779e-10,
    3.50924377655105883252e-12, 3.68949538617509536843e-12, -2.33766977763830937174e-13, -1.3271797523541405453e-13,
    9.92170699588827655385e-15, 5.27600499545537906542e-15, -3.37309769418792183022e-16, -2.28043387763799455892e-16,
    7.49633056580862652273e-18, 1.0328041877290668477e-17,
};

// Mills' ratio Φ(-z)/φ(z), z ≥ 0, by Clenshaw's recurrence.
double mills_ratio(double z) {
  const double t = (z - 5) / (z + 5);
  double next = 0;
  double after = 0;
  for (std::size_t i = kMillsSeries.size() - 1; i > 0; --i) {
    const double current = 2 * t * next - after + kMillsSeries[i];
    after = next;
    next = current;
  }
  return (t * next - after + kMillsSeries[0] / 2) / (1 + z);
}

double upper_tail(double z) { return z > kFarthest ? 0 : density(z) * mills_ratio(z); }

// One step of Halley's method for Φ(z) = p, given (Φ(z) - p)/φ(z).
double refined(double z, double error) { return z - error / (1 + z * error / 2); }

// Φ⁻¹(p) for 0 < p < ¼. The guess, a polynomial in 1/r fitted to 1e-3, is refined until a step of that kind can no
// longer matter: each one cubes the error.
double lower_tail_quantile(double p) {
  const double r = std::sqrt(-2 * log(p));
  const double v = 1 / r;
  const double guess =
      1.0014091629266766 +
      v * (-0.09730213612485839 +
           v * (-2.7660733050184581 + v * (3.7977697629879573 + v * (-3.8265963507352667 + v * 1.7273363336148834))));
  double z = -r * guess;
  for (int i = 0; i < 6; ++i) {
    const double height = density(z);
    if (height < 1e-307) break;
    const double error = mills_ratio(-z) - p / height;
    z = refined(z, error);
    if (error < 1e-6 && error > -1e-6) break;
  }
  return z;
}

// Below this the power series of Φ − ½ is used; above it ½ minus the tail loses less than a bit.
constexpr double kCentre = 0.7;

}  // namespace

double normal_centred(double z) {
  if (std::isnan(z)) return z;
  if (z > kCentre) return 0.5 - upper_tail(z);
  if (z < -kCentre) return upper_tail(-z) - 0.5;
  const double w = -z * z / 2;
  double sum = 0;
  for (int n = 14; n >= 1; --n) sum = (sum + 1.0 / (2 * n + 1)) * w / n;
  return z * (1 + sum) / kRootTwoPi;
}

double normal_cdf(double z) { return z < -kCentre ? upper_tail(-z) : 0.5 + normal_centred(z); }

double normal_centred_quantile(double q) {
  if (q < -0.25) return normal_quantile(0.5 + q);
  if (q > 0.25) return -normal_quantile(0.5 - q);
  const double s = q * kRootTwoPi;
  const double w = s * s;
  double z = s * (1 + w * (1.0 / 6 + w * (7.0 / 120 + w * (127.0 / 5040))));
  for (int i = 0; i < 2; ++i) z = refined(z, (normal_centred(z) - q) / density(z));
  return z;
}

double normal_quantile(double p) {
  if (std::isnan(p) || p < 0 || p > 1) return kNaN;
  if (p == 0) return -kInfinity;
  if (p == 1) return kInfinity;
  if (p < 0.25) return lower_tail_quantile(p);
  return p > 0.75 ? -lower_tail_quantile(1 - p) : normal_centred_quantile(p - 0.5);
}

}  // namespace kron::math
