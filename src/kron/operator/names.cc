#include "kron/operator/names.h"

#include <algorithm>

#include "kron/base/sha256.h"
#include "kron/core/decision.h"

namespace kron::kronjobs {
namespace {

constexpr std::size_t kLongestStem = 40;

// A KronJob's name may have dots, which make bad host names of pods.
std::string stem_of(std::string_view name) {
  std::string stem(name.substr(0, kLongestStem));
  std::ranges::replace(stem, '.', '-');
  stem.erase(stem.find_last_not_of('-') + 1);
  return stem;
}

}  // namespace

std::string identity_of(std::string_view ns, std::string_view name) {
  return std::string(ns) + "/" + std::string(name);
}

std::string period_mark(std::string_view identity, Instant period) {
  return hex(sha256({identity, "\n", period_id(period)})).substr(0, 10);
}

std::string job_name(std::string_view ns, std::string_view name, Instant period) {
  return stem_of(name) + "-" + period_mark(identity_of(ns, name), period);
}

std::string manual_mark(std::string_view identity, std::string_view token) {
  return "m" + hex(sha256({identity, "\nmanual\n", token})).substr(0, 9);
}

std::string manual_job_name(std::string_view ns, std::string_view name, std::string_view token) {
  return stem_of(name) + "-" + manual_mark(identity_of(ns, name), token);
}

bool is_token(std::string_view token) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  return !token.empty() && token.size() <= kLongestName && std::ranges::all_of(token, fits);
}

}  // namespace kron::kronjobs
