#include "kron/core/distribution.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "kron/base/duration.h"
#include "kron/base/text.h"
#include "kron/core/math.h"
#include "kron/core/words.h"

namespace kron {
namespace {

using Kind = Distribution::Kind;
using Mu = Distribution::Mu;
using Direction = Distribution::Direction;

constexpr std::array kDistributionKinds{
    Word<Kind>{Kind::uniform, "uniform"},         Word<Kind>{Kind::skewEarly, "skewEarly"},
    Word<Kind>{Kind::skewLate, "skewLate"},       Word<Kind>{Kind::normal, "normal"},
    Word<Kind>{Kind::exponential, "exponential"},
};
constexpr std::array kMus{
    Word<Mu>{Mu::nominal, "nominal"},
    Word<Mu>{Mu::start, "start"},
    Word<Mu>{Mu::mid, "mid"},
    Word<Mu>{Mu::end, "end"},
};
constexpr std::array kDirections{
    Word<Direction>{Direction::early, "early"},
    Word<Direction>{Direction::late, "late"},
};

constexpr double kLastPlace = 0x1.fffffffffffffp-1;  // the greatest double below 1

Mu mu_in_force(const Distribution& distribution, const WindowSpec& window) {
  if (distribution.mu != Mu::by_mode) return distribution.mu;
  return window.mode == WindowMode::around ? Mu::nominal : Mu::mid;
}

Nanoseconds sigma_in_force(const Distribution& distribution, const WindowSpec& window) {
  return distribution.sigma.value_or(std::max(window.duration / 6, Nanoseconds(1)));
}

// The normal distribution cut off at the window's ends, measured in windows: mean m in [0, 1], deviation s.
struct Normal {
  double m;
  double s;

  static Normal of(const Distribution& distribution, const WindowSpec& window) {
    const auto width = static_cast<double>(window.duration.count());
    return {mean(mu_in_force(distribution, window), window),
            static_cast<double>(sigma_in_force(distribution, window).count()) / width};
  }

  // How far the mean lies from the window's start.
  static double mean(Mu mu, const WindowSpec& window) {
    if (mu == Mu::start) return 0;
    if (mu == Mu::mid) return 0.5;
    if (mu == Mu::end || window.mode == WindowMode::before) return 1;
    if (window.mode == WindowMode::after) return 0;
    return static_cast<double>((window.duration / 2).count()) / static_cast<double>(window.duration.count());
  }

  [[nodiscard]] double from() const { return -m / s; }
  [[nodiscard]] double to() const { return (1 - m) / s; }

  // m + s·Φ⁻¹(Φ(from) + u·(Φ(to) - Φ(from))), in the form that keeps its digits: from the middle when the result is
  // near the mean (a wide sigma makes the window a sliver there), from the nearer tail otherwise.
  [[nodiscard]] double place(double u) const {
    const double low = math::normal_centred(from());
    const double mass = math::normal_centred(to()) - low;
    const double centred = low + u * mass;
    double z = 0;
    if (centred < -0.25) {
      z = math::normal_quantile(math::normal_cdf(from()) + u * mass);
    } else if (centred > 0.25) {
      z = -math::normal_quantile(math::normal_cdf(-to()) + (1 - u) * mass);
    } else {
      z = math::normal_centred_quantile(centred);
    }
    return m + s * z;
  }

