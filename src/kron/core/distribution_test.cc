#include "kron/core/distribution.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

#include "kron/base/duration.h"
#include "kron/testing/scale.h"

namespace kron::distribution_test {
namespace {

using Parameters = std::map<std::string, std::string>;

Distribution made(std::string_view name, const Parameters& parameters = {}) {
  return make_distribution(name, parameters).value();
}

WindowSpec window(WindowMode mode, std::string_view duration) { return {mode, parse_duration(duration).value()}; }

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : engine_(seed) {}
  double u() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * u(); }

 private:
  std::mt19937_64 engine_;
};

std::int64_t offset_of(double x, std::int64_t width) {
  const double clamped = std::clamp(x, 0.0, 0x1.fffffffffffffp-1);
  return std::min(width, static_cast<std::int64_t>(std::floor(clamped * static_cast<double>(width + 1))));
}

// The place by the C library, in long double where the contract's formula alone would lose digits.
double library_normal(double u, double m, double s) {
  const auto cdf = [](long double z) { return std::erfc(-z / std::sqrt(2.0L)) / 2; };
  const long double low = cdf(-m / s);
  const long double p = low + u * (cdf((1 - m) / s) - low);
  long double left = -m / s;
  long double right = (1 - m) / s;
  for (int i = 0; i < 80; ++i) {
    const long double middle = (left + right) / 2;
    (cdf(middle) < p ? left : right) = middle;
  }
  return static_cast<double>(m + s * left);
}

