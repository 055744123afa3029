#include "kron/env/local_users.h"

#include <array>
#include <charconv>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

#include "kron/env/descriptor.h"

namespace kron {
namespace {

constexpr std::size_t kMostPasswdBytes = std::size_t{1} << 20;

std::optional<std::string> passwd_text(const std::string& path) {
  // What is no file must not keep anybody waiting.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return std::nullopt;
  std::string text;
  std::array<char, 16384> piece{};
  while (text.size() < kMostPasswdBytes) {
    const ssize_t read = ::read(file.get(), piece.data(), piece.size());
    if (read <= 0) return read == 0 ? std::optional(std::move(text)) : std::nullopt;
    text.append(piece.data(), static_cast<std::size_t>(read));
  }
  return std::nullopt;
}

// name:password:uid:…
std::optional<std::string> name_in(std::string_view line, uid_t user) {
  const std::size_t name_end = line.find(':');
  const std::size_t password_end = name_end == line.npos ? line.npos : line.find(':', name_end + 1);
  if (password_end == line.npos || name_end == 0) return std::nullopt;
  uid_t found = 0;
  const char* end = line.data() + line.size();
  const auto [digits_end, error] = std::from_chars(line.data() + password_end + 1, end, found);
  if (error != std::errc() || digits_end == end || *digits_end != ':' || found != user) return std::nullopt;
  return std::string(line.substr(0, name_end));
}

}  // namespace

std::optional<std::string> local_user_name(uid_t user, const std::string& passwd_file) {
  const std::optional<std::string> text = passwd_text(passwd_file);
  if (!text) return std::nullopt;
  for (std::string_view rest = *text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (auto name = name_in(rest.substr(0, end), user)) return name;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

}  // namespace kron
