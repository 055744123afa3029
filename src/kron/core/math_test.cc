#include "kron/core/math.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <random>

#include "kron/testing/scale.h"

namespace kron {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// How many doubles lie between two of the same sign.
double ulps(double a, double b) {
  if (a == b) return 0;
  if (std::isnan(a) || std::isnan(b) || std::signbit(a) != std::signbit(b)) return kInfinity;
  return std::abs(static_cast<double>(std::bit_cast<std::int64_t>(a) - std::bit_cast<std::int64_t>(b)));
}

class Source {
 public:
  double uniform(double low, double high) { return low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53; }
  // Spread over many magnitudes, either sign.
  double wide(int lowest_exponent, int highest_exponent) {
    const double magnitude =
        std::ldexp(uniform(1, 2), static_cast<int>(std::floor(uniform(lowest_exponent, highest_exponent + 1))));
    return (next() & 1) != 0 ? magnitude : -magnitude;
  }

 private:
  std::uint64_t next() { return engine_(); }
  std::mt19937_64 engine_{20260301};
};

// The normal distribution by the C library, in its 80-bit precision.
double library_cdf(double z) {
  return static_cast<double>(std::erfc(-static_cast<long double>(z) / std::sqrt(2.0L)) / 2);
}
double library_centred(double z) {
  return static_cast<double>(std::erf(static_cast<long double>(z) / std::sqrt(2.0L)) / 2);
}

TEST(Math, ExpAndLogAgreeWithTheLibraryToTheLastBit) {
  Source source;
  for (int i = 0; i < testing::scaled(50'000); ++i) {
    const double x = i % 2 == 0 ? source.uniform(-700, 700) : source.wide(-60, 3);
    ASSERT_LE(ulps(math::exp(x), std::exp(x)), 1) << x;
    ASSERT_LE(ulps(math::expm1(x), std::expm1(x)), 1) << x;
    const double y = i % 2 == 0 ? std::abs(source.wide(-1000, 1000)) : 1 + source.wide(-52, -2);
    ASSERT_LE(ulps(math::log(y), std::log(y)), 1) << y;
    const double z = source.wide(-60, -2);
    ASSERT_LE(ulps(math::log1p(z), std::log1p(z)), 1) << z;
  }
}

TEST(Math, PowAgreesWithTheLibraryToTheLastBit) {
  Source source;
  for (int i = 0; i < testing::scaled(50'000); ++i) {
    const double x = i % 4 == 0 ? std::abs(source.wide(-53, -1)) : source.uniform(0, 1);
    const double y = std::abs(source.wide(-10, 10));
    if (std::pow(x, y) < 1e-300) continue;
    ASSERT_LE(ulps(math::pow(x, y), std::pow(x, y)), 1) << x << '^' << y;
  }
}

TEST(Math, PowersThatHaveAnExactAnswerGetIt) {
  Source source;
  for (int i = 0; i < testing::scaled(10'000); ++i) {
    const double x = source.uniform(0, 1);
    ASSERT_EQ(math::pow(x, 1), x);
    ASSERT_EQ(math::pow(x, 2), x * x);
    ASSERT_EQ(math::pow(x, 0.5), std::sqrt(x));
  }
}

TEST(Math, EdgesAreTheLimits) {
  EXPECT_EQ(math::exp(0), 1);
  EXPECT_EQ(math::exp(710), kInfinity);
  EXPECT_EQ(math::exp(-kInfinity), 0);
  EXPECT_EQ(math::exp(-745), std::exp(-745.0));
  EXPECT_EQ(math::expm1(-1000), -1);
  EXPECT_EQ(math::expm1(5e-324), 5e-324);
  EXPECT_EQ(math::log(1), 0);
  EXPECT_EQ(math::log(0), -kInfinity);
  EXPECT_TRUE(std::isnan(math::log(-1)));
  EXPECT_EQ(math::log(5e-324), std::log(5e-324));
  EXPECT_EQ(math::log(std::numeric_limits<double>::max()), std::log(std::numeric_limits<double>::max()));
  EXPECT_EQ(math::log1p(-1), -kInfinity);
  EXPECT_EQ(math::pow(0, 0.1), 0);
  EXPECT_EQ(math::pow(1, 1e300), 1);
  EXPECT_EQ(math::pow(0x1.fffffffffffffp-1, 1e300), 0);
  EXPECT_EQ(math::pow(0.5, kInfinity), 0);
  EXPECT_EQ(math::pow(0.5, 1e-300), 1);
  EXPECT_EQ(math::normal_cdf(0), 0.5);
  EXPECT_EQ(math::normal_cdf(-100), 0);
  EXPECT_EQ(math::normal_cdf(kInfinity), 1);
  EXPECT_EQ(math::normal_quantile(0), -kInfinity);
  EXPECT_EQ(math::normal_quantile(0.5), 0);
  EXPECT_EQ(math::normal_quantile(1), kInfinity);
  for (const double nan :
       {math::exp(NAN), math::expm1(NAN), math::log(NAN), math::log1p(NAN), math::pow(NAN, 1), math::pow(0.5, NAN),
        math::normal_cdf(NAN), math::normal_quantile(NAN), math::normal_quantile(-0.1), math::normal_quantile(1.1)}) {
    EXPECT_TRUE(std::isnan(nan));
  }
}

TEST(Math, NormalCdfAgreesWithTheLibrary) {
  Source source;
  for (int i = 0; i < testing::scaled(50'000); ++i) {
    const double z = i % 2 == 0 ? source.uniform(-37, 9) : source.wide(-50, 1);
    ASSERT_LE(ulps(math::normal_cdf(z), library_cdf(z)), 4) << z;
    ASSERT_LE(ulps(math::normal_centred(z), library_centred(z)), 4) << z;
  }
}

TEST(Math, NormalQuantileUndoesTheCdf) {
  Source source;
  for (int i = 0; i < testing::scaled(50'000); ++i) {
    // In the lower half p keeps all the digits of z, so the way there and back is almost the identity; the error of p
    // weighs 1/(z·mills) ≈ 1 in z, relative to z².
    const double z = i % 2 == 0 ? source.uniform(-37, -0.1) : source.uniform(-3, -0.1);
    ASSERT_NEAR(math::normal_quantile(math::normal_cdf(z)), z, 2e-15 * std::max(1.0, -1 / z)) << z;
    const double tiny = source.wide(-60, -2);
    ASSERT_LE(ulps(math::normal_centred_quantile(math::normal_centred(tiny)), tiny), 8) << tiny;
    const double p = source.uniform(0.5, 1);
    ASSERT_EQ(math::normal_quantile(p), -math::normal_quantile(1 - p)) << p;
  }
}

TEST(Math, NormalQuantileKnowsTheTables) {
  EXPECT_NEAR(math::normal_quantile(0.975), 1.959963984540054, 1e-15);
  EXPECT_NEAR(math::normal_quantile(0.99), 2.3263478740408408, 1e-15);
  EXPECT_NEAR(math::normal_quantile(1e-10), -6.361340902404056, 4e-15);
}

}  // namespace
}  // namespace kron