TEST(Distribution, SkewsChooseTheSecondTheLibraryChooses) {
  Draws draws(1);
  for (int i = 0; i < testing::scaled(50'000); ++i) {
    const double u = draws.u();
    const auto width = static_cast<std::int64_t>(std::exp(draws.between(0, 16)));
    Distribution skew = made("skewEarly");
    skew.shape = std::exp(draws.between(-3, 3));
    ASSERT_EQ(offset_of(skew.place(u, {}), width), offset_of(std::pow(u, skew.shape), width)) << u << ' ' << skew.shape;
    skew.kind = Distribution::Kind::skewLate;
    ASSERT_EQ(offset_of(skew.place(u, {}), width), offset_of(1 - std::pow(1 - u, skew.shape), width))
        << u << ' ' << skew.shape;
  }
}

TEST(Distribution, ExponentialChoosesTheSecondTheLibraryChooses) {
  Draws draws(2);
  for (int i = 0; i < testing::scaled(50'000); ++i) {
    const double u = draws.u();
    const auto width = static_cast<std::int64_t>(std::exp(draws.between(0, 16)));
    Distribution exponential = made("exponential");
    exponential.lambda = std::exp(draws.between(-4, 4));
    const double lambda = exponential.lambda;
    const double x = -std::log(1 - u * (1 - std::exp(-lambda))) / lambda;
    ASSERT_EQ(offset_of(exponential.place(u, {}), width), offset_of(x, width)) << u << ' ' << lambda;
    exponential.direction = Distribution::Direction::late;
    ASSERT_EQ(offset_of(exponential.place(u, {}), width), offset_of(1 - x, width)) << u << ' ' << lambda;
  }
}

TEST(Distribution, NormalChoosesTheSecondTheLibraryChooses) {
  Draws draws(3);
  const Distribution::Mu means[] = {Distribution::Mu::start, Distribution::Mu::mid, Distribution::Mu::end};
  for (int i = 0; i < testing::scaled(50'000); ++i) {
    const double u = draws.u();
    const auto width = static_cast<std::int64_t>(std::exp(draws.between(1, 14)));
    const WindowSpec spec{WindowMode::after, Seconds(width)};
    Distribution normal = made("normal");
    normal.mu = means[i % 3];
    const double s = std::exp(draws.between(-4, 1));
    normal.sigma = Nanoseconds(static_cast<std::int64_t>(s * 1e9 * static_cast<double>(width)));
    const double exact = static_cast<double>(normal.sigma->count()) / static_cast<double>(spec.duration.count());
    ASSERT_EQ(offset_of(normal.place(u, spec), width), offset_of(library_normal(u, 0.5 * (i % 3), exact), width))
        << u << " m=" << 0.5 * (i % 3) << " s=" << exact;
  }
}

struct Named {
  const char* name;
  Parameters parameters;
};
const std::vector<Named> kSamples{
    {"uniform", {}},
    {"skewEarly", {}},
    {"skewEarly", {{"shape", "0.25"}}},
    {"skewLate", {{"shape", "6.5"}}},
    {"normal", {}},
    {"normal", {{"mu", "end"}, {"sigma", "4m"}}},
    {"normal", {{"mu", "nominal"}, {"sigma", "52w"}}},
    {"normal", {{"mu", "start"}, {"sigma", "1ns"}}},
    {"exponential", {}},
    {"exponential", {{"lambda", "30"}, {"dir", "late"}}},
    {"exponential", {{"lambda", "1e-12"}}},
    {"exponential", {{"lambda", "1e-310"}, {"dir", "late"}}},
};

TEST(Distribution, QuantilesMatchTheFormula) {
  const WindowSpec spec = window(WindowMode::around, "3h");
  for (const Named& sample : kSamples) {
    const Distribution distribution = made(sample.name, sample.parameters);
    Draws draws(4);
    constexpr int kDraws = 100'000;
    std::vector<double> places(kDraws);
    std::ranges::generate(places, [&] { return distribution.place(draws.u(), spec); });
    std::ranges::sort(places);
    for (int percent = 1; percent < 100; ++percent) {
      const double below = distribution.chance_below(places[static_cast<std::size_t>(percent) * kDraws / 100], spec);
      // Five standard deviations of the share of 10^5 draws below a quantile.
      const double q = percent / 100.0;
      EXPECT_NEAR(below, q, 5 * std::sqrt(q * (1 - q) / kDraws)) << sample.name << ' ' << percent;
    }
  }
}

// The late exponential is the early one mirrored, so there a greater draw means an earlier place.
bool is_mirrored(const Distribution& distribution) { return distribution.direction == Distribution::Direction::late; }

TEST(Distribution, PlacesStayInsideTheWindowAndFollowTheDraw) {
  for (const Named& sample : kSamples) {
    const Distribution distribution = made(sample.name, sample.parameters);
    for (const char* duration : {"0s", "1ns", "1s", "3h", "15250w"}) {
      for (const WindowMode mode : {WindowMode::after, WindowMode::before, WindowMode::around}) {
        const WindowSpec spec = window(mode, duration);
        const bool mirrored = is_mirrored(distribution);
        double last = mirrored ? 1 : 0;
        for (const double u : {0.0, 0x1p-53, 1e-9, 0.1, 0.3, 0.5, 0.7, 0.9, 1 - 1e-9, 1 - 0x1p-53}) {
          const double x = distribution.place(u, spec);
          EXPECT_TRUE(mirrored ? x <= last : x >= last) << sample.name << ' ' << duration << ' ' << u;
          EXPECT_TRUE(x >= 0 && x < 1) << sample.name << ' ' << duration << ' ' << u;
          last = x;
          const double below = distribution.chance_below(x, spec);
          EXPECT_TRUE(below >= 0 && below <= 1) << sample.name << ' ' << duration << ' ' << u << ": " << below;
        }
      }
    }
  }
}

TEST(Distribution, ChanceBelowUndoesPlace) {
  const WindowSpec spec = window(WindowMode::before, "3h");
  Draws draws(5);
  for (const Named& sample : kSamples) {
    const Distribution distribution = made(sample.name, sample.parameters);
    for (int i = 0; i < 200; ++i) {
      const double u = draws.between(0.001, 0.9);          // beyond, the doubles near 1 are too few to tell draws apart
      if (distribution.sigma == Nanoseconds(1)) continue;  // a point: nothing to undo at the precision of x
      const double below = distribution.chance_below(distribution.place(u, spec), spec);
      EXPECT_NEAR(below, is_mirrored(distribution) ? 1 - u : u, 1e-11) << sample.name;
    }
  }
}

TEST(Distribution, AVeryWideNormalIsUniform) {
  const WindowSpec spec = window(WindowMode::after, "1s");
  const Distribution normal = made("normal", {{"sigma", "15000w"}});
  for (const double u : {0.0, 0.1, 0.25, 0.5, 0.9}) EXPECT_NEAR(normal.place(u, spec), u, 1e-9);
}

TEST(Distribution, TheMeanDefaultsToTheNominalTimeWhereItIsInside) {
  const Distribution normal = made("normal");
  EXPECT_DOUBLE_EQ(normal.place(0.5, window(WindowMode::after, "6h")), 0.5);
  EXPECT_DOUBLE_EQ(normal.place(0.5, window(WindowMode::around, "6h")), 0.5);
  const Distribution nominal = made("normal", {{"mu", "nominal"}, {"sigma", "1s"}});
  EXPECT_LT(nominal.place(0.5, window(WindowMode::after, "6h")), 0.001);
  EXPECT_GT(nominal.place(0.5, window(WindowMode::before, "6h")), 0.999);
}

TEST(Distribution, ParametersInForceReadBackAsTheSamePlaces) {
  for (const Named& sample : kSamples) {
    for (const WindowMode mode : {WindowMode::after, WindowMode::before, WindowMode::around}) {
      const WindowSpec spec = window(mode, "100000000007ns");
      const Distribution distribution = made(sample.name, sample.parameters);
      const Distribution again = made(sample.name, parameters_of(distribution, spec));
      EXPECT_EQ(parameters_of(again, spec), parameters_of(distribution, spec)) << sample.name;
      for (const double u : {0.0, 0.1, 0.7})
        EXPECT_EQ(again.place(u, spec), distribution.place(u, spec)) << sample.name;
    }
  }
  const auto normal = parameters_of(made("normal"), window(WindowMode::after, "3h"));
  EXPECT_EQ(normal, (Parameters{{"mu", "mid"}, {"sigma", "30m"}}));
  EXPECT_EQ(parameters_of(made("normal"), window(WindowMode::around, "3h")).at("mu"), "nominal");
  EXPECT_EQ(parameters_of(made("skewLate"), {}), (Parameters{{"shape", "2"}}));
}

struct Wrong {
  const char* name;
  Parameters parameters;
  const char* field;
  const char* part_of_message;
};

TEST(Distribution, WrongParametersAreNamed) {
  const Wrong cases[] = {
      {"uniformly", {}, "distribution", "did you mean uniform?"},
      {"Normal", {}, "distribution", "did you mean normal?"},
      {"zipf", {}, "distribution", "known are uniform, skewEarly"},
      {"uniform", {{"shape", "2"}}, "shape", "takes no parameters"},
      {"skewEarly", {{"shpe", "2"}}, "shpe", "did you mean shape?"},
      {"skewEarly", {{"sigma", "2m"}}, "sigma", "known are shape"},
      {"skewEarly", {{"shape", "0"}}, "shape", "not above 0"},
      {"skewEarly", {{"shape", "-0.0"}}, "shape", "not above 0"},
      {"skewEarly", {{"shape", "-1"}}, "shape", "not above 0"},
      {"skewLate", {{"shape", "nan"}}, "shape", "not a finite number"},
      {"skewLate", {{"shape", "inf"}}, "shape", "not a finite number"},
      {"skewLate", {{"shape", "-infinity"}}, "shape", "not a finite number"},
      {"skewLate", {{"shape", "1e999"}}, "shape", "beyond what a number can hold"},
      {"skewLate", {{"shape", "1e-999"}}, "shape", "beyond what a number can hold"},
      {"skewLate", {{"shape", "two"}}, "shape", "not a number"},
      {"skewLate", {{"shape", "2x"}}, "shape", "not a number"},
      {"skewLate", {{"shape", ""}}, "shape", "not a number"},
      {"skewLate", {{"shape", " 2"}}, "shape", "not a number"},
      {"normal", {{"sigma", "0s"}}, "sigma", "longer than 0s"},
      {"normal", {{"sigma", "-5m"}}, "sigma", "negative"},
      {"normal", {{"sigma", "5"}}, "sigma", "unit is missing"},
      {"normal", {{"mu", "middle"}}, "mu", "unknown mean"},
      {"exponential", {{"lambda", "0"}}, "lambda", "not above 0"},
      {"exponential", {{"dir", "earl"}}, "dir", "did you mean early?"},
      {"exponential", {{"rate", "1"}}, "rate", "known are lambda, dir"},
  };
  for (const Wrong& wrong : cases) {
    const auto result = make_distribution(wrong.name, wrong.parameters);
    ASSERT_FALSE(result) << wrong.name << ' ' << wrong.field;
    EXPECT_EQ(result.error().field, wrong.field);
    EXPECT_NE(result.error().message.find(wrong.part_of_message), std::string::npos) << result.error().message;
  }
  EXPECT_FALSE(make_distribution("skewLate", {{"shape", std::string(100'000, '9')}}));
  EXPECT_FALSE(make_distribution(std::string(100'000, 'u'), {}));
}

TEST(Distribution, TheEmptyNameIsUniform) { EXPECT_EQ(made("").kind, Distribution::Kind::uniform); }

}  // namespace
}  // namespace kron::distribution_test
