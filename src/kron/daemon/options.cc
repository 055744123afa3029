#include "kron/daemon/options.h"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include "kron/base/duration.h"

namespace kron::daemon {
namespace {

constexpr char kRootsState[] = "/var/lib/krond";

// $variable/krond when that is an absolute path, else $HOME/otherwise/krond.
Result<std::string> user_directory(const char* variable, const char* otherwise, const char* flag) {
  if (const char* base = std::getenv(variable); base != nullptr && *base == '/') return std::string(base) + "/krond";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::string(home) + "/" + otherwise + "/krond";
  }
  return fail(Code::unreadable, std::string("HOME is not set, so there is no default place; give ") + flag);
}

}  // namespace

Result<std::string> default_config() {
  if (::geteuid() == 0) return std::string("/etc/krond.d");
  return user_directory("XDG_CONFIG_HOME", ".config", "--config");
}

Result<std::string> default_state_directory() {
  if (::geteuid() == 0) return std::string(kRootsState);
  return user_directory("XDG_STATE_HOME", ".local/state", "--state-dir");
}

std::string default_socket(std::string_view state_directory) {
  if (state_directory == kRootsState) return "/run/krond/krond.sock";
  return std::string(state_directory) + "/krond.sock";
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

Result<Nanoseconds> parse_offset(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const Result<Nanoseconds> duration = parse_duration(text);
  if (!duration) return fail(duration.error());
  return is_negative ? -*duration : *duration;
}

Status check_offset(Nanoseconds offset, Instant machine_time) {
  const Instant shifted = machine_time + std::chrono::floor<Seconds>(offset);
  if (shifted >= kFirstInstant && shifted <= kLastInstant) return {};
  return fail(Code::unreadable,
              "it takes the clock to a time that is not in the years 1970 to 2199; give a smaller one");
}

}  // namespace kron::daemon
