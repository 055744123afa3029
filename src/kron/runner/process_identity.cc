#include "kron/runner/process_identity.h"

#include <charconv>
#include <cstdio>
#include <fcntl.h>

#include "kron/env/descriptor.h"

namespace kron::runner {

std::optional<std::uint64_t> start_time_in(std::string_view stat) {
  constexpr int kFieldsAfterName = 20;  // the state is field 3, right behind the name
  std::size_t at = stat.rfind(')');
  for (int field = 0; field < kFieldsAfterName && at != std::string_view::npos; ++field) at = stat.find(' ', at + 1);
  if (at == std::string_view::npos) return std::nullopt;
  std::uint64_t ticks = 0;
  const auto [end, error] = std::from_chars(stat.data() + at + 1, stat.data() + stat.size(), ticks);
  if (error != std::errc() || end == stat.data() + stat.size() || *end != ' ') return std::nullopt;
  return ticks;
}

std::optional<std::uint64_t> start_time_of(pid_t pid) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  char text[1024];
  const ssize_t size = file ? uninterrupted([&] { return ::read(file.get(), text, sizeof text); }) : -1;
  if (size <= 0) return std::nullopt;
  return start_time_in({text, static_cast<std::size_t>(size)});
}

}  // namespace kron::runner