  [[nodiscard]] double chance_below(double x) const {
    const double low = math::normal_centred(from());
    return (math::normal_centred((x - m) / s) - low) / (math::normal_centred(to()) - low);
  }
};

// Below this λ the exponential is the uniform distribution to the last bit.
constexpr double kFlat = 0x1p-56;

// -ln(1 - u·(1 - e^-λ))/λ, which for a small λ would lose its digits without the forms around 0.
double exponential_place(double u, double lambda) {
  return lambda < kFlat ? u : -math::log1p(u * math::expm1(-lambda)) / lambda;
}

double exponential_chance(double x, double lambda) {
  return lambda < kFlat ? x : math::expm1(-lambda * x) / math::expm1(-lambda);
}

Result<double> parse_positive(std::string_view text, const std::string& parameter) {
  const auto bad = [&](std::string problem) {
    return fail(Code::invalid, std::move(problem) + " for " + parameter + "; expected a number above 0 such as 2.5",
                parameter, 1);
  };
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return bad(quoted(text) + " is beyond what a number can hold");
  if (error != std::errc() || end != text.data() + text.size()) return bad(quoted(text) + " is not a number");
  if (!std::isfinite(value)) return bad(quoted(text) + " is not a finite number");
  if (value <= 0) return bad(quoted(text) + " is not above 0");
  return value;
}

std::string number_text(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

std::span<const std::string_view> parameters_known_to(Kind kind) {
  static constexpr std::array<std::string_view, 1> kSkew{"shape"};
  static constexpr std::array<std::string_view, 2> kNormal{"mu", "sigma"};
  static constexpr std::array<std::string_view, 2> kExponential{"lambda", "dir"};
  switch (kind) {
    case Kind::uniform:
      return {};
    case Kind::skewEarly:
    case Kind::skewLate:
      return kSkew;
    case Kind::normal:
      return kNormal;
    case Kind::exponential:
      return kExponential;
  }
  return {};
}

Status set_sigma(Distribution& distribution, std::string_view text) {
  const Result<Nanoseconds> sigma = parse_duration(text);
  if (!sigma) return fail(Code::invalid, sigma.error().message, "sigma", sigma.error().column);
  if (sigma->count() == 0) return fail(Code::invalid, "sigma must be longer than 0s", "sigma", 1);
  distribution.sigma = *sigma;
  return {};
}

template <class T>
Status assign(T& target, const Result<T>& value) {
  if (!value) return fail(value.error());
  target = *value;
  return {};
}

Status set_parameter(Distribution& distribution, const std::string& name, std::string_view text) {
  if (name == "shape") return assign(distribution.shape, parse_positive(text, name));
  if (name == "lambda") return assign(distribution.lambda, parse_positive(text, name));
  if (name == "dir") return assign(distribution.direction, parse_word(text, kDirections, "direction", name));
  if (name == "mu") return assign(distribution.mu, parse_word(text, kMus, "mean", name));
  return set_sigma(distribution, text);
}

}  // namespace

double Distribution::place(double u, const WindowSpec& window) const {
  double x = u;
  switch (kind) {
    case Kind::uniform:
      break;
    case Kind::skewEarly:
      x = math::pow(u, shape);
      break;
    case Kind::skewLate:
      x = 1 - math::pow(1 - u, shape);
      break;
    case Kind::normal:
      if (window.duration.count() > 0) x = Normal::of(*this, window).place(u);
      break;
    case Kind::exponential:
      x = exponential_place(u, lambda);
      if (direction == Direction::late) x = 1 - x;
      break;
  }
  return std::clamp(x, 0.0, kLastPlace);
}

double Distribution::chance_below(double x, const WindowSpec& window) const {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  switch (kind) {
    case Kind::uniform:
      return x;
    case Kind::skewEarly:
      return math::pow(x, 1 / shape);
    case Kind::skewLate:
      return 1 - math::pow(1 - x, 1 / shape);
    case Kind::normal:
      return window.duration.count() > 0 ? Normal::of(*this, window).chance_below(x) : x;
    case Kind::exponential:
      return direction == Direction::early ? exponential_chance(x, lambda) : 1 - exponential_chance(1 - x, lambda);
  }
  return x;
}

std::string_view name_of(Distribution::Kind kind) { return word_of(kind, kDistributionKinds); }

Result<Distribution> make_distribution(std::string_view name, const std::map<std::string, std::string>& parameters) {
  Distribution distribution;
  if (!name.empty()) {
    const Result<Kind> kind = parse_word(name, kDistributionKinds, "distribution", "distribution");
    if (!kind) return fail(kind.error());
    distribution.kind = *kind;
  }
  const std::span<const std::string_view> known = parameters_known_to(distribution.kind);
  for (const auto& [parameter, text] : parameters) {
    if (known.empty()) return fail(Code::invalid, "uniform takes no parameters", parameter);
    if (std::ranges::find(known, parameter) == known.end()) {
      return unknown_word(parameter, known, "parameter of " + std::string(name_of(distribution.kind)), parameter);
    }
    if (Status set = set_parameter(distribution, parameter, text); !set) return fail(set.error());
  }
  return distribution;
}

std::map<std::string, std::string> parameters_of(const Distribution& distribution, const WindowSpec& window) {
  switch (distribution.kind) {
    case Kind::uniform:
      return {};
    case Kind::skewEarly:
    case Kind::skewLate:
      return {{"shape", number_text(distribution.shape)}};
    case Kind::normal:
      return {{"mu", std::string(word_of(mu_in_force(distribution, window), kMus))},
              {"sigma", duration_text(sigma_in_force(distribution, window))}};
    case Kind::exponential:
      return {{"dir", std::string(word_of(distribution.direction, kDirections))},
              {"lambda", number_text(distribution.lambda)}};
  }
  return {};
}

}  // namespace kron
