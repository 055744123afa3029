#include "kron/runner/process_identity.h"

#include <charconv>
#include <cstdio>
#include <fcntl.h>
#include <string>

#include "kron/env/descriptor.h"

namespace kron::runner {
namespace {

// A number of /proc/<pid>/stat, by its place in proc(5). The name before it may hold blanks and parentheses.
std::optional<std::uint64_t> field_in(std::string_view stat, int place) {
  constexpr int kName = 2;
  std::size_t at = stat.rfind(')');
  for (int field = kName; field < place && at != std::string_view::npos; ++field) at = stat.find(' ', at + 1);
  if (at == std::string_view::npos) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(stat.data() + at + 1, stat.data() + stat.size(), number);
  if (error != std::errc() || end == stat.data() + stat.size() || *end != ' ') return std::nullopt;
  return number;
}

std::string stat_of(pid_t pid) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  char text[1024];
  const ssize_t size = file ? uninterrupted([&] { return ::read(file.get(), text, sizeof text); }) : -1;
  return std::string(text, size > 0 ? static_cast<std::size_t>(size) : 0);
}

constexpr int kParent = 4;
constexpr int kStartTime = 22;

}  // namespace

std::optional<std::uint64_t> start_time_in(std::string_view stat) { return field_in(stat, kStartTime); }

std::optional<std::uint64_t> start_time_of(pid_t pid) { return start_time_in(stat_of(pid)); }

std::optional<pid_t> parent_of(pid_t pid) {
  const std::optional<std::uint64_t> parent = field_in(stat_of(pid), kParent);
  if (!parent) return std::nullopt;
  return static_cast<pid_t>(*parent);
}

}  // namespace kron::runner
