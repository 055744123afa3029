#include "kron/core/job.h"

#include <array>

#include "kron/core/words.h"

namespace kron {
namespace {

constexpr std::array kStrategies{
    Word<SeedStrategy>{SeedStrategy::stable, "stable"},
    Word<SeedStrategy>{SeedStrategy::daily, "daily"},
    Word<SeedStrategy>{SeedStrategy::weekly, "weekly"},
};

constexpr std::array kConcurrencies{
    Word<Concurrency>{Concurrency::allow, "allow"},
    Word<Concurrency>{Concurrency::forbid, "forbid"},
    Word<Concurrency>{Concurrency::replace, "replace"},
    Word<Concurrency>{Concurrency::queue, "queue"},
};
constexpr std::array kConcurrencyNames = texts_of(kConcurrencies);

}  // namespace

std::string_view name_of(SeedStrategy strategy) { return word_of(strategy, kStrategies); }

Result<SeedStrategy> parse_seed_strategy(std::string_view text) {
  return parse_word(text, kStrategies, "seed strategy", "seedStrategy");
}

std::string_view name_of(Concurrency concurrency) { return word_of(concurrency, kConcurrencies); }

Result<Concurrency> parse_concurrency(std::string_view text) {
  return parse_word(text, kConcurrencies, "concurrency", "concurrency");
}

std::span<const std::string_view> concurrency_names() { return kConcurrencyNames; }

}  // namespace kron
