#include "kron/web/sessions.h"

#include <algorithm>
#include <sys/random.h>
#include <utility>

#include "kron/base/sha256.h"

namespace kron::web {
namespace {

constexpr std::size_t kCodeBytes = 16;
constexpr std::size_t kTokenBytes = 32;

// What is looked up is a hash, so how long that takes tells nothing about the secret.
std::string hash_of(std::string_view secret) { return hex(sha256({secret})); }

}  // namespace

Sessions::Sessions(Random random) : random_(std::move(random)) {}

void Sessions::drop_older(ByHash& entries, Nanoseconds than) {
  std::erase_if(entries, [&](const auto& entry) { return entry.second < than; });
}

void Sessions::add(ByHash& entries, std::string_view secret, Nanoseconds now, std::size_t most) {
  if (entries.size() >= most) entries.erase(std::ranges::min_element(entries, {}, &ByHash::value_type::second));
  entries[hash_of(secret)] = now;
}

std::string Sessions::new_code(Nanoseconds now) {
  std::string code = random_(kCodeBytes);
  const std::scoped_lock lock(mutex_);
  drop_older(codes_, now - kCodeLives);
  add(codes_, code, now, kMostCodes);
  return code;
}

std::optional<std::string> Sessions::redeem(std::string_view code, Nanoseconds now) {
  const std::scoped_lock lock(mutex_);
  drop_older(codes_, now - kCodeLives);
  if (codes_.erase(hash_of(code)) == 0) return std::nullopt;
  std::string token = random_(kTokenBytes);
  drop_older(sessions_, now - kIdle);
  add(sessions_, token, now, kMostSessions);
  return token;
}

bool Sessions::touch(std::string_view token, Nanoseconds now) {
  const std::scoped_lock lock(mutex_);
  drop_older(sessions_, now - kIdle);
  const auto found = sessions_.find(hash_of(token));
  if (found == sessions_.end()) return false;
  found->second = now;
  return true;
}

void Sessions::end(std::string_view token) {
  const std::scoped_lock lock(mutex_);
  sessions_.erase(hash_of(token));
}

std::string random_secret(std::size_t bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string random(std::min<std::size_t>(bytes, 256), '\0');
  // So few bytes come whole, and only a machine that has just been switched on makes us wait for them.
  while (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) continue;
  std::string text;
  for (const char byte : random) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4U];
    text += kDigits[static_cast<unsigned char>(byte) & 15U];
  }
  return text;
}

std::optional<Seconds> LoginLimit::waits(Nanoseconds now) const {
  if (count_ <= kFree || now >= until_) return std::nullopt;
  return std::chrono::ceil<Seconds>(until_ - now);
}

std::optional<Seconds> LoginLimit::wrong(Nanoseconds now) {
  if (const auto wait = waits(now)) return wait;
  if (++count_ <= kFree) return std::nullopt;
  until_ = now + std::min(kLongest, Seconds(1LL << std::min(count_ - kFree - 1, 6)));
  return std::nullopt;
}

}  // namespace kron::web
