#include "kron/env/places.h"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include "kron/base/sha256.h"

namespace kron {
namespace {

constexpr char kRootsState[] = "/var/lib/krond";
constexpr char kRootsSocket[] = "/run/krond/krond.sock";

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

Result<std::string> default_notify_file() {
  if (::geteuid() == 0) return std::string("/etc/krond-notify.yaml");
  Result<std::string> place = user_directory("XDG_CONFIG_HOME", ".config", "--notify-file");
  if (place) *place += "-notify.yaml";
  return place;
}

Result<std::string> default_state_directory() {
  if (::geteuid() == 0) return std::string(kRootsState);
  return user_directory("XDG_STATE_HOME", ".local/state", "--state-dir");
}

std::string default_socket(std::string_view state_directory) {
  if (state_directory == kRootsState) return kRootsSocket;
  return std::string(state_directory) + "/krond.sock";
}

std::string default_credentials(std::string_view state_directory) {
  constexpr std::size_t kDigits = 16;
  std::string name = "krond-credentials";
  if (state_directory != kRootsState) name += "-" + hex(sha256({std::string(state_directory)})).substr(0, kDigits);
  if (::geteuid() == 0) return "/run/" + name;
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/') return std::string(runtime) + "/" + name;
  return std::string(state_directory) + "/credentials";
}

std::string system_socket_instead_of(std::string_view asked, uid_t user,
                                     const std::function<bool(const std::string& path)>& is_there) {
  return user != 0 && asked != kRootsSocket && is_there(kRootsSocket) ? kRootsSocket : "";
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

}  // namespace kron
