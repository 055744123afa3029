#pragma once

namespace kron::math {

// An unevaluated sum high + low of two doubles, |low| ≤ ulp(high)/2: about 106 bits, from + - * alone, so that the
// functions of math.h can round once at the very end. Internal to math.cc.
struct DoubleDouble {
  double high = 0;
  double low = 0;

  constexpr DoubleDouble() = default;
  constexpr DoubleDouble(double value) : high(value) {}  // NOLINT: a double is one
  constexpr DoubleDouble(double h, double l) : high(h), low(l) {}
};

// high + low for |high| ≥ |low|, exactly.
constexpr DoubleDouble normalised(double high, double low) {
  const double sum = high + low;
  return {sum, low - (sum - high)};
}

// a + b, exactly.
constexpr DoubleDouble exact_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

// a · b, exactly: each factor is cut into two halves of 26 bits whose products are exact. |a|, |b| < 2^995.
constexpr DoubleDouble exact_product(double a, double b) {
  constexpr double kCut = 134217729.0;  // 2^27 + 1
  const double a_high = a * kCut - (a * kCut - a);
  const double b_high = b * kCut - (b * kCut - b);
  const double a_low = a - a_high;
  const double b_low = b - b_high;
  const double product = a * b;
  return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

constexpr DoubleDouble operator-(DoubleDouble a) { return {-a.high, -a.low}; }

constexpr DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble high = exact_sum(a.high, b.high);
  const DoubleDouble low = exact_sum(a.low, b.low);
  const DoubleDouble sum = normalised(high.high, high.low + low.high);
  return normalised(sum.high, sum.low + low.low);
}

constexpr DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }

constexpr DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble product = exact_product(a.high, b.high);
  return normalised(product.high, product.low + (a.high * b.low + a.low * b.high));
}

constexpr DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  const double first = a.high / b.high;
  const DoubleDouble rest = a - b * first;
  return normalised(first, rest.high / b.high);
}

}  // namespace kron::math
